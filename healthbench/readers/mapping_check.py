"""Whether a person's column mapping can be right, told from the first rows before anything is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthbench.errors import InputRefusedError
from healthbench.model import ImportReport
from healthbench.readers.fields import Where, points_of, verdict_of
from healthbench.readers.rows import as_list, item_fields
from healthbench.readers.tables import cell_value

if TYPE_CHECKING:
    from healthbench.readers.aliases import ColumnMapping
    from healthbench.readers.tables import TableColumns

_READABLE = ("bool", "0/1", "string", "failure mark")


def problem_of(mapping: ColumnMapping, table: TableColumns) -> str | None:
    """Return in one sentence why a table cannot be read by a mapping, None where its first rows can."""
    columns = mapping.columns
    used = sorted(columns.values())
    if twice := next((name for name in used if used.count(name) > 1), None):
        return f"Column {twice} is chosen twice: choose each column for one thing."
    if not mapping.complete:
        return "Choose the columns of points and of verdicts, or the one that holds a list of both."
    if not {"prompt_id", "prompt"} & columns.keys():
        return "Choose the column that tells which conversation a row belongs to: its id, or its prompt."
    if "items" in columns:
        return _problem_of_lists(mapping, table)
    return _problem_of_points(mapping, table) or _problem_of_verdicts(mapping, table)


def _cells(mapping: ColumnMapping, table: TableColumns, field: str) -> list[str]:
    place = table.names.index(mapping.columns[field])
    return [row[place] if place < len(row) else "" for row in table.preview]


def _problem_of_points(mapping: ColumnMapping, table: TableColumns) -> str | None:
    column = mapping.columns["points"]
    for number, cell in enumerate(_cells(mapping, table, "points"), start=1):
        try:
            points_of(cell_value("points", cell), Where(column, number))
        except InputRefusedError as error:
            problem = str(error).partition(": points ")[2].partition(";")[0]
            return f"Row {number} has no points in column {column} (it {problem}): choose the column of signed points."
    return None


def _problem_of_verdicts(mapping: ColumnMapping, table: TableColumns) -> str | None:
    report = ImportReport()
    for cell in _cells(mapping, table, "verdict"):
        verdict_of(cell_value("verdict", cell), None, report)
    if any(report.verdicts[kind] for kind in _READABLE):
        return None
    return (
        f"Column {mapping.columns['verdict']} has no verdict in its first rows: choose one that holds true and false, 1 and 0,"
        " or met and not met."
    )


def _problem_of_lists(mapping: ColumnMapping, table: TableColumns) -> str | None:
    column = mapping.columns["items"]
    for cell in _cells(mapping, table, "items"):
        for item in as_list(cell) or []:
            try:
                fields = item_fields(item, Where(column))
            except InputRefusedError:
                continue
            if "verdict" in fields:
                return None
    return f"Column {column} has no list of criteria with verdicts in its first rows: choose another one."
