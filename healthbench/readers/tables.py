"""Tables: CSV, TSV, XLSX and Parquet, one row a criterion, or one row an example with a list of criteria in a cell.

Columns are matched by the names in the table of aliases, or by a mapping the user made. Cells of a workbook are taken as
they were last computed: no formula is evaluated. Several models in one table are several runs.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import zipfile
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from healthbench.errors import InputRefusedError
from healthbench.model import RunInfo
from healthbench.readers.aliases import ColumnMapping, match_columns
from healthbench.readers.fields import Where
from healthbench.readers.file_name import parse_file_name
from healthbench.readers.head import LINE_LIMIT, Head, look, open_binary
from healthbench.readers.row_runs import RowFile, runs_of
from healthbench.readers.rows import Row, as_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from healthbench.readers.source import RunSource

_KINDS = {"text": "CSV", "xlsx": "XLSX", "parquet": "Parquet"}
_DELIMITERS = ",;\t|"
_BATCH = 1000
_LOOKED_AT = 10
_WORKBOOK_LIMIT = 1 << 30  # bytes unpacked
_PARQUET_MEMORY = "1GB"
_NUMBERS = frozenset({"points", "index"})
_NUMERALS = frozenset({"0", "1", "0.0", "1.0"})
_NAMES = frozenset({"prompt_id", "model", "grader", "repeat", "completion_id"})
_FORMULA_STARTS = ("'=", "'+", "'-", "'@")


class TableColumns(NamedTuple):
    """What a table offers, for a person to map its columns.

    Attributes:
        names: Column names in order.
        matched: The columns that were matched by their names.
        preview: The first rows, cells as text.
    """

    names: tuple[str, ...]
    matched: ColumnMapping
    preview: list[tuple[str, ...]]


def recognise(head: Head) -> str | None:
    """Say which columns hold points and verdicts, None where the file is no table or they cannot be told."""
    mapping = _mapping(head)
    if mapping is None:
        return None
    named = ", ".join(f"{name} in {column}" for name, column in sorted(mapping.columns.items()))
    return f"a table with {named}"


def open_run(heads: Sequence[Head], dataset: Path | None) -> list[RunSource]:
    """Open the runs in tables that are one run's, one for each pair of model and grader the rows name.

    Raises:
        InputRefusedError: A table is damaged, lacks a column, or no row has a verdict.
    """
    first = heads[0]
    name = parse_file_name(first.path.name)
    info = RunInfo(
        source=first.path.name if len(heads) == 1 else first.path.parent.name or first.path.name,
        format=f"{_kind(first)} table",
        model=name.model,
        benchmark=name.benchmark,
        created=name.created,
    )

    def rows() -> Iterator[tuple[Where, Row]]:
        for head in heads:
            yield from _rows(head)

    files = tuple(head.path for head in heads)
    runs = runs_of(RowFile(files, rows, info, recognise(first) or ""), dataset)
    own = _own_mapping(first)
    # The same file under another mapping is another run.
    return (
        [replace(run, part=f"{run.part} {sorted(own.columns.items())}") for run in runs]
        if own
        else runs
    )


def table_columns(path: Path, n_preview: int = _LOOKED_AT) -> TableColumns | None:
    """Return a table's columns, what was matched and its first rows; None where the file is no table.

    Raises:
        InputRefusedError: The file cannot be read or is damaged.
    """
    head = look(path)
    names = _names(head)
    if names is None or not is_table(head):
        return None
    preview = []
    for _, cells in zip(range(n_preview), _cells(head), strict=False):
        preview.append(tuple("" if cell is None else str(cell) for cell in cells))
    return TableColumns(names, match_columns(names), preview)


def column_names(head: Head) -> tuple[str, ...]:
    """Return the names of a table's columns, none for what is no table."""
    return _names(head) or ()


def is_table(head: Head) -> bool:
    """Tell whether a file is a table, whose columns a person could map: names, and rows that are as long."""
    names = _names(head)
    if names is None:
        return False
    try:
        rows = [cells for _, cells in zip(range(_LOOKED_AT), _cells(head), strict=False)]
    except InputRefusedError:
        return False
    # Prose with a comma in its first line is told from a table by its other lines.
    return bool(rows) and (head.kind != "text" or all(len(row) == len(names) for row in rows))


