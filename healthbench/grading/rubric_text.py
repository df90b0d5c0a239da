"""A rubric as a person writes it: pasted as JSON, JSON lines or CSV, or typed into a table.

Field names are those that tools use for criteria of graded runs. Every refusal is one sentence that counts criteria
from 1, as the person does.
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from healthbench.errors import InputRefusedError
from healthbench.model import Criterion
from healthbench.readers.aliases import ITEM, ITEM_LISTS, look_up, plain_keys
from healthbench.readers.fields import Where, kind_name, points_of
from healthbench.taxonomy import AXES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_CRITERIA = 200
_SOURCE = "The rubric"
_NAMES = "write criterion and points for each"
_AXIS_BY_NAME = {name.lower(): tag for tag, name in AXES.items()}


def parse_rubric(text: str) -> list[Criterion]:
    """Read a pasted rubric.

    Args:
        text: A JSON list of objects with criterion and points (tags or axis if wanted), an object that holds such a
            list (a row of a data set, for example), JSON lines, or CSV with or without a head, by comma, semicolon or
            tab.

    Raises:
        InputRefusedError: It is none of these, or a criterion cannot be used.
    """
    body = text.strip()
    if not body:
        raise InputRefusedError(
            f"{_SOURCE} is empty: paste it as JSON or CSV, a criterion and its points in each row."
        )
    rows = _json_rows(body) if body[0] in "[{" else _csv_rows(body)
    return criteria_of(rows)


def criteria_of(rows: Sequence[Mapping[str, Any]]) -> list[Criterion]:
    """Make criteria of rows with criterion, points and, if wanted, tags or axis; wholly empty rows are passed over.

    Raises:
        InputRefusedError: A criterion cannot be used, or there is none.
    """
    filled = [
        (place, row)
        for place, row in enumerate(map(plain_keys, rows), start=1)
        if any(not _blank(value) for value in row.values())
    ]
    if not filled:
        raise InputRefusedError(f"{_SOURCE} has no criterion yet: {_NAMES}.")
    if len(filled) > MOST_CRITERIA:
        raise InputRefusedError(
            f"{_SOURCE} has {len(filled):,} criteria, and at most {MOST_CRITERIA} are graded on the screen: use"
            " healthbench grade for more."
        )
    return [_criterion(row, Where(_SOURCE, criterion=place)) for place, row in filled]


def _criterion(row: Mapping[str, Any], where: Where) -> Criterion:
    text = look_up(row, ITEM["criterion"])
    if _blank(text):
        raise where.refuse("its text", "is missing", "write what the reply must or must not do")
    if not isinstance(text, str):
        raise where.refuse("its text", f"is {kind_name(text)}, not text", "write it in quotes")
    points = look_up(row, ITEM["points"])
    return Criterion(
        text.strip(), points_of(None if _blank(points) else points, where), _tags(row, where)
    )


def _tags(row: Mapping[str, Any], where: Where) -> tuple[str, ...]:
    tags = look_up(row, ITEM["tags"])
    if isinstance(tags, str):
        tags = [tag.strip() for tag in tags.replace(";", ",").split(",") if tag.strip()]
    if not _blank(tags) and not (
        isinstance(tags, list | tuple) and all(isinstance(tag, str) for tag in tags)
    ):
        raise where.refuse("tags", f"is {kind_name(tags)}, not a list of texts", "leave them out")
    kept = () if _blank(tags) else tuple(tags)
    axis = look_up(row, ITEM["axis"])
    if isinstance(axis, str) and axis.strip():
        tag = _axis(axis)
        return kept if tag in kept else (*kept, tag)
    return kept


def _axis(name: str) -> str:
    known = _AXIS_BY_NAME.get(name.strip().lower())
    return known or f"axis:{name.strip().removeprefix('axis:').lower().replace(' ', '_')}"


def _blank(value: object) -> bool:
    """Tell whether a cell holds nothing: None, not a number, or white space."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())  # noqa: PLR0124 - NaN


def _json_rows(text: str) -> list[Mapping[str, Any]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        value = _json_lines(text, error)
    if isinstance(value, dict):
        named = plain_keys(value)
        held = next((named[name] for name in ITEM_LISTS if isinstance(named.get(name), list)), None)
        value = [value] if held is None else held
    for place, row in enumerate(value, start=1):
        if not isinstance(row, dict):
            raise Where(_SOURCE, criterion=place).refuse(
                "the row", f"is {kind_name(row)}, not an object", _NAMES
            )
    return list(value)


def _json_lines(text: str, error: Exception) -> list[Any]:
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return [json.loads(line) for line in lines] if len(lines) > 1 else _no_json(error)
    except (ValueError, RecursionError):
        return _no_json(error)


def _no_json(error: Exception) -> list[Any]:
    place = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
    raise InputRefusedError(
        f"{_SOURCE} begins like JSON but is none{place}: close every quote and bracket, or paste it as CSV."
    ) from None


def _csv_rows(text: str) -> list[Mapping[str, Any]]:
    first = text.splitlines()[0]
    delimiter = max("\t;,", key=first.count)
    if delimiter not in first:
        raise InputRefusedError(
            f"{_SOURCE} is neither JSON nor CSV: put a comma, semicolon or tab between points and criterion."
        )
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error:
        raise InputRefusedError(
            f"{_SOURCE} is no complete CSV: put criteria that hold a {'tab' if delimiter == chr(9) else delimiter} in"
            " double quotes, and close them."
        ) from None
    head = list(plain_keys(dict.fromkeys(rows[0])))
    if look_up(dict.fromkeys(head, ""), ITEM["points"]) is None:
        head = _head_of(rows[0])
    else:
        rows = rows[1:]
    return [_csv_row(head, cells, place) for place, cells in enumerate(rows, start=1)]


def _head_of(cells: list[str]) -> list[str]:
    """Name the columns of a CSV without a head: the first two hold points and criterion, in either order."""
    if len(cells) > 1 and _number(cells[0]) is not None:
        return ["points", "criterion"]
    if len(cells) > 1 and _number(cells[1]) is not None:
        return ["criterion", "points"]
    raise InputRefusedError(
        f"{_SOURCE} has no column of points: name its columns criterion and points in the first line."
    )


def _csv_row(head: list[str], cells: list[str], place: int) -> Mapping[str, Any]:
    if len(cells) > len(head):
        raise Where(_SOURCE, criterion=place).refuse(
            "the row", "has more cells than there are columns", "put its text in double quotes"
        )
    row: dict[str, Any] = dict(zip(head, cells, strict=False))
    for name in ITEM["points"]:
        if not _blank(row.get(name)):
            number = _number(row[name])
            row[name] = row[name] if number is None else number
    return row


def _number(cell: str) -> float | None:
    """Read a number as people write it, with a real minus or a plus; None where it is none."""
    try:
        value = float(cell.strip().replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return None
    return int(value) if value.is_integer() else value
