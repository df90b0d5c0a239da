"""From example scores to the figures of a run: the official rule, and the rules other tools use.

Source of the official rule: HealthBench (arXiv 2505.08775), appendix D, and ``_aggregate_get_clipped_mean`` of
openai/simple-evals: the mean over the examples that have a score, clipped once to [0, 1]. Every row weighs the
same; repeats are rows. A theme averages its examples' own scores; an axis, level or cluster averages the scores over
its criteria where an example has a positive one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from healthbench.scoring.example import Bounds, clip
from healthbench.scoring.length import PRESETS, LengthAdjustment, adjust
from healthbench.scoring.run_scores import OVERALL, FloatArray, Metric, RunScores

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "RULES",
    "Gap",
    "MetricResult",
    "Rule",
    "clip",
    "early_late_gap",
    "summarize",
    "summarize_metric",
]


@dataclass(frozen=True, slots=True)
class MetricResult:
    """One figure of a run by the official rule, with what stands around it. Fractions of 1.

    Attributes:
        name: ``overall_score`` or a tag.
        score: The mean, clipped once to [0, 1]; None where no example has a score.
        unclipped: The mean itself.
        n: Examples averaged: fully graded, with positive points.
        n_scorable: Examples with positive points, graded or not; ``n`` of these are fully graded.
        n_carrying: Examples that carry the tag at all, also with penalties only.
        bounds: Lowest and highest mean the unknown verdicts leave open, over all ``n_scorable`` examples; not
            clipped. Equal to ``unclipped`` twice where every verdict is known.
        early_clipped: The mean of example scores that are each clipped first: not the official score.
    """

    name: str
    score: float | None
    unclipped: float | None
    n: int
    n_scorable: int
    n_carrying: int
    bounds: Bounds | None
    early_clipped: float | None


def summarize_metric(metric: Metric) -> MetricResult:
    """Aggregate one metric by the official rule."""
    scores = _known(metric.scores)
    unclipped = _mean(scores)
    scorable = metric.possible > 0
    low, high = _mean(metric.lows[scorable]), _mean(metric.highs[scorable])
    return MetricResult(
        name=metric.name,
        score=None if unclipped is None else clip(unclipped),
        unclipped=unclipped,
        n=len(scores),
        n_scorable=int(scorable.sum()),
        n_carrying=len(metric.example),
        bounds=None if low is None or high is None else Bounds(low, high),
        early_clipped=_mean(_clip_each(scores)),
    )


def summarize(run: RunScores) -> dict[str, MetricResult]:
    """Aggregate the overall score and every tag by the official rule.

    Returns:
        Results by metric name, in the run's order. A tag whose examples have no positive points has no score by
        definition and is left out; ``overall_score`` is always there.
    """
    results = (summarize_metric(metric) for metric in run.metrics.values())
    return {
        result.name: result for result in results if result.n_scorable or result.name == OVERALL
    }


@dataclass(frozen=True, slots=True)
class Gap:
    """Why clipping every example first (early) gives another figure than clipping the mean once (late).

    Exactly: ``early - unclipped = lifted_below_zero - cut_above_one``, and ``late = unclipped + final_clip``.

    Attributes:
        late: The official score: the mean, clipped once.
        unclipped: The mean before that clip.
        early: The mean of example scores that are each clipped first.
        gap: ``early - unclipped``.
        lifted_below_zero: Mean over all examples of what clipping adds to scores below 0 (>= 0).
        cut_above_one: Mean over all examples of what clipping takes from scores above 1 (>= 0); these occur only
            after a length adjustment.
        final_clip: ``late - unclipped``: what the one official clip does to the mean; 0 unless it left [0, 1].
        n_below_zero: Examples below 0.
        n_above_one: Examples above 1.
        n: Examples with a score.
    """

    late: float
    unclipped: float
    early: float
    gap: float
    lifted_below_zero: float
    cut_above_one: float
    final_clip: float
    n_below_zero: int
    n_above_one: int
    n: int

    @property
    def shown_gap(self) -> float:
        """``early - late``, the difference of the two figures a reader sees: ``gap - final_clip``."""
        return self.early - self.late


def early_late_gap(scores: FloatArray | Iterable[float]) -> Gap | None:
    """Split the difference between early and late clipping into its parts.

    Args:
        scores: Example scores, shape (n,); NaN has no score and is left out.

    Returns:
        The parts, or None where no example has a score.
    """
    known = _known(np.asarray(scores if isinstance(scores, np.ndarray) else list(scores), float))
    if len(known) == 0:
        return None
    unclipped = float(np.mean(known))
    late = clip(unclipped)
    lifted = float(np.mean(np.maximum(-known, 0.0)))
    cut = float(np.mean(np.maximum(known - 1.0, 0.0)))
    early = float(np.mean(_clip_each(known)))
    return Gap(
        late=late,
        unclipped=unclipped,
        early=early,
        gap=early - unclipped,
        lifted_below_zero=lifted,
        cut_above_one=cut,
        final_clip=late - unclipped,
        n_below_zero=int((known < 0).sum()),
        n_above_one=int((known > 1).sum()),
        n=len(known),
    )


RuleFunction = Callable[[RunScores, str, LengthAdjustment | None], float | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to turn example scores into a figure.

    Attributes:
        name: Its key in ``RULES``.
        title: A few words for a table.
        description: One sentence that says what is computed.
        used_by: Tools known to print figures by this rule.
        function: ``function(run, metric_name, adjustment)``: a fraction of 1, or None where the metric is not in
            the run or no example has a score. Only ``medarc`` reads the adjustment; None is its default there.
    """

    name: str
    title: str
    description: str
    used_by: tuple[str, ...]
    function: RuleFunction

    def __call__(
        self, run: RunScores, metric_name: str = OVERALL, adjustment: LengthAdjustment | None = None
    ) -> float | None:
        """Apply the rule to one metric of a run."""
        return self.function(run, metric_name, adjustment)


