"""What a run's verdicts weigh: what each axis takes from the mean, and the verdicts that can move it most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from healthbench.scoring.levers import Lost
from healthbench.store.tables import sql

if TYPE_CHECKING:
    import pandas as pd

    from healthbench.store.library import Library


@dataclass(frozen=True, slots=True)
class Leverage:
    """How far one verdict can move the unclipped mean of a run; fractions of 1.

    Attributes:
        farthest: The verdicts that can move it most: example (row), position, points, state, move, axis, criterion.
        median: The move of the median verdict; None where no example has a score.
        n_verdicts: Verdicts on examples that have a score.
    """

    farthest: pd.DataFrame = field(repr=False)
    median: float | None
    n_verdicts: int


def lost_by_axis(library: Library, run_id: str, *, as_stored: bool = False) -> list[Lost]:
    """Return what each axis takes from the unclipped mean; see ``scoring.levers``."""
    with library.cursor(run_id) as cursor:
        rows = cursor.execute(sql("levers", met=_met(as_stored=as_stored))).fetchall()
    return [Lost(*row) for row in rows]


def leverage(
    library: Library, run_id: str, limit: int = 10, *, as_stored: bool = False
) -> Leverage:
    """Return the verdicts that can move the unclipped mean most."""
    with library.cursor(run_id) as cursor:
        found = cursor.execute(sql("leverage", met=_met(as_stored=as_stored)), [limit]).df()
    median, number = found.pop("median_move"), found.pop("n_verdicts")
    if found.empty:
        return Leverage(found, None, 0)
    return Leverage(found, float(median.iloc[0]), int(number.iloc[0]))


def _met(*, as_stored: bool) -> str:
    return "items.stored" if as_stored else "items.met"