def _kind(head: Head) -> str:
    return "TSV" if head.kind == "text" and _delimiter(head) == "\t" else _KINDS[head.kind]


def _mapping(head: Head) -> ColumnMapping | None:
    names = _names(head)
    if names is None:
        return None
    own = _own_mapping(head)
    mapping = own or match_columns(names)
    if not mapping.complete or (
        "items" in mapping.columns and own is None and not _has_lists(head, mapping)
    ):
        return None
    return mapping


def _own_mapping(head: Head) -> ColumnMapping | None:
    """Return the mapping a person made for such a table, None where there is none."""
    names = _names(head) if head.mappings else None
    if names is None:
        return None
    return next((mapping for mapping in head.mappings if mapping.fits(names)), None)


def _has_lists(head: Head, mapping: ColumnMapping) -> bool:
    """Tell whether the column named like a list of criteria holds lists of graded ones."""
    names = _names(head) or ()
    place = names.index(mapping.columns["items"])
    for _, cells in zip(range(_BATCH), _cells(head), strict=False):
        items = as_list(cells[place]) if place < len(cells) else None
        if items:
            return isinstance(items[0], dict | bool)
    return False


def _names(head: Head) -> tuple[str, ...] | None:
    """Return the names of a table's columns, None for what is no table of at least two."""
    if head.kind == "text" and not _delimiter(head):
        return None
    if head.kind not in _KINDS:
        return None
    try:
        first = next(_table(head), ())
    except InputRefusedError:
        if head.kind == "text":  # a first line with a comma makes no table
            return None
        raise
    names = tuple("" if name is None else str(name).strip() for name in first)
    return names if len([name for name in names if name]) > 1 else None


def _cells(head: Head) -> Iterator[Sequence[Any]]:
    table = _table(head)
    next(table, None)
    return table


def _rows(head: Head) -> Iterator[tuple[Where, Row]]:
    names, mapping = _names(head), _mapping(head)
    if names is None or mapping is None:
        raise InputRefusedError(
            f"{head.path.name} lacks columns of points and verdicts that the other files of its run have; map its columns on the page Runs."
        )
    places = {field: names.index(column) for field, column in mapping.columns.items()}
    for number, cells in enumerate(_cells(head), start=1):
        if any(cell not in (None, "") for cell in cells[len(names) :]):
            raise Where(head.path.name, number).refuse(
                "the row",
                f"has {len(cells)} cells, but there are {len(names)} columns",
                "quote what holds a delimiter",
            )
        row: Row = {}
        for field, place in places.items():
            value = cell_value(field, cells[place] if place < len(cells) else None)
            if value is not None or field == "verdict":
                row[field] = value
        if len(row) > ("verdict" in row) or row.get("verdict") is not None:
            yield Where(head.path.name, number), row


def cell_value(field: str, cell: Any) -> Any:
    """Read a cell for a field of ROW or ITEM: empty text and NaN are nothing, numerals are numbers where one is meant."""
    if isinstance(cell, str):
        return _text_value(field, cell)
    if isinstance(cell, float) and math.isnan(cell):
        return None
    if field == "items":
        return as_list(cell) or []
    if field in _NAMES and cell is not None:
        return str(cell)
    return float(cell) if isinstance(cell, Decimal) else cell


def _text_value(field: str, cell: str) -> Any:
    text = cell.strip()
    if not text:
        return None
    if field in _NUMBERS or (field == "verdict" and text in _NUMERALS):
        return _number(text)
    if field == "items":
        return as_list(text) or []
    return cell[1:] if cell.startswith(_FORMULA_STARTS) else cell


def _number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _table(head: Head) -> Iterator[Sequence[Any]]:
    """Yield the rows of a table, its column names first."""
    if head.kind == "text":
        return _delimited(head)
    return _parquet(head.path) if head.kind == "parquet" else _workbook(head.path)


