"""openbench's HealthBench scorer, in Inspect logs.

Source: groq/openbench, ``scorers/healthbench.py``. It keeps no verdicts but in its explanation text: ``[✓] [7] criterion``
with the grader's words on the next line, failures first, a reply of the grader that could not be read counted as not
met. The rubric itself stands in the sample's metadata. Its scores clip every example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from healthbench.readers.fields import OPENBENCH_MARKS, Where, fraction_of, verdict_of
from healthbench.readers.foreign import mapping, rubric_of
from healthbench.readers.inspect_scorer import Graded, Scorer, metric_values
from healthbench.readers.verdict_text import OPENBENCH as GRAMMAR
from healthbench.readers.verdict_text import UNCLEAR_TAGS, place_lines, read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from healthbench.model import ImportReport, Verdict

_TAG = "tag_"


def _has_graded(score: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    explanation = score.get("explanation")
    return (
        isinstance(explanation, str)
        and GRAMMAR.start.match(explanation) is not None
        and isinstance(metadata.get("rubrics"), list)
    )


def _graded(
    score: Mapping[str, Any], metadata: Mapping[str, Any], where: Where, report: ImportReport
) -> Graded:
    rubric = rubric_of(metadata, where)
    placed = place_lines(read_lines(score["explanation"], GRAMMAR, rubric).lines, rubric)
    verdicts: list[Verdict] = []
    for line in placed.lines:
        met, words = (None, None) if line is None else (line.met, line.explanation)
        verdicts.append(verdict_of(met, words, report, OPENBENCH_MARKS))
    notes = []
    if None in placed.lines or placed.left_over:
        notes.append(
            "the explanation is not about exactly the criteria of the rubric, and what is missing is unknown"
        )
    if placed.unclear:
        notes.append(UNCLEAR_TAGS)
    return Graded(rubric, verdicts, fraction_of(score.get("value")), tuple(notes))


def _stated(scores: Sequence[Any]) -> dict[str, float]:
    """Return the figures: ``accuracy`` is the mean of the clipped example scores."""
    stated: dict[str, float] = {}
    for score in scores:
        for metric, value in metric_values(score).items():
            if metric == "accuracy":
                stated["overall_score"] = value
            elif metric.startswith(_TAG):
                stated[metric.removeprefix(_TAG)] = value
        scored = mapping(score).get("scored_samples")
        if "overall_score" in stated and isinstance(scored, int):
            stated["overall_score:n_samples"] = scored
    return stated


OPENBENCH = Scorer(
    "Inspect log of openbench", "openbench", "example", _has_graded, _graded, _stated
)
