"""Two ledgers of one prompt side by side, criterion by criterion."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd


class AlignedRow(NamedTuple):
    """One criterion in two ledgers; None where a ledger does not have it. The rows are those of the ledgers."""

    first: dict[str, Any] | None
    second: dict[str, Any] | None

    @property
    def either(self) -> dict[str, Any]:
        """The row of the second ledger, else the first's: both have the criterion's text, points and tags."""
        found = self.second if self.second is not None else self.first
        if found is None:
            raise ValueError("an aligned row has a row of at least one ledger")
        return found


def aligned(first: pd.DataFrame, second: pd.DataFrame) -> list[AlignedRow]:
    """Pair the k-th criterion of a text and points in one ledger with the k-th in the other.

    Args:
        first: A ledger as ``ExampleView.ledger`` has it.
        second: The other's.

    Returns:
        Rows in the order of the second ledger, then those that only the first has.
    """
    waiting: dict[tuple[str, float], deque[dict[str, Any]]] = defaultdict(deque)
    for row in first.to_dict("records"):
        waiting[row["criterion"], row["points"]].append(_named(row))
    rows = []
    for row in second.to_dict("records"):
        same = waiting[row["criterion"], row["points"]]
        rows.append(AlignedRow(same.popleft() if same else None, _named(row)))
    rest = sorted(
        (row for left in waiting.values() for row in left), key=lambda row: row["position"]
    )
    return rows + [AlignedRow(row, None) for row in rest]


def _named(row: Mapping[Hashable, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in row.items()}
