"""What a run contains: its conversations by theme, its criteria by axis, and the penalties that no axis score shows.

Themes count conversations and sum to the run's conversations; axes count criterion assignments (rubric lines, once a
reply) and sum to the run's criteria. The two units are never mixed in one table but the grid's, which is in assignments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from healthbench.store.tables import sql
from healthbench.taxonomy import CONVERSATION_TYPES, DIFFICULTIES, USE_CASES, sort_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from healthbench.store.library import Library

SPECIALTY = "specialty"
TAG_KINDS = {
    "use case": USE_CASES,
    "type": CONVERSATION_TYPES,
    "difficulty": DIFFICULTIES,
}
"""Kinds of Professional's unprefixed example tags; any other tag is taken for a specialty."""


class Cell(NamedTuple):
    """A cell of the theme x axis grid; None is an unknown theme, or no axis."""

    theme: str | None
    axis: str | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """Counts of one run.

    Attributes:
        themes: Columns theme (None where unknown), conversations, examples, inferred (examples whose theme only
            follows from a consensus cluster). Sums to the run.
        tags: Columns kind (use case, type, difficulty, specialty), tag, conversations, examples; empty but for runs
            whose example tags have no prefix, as Professional's.
        axes: Columns axis (None where untagged), assignments, unique_criteria (distinct texts), possible, penalty
            (points, positive), penalties (assignments with negative points). Sums to the run, unique criteria excepted.
        levels: As ``axes``, by level.
        grid: As ``axes``, by theme and axis.
        unique_criteria: Distinct criterion texts in the run.
    """

    themes: pd.DataFrame = field(repr=False)
    tags: pd.DataFrame = field(repr=False)
    axes: pd.DataFrame = field(repr=False)
    levels: pd.DataFrame = field(repr=False)
    grid: pd.DataFrame = field(repr=False)
    unique_criteria: int


def coverage(library: Library, run_id: str) -> Coverage:
    """Count what a run contains."""
    with library.cursor(run_id) as cursor:
        themes = cursor.execute(sql("coverage_conversations")).df()
        tags = cursor.execute(sql("coverage_tags")).df()
        axes = cursor.execute(sql("coverage_assignments", by="axis")).df()
        levels = cursor.execute(sql("coverage_assignments", by="level")).df()
        grid = cursor.execute(sql("coverage_assignments", by="theme, axis")).df()
        unique = cursor.execute("SELECT count(DISTINCT text) FROM criteria").fetchall()
    return Coverage(
        _in_order(themes, "theme"),
        _with_kind(tags),
        _in_order(axes, "axis"),
        _in_order(levels, "level"),
        _in_order(grid, "theme", "axis"),
        int(unique[0][0]),
    )


def criteria_of(
    library: Library, run_id: str, cell: Cell, limit: int, offset: int = 0
) -> tuple[pd.DataFrame, int]:
    """Return one page of the criteria in a cell of the grid, and how many there are in all.

    Returns:
        Columns criterion (id), points, assignments, met, not_met, unknown, first_example (row), text.
    """
    with library.cursor(run_id) as cursor:
        page = cursor.execute(sql("coverage_criteria"), [*cell, limit, offset]).df()
    total = page.pop("total")
    return page, int(total.iloc[0]) if len(total) else 0


@dataclass(frozen=True, slots=True)
class BlindSpot:
    """Penalty points that no axis score contains; all points are positive numbers.

    Attributes:
        axes: By axis (None where untagged): penalty, blind_penalty, incurred, blind_incurred (points), penalties,
            blind_penalties, times_incurred, blind_times_incurred (criteria), blind_examples.
        n_examples: Examples in which at least one axis has only penalties.
    """

    axes: pd.DataFrame = field(repr=False)
    n_examples: int

    def total(self, column: str) -> float:
        """Return the sum of a column over the axes."""
        return float(self.axes[column].sum())

    @property
    def share(self) -> float | None:
        """Share of the penalty points that no axis score contains; None without penalties."""
        penalty = self.total("penalty")
        return self.total("blind_penalty") / penalty if penalty else None


def blind_spot(library: Library, run_id: str, *, as_stored: bool = False) -> BlindSpot:
    """Sum the penalty points of a run and those that no axis score contains.

    Args:
        library: Where the run is.
        run_id: The run.
        as_stored: Count verdicts with a producer's mark of failure as the file does.
    """
    met = "items.stored" if as_stored else "items.met"
    with library.cursor(run_id) as cursor:
        axes = cursor.execute(sql("coverage_blind_spot", met=met)).df()
        examples = cursor.execute(sql("coverage_only_penalties")).fetchall()
    return BlindSpot(_in_order(axes, "axis"), int(examples[0][0]))


def tag_kind(tag: str) -> str:
    """Return which kind of Professional's tags an unprefixed example tag is."""
    return next((kind for kind, names in TAG_KINDS.items() if tag in names), SPECIALTY)


def tag_order(tag: str) -> tuple[int, int, str]:
    """Order unprefixed example tags by kind, then as the paper does; specialties by name."""
    kind = tag_kind(tag)
    names = list(TAG_KINDS.get(kind, ()))
    return ([*TAG_KINDS, SPECIALTY].index(kind), names.index(tag) if names else 0, tag)


def _with_kind(tags: pd.DataFrame) -> pd.DataFrame:
    """Add the kind of each tag; specialties come with the most frequent first."""
    tags.insert(0, "kind", [tag_kind(tag) for tag in tags["tag"]])
    frequent = tags.sort_values(["conversations", "tag"], ascending=[False, True])
    places = sorted(frequent.index, key=lambda row: tag_order(tags["tag"][row])[:2])
    return tags.loc[places].reset_index(drop=True)


def _in_order(counts: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Put tags in the reference's order, those that are missing (None) last."""
    for column in columns:
        counts[column] = _tags(counts[column])
    places = sorted(
        range(len(counts)),
        key=lambda row: [
            (tag is None, sort_key(tag or "")) for tag in (counts[c][row] for c in columns)
        ],
    )
    return counts.iloc[places].reset_index(drop=True)


def _tags(column: Iterable[object]) -> pd.Series:
    return pd.Series([tag if isinstance(tag, str) else None for tag in column], dtype=object)
