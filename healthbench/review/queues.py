"""Which verdicts to review, in which order, and with which chance each was drawn.

The chance of a draw is kept with every verdict, so that figures from the reviewed ones can be weighted back to the run.
A queue whose kind gives the grader's verdict away (penalties incurred: the grader said met) can be mixed with as many
others, so that the reviewer stays blind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from healthbench.errors import InputRefusedError
from healthbench.review.slips import suspicion
from healthbench.store import filters
from healthbench.store.hub import schema
from healthbench.store.journal import Item
from healthbench.store.records import ExampleFilter
from healthbench.store.tables import sql

if TYPE_CHECKING:
    from collections.abc import Callable

    from healthbench.scoring.run_scores import FloatArray, IntArray
    from healthbench.store.library import Library

CONFIDENCE = 1.959963984540054
"""Standard normal deviate of a 95 % interval."""
ASSUMED_WRONG = 0.25
"""Share of wrong verdicts assumed when a queue's size is planned before anything is reviewed: physicians agree with
the grader, and with each other, on 55 to 75 % of consensus criteria (HealthBench, arXiv 2505.08775, section 9)."""


class QueueKind(StrEnum):
    """How a queue's verdicts are chosen."""

    LEVERAGE = "leverage"
    LEVERAGE_SAMPLE = "leverage sample"
    RANDOM = "random"
    PENALTIES = "penalties"
    CONSENSUS = "consensus"
    DISAGREEMENTS = "disagreements"
    FLICKERING = "flickering"
    SLIPS = "slips"
    SLICE = "slice"
    EXAMPLE = "example"


SAMPLES = (QueueKind.LEVERAGE_SAMPLE, QueueKind.RANDOM)
"""Kinds in which every verdict of the run has a chance, so that the run's score can be estimated."""
TELLING = (QueueKind.PENALTIES, QueueKind.SLIPS)
"""Kinds that give the grader's verdict away to whoever knows the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a queue is made from.

    Attributes:
        kind: How its verdicts are chosen.
        run: The run.
        other: The second run, for ``DISAGREEMENTS`` only.
        size: Largest number of verdicts; None for all there are (or as many as ``within`` takes).
        within: For leverage and samples: so many that the score would be known to within this fraction.
        wrong: Share of wrong verdicts assumed for ``within`` of a sample.
        seed: Seed of every draw.
        mixed: Mix in as many verdicts drawn from the rest.
        example: Row of the example, for ``EXAMPLE`` only.
        filters: Which criteria, for ``SLICE`` only; conditions on example and criterion both hold.
    """

    kind: QueueKind
    run: str
    other: str | None = None
    size: int | None = None
    within: float | None = None
    wrong: float = ASSUMED_WRONG
    seed: int = 0
    mixed: bool = False
    example: int | None = None
    filters: ExampleFilter = field(default_factory=ExampleFilter)


class Entry(NamedTuple):
    """One place of a queue.

    Attributes:
        item: The verdict.
        chance: Chance with which it was drawn from all verdicts of the run, in (0, 1]; None in a queue that is no
            sample of the run.
    """

    item: Item
    chance: float | None


def population(library: Library, run_id: str) -> pd.DataFrame:
    """Return every verdict of a run with what it weighs.

    Returns:
        One row a verdict, in file order: example, position, points, met (nullable), axis, cluster, theme (None where
        there is none), prompt_id, possible, n_unknown, and ``leverage``: how far this one verdict can move the run's
        unclipped mean (a fraction; NaN where the example has no score).
    """
    with library.cursor(run_id) as cursor:
        rows = cursor.execute(sql("review_items")).df()
    scored = rows["possible"] > 0
    n_examples = rows.loc[scored, "example"].nunique()
    leverage = rows["points"].abs() / rows["possible"].where(scored) / max(n_examples, 1)
    return rows.assign(leverage=leverage)


