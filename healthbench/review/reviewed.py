"""The score of a run with human verdicts in the place of the grader's: the same arithmetic, other verdicts.

Only the examples with a replaced verdict are counted again; every other number is the run's own, so that without an
override, or after its undo, the result is the run's to the last bit.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from healthbench.scoring.aggregate import MetricResult, summarize
from healthbench.scoring.example import Tally, tally
from healthbench.scoring.run_scores import OVERALL, Metric, RunScores
from healthbench.store.tables import sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from healthbench.review.effective import HumanVerdict
    from healthbench.store.journal import Item
    from healthbench.store.library import Library

Place = tuple[int, int]
"""Row of the example in its run, place of the criterion in its rubric."""


class Line(NamedTuple):
    """One criterion of an example with the grader's verdict, as far as scoring needs it."""

    position: int
    points: float
    met: bool | None
    tags: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReviewedRun:
    """The three numbers of a run, each with its metrics by name.

    Attributes:
        by_grader: All verdicts are the grader's.
        with_reviews: Human verdicts replace the grader's where there are any.
        fully_reviewed: ``with_reviews`` over those examples only of which a person gave every verdict; empty where
            there is no such example.
        grader_on_same: ``by_grader`` over those same examples, so that the two can be compared.
        n_fully_reviewed: Number of those examples.
        n_reviewed: Verdicts that a person gave.
        n_overridden: Those of them that differ from the grader's.
        n_contested: Verdicts on which reviewers differ and nobody adjudicated; the latest counts.
    """

    by_grader: dict[str, MetricResult]
    with_reviews: dict[str, MetricResult]
    fully_reviewed: dict[str, MetricResult]
    grader_on_same: dict[str, MetricResult]
    n_fully_reviewed: int
    n_reviewed: int
    n_overridden: int
    n_contested: int


def reviewed_run(
    library: Library,
    run_id: str,
    scores: RunScores,
    verdicts: Mapping[Item, HumanVerdict],
    *,
    as_stored: bool = False,
) -> ReviewedRun:
    """Compute the three numbers of a run.

    Args:
        library: Where the run is.
        run_id: The run.
        scores: The run as the library gives it, with the same ``as_stored``.
        verdicts: What people say, as ``effective.human_verdicts`` returns it; other runs' are left out.
        as_stored: The grader's failed verdicts count as the file has them, as not met.
    """
    human = {
        (item.example, item.position): verdict.met
        for item, verdict in verdicts.items()
        if item.run == run_id and verdict.met is not None
    }
    lines = example_lines(library, run_id, {example for example, _ in human}, as_stored=as_stored)
    given = {
        (example, line.position): line.met for example, found in lines.items() for line in found
    }
    # A damaged file can bring decisions on verdicts that the run does not have: they are none of its reviews.
    human = {place: met for place, met in human.items() if place in given}
    overrides = {place: met for place, met in human.items() if given[place] != met}
    reviewed = replaced(scores, lines, overrides, example_tags(library, run_id))
    full = [
        example
        for example, found in sorted(lines.items())
        if all((example, line.position) in human for line in found)
    ]
    return ReviewedRun(
        by_grader=summarize(scores),
        with_reviews=summarize(reviewed),
        fully_reviewed=summarize(only(reviewed, full)) if full else {},
        grader_on_same=summarize(only(scores, full)) if full else {},
        n_fully_reviewed=len(full),
        n_reviewed=len(human),
        n_overridden=len(overrides),
        n_contested=sum(
            verdict.contested
            for item, verdict in verdicts.items()
            if item.run == run_id and (item.example, item.position) in given
        ),
    )


def example_lines(
    library: Library, run_id: str, examples: Iterable[int], *, as_stored: bool = False
) -> dict[int, list[Line]]:
    """Return the criteria of some examples with the grader's verdicts, in file order, by row of the example."""
    wanted = sorted(set(examples))
    if not wanted:
        return {}
    with library.cursor(run_id) as cursor:
        rows = cursor.execute(sql("review_examples"), [wanted]).fetchall()
    lines: dict[int, list[Line]] = defaultdict(list)
    for example, position, points, met, stored, tags in rows:
        counted = stored if as_stored else met
        lines[example].append(Line(position, points, counted, frozenset(tags)))
    return dict(lines)


def example_tags(library: Library, run_id: str) -> frozenset[str]:
    """Return the tags that examples of a run carry (theme, category), inferred ones included."""
    with library.cursor(run_id) as cursor:
        rows = cursor.execute("SELECT DISTINCT tag FROM example_tags").fetchall()
    return frozenset(tag for (tag,) in rows)


def replaced(
    scores: RunScores,
    lines: Mapping[int, list[Line]],
    overrides: Mapping[Place, bool],
    tags_of_examples: frozenset[str],
) -> RunScores:
    """Return the run with some verdicts replaced.

    Args:
        scores: The run.
        lines: The criteria of at least every example that has an override.
        overrides: Verdict by place.
        tags_of_examples: Which metrics hold the overall rows of their examples rather than points by criterion tag.
    """
    if not overrides:
        return scores
    touched = sorted({example for example, _ in overrides})
    overall: dict[int, Tally] = {}
    by_tag: dict[str, dict[int, Tally]] = defaultdict(dict)
    for example in touched:
        changed = [
            line._replace(met=overrides.get((example, line.position), line.met))
            for line in lines[example]
        ]
        overall[example] = _tally(changed)
        for tag in {tag for line in changed for tag in line.tags}:
            by_tag[tag][example] = _tally([line for line in changed if tag in line.tags])
    metrics = {}
    for name, metric in scores.metrics.items():
        whole = name == OVERALL or name in tags_of_examples
        metrics[name] = _with_rows(metric, overall if whole else by_tag.get(name, {}))
    return RunScores(scores.prompt, scores.characters, metrics)


def only(scores: RunScores, examples: Iterable[int]) -> RunScores:
    """Return the metrics of a run over some of its examples; rows keep their numbers."""
    wanted = np.array(sorted(examples), dtype=np.int64)
    metrics = {
        name: metric.take(np.isin(metric.example, wanted))
        for name, metric in scores.metrics.items()
    }
    return RunScores(scores.prompt, scores.characters, metrics)


def _tally(lines: list[Line]) -> Tally:
    return tally([line.points for line in lines], [line.met for line in lines])


def _with_rows(metric: Metric, tallies: Mapping[int, Tally]) -> Metric:
    """Return the metric with the tallies of some examples in the place of its own; examples it lacks stay out."""
    places = np.flatnonzero(np.isin(metric.example, list(tallies)))
    if len(places) == 0:
        return metric
    new = [tallies[example] for example in metric.example[places].tolist()]
    columns = {}
    for column in Tally._fields:
        values = getattr(metric, column).copy()
        values[places] = [getattr(found, column) for found in new]
        columns[column] = values
    return Metric(name=metric.name, example=metric.example, **columns)
