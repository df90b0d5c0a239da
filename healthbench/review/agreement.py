"""How far the grader and the reviewers agree, over all and in parts, and how far reviewers agree with each other.

A grader's verdict is paired with every reviewer's decision on the same criterion, as the paper's meta-evaluation pairs
it with every physician's label (HealthBench, arXiv 2505.08775, section 8.1); "cannot judge" makes no pair.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from healthbench.review.effective import blind_decisions
from healthbench.scoring.agreement import (
    Confusion,
    agreement_interval,
    cohens_kappa,
    confusion,
    gwet_ac1,
    pairwise_f1,
)
from healthbench.store.journal import Kind, standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from healthbench.review.reviewed import Place
    from healthbench.scoring.agreement import AgreementInterval
    from healthbench.store.journal import Event, Item

PARTS = ("sign", "theme", "axis", "cluster")
"""Columns of a table of pairs by which figures are given."""

_KEPT = ["example", "position", "points", "theme", "axis", "cluster", "prompt_id"]


class Figure(NamedTuple):
    """One agreement figure with its 95 % interval; None where it is not defined, or where no resample differs."""

    value: float | None
    interval: AgreementInterval | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two raters over some verdicts.

    Attributes:
        name: What they are about: "all", a sign, or a tag.
        n: Pairs of verdicts.
        n_verdicts: Verdicts they are about; fewer than ``n`` where several reviewers looked.
        table: The two-by-two table, weighted where weights were given.
        raw: Share of pairs that agree.
        kappa: Cohen's kappa.
        ac1: Gwet's AC1, which does not collapse where nearly all verdicts are the same.
        macro_f1: Mean of the F1 for met and for not met: the paper's figure.
    """

    name: str
    n: int
    n_verdicts: int
    table: Confusion
    raw: Figure
    kappa: Figure
    ac1: Figure
    macro_f1: Figure


def decisions(events: Iterable[Event], *, blind: bool) -> dict[tuple[Item, str], Event]:
    """Return one decision a verdict and reviewer: made before seeing the grader's, or the one that stands."""
    found = list(events)
    if blind:
        return blind_decisions(found)
    return {
        (item, name): event
        for (item, name, kind), event in standing(found).items()
        if kind == Kind.DECISION
    }


def with_grader(
    rows: pd.DataFrame,
    found: Mapping[tuple[Item, str], Event],
    weights: Mapping[Place, float] | None = None,
    reviewer: str | None = None,
) -> pd.DataFrame:
    """Pair the grader's verdicts with reviewers' decisions.

    Args:
        rows: The run's verdicts, as ``queues.population`` returns them.
        found: As ``decisions`` returns them, of this run.
        weights: How many verdicts of the run each one stands for; verdicts without a weight are left out. None: 1 each.
        reviewer: Only this one's decisions; None for everyone's.

    Returns:
        One row a pair: example, position, points, sign, theme, axis, cluster, prompt_id, reviewer, ``first`` (grader)
        and ``second`` (reviewer) as met, ``weight``.
    """
    pairs = [
        (event.example, event.position, name, event.met)
        for (_, name), event in found.items()
        if event.met is not None and reviewer in (None, name)
    ]
    human = pd.DataFrame(pairs, columns=["example", "position", "reviewer", "second"])
    together = human.merge(
        rows.loc[rows["met"].notna(), [*_KEPT, "met"]].rename(columns={"met": "first"}),
        on=["example", "position"],
    )
    return _finished(together, weights)


def between_reviewers(
    rows: pd.DataFrame, found: Mapping[tuple[Item, str], Event]
) -> dict[tuple[str, str], pd.DataFrame]:
    """Pair the decisions of every two reviewers who looked at the same verdicts, by their names in order.

    Each table is as ``with_grader`` returns it; ``first`` is the reviewer named first.
    """
    by_name: dict[str, dict[Place, bool]] = defaultdict(dict)
    for (item, name), event in found.items():
        if event.met is not None:
            by_name[name][item.example, item.position] = event.met
    tables = {}
    for first, second in combinations(sorted(by_name), 2):
        shared = sorted(by_name[first].keys() & by_name[second].keys())
        human = pd.DataFrame(
            [(*place, second, by_name[first][place], by_name[second][place]) for place in shared],
            columns=["example", "position", "reviewer", "first", "second"],
        )
        together = _finished(human.merge(rows[_KEPT], on=["example", "position"]), None)
        if len(together):
            tables[first, second] = together
    return tables


def _finished(pairs: pd.DataFrame, weights: Mapping[Place, float] | None) -> pd.DataFrame:
    places = list(zip(pairs["example"].tolist(), pairs["position"].tolist(), strict=True))
    weight = [1.0 if weights is None else weights.get(place, 0.0) for place in places]
    done = pairs.assign(
        first=pairs["first"].astype(bool),
        second=pairs["second"].astype(bool),
        sign=np.where(pairs["points"] > 0, "positive", "penalty"),
        weight=np.array(weight, dtype=np.float64),
    )
    return done[done["weight"] > 0].sort_values(["example", "position", "reviewer"])


def figures(pairs: pd.DataFrame, name: str = "all") -> Agreement:
    """Compute every figure of agreement over a table of pairs, with intervals over prompts."""
    first = pairs["first"].to_numpy(dtype=np.bool_)
    second = pairs["second"].to_numpy(dtype=np.bool_)
    weights = pairs["weight"].to_numpy(dtype=np.float64)
    groups = pd.factorize(pairs["prompt_id"])[0].astype(np.int64)
    table = confusion(first, second, weights)

    def figure(statistic: Callable[[Confusion], float | None]) -> Figure:
        interval = agreement_interval(statistic, first, second, groups, weights)
        # Where all agree every resample does, and a width of 0 would look like certainty.
        degenerate = interval is not None and interval.low == interval.high
        return Figure(statistic(table), None if degenerate else interval)

    return Agreement(
        name=name,
        n=len(pairs),
        n_verdicts=len(pairs[["example", "position"]].drop_duplicates()),
        table=table,
        raw=figure(lambda cells: cells.agreement),
        kappa=figure(cohens_kappa),
        ac1=figure(gwet_ac1),
        macro_f1=figure(lambda cells: pairwise_f1(cells).macro),
    )


def by_part(pairs: pd.DataFrame, part: str) -> list[Agreement]:
    """Compute the figures for each sign, theme, axis or cluster that has pairs; pairs without one are left out.

    Args:
        pairs: A table of pairs.
        part: One of ``PARTS``.
    """
    return [figures(group, str(name)) for name, group in pairs.groupby(part, sort=True)]


def theme_macro_f1(pairs: pd.DataFrame) -> dict[str, tuple[float, int]]:
    """Return each theme's macro F1 as the paper has it: the mean over its consensus clusters, weighted by their n.

    Returns:
        By theme tag the figure and the pairs behind it; a cluster in which it is not defined is left out.
    """
    found: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for (theme, _), group in pairs.groupby(["theme", "cluster"]):
        table = confusion(
            group["first"].to_numpy(dtype=np.bool_), group["second"].to_numpy(dtype=np.bool_)
        )
        macro = pairwise_f1(table).reference_macro
        if macro is not None:
            found[str(theme)].append((macro, len(group)))
    return {
        theme: (sum(f1 * n for f1, n in parts) / sum(n for _, n in parts), sum(n for _, n in parts))
        for theme, parts in found.items()
    }
