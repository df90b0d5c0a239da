"""How far a figure would move with other prompts: the bootstrap.

Prompts are drawn, not rows, so that repeats of a prompt move together; the reference draws rows. A resample is a row
of counts (how often each prompt was drawn), and a metric's resampled mean is the counts times its sums by prompt over
the counts times its numbers by prompt: one matrix product gives all metrics at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from healthbench.scoring.length import LengthAdjustment, adjust

if TYPE_CHECKING:
    from collections.abc import Iterable

    from healthbench.scoring.run_scores import FloatArray, IntArray, RunScores

Counts = npt.NDArray[np.uint8]

PERCENTILES = (2.5, 97.5)
_CELLS_AT_ONCE = 640_000
"""Resamples x prompts turned to floats at a time: 5 MB, so that they stay in the processor's cache."""


class Interval(NamedTuple):
    """Spread of a mean over resamples; fractions of 1, not clipped.

    Attributes:
        standard_error: Standard deviation of the resampled means (ddof 0, as the reference has it).
        low: 2.5th percentile.
        high: 97.5th percentile.
        resamples: Resamples in which the metric had an example; for a rare tag fewer than were drawn.
        n: Examples with a score.
        n_prompts: Prompts they belong to, at least 2.
    """

    standard_error: float
    low: float
    high: float
    resamples: int
    n: int
    n_prompts: int


@lru_cache(maxsize=4)
def draw_counts(n_prompts: int, resamples: int = 1000, seed: int = 0) -> Counts:
    """Draw prompts with replacement, as often as there are prompts, for each resample.

    The same arguments give the same draw, so two runs over the same prompts in the same order share resamples.

    Returns:
        How often each prompt was drawn, shape (resamples, n_prompts), read-only; each row sums to ``n_prompts``.
        A byte is enough: a count is about Poisson with mean 1, so 255 is never reached.

    Raises:
        ValueError: There is nothing to draw from, or no resample is asked for.
    """
    if n_prompts < 1 or resamples < 1:
        raise ValueError(
            f"draw_counts: {resamples} resamples of {n_prompts} prompts; give at least one of each"
        )
    rng = np.random.default_rng(seed)
    counts = np.empty((resamples, n_prompts), np.uint8)
    for row in range(resamples):
        drawn = rng.integers(0, n_prompts, size=n_prompts, dtype=np.uint32)
        counts[row] = np.bincount(drawn, minlength=n_prompts)
    counts.flags.writeable = False
    return counts


def resampled_means(counts: Counts, sums: FloatArray, numbers: FloatArray) -> FloatArray:
    """Return the mean of each metric in each resample.

    Args:
        counts: As ``draw_counts`` returns them, shape (r, p).
        sums: Sum of a metric's scores by prompt, shape (p, k).
        numbers: Number of scores by prompt, shape (p, k).

    Returns:
        Means, shape (r, k); NaN where a resample holds no example of the metric.
    """
    n_metrics = sums.shape[1]
    both = np.hstack([sums, numbers])
    means = np.empty((len(counts), n_metrics))
    step = max(1, _CELLS_AT_ONCE // counts.shape[1])
    for start in range(0, len(counts), step):
        totals = counts[start : start + step].astype(np.float64) @ both
        with np.errstate(invalid="ignore"):
            np.divide(totals[:, :n_metrics], totals[:, n_metrics:], out=means[start : start + step])
    return means


def bootstrap(
    run: RunScores,
    names: Iterable[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    adjustment: LengthAdjustment | None = None,
) -> dict[str, Interval]:
    """Bootstrap the unclipped mean of each metric over prompts, all metrics on the same resamples.

    A prompt without a score in a metric adds nothing to it, so the number of examples behind a tag varies between
    resamples; a resample without any is left out of that tag's interval and out of its ``resamples``.

    Args:
        run: The run; repeats are rows with the same prompt.
        names: Metrics wanted, None for all.
        resamples: Number of resamples.
        seed: Seed of the draw.
        adjustment: Adjust each example score for length first; None for the raw scores.

    Returns:
        Intervals by metric name. A metric with scores of fewer than two prompts has no entry: nothing can be
        learnt about its spread, and a width of 0 would look like certainty.
    """
    columns: dict[str, tuple[FloatArray, FloatArray]] = {}
    prompts = np.unique(run.prompt, return_inverse=True)[1]
    n_prompts = run.n_prompts
    for name in run.metrics if names is None else names:
        if name in run.metrics:
            rows, scores = _scored(run, name, adjustment)
            by_prompt = prompts[rows]
            number = np.bincount(by_prompt, minlength=n_prompts).astype(np.float64)
            if np.count_nonzero(number) > 1:
                sums_by_prompt = np.bincount(by_prompt, scores, n_prompts).astype(np.float64)
                columns[name] = (sums_by_prompt, number)
    if not columns:
        return {}
    sums = np.column_stack([total for total, _ in columns.values()])
    numbers = np.column_stack([number for _, number in columns.values()])
    means = resampled_means(draw_counts(n_prompts, resamples, seed), sums, numbers)
    return {
        name: _interval(means[:, place], numbers[:, place]) for place, name in enumerate(columns)
    }


def reference_bootstrap_std(scores: FloatArray, resamples: int = 1000, seed: int = 0) -> float:
    """Return the statistic the reference prints as ``bootstrap_std``.

    Rows are drawn, each resampled mean is clipped to [0, 1], and the standard deviation has ddof 0. It is 0 where
    every mean clips, and it takes repeats of a prompt for independent. The reference does not seed its draw.

    Args:
        scores: Example scores, shape (n,); NaN is left out.
        resamples: Number of resamples.
        seed: Seed of the draw.

    Returns:
        The standard deviation; NaN where there is no score.
    """
    known = scores[~np.isnan(scores)]
    if len(known) == 0:
        return float("nan")
    means = resampled_means(
        draw_counts(len(known), resamples, seed), known[:, None], np.ones((len(known), 1))
    )
    return float(np.std(np.clip(means, 0.0, 1.0)))


def _scored(
    run: RunScores, name: str, adjustment: LengthAdjustment | None
) -> tuple[IntArray, FloatArray]:
    """Return the rows that have a score in a metric, and the scores."""
    metric = run.metrics[name]
    scores = metric.scores
    known = ~np.isnan(scores)
    rows, scores = metric.example[known], scores[known]
    return rows, scores if adjustment is None else adjust(scores, run.characters[rows], adjustment)


def _interval(means: FloatArray, numbers: FloatArray) -> Interval:
    known = means[~np.isnan(means)]
    low, high = np.percentile(known, PERCENTILES)
    return Interval(
        float(np.std(known)),
        float(low),
        float(high),
        len(known),
        int(numbers.sum()),
        int(np.count_nonzero(numbers)),
    )
