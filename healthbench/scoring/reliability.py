"""How far to trust a repeat: worst-at-k, the spread of repeated runs, and where the variance comes from.

Sources: worst-at-k and the spread over runs, HealthBench (arXiv 2505.08775), section 6.4 and Table 7; the split of
variance and its standard error, HealthBench Professional (arXiv 2604.27470), section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from healthbench.scoring.example import clip
from healthbench.scoring.run_scores import OVERALL, FloatArray, IntArray, RunScores
from healthbench.scoring.uncertainty import PERCENTILES, draw_counts, resampled_means

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Repeats:
    """Example scores of one metric, a row a prompt and a column a repeat.

    Attributes:
        name: The metric.
        prompts: Number of the prompt of each row in its run, shape (p,); in joined runs, in the order of the first.
        scores: Unclipped fractions, shape (p, m); NaN where a prompt has no such repeat or it has no score.
    """

    name: str
    prompts: IntArray
    scores: FloatArray

    @property
    def n_repeats(self) -> int:
        """Largest number of repeats of a prompt."""
        return int(self.scores.shape[1])


def repeats_of(run: RunScores, name: str = OVERALL) -> Repeats:
    """Arrange a run's example scores by prompt and repeat; the k-th row of a prompt is its k-th repeat."""
    prompts, place = np.unique(run.prompt, return_inverse=True)
    return Repeats(name, prompts, _arranged(run, name, place, len(prompts)))


def joined_repeats(
    runs: Sequence[RunScores], prompt_ids: Sequence[Sequence[str]], name: str = OVERALL
) -> Repeats:
    """Join runs of one model as repeats, over the prompts that all of them hold.

    Args:
        runs: At least one run; each may have repeats of its own.
        prompt_ids: For each run, the prompt_id of each of its examples, in its order.
        name: The metric; a run that does not have it adds repeats without a score.
    """
    shared = set(prompt_ids[0]).intersection(*prompt_ids[1:])
    kept = [prompt_id for prompt_id in dict.fromkeys(prompt_ids[0]) if prompt_id in shared]
    places = {prompt_id: place for place, prompt_id in enumerate(kept)}
    columns = [
        _arranged(run, name, np.array([places.get(i, -1) for i in ids], dtype=np.int64), len(kept))
        for run, ids in zip(runs, prompt_ids, strict=True)
    ]
    return Repeats(name, np.arange(len(kept)), np.hstack(columns))


def worst_at_k(scores: FloatArray) -> FloatArray:
    """Return each prompt's expected minimum over k of its replies, for every k.

    Closed form, with x the prompt's N scores in ascending order: the sum over i of x_i * C(N - i, k - 1) / C(N, k),
    which is the mean minimum over all subsets of size k. Nothing is clipped here.

    Args:
        scores: As in ``Repeats``, shape (p, m); NaN is left out, so N may differ between prompts.

    Returns:
        Expected minima, shape (p, m), column k - 1 for k; NaN where the prompt has fewer than k scores.
    """
    worst = np.full(scores.shape, np.nan)
    ascending = np.sort(scores, axis=1)  # NaN comes last
    counts = np.count_nonzero(~np.isnan(scores), axis=1)
    for n in np.unique(counts[counts > 0]).tolist():
        weights = np.array(
            [
                [math.comb(n - i, k - 1) / math.comb(n, k) for k in range(1, n + 1)]
                for i in range(1, n + 1)
            ]
        )
        rows = counts == n
        worst[rows, :n] = ascending[rows, :n] @ weights
    return worst


class WorstAtK(NamedTuple):
    """The score to expect if the worst of k replies counted; fractions of 1.

    Attributes:
        k: Number of replies.
        score: Mean over prompts, clipped once to [0, 1].
        unclipped: The mean itself.
        low, high: 95 % interval of the unclipped mean, bootstrap over prompts; None with fewer than two prompts.
        n_prompts: Prompts with at least k scores.
    """

    k: int
    score: float
    unclipped: float
    low: float | None
    high: float | None
    n_prompts: int


