"""All figures of a stored run under one rule: what ``healthbench score`` prints.

The keys of ``as_json`` are a contract with the programs that read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from healthbench import formatting
from healthbench.scoring.aggregate import RULES, MetricResult, summarize, summarize_metric
from healthbench.scoring.headline import Headline, headline
from healthbench.scoring.length import AdjustedMean, LengthAdjustment, mean_adjusted
from healthbench.scoring.run_scores import OVERALL
from healthbench.scoring.verification import Verification, verify
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from healthbench.store.library import Library
    from healthbench.store.records import RunSummary


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The figures of one run.

    Attributes:
        summary: What is known of the run.
        rule: Name of the aggregation rule.
        headline: The overall figures by the official rule, failed grades unknown.
        metrics: By name, by the official rule.
        by_rule: By name, the figure under ``rule``; None where nothing was graded.
        verification: What the file states against ours, None where it states nothing.
        adjustment, adjusted: The length adjustment asked for and its result, None where not asked for.
        as_stored: The overall figure with failed grades counted as the file counts them, None where there are none.
        themes_from: ``file``, ``dataset``, ``inferred`` or ``none``.
    """

    summary: RunSummary
    rule: str
    headline: Headline
    metrics: dict[str, MetricResult]
    by_rule: dict[str, float | None]
    verification: Verification | None
    adjustment: LengthAdjustment | None
    adjusted: AdjustedMean | None
    as_stored: MetricResult | None
    themes_from: str


def run_figures(
    library: Library,
    run_id: str,
    rule: str = "simple-evals",
    adjustment: LengthAdjustment | None = None,
    *,
    as_stored: bool = False,
) -> RunFigures:
    """Compute the figures of a run.

    Args:
        library: Where the run is.
        run_id: The run.
        rule: A key of ``RULES``.
        adjustment: A length adjustment to apply, or None.
        as_stored: Count verdicts with a producer's mark of failure as the file does, as not met.
    """
    summary = library.summary(run_id)
    scores = library.run_scores(run_id, as_stored=as_stored)
    counted_as_file = (
        scores if as_stored or not summary.n_marked else library.run_scores(run_id, as_stored=True)
    )
    metrics = summarize(scores)
    return RunFigures(
        summary=summary,
        rule=rule,
        headline=headline(scores) if as_stored else summary.headline,
        metrics=metrics,
        by_rule={name: RULES[rule](scores, name, adjustment) for name in metrics},
        verification=verify(summary.info.stated, counted_as_file, summary.info.rule, adjustment),
        adjustment=adjustment,
        adjusted=mean_adjusted(scores, adjustment) if adjustment else None,
        as_stored=summarize_metric(counted_as_file.overall) if summary.n_marked else None,
        themes_from=library.themes_from(run_id),
    )


def as_json(figures: RunFigures, path: str) -> dict[str, Any]:
    """Return the element of ``healthbench score --json`` for a run; fractions of 1, full precision."""
    summary, head = figures.summary, figures.headline
    return {
        "path": path,
        "format": summary.info.format,
        "rule": figures.rule,
        "model": summary.info.model,
        "grader": summary.info.grader,
        "benchmark": summary.info.benchmark,
        "n_examples": summary.n_examples,
        "n_prompts": summary.n_prompts,
        "n_items": summary.n_items,
        "n_unknown": summary.n_unknown,
        "score": figures.by_rule[OVERALL],
        "unclipped_mean": head.unclipped,
        "early_clipped": head.early_clipped,
        "below_zero": head.below_zero,
        "n_scored": head.n_scored,
        "bounds": None if head.low is None else [head.low, head.high],
        "standard_error": head.standard_error,
        "ci95": None if head.ci_low is None else [head.ci_low, head.ci_high],
        "metrics": {
            name: {"score": figures.by_rule[name], "unclipped": metric.unclipped, "n": metric.n}
            for name, metric in figures.metrics.items()
        },
        "as_stored": _as_stored(figures.as_stored),
        "length_adjusted": _adjusted(figures),
        "stated": _stated(figures.verification),
        "report": _report(figures),
    }


def in_words(figures: RunFigures, path: str) -> str:
    """Return the figures of a run as a short text for a terminal; scores are points of 100."""
    summary, head = figures.summary, figures.headline
    interval = formatting.interval(head.ci_low, head.ci_high)
    first = (
        f"  score {formatting.score(figures.by_rule[OVERALL])} by {figures.rule}, unclipped "
        f"{formatting.score(head.unclipped)}, 95 % {interval}, "
        f"{formatting.graded(head.n_scored, summary.n_examples)}, {formatting.count(head.below_zero)} below 0"
    )
    lines = [f"{path}: {summary.name} ({summary.info.format})", first]
    if figures.adjusted:
        lines.append(f"  length-adjusted {formatting.score(figures.adjusted.score)}")
    if summary.n_unknown:
        lines.append(
            f"  {formatting.count(summary.n_unknown)} verdicts are unknown; the mean lies in "
            f"{formatting.interval(head.low, head.high)}"
        )
    if figures.as_stored:
        lines.append(
            f"  {formatting.count(summary.n_marked)} of them are failed grades that the file counts as not met; "
            f"counted so: {formatting.score(figures.as_stored.score)}, unclipped "
            f"{formatting.score(figures.as_stored.unclipped)} (--as-stored)"
        )
    for name in sorted(figures.metrics, key=sort_key):
        if name != OVERALL and kind_of(name) in ("theme", "axis", "tag"):
            result = figures.metrics[name]
            lines.append(
                f"  {display_name(name):32} {formatting.score(figures.by_rule[name]):>6}  n {result.n}"
            )
    if figures.verification:
        check = figures.verification
        lines.append(
            f"  the file's own figures: {check.matching} of {len(check.comparisons)} equal ours"
        )
    lines += [f"  note: {warning}" for warning in summary.report.warnings]
    return "\n".join(lines)


def _as_stored(overall: MetricResult | None) -> dict[str, float | int | None] | None:
    if overall is None:
        return None
    return {"score": overall.score, "unclipped_mean": overall.unclipped, "n": overall.n}


def _adjusted(figures: RunFigures) -> dict[str, float | None] | None:
    if figures.adjustment is None:
        return None
    return {
        "center": figures.adjustment.center,
        "penalty": figures.adjustment.penalty,
        "unclipped_mean": figures.adjusted.unclipped if figures.adjusted else None,
        "score": figures.adjusted.score if figures.adjusted else None,
    }


def _stated(verification: Verification | None) -> dict[str, Any] | None:
    if verification is None:
        return None
    return {
        "score": verification.score,
        "compared": len(verification.comparisons),
        "matching": verification.matching,
        "differences": [
            {"name": different.name, "stated": different.stated, "ours": different.ours}
            for different in verification.differences
        ],
        "not_compared": verification.left_out,
    }


def _report(figures: RunFigures) -> dict[str, Any]:
    report = figures.summary.report
    return {
        "recognised_by": report.recognised_by,
        "rows_read": report.rows_read,
        "rows_skipped": sum(report.rows_skipped.values()),
        "skipped_because": dict(report.rows_skipped),
        "verdicts": dict(report.verdicts),
        "duplicates": report.duplicates,
        "themes_from": figures.themes_from,
        "axes_from": report.axes_from,
        "clip_level": figures.summary.info.clip_level,
        "canary": report.canary,
        "warnings": report.warnings,
    }
