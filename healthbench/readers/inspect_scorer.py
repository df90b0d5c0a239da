"""What the readers of Inspect logs know of a scorer, and inspect_evals' HealthBench scorer.

Source: inspect_evals 0.26 (``inspect_evals/healthbench``). Its headline is the clipped mean; themes and axes clip each
example first. Theme and category tags are copied into the tags of every rubric item, and are taken out again here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from healthbench.readers.fields import INSPECT_MARKS, Where, fraction_of, verdict_of
from healthbench.readers.foreign import criterion_of, mapping

if TYPE_CHECKING:
    from healthbench.model import Criterion, ImportReport, Verdict

_DETAILS = "detailed_results"
_BY_TAG = re.compile(r"(axis|theme)_(.+)_(score|std|n_samples)")
_SUFFIXES = {"score": "", "std": ":bootstrap_std", "n_samples": ":n_samples"}


class Graded(NamedTuple):
    """A graded sample.

    Attributes:
        criteria: The rubric in the log's order.
        verdicts: One for each criterion.
        stated_score: The scorer's figure for the sample.
        notes: What a reader must know of it, a clause each.
    """

    criteria: list[Criterion]
    verdicts: list[Verdict]
    stated_score: float | None
    notes: tuple[str, ...] = ()


class Scorer(NamedTuple):
    """How one scorer's results are read.

    Attributes:
        format: Name of the format in words.
        rule: Aggregation rule of its figures.
        clip_level: As in ``RunInfo``.
        has_graded: Tells from a sample's score and metadata whether this scorer gave verdicts.
        graded: Reads such a score.
        stated: Returns the figures of the header's ``results.scores``, by our metric names.
    """

    format: str
    rule: str
    clip_level: str
    has_graded: Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
    graded: Callable[[Mapping[str, Any], Mapping[str, Any], Where, ImportReport], Graded]
    stated: Callable[[Sequence[Any]], dict[str, float]]


def metric_values(score: Any) -> dict[str, float]:
    """Return the finite figures of one entry of ``results.scores`` by metric name."""
    metrics = mapping(mapping(score).get("metrics"))
    values = ((str(n), fraction_of(mapping(m).get("value"))) for n, m in metrics.items())
    return {name: value for name, value in values if value is not None}


def _has_graded(score: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    del metadata
    return isinstance(mapping(score.get("metadata")).get(_DETAILS), list)


def _graded(
    score: Mapping[str, Any], metadata: Mapping[str, Any], where: Where, report: ImportReport
) -> Graded:
    criteria, verdicts = [], []
    for place, item in enumerate(mapping(score["metadata"])[_DETAILS], start=1):
        criteria.append(criterion_of(item, metadata, where._replace(criterion=place)))
        verdicts.append(
            verdict_of(mapping(item).get("met"), item.get("explanation"), report, INSPECT_MARKS)
        )
    value = score.get("value")
    stated = value.get("healthbench_score") if isinstance(value, Mapping) else value
    return Graded(criteria, verdicts, fraction_of(stated))


def _stated(scores: Sequence[Any]) -> dict[str, float]:
    stated: dict[str, float] = {}
    for score in scores:
        values = metric_values(score)
        name = mapping(score).get("name")
        if name == "healthbench_score" and "mean" in values:
            stated["unclipped_mean"] = values["mean"]
        elif name == "healthbench_score_length_adjusted" and "mean" in values:
            stated["overall_score_length_adjusted"] = values["mean"]
        for metric, value in values.items():
            if metric == "bootstrap_score":
                stated["overall_score"] = value
                stated["overall_score:bootstrap_std"] = values.get("std", 0.0)
            elif found := _BY_TAG.fullmatch(metric):
                kind, tag, figure = found.groups()
                stated[f"{kind}:{tag}{_SUFFIXES[figure]}"] = value
    return stated


INSPECT_EVALS = Scorer(
    "Inspect log of inspect_evals", "inspect", "run", _has_graded, _graded, _stated
)
