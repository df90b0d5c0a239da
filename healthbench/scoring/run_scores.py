"""A run as arrays: what every aggregate, interval and adjustment is computed from.

One row an example, in file order; one ``Metric`` for the overall score and for every tag. Built by the store from
its tables, or by ``from_examples`` from examples in memory.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from healthbench.scoring.example import Tally, tally
from healthbench.taxonomy import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from healthbench.model import GradedExample

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

OVERALL = "overall_score"

_COLUMNS = {
    "possible": np.float64,
    "achieved": np.float64,
    "unknown_positive": np.float64,
    "unknown_negative": np.float64,
    "negative": np.float64,
    "n_items": np.int64,
    "n_unknown": np.int64,
}


@dataclass(frozen=True, slots=True)
class Metric:
    """Points per example of one metric; only the examples that carry the tag have a row.

    Attributes:
        name: ``overall_score`` or a tag.
        example: Row of the example in the run, ascending, shape (m,).
        possible, achieved, unknown_positive, unknown_negative, negative: Points as in ``Tally``, shape (m,).
        n_items, n_unknown: Criteria as in ``Tally``, shape (m,).
    """

    name: str
    example: IntArray
    possible: FloatArray
    achieved: FloatArray
    unknown_positive: FloatArray
    unknown_negative: FloatArray
    negative: FloatArray
    n_items: IntArray
    n_unknown: IntArray

    @property
    def scores(self) -> FloatArray:
        """Example scores, shape (m,); NaN where there is none (no positive points, or an unknown verdict)."""
        return self._over_possible(self.achieved, (self.possible > 0) & (self.n_unknown == 0))

    @property
    def lows(self) -> FloatArray:
        """Lowest score the unknown verdicts leave open, shape (m,); NaN without positive points."""
        return self._over_possible(self.achieved + self.unknown_negative, self.possible > 0)

    @property
    def highs(self) -> FloatArray:
        """Highest score the unknown verdicts leave open, shape (m,); NaN without positive points."""
        return self._over_possible(self.achieved + self.unknown_positive, self.possible > 0)

    def _over_possible(self, points: FloatArray, where: npt.NDArray[np.bool_]) -> FloatArray:
        fractions = np.full(len(points), np.nan)
        np.divide(points, self.possible, out=fractions, where=where)
        return fractions

    def take(self, rows: npt.NDArray[np.bool_] | IntArray, name: str | None = None) -> Metric:
        """Return the metric of some of its rows, under another name if one is given."""
        return Metric(
            name or self.name,
            self.example[rows],
            self.possible[rows],
            self.achieved[rows],
            self.unknown_positive[rows],
            self.unknown_negative[rows],
            self.negative[rows],
            self.n_items[rows],
            self.n_unknown[rows],
        )

    @classmethod
    def from_tallies(cls, name: str, tallies: Mapping[int, Tally]) -> Metric:
        """Build a metric from tallies by row of the example."""
        rows = sorted(tallies)
        columns: dict[str, npt.NDArray[Any]] = {
            column: np.array([getattr(tallies[row], column) for row in rows], dtype=kind)
            for column, kind in _COLUMNS.items()
        }
        return cls(name=name, example=np.array(rows, dtype=np.int64), **columns)


@dataclass(frozen=True, slots=True)
class RunScores:
    """All that is needed to score a run.

    Attributes:
        prompt: Number of the prompt of each example, 0-based, equal for repeats, shape (n,).
        characters: Length of each reply in Unicode code points, shape (n,).
        metrics: By name; ``overall_score`` has a row for each of the n examples. Example tags (theme, category,
            Professional's use case ...) hold the overall rows of their examples; criterion tags (axis, level,
            cluster) hold the points of the criteria with that tag.
    """

    prompt: IntArray
    characters: IntArray
    metrics: dict[str, Metric]

    @property
    def overall(self) -> Metric:
        """The metric of the whole rubric."""
        return self.metrics[OVERALL]

    @property
    def n_examples(self) -> int:
        """Number of examples, with or without a score."""
        return len(self.prompt)

    @property
    def n_prompts(self) -> int:
        """Number of distinct prompts."""
        return len(np.unique(self.prompt))

    def only(self, rows: IntArray) -> RunScores:
        """Return the scores of some examples as a run of their own.

        Args:
            rows: Rows of the examples, ascending, shape (m,); they become rows 0 to m - 1.
        """
        place = np.full(self.n_examples, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        metrics = {}
        for name, metric in self.metrics.items():
            kept = place[metric.example] >= 0
            if name == OVERALL or kept.any():
                taken = metric.take(kept)
                metrics[name] = replace(taken, example=place[taken.example])
        return RunScores(self.prompt[rows], self.characters[rows], metrics)

    def named(self, kind: str) -> list[Metric]:
        """Return the metrics of one kind of tag (see ``taxonomy.kind_of``)."""
        return [metric for name, metric in self.metrics.items() if kind_of(name) == kind]


def from_examples(examples: Sequence[GradedExample]) -> RunScores:
    """Build the arrays of a run from examples in memory: the plain definition, used where speed is no matter."""
    prompts: dict[str, int] = {}
    overall: dict[int, Tally] = {}
    by_tag: dict[str, dict[int, Tally]] = defaultdict(dict)
    for row, example in enumerate(examples):
        prompts.setdefault(example.prompt_id, len(prompts))
        points = [criterion.points for criterion in example.criteria]
        met = [verdict.met for verdict in example.verdicts]
        overall[row] = tally(points, met)
        for tag in example.example_tags or ():
            by_tag[tag][row] = overall[row]
        for tag in {tag for criterion in example.criteria for tag in criterion.tags}:
            with_tag = [
                place for place, criterion in enumerate(example.criteria) if tag in criterion.tags
            ]
            by_tag[tag][row] = tally([points[p] for p in with_tag], [met[p] for p in with_tag])
    metrics = {OVERALL: Metric.from_tallies(OVERALL, overall)}
    metrics.update({tag: Metric.from_tallies(tag, rows) for tag, rows in sorted(by_tag.items())})
    return RunScores(
        np.array([prompts[example.prompt_id] for example in examples], dtype=np.int64),
        np.array([len(example.reply) for example in examples], dtype=np.int64),
        metrics,
    )