def make_queue(library: Library, plan: Plan) -> list[Entry]:
    """Choose the verdicts of a queue.

    Raises:
        InputRefusedError: The plan is incomplete or nothing fits it.
        StoreError: A run is not in the store.
    """
    if plan.size is not None and plan.size < 1:
        raise InputRefusedError(
            f"A queue of {plan.size} verdicts is none: give a size of at least 1."
        )
    rows = population(library, plan.run)
    rng = np.random.default_rng(plan.seed)
    if plan.kind == QueueKind.LEVERAGE:
        chosen, chances = _largest_first(rows, plan), None
    elif plan.kind == QueueKind.LEVERAGE_SAMPLE:
        chosen, chances = _sample_by_leverage(rows, plan, rng)
    elif plan.kind == QueueKind.RANDOM:
        chosen, chances = _sample_by_strata(rows, plan, rng)
    elif plan.kind == QueueKind.DISAGREEMENTS:
        return _disagreements(library, plan, rng)
    else:
        chosen, chances = _some(_MATCHES[plan.kind](library, rows, plan), plan, rng), None
    if len(chosen) == 0:
        raise InputRefusedError(
            "Nothing in this run fits the queue: choose another kind, slice or run."
        )
    if plan.mixed:
        chosen, chances = _mixed(rows, chosen, rng), None
    return _entries(plan.run, rows.loc[chosen], chances)


def _entries(run: str, rows: pd.DataFrame, chances: FloatArray | None) -> list[Entry]:
    places = zip(rows["example"].tolist(), rows["position"].tolist(), strict=True)
    given = [None] * len(rows) if chances is None else chances.tolist()
    return [
        Entry(Item(run, example, position), chance)
        for (example, position), chance in zip(places, given, strict=True)
    ]


# Kinds that take all there is of something


def _penalties(_: Library, rows: pd.DataFrame, __: Plan) -> pd.Index:
    incurred = rows[(rows["points"] < 0) & rows["met"].eq(other=True).fillna(value=False)]
    return incurred.sort_values(["points", "example", "position"]).index


def _consensus(_: Library, rows: pd.DataFrame, __: Plan) -> pd.Index:
    return rows.index[rows["cluster"].notna()]


def _one_example(_: Library, rows: pd.DataFrame, plan: Plan) -> pd.Index:
    return rows.index[rows["example"] == plan.example]


def _slice(library: Library, rows: pd.DataFrame, plan: Plan) -> pd.Index:
    where, values = filters.item_condition(plan.filters)
    with library.cursor(plan.run) as cursor:
        query = f"SELECT items.example, items.position FROM items JOIN criteria USING (criterion) WHERE {where}"
        return _labels(rows, cursor.execute(query, values).df())


def _flickering(library: Library, rows: pd.DataFrame, plan: Plan) -> pd.Index:
    with library.cursor(plan.run) as cursor:
        return _labels(rows, cursor.execute(sql("review_flickering")).df())


def _slips(library: Library, rows: pd.DataFrame, plan: Plan) -> pd.Index:
    with library.cursor(plan.run) as cursor:
        found = cursor.execute(sql("review_explanations")).df()
    doubts = [
        suspicion(criterion, explanation, met=bool(met))
        for criterion, explanation, met in zip(
            found["criterion"], found["explanation"], found["met"], strict=True
        )
    ]
    found = found.assign(doubt=doubts)
    return _labels(
        rows, found[found["doubt"] > 0].sort_values("doubt", ascending=False, kind="stable")
    )


def _labels(rows: pd.DataFrame, wanted: pd.DataFrame) -> pd.Index:
    """Return the labels in ``rows`` of some verdicts, in the order in which they are wanted."""
    label = pd.Series(rows.index, pd.MultiIndex.from_frame(rows[["example", "position"]]))
    keys = pd.MultiIndex.from_frame(wanted[["example", "position"]])
    return pd.Index(label.reindex(keys).dropna().astype("int64").to_numpy())


_MATCHES: dict[QueueKind, Callable[[Library, pd.DataFrame, Plan], pd.Index]] = {
    QueueKind.PENALTIES: _penalties,
    QueueKind.CONSENSUS: _consensus,
    QueueKind.EXAMPLE: _one_example,
    QueueKind.SLICE: _slice,
    QueueKind.FLICKERING: _flickering,
    QueueKind.SLIPS: _slips,
}


