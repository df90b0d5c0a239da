"""The figures by which a run is known: the overall score with what stands beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from healthbench.scoring.aggregate import summarize_metric
from healthbench.scoring.run_scores import OVERALL
from healthbench.scoring.uncertainty import bootstrap

if TYPE_CHECKING:
    from healthbench.scoring.run_scores import RunScores


@dataclass(frozen=True, slots=True)
class Headline:
    """The overall score of a run. Fractions, None where no example has a score.

    Attributes:
        score: Mean of the example scores, clipped once to [0, 1].
        unclipped: The same mean before the clip.
        early_clipped: Mean of the example scores clipped one by one.
        low, high: Unclipped means of the lowest and highest example scores the unknown verdicts leave open.
        standard_error: Of the unclipped mean, bootstrap over prompts.
        ci_low, ci_high: 95 % interval of the unclipped mean, bootstrap over prompts. None, as the standard error,
            where fewer than two prompts have a score.
        n_scored: Examples with a score.
        below_zero: Examples with a score below 0.
    """

    score: float | None
    unclipped: float | None
    early_clipped: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    n_scored: int
    below_zero: int


def headline(run: RunScores) -> Headline:
    """Compute the overall figures of a run, with 1,000 seeded resamples over prompts for its interval."""
    overall = summarize_metric(run.overall)
    low, high = overall.bounds or (None, None)
    if overall.unclipped is None:
        return Headline(None, None, None, low, high, None, None, None, 0, 0)
    interval = bootstrap(run, [OVERALL]).get(OVERALL)
    return Headline(
        score=overall.score,
        unclipped=overall.unclipped,
        early_clipped=overall.early_clipped,
        low=low,
        high=high,
        standard_error=interval.standard_error if interval else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        n_scored=overall.n,
        below_zero=int((run.overall.scores < 0).sum()),
    )