def _delimiter(head: Head) -> str:
    """Return the delimiter of the first line, "" where it has none."""
    line = next((line for line in head.text.split("\n") if line.strip()), "")
    best = max(_DELIMITERS, key=line.count)
    return best if best in line else ""


def _delimited(head: Head) -> Iterator[Sequence[Any]]:
    csv.field_size_limit(LINE_LIMIT)
    with open_binary(head.path) as file:
        start = file.read(2)
        file.seek(0)
        wide = start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        # Bytes that are not UTF-8 are kept as surrogates and read as cp1252 below, field by field.
        errors = "replace" if wide else "surrogateescape"
        text = io.TextIOWrapper(
            file, encoding="utf-16" if wide else "utf-8-sig", errors=errors, newline=""
        )
        reader = csv.reader(_lines(text, head.path.name), delimiter=_delimiter(head), strict=True)
        try:
            for cells in reader:
                if any(cells):
                    yield [_plain(cell) for cell in cells]
        except csv.Error as error:
            raise InputRefusedError(
                f"{head.path.name}, line {reader.line_num}, is no proper row ({error}); the file was probably cut off or"
                " edited: export it again."
            ) from None


def _lines(text: io.TextIOWrapper, name: str) -> Iterator[str]:
    """Yield lines as they are, but none longer than the limit."""
    while line := text.readline(LINE_LIMIT):
        if len(line) >= LINE_LIMIT:
            raise InputRefusedError(
                f"{name} holds a line of more than 256 MB; check that it has one row a line."
            )
        yield line


def _plain(cell: str) -> str:
    if cell.isascii():
        return cell
    try:
        cell.encode()
    except UnicodeEncodeError:
        return cell.encode("utf-8", "surrogateescape").decode("cp1252", "replace")
    return cell


class _Sheet:
    """The rows of a worksheet that hold anything, the first of them its column names."""

    def __init__(self, sheet: Any) -> None:
        self.rest = (
            row
            for row in sheet.iter_rows(values_only=True)
            if any(cell is not None for cell in row)
        )
        self.names: Sequence[Any] | None = next(self.rest, None)

    @property
    def headings(self) -> list[str]:
        return ["" if name is None else str(name).strip() for name in self.names or ()]


def _workbook(path: Path) -> Iterator[Sequence[Any]]:
    """Yield the rows of the first sheet with columns of a graded run, else of the first with any.

    A formula gives the value that was saved with it.
    """
    import openpyxl  # noqa: PLC0415 - takes 0.2 s, and few imports meet a workbook

    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(info.file_size for info in archive.infolist())
        _refuse_bomb(path, size)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            sheets = [
                rows for sheet in book.worksheets if (rows := _Sheet(sheet)).names is not None
            ]
            best = next((rows for rows in sheets if match_columns(rows.headings).complete), None)
            for rows in [best] if best else sheets[:1]:
                yield rows.names or ()
                yield from rows.rest
        finally:
            book.close()
    except InputRefusedError:
        raise
    except Exception as error:  # openpyxl raises whatever a damaged part makes Python raise
        raise InputRefusedError(
            f"{path.name} is a damaged workbook ({type(error).__name__}); save it again or export CSV."
        ) from error


def _refuse_bomb(path: Path, size: int) -> None:
    if size > _WORKBOOK_LIMIT:
        raise InputRefusedError(
            f"{path.name} unpacks to more than 1 GB, so it is not unpacked; export the table as CSV."
        )


def _parquet(path: Path) -> Iterator[Sequence[Any]]:
    import duckdb  # noqa: PLC0415 - the store's reader of Parquet, needed for such files only

    try:
        with duckdb.connect(":memory:", config={"memory_limit": _PARQUET_MEMORY}) as connection:
            found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
            yield [column[0] for column in found.description or ()]
            while batch := found.fetchmany(_BATCH):
                yield from batch
    except duckdb.Error as error:
        raise InputRefusedError(
            f"{path.name} is damaged Parquet ({type(error).__name__}); export it again."
        ) from error
