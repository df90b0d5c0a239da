"""Human decisions on a grader's verdicts, as events that are only ever added.

An undo is an event, a change of mind is an event that names the one it supersedes. What stands at any moment follows
from the events alone, whatever order they arrived in, so journals of several machines merge by the events' ids.
"""

from __future__ import annotations

import dataclasses
import unicodedata
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from healthbench.errors import InputRefusedError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from healthbench.store.review_file import ReviewFile

_EARLIEST = ""
_LARGEST_QUERY = 500
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Invisible, but part of the spelling of Persian and Indian names."""


class Decision(StrEnum):
    """What a person says about one criterion."""

    MET = "met"
    NOT_MET = "not met"
    CANNOT_JUDGE = "cannot judge"

    @property
    def met(self) -> bool | None:
        """True, False, or None where the person could not judge."""
        return None if self is Decision.CANNOT_JUDGE else self is Decision.MET


class Kind(StrEnum):
    """What an event does."""

    DECISION = "decision"
    ADJUDICATION = "adjudication"
    UNDO = "undo"


class Item(NamedTuple):
    """One verdict: run, row of the example in the run, place of the criterion in its rubric (both 0-based)."""

    run: str
    example: int
    position: int


class Reviewer(NamedTuple):
    """A person and the role in which they decide."""

    name: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of the journal.

    Attributes:
        id: Unique everywhere.
        at: When, ISO 8601 in UTC with microseconds; on one item always later than every earlier event there.
        kind: A ``Kind``.
        run, example, position: The verdict, as in ``Item``.
        prompt_id: The conversation's id, so that an exported review can be read without the run.
        reviewer, role: Who, as in ``Reviewer``.
        decision: A ``Decision``; None for an undo.
        blind: True where the reviewer had not been shown the grader's verdict on this item.
        reason, note, confidence: What the reviewer added, None where nothing.
        grader_met: The grader's verdict when the decision was made, None where unknown.
        supersedes: For a decision the reviewer's own earlier one that it replaces, for an undo the one undone.
        seconds: Time from showing the item to the decision, None where not measured.
        queue: Id of the queue it was shown from, None where from none.
        chance: Chance with which that queue drew this verdict from all of its run, in (0, 1]; None where the queue
            is no sample of the run.
    """

    id: str
    at: str
    kind: str
    run: str
    example: int
    position: int
    prompt_id: str
    reviewer: str
    role: str
    decision: str | None = None
    blind: bool = False
    reason: str | None = None
    note: str | None = None
    confidence: str | None = None
    grader_met: bool | None = None
    supersedes: str | None = None
    seconds: float | None = None
    queue: str | None = None
    chance: float | None = None

    @property
    def item(self) -> Item:
        """The verdict it is about."""
        return Item(self.run, self.example, self.position)

    @property
    def met(self) -> bool | None:
        """The decision as a verdict; None for "cannot judge" and for an undo."""
        return None if self.decision is None else Decision(self.decision).met


FIELDS = tuple(field.name for field in dataclasses.fields(Event))
_FLAGS = ("blind", "grader_met")


class Merged(NamedTuple):
    """What a merge did: events that were new, and events that were known already."""

    added: int
    known: int


def known_as(name: str) -> str:
    """Return the one spelling under which a reviewer is known; empty for a blank name.

    Keyboards write an accented letter as one character or two, and web pages and tables add invisible ones: a reviewer
    who were two names would be asked twice, and could see the grader's verdict under one and decide blind under the other.
    """
    written = unicodedata.normalize("NFC", _clean(name) or "")
    visible = "".join(
        " " if character.isspace() else character
        for character in written
        if character.isspace()
        or character in _JOINERS
        or unicodedata.category(character) not in ("Cc", "Cf")
    )
    return " ".join(visible.split())


def in_order(events: Iterable[Event]) -> list[Event]:
    """Return events in the order in which they happened, whatever order they arrived in."""
    return sorted(events, key=lambda event: (event.at, event.id))


def valid(events: Iterable[Event]) -> list[Event]:
    """Return the decisions that their reviewers did not undo, in order."""
    ordered = in_order(events)
    undone = {(event.supersedes, event.reviewer) for event in ordered if event.kind == Kind.UNDO}
    return [
        event
        for event in ordered
        if event.kind != Kind.UNDO and (event.id, event.reviewer) not in undone
    ]


def standing(events: Iterable[Event]) -> dict[tuple[Item, str, str], Event]:
    """Return each reviewer's latest valid decision on each verdict, by item, reviewer and kind."""
    return {(event.item, event.reviewer, event.kind): event for event in valid(events)}