def _simple_evals(run: RunScores, name: str, _: LengthAdjustment | None) -> float | None:
    mean = _mean(_scores(run, name))
    return None if mean is None else clip(mean)


def _inspect(run: RunScores, name: str, adjustment: LengthAdjustment | None) -> float | None:
    rule = _simple_evals if name == OVERALL else _openbench
    return rule(run, name, adjustment)


def _openbench(run: RunScores, name: str, _: LengthAdjustment | None) -> float | None:
    return _mean(_clip_each(_scores(run, name)))


def _medarc(run: RunScores, name: str, adjustment: LengthAdjustment | None) -> float | None:
    if name not in run.metrics:
        return None
    metric = run.metrics[name]
    adjusted = adjust(
        metric.scores, run.characters[metric.example], adjustment or PRESETS["professional"]
    )
    return _mean(_clip_each(_known(adjusted)))


def _autorubric(run: RunScores, name: str, _: LengthAdjustment | None) -> float | None:
    if name not in run.metrics:
        return None
    metric = run.metrics[name]
    scores = metric.scores
    penalties_only = (metric.possible == 0) & (metric.negative < 0) & (metric.n_unknown == 0)
    scores[penalties_only] = 1.0 - metric.achieved[penalties_only] / metric.negative[penalties_only]
    return _mean(_clip_each(_known(scores)))


def _pooled(run: RunScores, name: str, _: LengthAdjustment | None) -> float | None:
    if name not in run.metrics:
        return None
    metric = run.metrics[name]
    graded = metric.n_unknown == 0
    possible = float(metric.possible[graded].sum())
    return float(metric.achieved[graded].sum()) / possible if possible else None


def _unclipped(run: RunScores, name: str, _: LengthAdjustment | None) -> float | None:
    return _mean(_scores(run, name))


def _scores(run: RunScores, name: str) -> FloatArray:
    return _known(run.metrics[name].scores) if name in run.metrics else np.empty(0)


def _known(scores: FloatArray) -> FloatArray:
    known: FloatArray = scores[~np.isnan(scores)]
    return known


def _mean(values: FloatArray) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _clip_each(scores: FloatArray) -> FloatArray:
    return np.clip(scores, 0.0, 1.0)


RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(
            "simple-evals",
            "Late clip (official)",
            "Mean of the example scores as they are, then one clip of the mean to 0-1.",
            ("openai/simple-evals",),
            _simple_evals,
        ),
        Rule(
            "inspect",
            "Late headline, early themes and axes",
            "The headline clips the mean once; themes, axes and every other tag clip each example first.",
            ("inspect_evals",),
            _inspect,
        ),
        Rule(
            "openbench",
            "Early clip",
            "Every example score is clipped to 0-1 first, in the headline and in every tag; then the mean.",
            ("openbench", "verifiers (MedARC) without length adjustment", "keystone-bench"),
            _openbench,
        ),
        Rule(
            "medarc",
            "Length-adjusted, early clip",
            "Every example score is adjusted for length, then clipped to 0-1; then the mean.",
            ("MedARC medmarks",),
            _medarc,
        ),
        Rule(
            "autorubric",
            "Early clip, penalties alone score too",
            "Every example score is clipped to 0-1 first; where there are only penalties the score is the share of them avoided.",
            ("autorubric",),
            _autorubric,
        ),
        Rule(
            "pooled",
            "All points in one fraction",
            "All points achieved in the run over all points possible, penalty-only rubrics included; long rubrics weigh more, nothing is clipped.",
            (),
            _pooled,
        ),
        Rule(
            "unclipped",
            "No clip",
            "Mean of the example scores as they are; it can be negative.",
            ("inspect_evals (healthbench_score.mean)",),
            _unclipped,
        ),
    )
}
"""Every named rule, the official one first."""