def worst_at_k_curve(repeats: Repeats, resamples: int = 1000, seed: int = 0) -> list[WorstAtK]:
    """Compute worst-at-k for every k that some prompt has scores for, with intervals over prompts."""
    worst = worst_at_k(repeats.scores)
    known = ~np.isnan(worst)
    numbers = known.sum(axis=0)
    if not numbers.any():
        return []
    counts = draw_counts(len(worst), resamples, seed)
    means = resampled_means(counts, np.where(known, worst, 0.0), known.astype(np.float64))
    curve = []
    for column, n_prompts in enumerate(numbers.tolist()):
        if n_prompts:
            unclipped = float(np.mean(worst[known[:, column], column]))
            low, high = _interval(means[:, column]) if n_prompts > 1 else (None, None)
            curve.append(WorstAtK(column + 1, clip(unclipped), unclipped, low, high, n_prompts))
    return curve


@dataclass(frozen=True, slots=True)
class RepeatSpread:
    """The run score of each repeat and its spread, as the paper's Table 7 has them.

    It mixes the noise of answering and of grading on the same prompts and says nothing about other prompts.

    Attributes:
        scores: Run score of each repeat (mean over its prompts, clipped once), shape (m,).
        mean, sd, low, high: Mean, standard deviation (ddof 0, as the reference has it), smallest and largest of them.
        n_prompts: Scored prompts of each repeat, shape (m,); where they differ, so do the sets behind the scores.
    """

    scores: FloatArray
    mean: float
    sd: float
    low: float
    high: float
    n_prompts: IntArray


def repeat_spread(repeats: Repeats) -> RepeatSpread | None:
    """Score every repeat as a run of its own; None where no repeat has a score."""
    known = ~np.isnan(repeats.scores)
    numbers = known.sum(axis=0)
    scored = numbers > 0
    if not scored.any():
        return None
    means = np.nansum(repeats.scores[:, scored], axis=0) / numbers[scored]
    scores = np.clip(means, 0.0, 1.0)
    return RepeatSpread(
        scores,
        float(scores.mean()),
        float(scores.std()),
        float(scores.min()),
        float(scores.max()),
        numbers[scored],
    )


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """Where the variance of example scores comes from; all in squared fractions.

    Attributes:
        between_prompts: Variance of the prompts' true means: max(0, Var(prompt means) - within / mean_repeats).
        within: Mean variance of the repeats of a prompt (ddof 1): answering and grading together.
        gradings: The part of ``within`` that grading the same replies again shows, at most ``within``; None where
            no regrade is at hand.
        n_prompts: Prompts with a score.
        mean_repeats: Mean number of scored repeats of a prompt.
    """

    between_prompts: float
    within: float
    gradings: float | None
    n_prompts: int
    mean_repeats: float

    @property
    def between_replies(self) -> float | None:
        """The part of ``within`` that is not grading; None where no regrade is at hand."""
        return None if self.gradings is None else self.within - self.gradings

    @property
    def standard_error(self) -> float:
        """Standard error of the run's mean for other prompts and other replies, a fraction."""
        return self.standard_error_with(self.n_prompts, self.mean_repeats)

    def standard_error_with(self, n_prompts: float, repeats: float) -> float:
        """Return the standard error that so many prompts with so many repeats each would have."""
        return math.sqrt(self.between_prompts / n_prompts + self.within / (n_prompts * repeats))

    @property
    def prompts_to_halve(self) -> int:
        """Prompts needed, at the same repeats, for half the standard error: four times as many."""
        return 4 * self.n_prompts

    @property
    def repeats_to_halve(self) -> int | None:
        """Repeats needed, on the same prompts, for half the standard error; None where no number is enough."""
        left_for_replies = self.standard_error**2 / 4 * self.n_prompts - self.between_prompts
        if left_for_replies <= 0:
            return None
        return math.ceil(self.within / left_for_replies - 1e-9)


