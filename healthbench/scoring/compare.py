"""Is one run better than another on the same prompts, and is the difference more than noise?

The unit is the prompt: each side's repeats of a prompt are averaged, so repeats on one side only are no trouble, and
with the same repeats on both sides the mean difference is that of the two runs' means. Differences are second minus
first. Intervals come from the same bootstrap over prompts as everywhere; p values from flipping the signs of prompts'
differences, which is exact under the hypothesis that the two runs could be swapped prompt by prompt.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import bdtr, ndtr, ndtri

from healthbench.scoring.matching import Matching, prompt_means
from healthbench.scoring.run_scores import OVERALL, FloatArray, IntArray, RunScores
from healthbench.scoring.uncertainty import PERCENTILES, draw_counts, resampled_means
from healthbench.taxonomy import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from healthbench.scoring.length import LengthAdjustment

ALPHA = 0.05
POWER = 0.8
PERMUTATIONS = 5000
_TIE = 1e-12
"""Prompts whose scores differ by no more are ties: rounding, not points."""
_CELLS_AT_ONCE = 640_000


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Second run less first on one metric, over prompts that have a score in both. Unclipped fractions.

    Attributes:
        name: The metric.
        first, second: Mean of each run over these prompts.
        difference: ``second - first``.
        n_prompts: Prompts with a score in both.
        standard_error, low, high: Of the difference, bootstrap over prompts (95 %); None with fewer than two prompts.
        p: Two-sided, by sign flips.
        p_holm: ``p`` adjusted by Holm within the metric's family (themes, axes, ...).
        wins, losses, ties: Prompts on which the second run scores higher, lower, the same.
        smallest_detectable: The true difference this many prompts would show in 80 % of comparisons at 5 %
            (2.8 standard errors); None with fewer than six prompts, whose signs cannot reach 5 %: 2 / 2^5 = 6 %.
    """

    name: str
    first: float
    second: float
    difference: float
    n_prompts: int
    standard_error: float | None
    low: float | None
    high: float | None
    p: float
    p_holm: float
    wins: int
    losses: int
    ties: int
    smallest_detectable: float | None

    @property
    def decisive(self) -> bool:
        """True where the interval excludes 0 and the adjusted p is at most 5 %."""
        if self.low is None or self.high is None:
            return False
        return (self.low > 0 or self.high < 0) and self.p_holm <= ALPHA


def compare_runs(
    first: RunScores,
    second: RunScores,
    matching: Matching,
    names: Iterable[str] | None = None,
    *,
    resamples: int = 1000,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    adjustment: LengthAdjustment | None = None,
) -> dict[str, PairedDifference]:
    """Compare two runs metric by metric on their shared prompts.

    Args:
        first: The run that is subtracted.
        second: The run that is asked to be better.
        matching: As ``match_examples`` returns it for the two.
        names: Metrics wanted, None for all that both have. Holm counts the wanted ones of a family.
        resamples: Resamples of the bootstrap.
        permutations: Sign flips drawn; a metric with no more flips in all is enumerated exactly.
        seed: Seed of both draws.
        adjustment: Adjust each example score for length first; None for the raw scores.

    Returns:
        Differences by metric name; a metric without a prompt scored in both has no entry.
    """
    n_prompts = len(matching.prompt_ids)
    columns: dict[str, tuple[FloatArray, FloatArray]] = {}
    for name in first.metrics if names is None else names:
        if name in first.metrics and name in second.metrics:
            means = (
                prompt_means(first, matching.first, n_prompts, name, adjustment),
                prompt_means(second, matching.second, n_prompts, name, adjustment),
            )
            if not np.isnan(means[1] - means[0]).all():
                columns[name] = means
    if not columns:
        return {}
    differences = np.column_stack([after - before for before, after in columns.values()])
    spreads = _spreads(differences, resamples, seed)
    p_values = sign_flip_p(differences, permutations, seed)
    results = {
        name: _paired(name, *columns[name], spread, p)
        for name, spread, p in zip(columns, spreads, p_values.tolist(), strict=True)
    }
    return _with_holm(results)