def _some(labels: pd.Index, plan: Plan, rng: np.random.Generator) -> pd.Index:
    """Take all of them in order, or as many as wanted: the first of a ranked kind, else drawn at random."""
    if plan.size is None or plan.size >= len(labels):
        return labels
    if plan.kind in TELLING:
        return labels[: plan.size]
    return labels[rng.permutation(len(labels))[: plan.size]]


def _mixed(rows: pd.DataFrame, chosen: pd.Index, rng: np.random.Generator) -> pd.Index:
    """Add as many verdicts of the same sign from the rest, and shuffle them together."""
    added = []
    for negative in (False, True):
        of_sign = (rows["points"] < 0) == negative
        rest = rows.index[of_sign & ~rows.index.isin(chosen)]
        n_wanted = int(of_sign.loc[chosen].sum())
        added.append(rest[rng.permutation(len(rest))[:n_wanted]].to_numpy())
    together = np.concatenate([chosen.to_numpy(), *added])
    shuffled: pd.Index = pd.Index(together[rng.permutation(len(together))])
    return shuffled


def _disagreements(library: Library, plan: Plan, rng: np.random.Generator) -> list[Entry]:
    """Choose where two runs differ: this run's verdicts where the replies are equal, else both runs'."""
    if plan.other is None or plan.other == plan.run:
        raise InputRefusedError("Disagreements are between two runs: choose a second one.")
    library.ready(plan.run)
    library.ready(plan.other)
    with library.cursor() as cursor:
        query = sql("review_disagreements", first=schema(plan.run), second=schema(plan.other))
        found = cursor.execute(query).df()
    entries = []
    columns = ("example", "position", "other_example", "other_position", "same_reply")
    for example, position, other_example, other_position, same in zip(
        *(found[column].tolist() for column in columns), strict=True
    ):
        entries.append(Entry(Item(plan.run, example, position), None))
        if not same:
            entries.append(Entry(Item(plan.other, other_example, other_position), None))
    if not entries:
        raise InputRefusedError(
            "The two runs give no different verdict on a shared prompt and criterion: there is nothing to review."
        )
    if plan.size is None or plan.size >= len(entries):
        return entries
    drawn = rng.permutation(len(entries))[: plan.size].tolist()
    return [entries[place] for place in drawn]


# Leverage and samples


def _largest_first(rows: pd.DataFrame, plan: Plan) -> pd.Index:
    """Return verdicts by leverage; with ``within`` as many as leave the rest unable to move the score further.

    What is left could raise the score by the met penalties and unmet positive criteria among it, and lower it by the
    others; an unknown verdict could do either.
    """
    ranked = rows[rows["leverage"].notna()].sort_values(
        ["leverage", "example", "position"], ascending=[False, True, True]
    )
    n_wanted = len(ranked)
    if plan.within is not None:
        met = ranked["met"]
        raises = met.isna() | ((ranked["points"] > 0) != met.fillna(value=False).astype(bool))
        lowers = met.isna() | ~raises
        leverage = ranked["leverage"].to_numpy(dtype=np.float64)
        left = [
            np.cumsum((leverage * side.to_numpy(dtype=bool))[::-1])[::-1]
            for side in (raises, lowers)
        ]
        enough = np.append(np.maximum(*left), 0.0) <= plan.within
        n_wanted = int(np.argmax(enough))
    if plan.size is not None:
        n_wanted = min(n_wanted, plan.size)
    return ranked.index[: max(n_wanted, 1)]


def _sample_by_leverage(
    rows: pd.DataFrame, plan: Plan, rng: np.random.Generator
) -> tuple[pd.Index, FloatArray]:
    """Draw with chances proportional to leverage, systematically along a random order, and shuffle."""
    scored = rows[rows["leverage"].notna()]
    leverage = scored["leverage"].to_numpy(dtype=np.float64)
    wanted = _sample_size(leverage, plan, by_leverage=True)
    chances = _proportional_chances(leverage, wanted)
    order = rng.permutation(len(scored))
    starts_at = rng.random()
    marks = np.floor(np.append(starts_at, starts_at + np.cumsum(chances[order])))
    taken = np.diff(marks) > 0
    drawn = rng.permutation(order[taken])
    return scored.index[drawn], chances[drawn]