def variance_split(repeats: Repeats, grading_variance: float | None = None) -> VarianceSplit | None:
    """Split the variance of example scores between prompts and within them.

    Args:
        repeats: Example scores by prompt and repeat.
        grading_variance: As ``grading_variance`` returns it, where the same replies were graded twice.

    Returns:
        The split; None with fewer than two prompts or where no prompt has two scores.
    """
    counts = np.count_nonzero(~np.isnan(repeats.scores), axis=1)
    scores = repeats.scores[counts > 0]
    counts = counts[counts > 0]
    if len(counts) < 2 or not (counts > 1).any():
        return None
    means = np.nansum(scores, axis=1) / counts
    within = float(np.mean(np.nanvar(scores[counts > 1], axis=1, ddof=1)))
    mean_repeats = float(counts.mean())
    between = max(0.0, float(np.var(means, ddof=1)) - within / mean_repeats)
    gradings = None if grading_variance is None else min(within, grading_variance)
    return VarianceSplit(between, within, gradings, len(counts), mean_repeats)


def grading_variance(first: FloatArray, second: FloatArray) -> float | None:
    """Return the variance that grading adds to an example score: half the mean squared difference of two gradings.

    Args:
        first: Scores of replies by one grading, shape (n,); NaN has no score.
        second: Scores of the same replies in the same order by another, shape (n,).

    Returns:
        A squared fraction; None where no reply has both.
    """
    squares = (first - second) ** 2
    squares = squares[~np.isnan(squares)]
    return float(squares.mean()) / 2 if len(squares) else None


@dataclass(frozen=True, slots=True)
class PromptSpread:
    """Each prompt's scores over its repeats, one row a scored prompt; unclipped fractions, all shape (p,).

    Attributes:
        prompts: As in ``Repeats``.
        mean, worst, best, sd: Over the prompt's scored repeats; sd with ddof 0.
        n: Number of scored repeats.
    """

    prompts: IntArray
    mean: FloatArray
    worst: FloatArray
    best: FloatArray
    sd: FloatArray
    n: IntArray


def prompt_spread(repeats: Repeats) -> PromptSpread:
    """Summarize each prompt over its repeats, to find those that are good on average and bad at worst."""
    counts = np.count_nonzero(~np.isnan(repeats.scores), axis=1)
    scored = counts > 0
    scores = repeats.scores[scored]
    return PromptSpread(
        repeats.prompts[scored],
        np.nanmean(scores, axis=1),
        np.nanmin(scores, axis=1),
        np.nanmax(scores, axis=1),
        np.nanstd(scores, axis=1),
        counts[scored],
    )


def _arranged(run: RunScores, name: str, place: IntArray, n_prompts: int) -> FloatArray:
    """Arrange scores by prompt and repeat.

    Args:
        run: The run.
        name: The metric.
        place: Row of each example's prompt in the result, shape (n,); -1 leaves the example out.
        n_prompts: Rows of the result.
    """
    kept = np.flatnonzero(place >= 0)
    by_prompt = kept[np.argsort(place[kept], kind="stable")]
    counts = np.bincount(place[kept], minlength=n_prompts)
    firsts = np.cumsum(counts) - counts
    repeat = np.zeros(len(place), dtype=np.int64)
    repeat[by_prompt] = np.arange(len(by_prompt)) - np.repeat(firsts, counts)
    arranged = np.full((n_prompts, int(counts.max(initial=0))), np.nan)
    if name in run.metrics:
        metric = run.metrics[name]
        inside = place[metric.example] >= 0
        rows = metric.example[inside]
        arranged[place[rows], repeat[rows]] = metric.scores[inside]
    return arranged


def _interval(means: FloatArray) -> tuple[float, float]:
    low, high = np.percentile(means[~np.isnan(means)], PERCENTILES)
    return float(low), float(high)