def sign_flip_p(
    differences: FloatArray, permutations: int = PERMUTATIONS, seed: int = 0
) -> FloatArray:
    """Test whether mean differences are 0 by flipping the signs of prompts' differences.

    Two-sided: the share of flips whose mean is at least as far from 0 as the observed one. Where the prompts that
    differ have no more flips than ``permutations``, all are enumerated; else they are drawn, the observed one counts as
    one more, and all metrics share the draws.

    Args:
        differences: By prompt and metric, shape (p, k); NaN is left out.
        permutations: Number of flips to draw, or to enumerate at most.
        seed: Seed of the draw.

    Returns:
        p values in (0, 1], shape (k,); 1 where no prompt differs.
    """
    known = np.where(np.isnan(differences), 0.0, differences)
    p_values = np.ones(known.shape[1])
    few = np.count_nonzero(known, axis=0) <= int(np.log2(permutations))
    for column in np.flatnonzero(few).tolist():
        differing = known[known[:, column] != 0, column]
        flips = np.arange(2 ** len(differing))[:, None] >> np.arange(len(differing)) & 1
        p_values[column] = _as_far(flips.astype(np.float64), differing[:, None]).mean()
    if not few.all():
        drawn = known[:, ~few]
        rng = np.random.default_rng(seed)
        hits = np.zeros(drawn.shape[1])
        step = max(1, _CELLS_AT_ONCE // len(drawn))
        for start in range(0, permutations, step):
            rows = min(step, permutations - start)
            # Eight signs a byte: drawing them is much of the cost.
            packed = rng.integers(0, 256, size=(rows, -(-len(drawn) // 8)), dtype=np.uint8)
            signs = np.unpackbits(packed, axis=1, count=len(drawn)).astype(np.float64)
            hits += _as_far(signs, drawn).sum(axis=0)
        p_values[~few] = (1 + hits) / (1 + permutations)
    return p_values


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values of one family by Holm's step-down method.

    Returns:
        Adjusted values in the given order, at most 1.
    """
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - rank) * p_values[place])
        adjusted[place] = min(1.0, largest)
    return adjusted


def mcnemar_p(fixed: int, regressed: int) -> float:
    """Test exactly whether verdicts flip one way more than the other.

    Args:
        fixed: Criteria not met in the first run and met in the second.
        regressed: Criteria met in the first and not met in the second.

    Returns:
        Two-sided p of the binomial test on the flips; 1 where nothing flipped.
    """
    flips = fixed + regressed
    # At one half the distribution is symmetric: twice its smaller tail.
    return min(1.0, 2 * float(bdtr(min(fixed, regressed), flips, 0.5))) if flips else 1.0


class LengthPart(NamedTuple):
    """How much of a difference between two runs is length, on the prompts scored in both.

    ``raw = adjusted + length``: unclipped fractions. ``length`` is what the second run's extra characters are
    worth at the adjustment's price.
    """

    raw: float
    adjusted: float
    length: float


def length_part(
    first: RunScores, second: RunScores, matching: Matching, adjustment: LengthAdjustment
) -> LengthPart | None:
    """Split the overall difference into what the length adjustment removes and what it leaves; None without scores."""
    n_prompts = len(matching.prompt_ids)
    raw, adjusted = (
        prompt_means(second, matching.second, n_prompts, OVERALL, chosen)
        - prompt_means(first, matching.first, n_prompts, OVERALL, chosen)
        for chosen in (None, adjustment)
    )
    if np.isnan(raw).all():
        return None
    whole, left = float(np.nanmean(raw)), float(np.nanmean(adjusted))
    return LengthPart(whole, left, whole - left)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Several runs over the same prompts, compared two by two.

    Attributes:
        rank: 1 + the number of runs that are decisively better, shape (r,): runs that share a rank are a group.
        decisive: True where the run of the row is decisively better than that of the column, shape (r, r).
    """

    rank: IntArray
    decisive: np.ndarray[tuple[int, int], np.dtype[np.bool_]]


def rank_runs(scores: FloatArray, resamples: int = 1000, seed: int = 0) -> Ranking:
    """Rank runs by which differences are decisive, with Holm over all pairs.

    Holm over hundreds of pairs asks for p values smaller than drawn sign flips can give, so these come from the
    difference over its bootstrap standard error, as a normal deviate.

    Args:
        scores: Prompt means of each run on the same prompts, shape (p, r). Prompts on which a run has no score (NaN)
            are left out for all.
        resamples: Resamples of the bootstrap, shared by all runs.
        seed: Seed of the draw.
    """
    n_runs = scores.shape[1]
    decisive = np.zeros((n_runs, n_runs), dtype=np.bool_)
    common = scores[~np.isnan(scores).any(axis=1)]
    if len(common) > 1 and n_runs > 1:
        worse, better = _ordered_pairs(common.mean(axis=0))
        counts = draw_counts(len(common), resamples, seed)
        means = resampled_means(counts, common, np.ones(common.shape))
        resampled = means[:, better] - means[:, worse]
        observed = common[:, better].mean(axis=0) - common[:, worse].mean(axis=0)
        errors = np.maximum(resampled.std(axis=0), np.finfo(float).tiny)
        p_values = np.array(holm((2 * ndtr(-observed / errors)).tolist()))
        lows = np.percentile(resampled, PERCENTILES[0], axis=0)
        sure = (lows > _TIE) & (p_values <= ALPHA)
        decisive[better[sure], worse[sure]] = True
    return Ranking(1 + decisive.sum(axis=0), decisive)


def _ordered_pairs(means: FloatArray) -> tuple[IntArray, IntArray]:
    """Return every pair of runs, the one with the smaller mean first."""
    ascending = np.argsort(means, kind="stable")
    lower, higher = np.triu_indices(len(means), 1)
    return ascending[lower], ascending[higher]


class _Spread(NamedTuple):
    standard_error: float
    low: float
    high: float


def _spreads(differences: FloatArray, resamples: int, seed: int) -> list[_Spread | None]:
    """Bootstrap mean differences over prompts, all metrics on the same resamples; shape (p, k) in."""
    known = ~np.isnan(differences)
    means = resampled_means(
        draw_counts(len(differences), resamples, seed),
        np.where(known, differences, 0.0),
        known.astype(np.float64),
    )
    spreads: list[_Spread | None] = []
    for column, n_prompts in enumerate(known.sum(axis=0).tolist()):
        resampled = means[:, column]
        resampled = resampled[~np.isnan(resampled)]
        if n_prompts < 2:
            spreads.append(None)
        else:
            low, high = np.percentile(resampled, PERCENTILES)
            spreads.append(_Spread(float(resampled.std()), float(low), float(high)))
    return spreads


def _paired(
    name: str, first: FloatArray, second: FloatArray, spread: _Spread | None, p: float
) -> PairedDifference:
    difference = second - first
    both = ~np.isnan(difference)
    difference = difference[both]
    standard_error, low, high = spread or (None, None, None)
    detectable = float(ndtri(1 - ALPHA / 2) + ndtri(POWER))
    return PairedDifference(
        name=name,
        first=float(first[both].mean()),
        second=float(second[both].mean()),
        difference=float(difference.mean()),
        n_prompts=len(difference),
        standard_error=standard_error,
        low=low,
        high=high,
        p=p,
        p_holm=p,
        wins=int((difference > _TIE).sum()),
        losses=int((difference < -_TIE).sum()),
        ties=int((np.abs(difference) <= _TIE).sum()),
        smallest_detectable=None
        if standard_error is None or 2.0 ** (1 - len(difference)) > ALPHA
        else detectable * standard_error,
    )


def _with_holm(results: dict[str, PairedDifference]) -> dict[str, PairedDifference]:
    families: dict[str, list[str]] = defaultdict(list)
    for name in results:
        families[kind_of(name)].append(name)
    adjusted = {
        name: p
        for names in families.values()
        for name, p in zip(names, holm([results[name].p for name in names]), strict=True)
    }
    return {name: replace(result, p_holm=adjusted[name]) for name, result in results.items()}


def _as_far(
    flips: FloatArray, differences: FloatArray
) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Tell which flips (1 flips a sign; shape (f, p)) put a sum at least as far from 0 as it is; shape (f, k)."""
    sums = differences.sum(axis=0)
    rounding = 1e-9 * np.abs(differences).sum(axis=0)
    far: np.ndarray[tuple[int, int], np.dtype[np.bool_]] = (
        np.abs(sums - 2.0 * (flips @ differences)) >= np.abs(sums) - rounding
    )
    return far
