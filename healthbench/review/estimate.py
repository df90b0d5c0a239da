"""The score a run would have if every verdict were reviewed, estimated from those that were.

What was reviewed is known and counted as it is. For the rest the verdicts of a random sample speak: the correction they
call for, per point of leverage, weighted by how much of the rest each stands for (its chance p of being drawn gives it
the weight (1 - p) / p). A verdict reviewed for another reason than chance speaks for nothing but itself.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from healthbench.scoring.uncertainty import PERCENTILES, draw_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt
    import pandas as pd

    from healthbench.review.effective import HumanVerdict
    from healthbench.review.reviewed import Place
    from healthbench.scoring.agreement import BoolArray
    from healthbench.scoring.run_scores import FloatArray
    from healthbench.store.journal import Event, Item


@dataclass(frozen=True, slots=True)
class Estimate:
    """The unclipped mean after full review, over the examples of which the grader gave every verdict. Fractions.

    Attributes:
        by_grader: The mean with the grader's verdicts.
        with_reviews: The mean with the reviews there are.
        value: The mean if every verdict were reviewed.
        low, high: 95 % interval of ``value``, bootstrap over the sample's prompts; it holds the luck of the draw, not
            the reviewers' own uncertainty. None with fewer than two prompts.
        wrong: Share of the run's verdicts that a reviewer would change.
        n_reviewed: Verdicts reviewed.
        n_sampled: Those of them that were drawn by chance.
        n_left: Verdicts not reviewed.
    """

    by_grader: float
    with_reviews: float
    value: float
    low: float | None
    high: float | None
    wrong: float
    n_reviewed: int
    n_sampled: int
    n_left: int

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def drawn(events: Iterable[Event]) -> dict[str, dict[Place, float]]:
    """Return the chances of the verdicts that were decided from samples, by queue."""
    chances: dict[str, dict[Place, float]] = defaultdict(dict)
    for event in events:
        if event.queue is not None and event.chance is not None:
            chances[event.queue][event.example, event.position] = event.chance
    return dict(chances)


def inverse_chances(chances: Mapping[Place, float], share: float = 1.0) -> dict[Place, float]:
    """Return how many verdicts of the run each verdict of a sample stands for.

    Args:
        chances: Chance of each in the whole sample.
        share: Share of the sample that was decided; it was shuffled, so those decided are a sample of it.
    """
    return {place: 1 / (chance * share) for place, chance in chances.items()}


def estimated_score(
    rows: pd.DataFrame,
    verdicts: Mapping[Item, HumanVerdict],
    chances: Mapping[Place, float],
    share: float = 1.0,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Estimate | None:
    """Estimate the score after full review.

    Args:
        rows: The run's verdicts, as ``queues.population`` returns them.
        verdicts: What people say, of this run.
        chances: Chances of the verdicts of one sample, as ``drawn`` returns them for its queue.
        share: Share of that sample that was decided.
        resamples: Number of resamples.
        seed: Seed of the draw.

    Returns:
        The estimate; None where no verdict of the sample was judged.
    """
    rows = rows[(rows["n_unknown"] == 0) & rows["leverage"].notna()]
    human = {
        (item.example, item.position): verdict.met
        for item, verdict in verdicts.items()
        if verdict.met is not None
    }
    places = list(zip(rows["example"].tolist(), rows["position"].tolist(), strict=True))
    judged = np.array([place in human for place in places], dtype=np.bool_)
    said = np.array([human.get(place, False) for place in places], dtype=np.bool_)
    chance = np.array([share * chances.get(place, np.nan) for place in places], dtype=np.float64)
    sampled = judged & ~np.isnan(chance)
    if not sampled.any():
        return None
    met = rows["met"].to_numpy(dtype=np.bool_)
    points, possible = (rows[name].to_numpy(dtype=np.float64) for name in ("points", "possible"))
    worth = points / possible / rows["example"].nunique()
    correction = np.where(judged, worth * (said.astype(np.int8) - met.astype(np.int8)), 0.0)
    weight = np.where(sampled, (1 - chance) / chance, 0.0)
    rest = float(np.abs(worth[~judged]).sum())
    known = float((worth * met).sum()) + float(correction.sum())
    columns = np.column_stack([weight * correction, weight * np.abs(worth)])[sampled]
    prompts = rows["prompt_id"].to_numpy()[sampled]
    ratio = _ratio(columns.sum(axis=0))
    # What the rest holds differs from the sample by the luck of both: the sample's own spread alone is the smaller,
    # the more of the run was drawn.
    wider = np.sqrt(1 + float(np.abs(worth[sampled]).sum()) / rest) if rest else 1.0
    interval = _ratio_interval(columns, prompts, resamples, seed)
    return Estimate(
        by_grader=float((worth * met).sum()),
        with_reviews=known,
        value=known + rest * ratio,
        low=None if interval is None else known + rest * (ratio + wider * (interval[0] - ratio)),
        high=None if interval is None else known + rest * (ratio + wider * (interval[1] - ratio)),
        wrong=_wrong(judged, sampled, said != met, weight),
        n_reviewed=int(judged.sum()),
        n_sampled=int(sampled.sum()),
        n_left=int((~judged).sum()),
    )


def _wrong(judged: BoolArray, sampled: BoolArray, differs: BoolArray, weight: FloatArray) -> float:
    """Return the share of all verdicts that a reviewer would change: counted where judged, estimated for the rest."""
    of_rest = float(weight[sampled & differs].sum()) / (float(weight[sampled].sum()) or np.inf)
    return (float((judged & differs).sum()) + float((~judged).sum()) * of_rest) / len(judged)


def _ratio(sums: FloatArray) -> float:
    return float(sums[0] / sums[1]) if sums[1] else 0.0


def _ratio_interval(
    columns: FloatArray, prompts: npt.NDArray[Any], resamples: int, seed: int
) -> tuple[float, float] | None:
    """Bootstrap the ratio of two columns' sums over prompts; None with fewer than two."""
    names, group = np.unique(prompts, return_inverse=True)
    if len(names) < 2:
        return None
    by_prompt = np.column_stack([np.bincount(group, column, len(names)) for column in columns.T])
    totals = draw_counts(len(names), resamples, seed).astype(np.float64) @ by_prompt
    ratios = np.divide(totals[:, 0], totals[:, 1], out=np.zeros(resamples), where=totals[:, 1] > 0)
    low, high = np.percentile(ratios, PERCENTILES)
    return float(low), float(high)