def _proportional_chances(leverage: FloatArray, wanted: int) -> FloatArray:
    """Return chances proportional to leverage that sum to ``wanted``; what would exceed 1 is taken for certain."""
    chances = np.ones(len(leverage))
    open_ = np.ones(len(leverage), dtype=bool)
    while open_.any() and wanted < len(leverage):
        share = (wanted - (~open_).sum()) * leverage / leverage[open_].sum()
        certain = open_ & (share >= 1)
        chances[open_] = share[open_]
        if not certain.any():
            break
        chances[certain] = 1.0
        open_ &= ~certain
    return chances


def _sample_by_strata(
    rows: pd.DataFrame, plan: Plan, rng: np.random.Generator
) -> tuple[pd.Index, FloatArray]:
    """Draw from every theme, axis and sign in proportion to its size, and shuffle."""
    scored = rows[rows["leverage"].notna()]
    strata = scored.groupby(
        [scored["theme"].fillna(""), scored["axis"].fillna(""), scored["points"] > 0]
    )
    groups = [np.asarray(places, dtype=np.int64) for places in strata.indices.values()]
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    wanted = _sample_size(scored["leverage"].to_numpy(dtype=np.float64), plan, by_leverage=False)
    drawn, chances = [], []
    for group, take in zip(groups, allocate(sizes, wanted).tolist(), strict=True):
        drawn.append(rng.permutation(group)[:take])
        chances.append(np.full(take, take / len(group)))
    order = rng.permutation(sum(map(len, drawn)))
    return scored.index[np.concatenate(drawn)[order]], np.concatenate(chances)[order]


def allocate(sizes: IntArray, wanted: int) -> IntArray:
    """Share a sample between strata in proportion to their sizes, at least one each where there is enough.

    Args:
        sizes: Size of each stratum (> 0), shape (k,).
        wanted: Size of the sample, at least 1.

    Returns:
        Numbers to take, shape (k,), none above its stratum's size; they sum to ``min(wanted, sum(sizes))``.
    """
    total = int(sizes.sum())
    wanted = min(wanted, total)
    quotas = wanted * sizes / total
    takes = np.floor(quotas).astype(np.int64)
    if wanted >= len(sizes):
        takes = np.maximum(takes, 1)
    while takes.sum() < wanted:
        takes[np.argmax(np.where(takes < sizes, quotas - takes, -np.inf))] += 1
    while takes.sum() > wanted:
        takes[np.argmax(np.where(takes > 1, takes - quotas, -np.inf))] -= 1
    return takes


def _sample_size(leverage: FloatArray, plan: Plan, *, by_leverage: bool) -> int:
    wanted = len(leverage)
    if plan.within is not None:
        wanted = size_for(leverage, plan.within, plan.wrong, by_leverage=by_leverage)
    if plan.size is not None:
        wanted = min(wanted, plan.size)
    return min(max(wanted, 1), len(leverage))


def size_for(
    leverage: FloatArray, within: float, wrong: float = ASSUMED_WRONG, *, by_leverage: bool
) -> int:
    """Return how many verdicts a sample needs for the fully reviewed score to be known to within a fraction.

    The half width meant is that of a 95 % interval, if each verdict were wrong with chance ``wrong``. Drawn by leverage
    a sample of n has variance (sum of leverages)^2 wrong / n; drawn with equal chances N^2 wrong mean(leverage^2)
    (1/n - 1/N).

    Raises:
        InputRefusedError: ``within`` or ``wrong`` is not between 0 and 1.
    """
    if not (0 < within < 1 and 0 < wrong <= 1):
        raise InputRefusedError(
            "A queue's precision and the assumed share of wrong verdicts lie between 0 and 1: give fractions."
        )
    n_all = len(leverage)
    variance = (within / CONFIDENCE) ** 2
    if by_leverage:
        needed = leverage.sum() ** 2 * wrong / variance
    else:
        spread = n_all**2 * wrong * float(np.mean(leverage**2))
        needed = 1 / (variance / spread + 1 / n_all)
    return min(n_all, int(np.ceil(needed)))
