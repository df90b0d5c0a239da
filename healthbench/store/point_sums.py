"""Sums of points over a run's criteria: where the points went, and which penalties were incurred."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthbench.store.tables import sql
from healthbench.taxonomy import display_name, sort_key

if TYPE_CHECKING:
    import pandas as pd

    from healthbench.store.library import Library

NO_AXIS = "No axis"
"""Name shown for the criteria that carry no axis."""


def points_by_axis(library: Library, run_id: str, *, as_stored: bool = False) -> pd.DataFrame:
    """Sum the signed points of a run by axis and state.

    Returns:
        Columns name (of the axis), state, points, n (criteria), axes in the reference's order. Unknown verdicts have
        up to two rows an axis, one for each sign.
    """
    with library.cursor(run_id) as cursor:
        return _named(cursor.execute(sql("points_by_axis", met=_met(as_stored=as_stored))).df())


def incurred_penalties(
    library: Library, run_id: str, worst: float, *, as_stored: bool = False
) -> pd.DataFrame:
    """List the incurred penalties of ``worst`` points (negative) or fewer, worst first.

    Returns:
        Columns example, position, points, axis, criterion.
    """
    with library.cursor(run_id) as cursor:
        return cursor.execute(sql("incurred", met=_met(as_stored=as_stored)), [worst]).df()


def _met(*, as_stored: bool) -> str:
    return "items.stored" if as_stored else "items.met"


def _named(sums: pd.DataFrame) -> pd.DataFrame:
    """Replace the axis tag by its name and put the axes in order, criteria without one last."""
    axes = [axis if isinstance(axis, str) else None for axis in sums.pop("axis")]
    sums.insert(0, "name", [display_name(axis) if axis else NO_AXIS for axis in axes])
    places = sorted(
        range(len(axes)), key=lambda place: (not axes[place], sort_key(axes[place] or ""))
    )
    return sums.iloc[places].reset_index(drop=True)
