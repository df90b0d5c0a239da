"""Reviews as files: JSONL and CSV with the same fields, written and read back without loss.

Both hold one event a line, with the fields of ``store.journal.Event``. An empty cell of a CSV file is a missing value.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from healthbench.errors import InputRefusedError
from healthbench.store.journal import FIELDS, Decision, Event, Kind, Merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from healthbench.store.journal import Journal

FORMATS = ("jsonl", "csv")
_LARGEST = 2**31
_REQUIRED = ("id", "at", "kind", "run", "example", "position", "prompt_id", "reviewer", "role")


def as_jsonl(events: Iterable[Event]) -> str:
    """Write events as JSON, one object a line."""
    return "".join(
        json.dumps(dataclasses.asdict(event), ensure_ascii=False, allow_nan=False) + "\n"
        for event in events
    )


def as_csv(events: Iterable[Event]) -> str:
    """Write events as CSV with a header."""
    written = io.StringIO(newline="")
    table = csv.DictWriter(written, FIELDS, lineterminator="\n")
    table.writeheader()
    table.writerows(dataclasses.asdict(event) for event in events)
    return written.getvalue()


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
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise InputRefusedError(f"{source}, line {number} is no JSON object: export it again.")
        yield number, row


def _csv_rows(text: str, source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    table = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in _REQUIRED if name not in (table.fieldnames or ())]
    if missing:
        raise InputRefusedError(
            f"{source} is no file of reviews (no column {missing[0]!r}): give JSONL or CSV that healthbench reviews "
            "export wrote."
        )
    for row in table:
        yield table.line_num, {name: row[name] or None for name in FIELDS if name in row}


def _event(row: dict[str, Any], place: str) -> Event:
    values: dict[str, Any] = {}
    for name in FIELDS:
        value = row.get(name)
        if value is None and name in _REQUIRED:
            value = "" if name in ("role", "prompt_id") else None
            if value is None:
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
    return value


def _time(value: Any) -> str:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError("no time zone")
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _whole(value: Any) -> int:
    number = int(value)
    if isinstance(value, bool) or not 0 <= number < _LARGEST or str(number) != str(value):
        raise ValueError("not a whole number")
    return number


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value not in ("True", "False"):
        raise ValueError("neither true nor false")
    return bool(value == "True")


def _number(smallest: float, largest: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        number = float(value)
        if isinstance(value, bool) or not smallest <= number <= largest:
            raise ValueError("out of range")
        return number

    return read


_READERS: dict[str, Callable[[Any], Any]] = {
    "at": _time,
    "kind": lambda value: Kind(value).value,
    "example": _whole,
    "position": _whole,
    "decision": lambda value: Decision(value).value,
    "blind": _flag,
    "grader_met": _flag,
    "seconds": _number(0, _LARGEST),
    "chance": _number(5e-324, 1),
}
