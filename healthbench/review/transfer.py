"""Reviews as files: JSONL and CSV with the same fields, written and read back without loss.

Both hold one event a line, with the fields of ``store.journal.Event``. An empty cell of a CSV file is a missing value.
A text that a spreadsheet would run as a formula has an apostrophe in front in a CSV file, which reading takes off.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from healthbench.errors import InputRefusedError
from healthbench.store.journal import FIELDS, Decision, Event, Kind, Merged, known_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from healthbench.store.journal import Journal

FORMATS = ("jsonl", "csv")
_LARGEST = 2**31
_REQUIRED = ("id", "at", "kind", "run", "example", "position", "prompt_id", "reviewer", "role")
_MAY_BE_EMPTY = ("prompt_id", "role")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""Start of a text that a spreadsheet runs; apostrophes too, so that the one put in front is told from one's own."""
_GUARDED = re.compile(r"\A'(?='*[=+\-@\t\r])")
_LAST_YEAR = 9998
"""Latest year of an event: what comes after it on the same verdict must still have a date."""


def as_jsonl(events: Iterable[Event]) -> str:
    """Write events as JSON, one object a line."""
    return "".join(
        json.dumps(dataclasses.asdict(event), ensure_ascii=False, allow_nan=False) + "\n"
        for event in events
    )


def as_csv(events: Iterable[Event]) -> str:
    """Write events as CSV with a header."""
    written = io.StringIO(newline="")
    written.write(",".join(FIELDS) + "\n")
    # All quoted: a carriage return on its own would end the row where nothing is.
    table = csv.DictWriter(written, FIELDS, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for event in events:
        table.writerow({name: _guarded(value) for name, value in dataclasses.asdict(event).items()})
    return written.getvalue()


def _guarded(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def from_text(text: str, source: str) -> list[Event]:
    """Read events from JSONL or CSV, told apart by their first character.

    Args:
        text: Content of the file.
        source: Its name, for messages.

    Raises:
        InputRefusedError: A line is no review; nothing is to be taken from the file then.
    """
    plain = text.removeprefix("\N{BYTE ORDER MARK}")
    rows = _json_rows(plain, source) if plain.lstrip().startswith("{") else _csv_rows(plain, source)
    return [_event(row, f"{source}, line {line}") for line, row in rows]


def import_file(journal: Journal, path: Path) -> Merged:
    """Merge a file of reviews into the journal, all of it or nothing.

    Raises:
        InputRefusedError: The file cannot be read or holds anything but reviews.
        StoreError: The journal cannot be written.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputRefusedError(
            f"{path.name} cannot be read as UTF-8 text: give a file that healthbench reviews export wrote."
        ) from error
    return journal.merge(from_text(text, path.name))


def _json_rows(text: str, source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise InputRefusedError(f"{source}, line {number} is no JSON object: export it again.")
        yield number, row


def _csv_rows(text: str, source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    table = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in _REQUIRED if name not in (table.fieldnames or ())]
    if missing:
        raise InputRefusedError(
            f"{source} is no file of reviews (no column {missing[0]!r}): give JSONL or CSV that healthbench reviews "
            "export wrote."
        )
    for row in table:
        yield (
            table.line_num,
            {
                name: _GUARDED.sub("", row[name] or "", count=1) or None
                for name in FIELDS
                if name in row
            },
        )


def _event(row: dict[str, Any], place: str) -> Event:
    values: dict[str, Any] = {}
    for name in FIELDS:
        value = row.get(name)
        if value is None or value == "":
            value = "" if name in _MAY_BE_EMPTY else None
        if value is None and name in _REQUIRED:
            raise InputRefusedError(f"{place} has no {name!r}: export it again.")
        try:
            read: Callable[[Any], Any] = _READERS.get(name, _text)
            values[name] = None if value is None else read(value)
        except (ValueError, TypeError, OverflowError):
            raise InputRefusedError(f"{place}: {name!r} cannot be read: export it again.") from None
    values["blind"] = bool(values["blind"])
    if (values["decision"] is None) != (values["kind"] == Kind.UNDO):
        raise InputRefusedError(
            f"{place}: a {values['kind']} {'needs a' if values['decision'] is None else 'has no'} decision: export it "
            "again."
        )
    return Event(**values)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    value.encode("utf-8")  # half of a surrogate pair is no text either
    return value


def _name(value: Any) -> str:
    name = known_as(_text(value))
    if not name:
        raise ValueError("a blank name")
    return name


def _time(value: Any) -> str:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError("no time zone")
    if moment.year > _LAST_YEAR:
        raise ValueError("no later event could have a date")
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _whole(value: Any) -> int:
    number = int(value)
    if isinstance(value, bool) or not 0 <= number < _LARGEST or str(number) != str(value):
        raise ValueError("not a whole number")
    return number


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    # A spreadsheet writes them in capitals or small letters.
    if not isinstance(value, str) or value.lower() not in ("true", "false"):
        raise ValueError("neither true nor false")
    return value.lower() == "true"


def _number(smallest: float, largest: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        number = float(value)
        if isinstance(value, bool) or not smallest <= number <= largest:
            raise ValueError("out of range")
        return number

    return read


_READERS: dict[str, Callable[[Any], Any]] = {
    "at": _time,
    "reviewer": _name,
    "kind": lambda value: Kind(value).value,
    "example": _whole,
    "position": _whole,
    "decision": lambda value: Decision(value).value,
    "blind": _flag,
    "grader_met": _flag,
    "seconds": _number(0, _LARGEST),
    "chance": _number(5e-324, 1),
}