class Journal:
    """The events in the review file.

    Args:
        file: The open file.
    """

    def __init__(self, file: ReviewFile) -> None:
        self._file = file

    def record(
        self,
        item: Item,
        reviewer: Reviewer,
        decision: Decision,
        *,
        prompt_id: str,
        kind: Kind = Kind.DECISION,
        blind: bool = False,
        reason: str | None = None,
        note: str | None = None,
        confidence: str | None = None,
        grader_met: bool | None = None,
        seconds: float | None = None,
        queue: str | None = None,
        chance: float | None = None,
    ) -> Event:
        """Add a decision; when this returns it is on the disk.

        ``blind`` is the caller's claim; it is dropped where the reviewer has an event on this item, because they were
        shown the grader's verdict after it.

        Raises:
            InputRefusedError: The reviewer has no name.
            StoreError: The journal cannot be written.
        """
        name = known_as(reviewer.name)
        if not name:
            raise InputRefusedError("A review needs a name: type yours before deciding.")
        with self._file.writing() as db:
            earlier = _events(db, item)
            mine = [event for event in earlier if event.reviewer == name]
            replaced = standing(mine).get((item, name, kind))
            event = Event(
                id=uuid.uuid4().hex,
                at=_later_than(earlier),
                kind=kind,
                run=item.run,
                example=item.example,
                position=item.position,
                prompt_id=prompt_id,
                reviewer=name,
                role=_clean(reviewer.role) or "",
                decision=decision,
                blind=blind and not mine,
                reason=_clean(reason),
                note=_clean(note),
                confidence=_clean(confidence),
                grader_met=grader_met,
                supersedes=replaced.id if replaced else None,
                seconds=seconds,
                queue=queue,
                chance=chance,
            )
            _insert(db, [event])
        return event

    def undo(self, item: Item, reviewer: Reviewer, kind: Kind = Kind.DECISION) -> Event | None:
        """Take back the reviewer's latest decision on an item, so that the one before it stands again.

        Returns:
            The undo, None where the reviewer has no decision there.

        Raises:
            StoreError: The journal cannot be written.
        """
        with self._file.writing() as db:
            earlier = _events(db, item)
            taken_back = standing(earlier).get((item, known_as(reviewer.name), kind))
            if taken_back is None:
                return None
            event = Event(
                id=uuid.uuid4().hex,
                at=_later_than(earlier),
                kind=Kind.UNDO,
                run=item.run,
                example=item.example,
                position=item.position,
                prompt_id=taken_back.prompt_id,
                reviewer=taken_back.reviewer,
                role=_clean(reviewer.role) or "",
                grader_met=taken_back.grader_met,
                supersedes=taken_back.id,
                queue=taken_back.queue,
            )
            _insert(db, [event])
        return event

    def events(self, run: str | None = None, item: Item | None = None) -> list[Event]:
        """Return the events of everything, of a run or of one item, in the order in which they happened."""
        with self._file.reading() as db:
            return in_order(_events(db, item, run))

    def version(self, run: str | None = None) -> int:
        """Return a number that grows with every event (of a run): what caches are keyed by."""
        where, values = ("WHERE run = ?", (run,)) if run else ("", ())
        with self._file.reading() as db:
            found = db.execute(f"SELECT max(seq) FROM events {where}", values).fetchone()[0]
        return int(found or 0)

    def reviewers(self) -> list[Reviewer]:
        """Return everyone who ever decided, the latest first, with the role they last had."""
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT reviewer, role, max(seq) FROM events GROUP BY reviewer ORDER BY max(seq) DESC"
            ).fetchall()
        return [Reviewer(name, role) for name, role, _ in rows]

    def merge(self, events: Iterable[Event]) -> Merged:
        """Add the events of another journal, all or none; those that are known by their id are left out.

        Raises:
            InputRefusedError: An id is known with other content.
            StoreError: The journal cannot be written.
        """
        given: dict[str, Event] = {}
        for event in events:
            _refuse_unlike(given.setdefault(event.id, event), event)
        with self._file.writing() as db:
            known = _by_id(db, list(given))
            for event_id, event in known.items():
                _refuse_unlike(event, given[event_id])
            new = [event for event_id, event in given.items() if event_id not in known]
            _insert(db, in_order(new))
        return Merged(len(new), len(known))


def _refuse_unlike(known: Event, other: Event) -> None:
    if known != other:
        raise InputRefusedError(
            f"Review {other.id} is known with other content: the file was edited or is damaged, so nothing of it was "
            "added; export it again."
        )


def _insert(db: sqlite3.Connection, events: list[Event]) -> None:
    places = ", ".join("?" * len(FIELDS))
    db.executemany(
        f"INSERT INTO events ({', '.join(FIELDS)}) VALUES ({places})",
        [tuple(getattr(event, name) for name in FIELDS) for event in events],
    )


def _events(
    db: sqlite3.Connection, item: Item | None = None, run: str | None = None
) -> list[Event]:
    where: str = ""
    values: tuple[object, ...] = ()
    if item is not None:
        where, values = "WHERE run = ? AND example = ? AND position = ?", tuple(item)
    elif run is not None:
        where, values = "WHERE run = ?", (run,)
    rows = db.execute(f"SELECT {', '.join(FIELDS)} FROM events {where} ORDER BY seq", values)
    return [_event(row) for row in rows.fetchall()]


def _by_id(db: sqlite3.Connection, ids: list[str]) -> dict[str, Event]:
    found: dict[str, Event] = {}
    for start in range(0, len(ids), _LARGEST_QUERY):
        part = ids[start : start + _LARGEST_QUERY]
        places = ", ".join("?" * len(part))
        rows = db.execute(f"SELECT {', '.join(FIELDS)} FROM events WHERE id IN ({places})", part)
        found.update((event.id, event) for event in map(_event, rows.fetchall()))
    return found


def _event(row: tuple[Any, ...]) -> Event:
    values = dict(zip(FIELDS, row, strict=True))
    for name in _FLAGS:
        values[name] = None if values[name] is None else bool(values[name])
    return Event(**values)


def _later_than(earlier: list[Event]) -> str:
    """Return now, or just after the latest event where a clock was set back or another machine's runs ahead."""
    now = datetime.now(UTC)
    latest = max((event.at for event in earlier), default=_EARLIEST)
    if latest:
        now = max(now, datetime.fromisoformat(latest) + timedelta(microseconds=1))
    return now.isoformat(timespec="microseconds")


def _clean(text: str | None) -> str | None:
    """Return text that SQLite and every export can hold, None where there is none."""
    if text is None:
        return None
    return text.strip().encode("utf-8", "replace").decode("utf-8") or None
