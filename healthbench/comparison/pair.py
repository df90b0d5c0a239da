"""Two stored runs compared on the prompts they share."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from healthbench.comparison.fingerprint import Fingerprint, fingerprint
from healthbench.comparison.gate import Gate, gate
from healthbench.errors import InputRefusedError
from healthbench.scoring.aggregate import summarize_metric
from healthbench.scoring.compare import LengthPart, PairedDifference, compare_runs, length_part
from healthbench.scoring.length import PRESETS, LengthAdjustment, preset_for
from healthbench.scoring.matching import Matching, match_examples, prompt_means, restrict
from healthbench.scoring.run_scores import OVERALL, FloatArray, RunScores
from healthbench.store.pairs import prompt_ids
from healthbench.taxonomy import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from healthbench.store.library import Library
    from healthbench.store.records import ExampleFilter

CRITERION_KINDS = ("axis", "level", "cluster")
"""Kinds of tags that sit on criteria; themes, categories and other tags sit on conversations."""


@dataclass(frozen=True, slots=True)
class Side:
    """One run, ready to be compared.

    Attributes:
        fingerprint: Its conditions.
        scores: Its scores, inferred themes included.
        prompt_ids: The prompt_id of each of its examples, in order.
        as_stored: Verdicts with a producer's mark of failure count as the file has them, as not met.
    """

    fingerprint: Fingerprint
    scores: RunScores = field(repr=False)
    prompt_ids: list[str] = field(repr=False)
    as_stored: bool = False


def side(library: Library, run_id: str, *, as_stored: bool = False) -> Side:
    """Read what a comparison needs of a run.

    Args:
        library: Where the run is.
        run_id: The run.
        as_stored: Count verdicts with a producer's mark of failure as the file does, as not met.

    Raises:
        StoreError: The run is not in the store.
    """
    return Side(
        fingerprint(library, run_id, as_stored=as_stored),
        library.run_scores(run_id, as_stored=as_stored, inferred=True),
        prompt_ids(library, run_id),
        as_stored,
    )


@dataclass(frozen=True, slots=True)
class OwnScore:
    """What one side scores over all of its examples and over the compared prompts; unclipped fractions.

    Attributes:
        whole: Mean over all examples with a score.
        n_examples: Their number.
        compared: Mean over the prompts that are compared.
        n_prompts: Their number.
    """

    whole: float
    n_examples: int
    compared: float
    n_prompts: int

    @property
    def change(self) -> float:
        """What leaving the other prompts out does to this side's own mean."""
        return self.compared - self.whole


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second run less the first.

    Attributes:
        gate: What differs and which prompts are compared.
        matching: The compared prompts and paired examples.
        differences: By metric name, ``overall_score`` first.
        own: What each side scores with and without the prompts that are left out.
        adjustment: The price of length used in ``length``.
        length: The part of the overall difference that is length.
    """

    gate: Gate
    matching: Matching = field(repr=False)
    differences: dict[str, PairedDifference]
    own: tuple[OwnScore, OwnScore]
    adjustment: LengthAdjustment
    length: LengthPart | None

    @property
    def overall(self) -> PairedDifference:
        """The difference of the scores."""
        return self.differences[OVERALL]


def compare(
    first: Side,
    second: Side,
    within: AbstractSet[str] | None = None,
    adjustment: LengthAdjustment | None = None,
) -> Comparison:
    """Compare two runs on every metric that both have.

    Args:
        first: The run that is subtracted.
        second: The run that is asked to be better.
        within: Prompts of the chosen slice; None for all.
        adjustment: Price of length for the length part; None takes the preset of the benchmark.

    Raises:
        InputRefusedError: Nothing can be compared.
    """
    checked = gate(first.fingerprint, second.fingerprint, within)
    matching = restrict(match_examples(first.prompt_ids, second.prompt_ids), checked.kept)
    one, two = _with_tags_of_both(first, second)
    if checked.tagged != checked.kept:
        one = _criteria_only_on(one, first.prompt_ids, checked.tagged)
    differences = compare_runs(one, two, matching)
    if OVERALL not in differences:
        raise InputRefusedError(
            f"No compared prompt has a score in both {' and '.join(checked.names)}, because verdicts are unknown or rubrics have no positive points: there is no difference to show."
        )
    overall = differences[OVERALL]
    benchmark = second.fingerprint.run.info.benchmark
    price = adjustment or PRESETS[preset_for(benchmark, two.metrics)]
    return Comparison(
        checked,
        matching,
        differences,
        (_own(one, overall.first, overall), _own(two, overall.second, overall)),
        price,
        length_part(one, two, matching, price),
    )


def slice_prompts(
    library: Library, runs: Iterable[tuple[str, list[str]]], wanted: ExampleFilter
) -> frozenset[str]:
    """Return the prompts with an example in the slice in any of the runs.

    In any of them, because a slice by score or state in one run alone would pick its luck: the other run would look
    better or worse by regression to the mean. A choice that treats both alike keeps the sign-flip test exact.

    Args:
        library: Where the runs are.
        runs: Id and, example by example, prompt_ids of each run.
        wanted: The slice; a criterion's id means nothing in another run and is ignored.
    """
    chosen = dataclasses.replace(wanted, criterion=None)
    return frozenset(
        ids[row] for run_id, ids in runs for row in library.example_rows(run_id, chosen)
    )


@dataclass(frozen=True, slots=True)
class PromptScores:
    """What both runs score on each compared prompt; all shape (p,), in the order of ``Matching.prompt_ids``.

    Attributes:
        first, second: Mean score over the replies to the prompt, unclipped; NaN where there is none.
        first_characters, second_characters: Mean reply length in code points.
        first_row, second_row: Row of the first reply to the prompt in its run.
    """

    first: FloatArray
    second: FloatArray
    first_characters: FloatArray
    second_characters: FloatArray
    first_row: FloatArray
    second_row: FloatArray


def prompt_scores(first: Side, second: Side, matching: Matching) -> PromptScores:
    """Score both runs prompt by prompt, for the scatter and the list of prompts."""
    n_prompts = len(matching.prompt_ids)
    rows = np.full((2, n_prompts), -1, dtype=np.int64)
    lengths = []
    for number, (one, place) in enumerate(((first, matching.first), (second, matching.second))):
        inside = np.flatnonzero(place >= 0)
        rows[number, place[inside[::-1]]] = inside[::-1]
        sums = np.bincount(place[inside], one.scores.characters[inside], n_prompts)
        lengths.append(sums / np.bincount(place[inside], minlength=n_prompts))
    return PromptScores(
        prompt_means(first.scores, matching.first, n_prompts),
        prompt_means(second.scores, matching.second, n_prompts),
        lengths[0],
        lengths[1],
        rows[0],
        rows[1],
    )


def _own(scores: RunScores, compared: float, overall: PairedDifference) -> OwnScore:
    whole = summarize_metric(scores.overall)
    return OwnScore(whole.unclipped or 0.0, whole.n, compared, overall.n_prompts)


def _with_tags_of_both(first: Side, second: Side) -> tuple[RunScores, RunScores]:
    """Let each side have the themes that only the other's file tells: they belong to the prompt, not to the run."""
    return _with_tags_of(first, second), _with_tags_of(second, first)


def _with_tags_of(one: Side, other: Side) -> RunScores:
    metrics = dict(one.scores.metrics)
    for name, metric in other.scores.metrics.items():
        if name not in metrics and kind_of(name) not in CRITERION_KINDS:
            tagged = {other.prompt_ids[row] for row in metric.example.tolist()}
            rows = np.array([prompt_id in tagged for prompt_id in one.prompt_ids], dtype=np.bool_)
            metrics[name] = one.scores.overall.take(rows, name)
    return dataclasses.replace(one.scores, metrics=metrics)


def _criteria_only_on(scores: RunScores, ids: list[str], tagged: AbstractSet[str]) -> RunScores:
    """Keep axes, levels and clusters to the prompts whose criteria carry the same tags in both runs."""
    kept = np.array([prompt_id in tagged for prompt_id in ids], dtype=np.bool_)
    metrics = {
        name: metric.take(kept[metric.example]) if kind_of(name) in CRITERION_KINDS else metric
        for name, metric in scores.metrics.items()
    }
    return dataclasses.replace(scores, metrics=metrics)
