"""What a report says of a run's reviews: the score by the grader, with reviews, and on fully reviewed examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthbench import formatting
from healthbench.report.parts import KINDS, Section, Table
from healthbench.scoring.run_scores import OVERALL
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from healthbench.review.reviewed import ReviewedRun
    from healthbench.scoring.aggregate import MetricResult
    from healthbench.store.records import RunSummary


def reviewed_section(found: ReviewedRun, summary: RunSummary) -> Section:
    """Return the three numbers of a run that people reviewed, and its themes and axes after review."""
    paragraph = (
        f"People reviewed {formatting.count(found.n_reviewed)} of {formatting.count(summary.n_items)} verdicts and "
        f"overrode {formatting.count(found.n_overridden)}; the figures outside this section are the grader's."
    )
    if found.n_contested:
        paragraph += (
            f" On {formatting.count(found.n_contested)} of them reviewers differ and nobody has adjudicated: the latest "
            "decision counts."
        )
    lines = {
        "By the grader": found.by_grader,
        "With reviews applied": found.with_reviews,
        "On fully reviewed examples": found.fully_reviewed,
        "By the grader on the same examples": found.grader_on_same,
    }
    names = sorted((name for name in found.by_grader if kind_of(name) in KINDS), key=sort_key)
    return Section(
        "Reviewed by people",
        [paragraph],
        tables=[
            Table(
                "The score with and without reviews",
                ["verdicts", "score", "unclipped", "n"],
                [[name, *_cells(results.get(OVERALL))] for name, results in lines.items()],
            )
        ],
        folded=[
            Table(
                "Themes and axes with reviews, unclipped",
                ["name", "by the grader", "with reviews", "fully reviewed", "n fully reviewed"],
                [
                    [
                        display_name(name),
                        *(
                            _cells(results.get(name))[1]
                            for results in (
                                found.by_grader,
                                found.with_reviews,
                                found.fully_reviewed,
                            )
                        ),
                        _cells(found.fully_reviewed.get(name))[2],
                    ]
                    for name in names
                ],
            )
        ]
        if names
        else [],
    )


def _cells(result: MetricResult | None) -> list[str]:
    if result is None:
        return [formatting.DASH, formatting.DASH, formatting.count(0)]
    return [
        formatting.score(result.score),
        formatting.score(result.unclipped),
        formatting.count(result.n),
    ]
