"""Queues that were saved: named, assigned to reviewers, and the same for each of them.

A queue holds places, never verdicts; what is left of it for a reviewer follows from the journal. So each works through
a blind copy of their own, and two dashboards over one store see the same.
"""

from __future__ import annotations

import dataclasses
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from healthbench.errors import InputRefusedError
from healthbench.review.queues import Entry, Plan, QueueKind
from healthbench.store.journal import Item, known_as
from healthbench.store.records import ExampleFilter

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from healthbench.store.review_file import ReviewFile


@dataclass(frozen=True, slots=True)
class SavedQueue:
    """One saved queue.

    Attributes:
        id: Unique everywhere.
        name: What the reviewers know it by; it need not give its kind away.
        plan: What it was made from.
        created: When, ISO 8601 in UTC.
        assigned: Names of the reviewers it is for; empty for everyone.
        n: Number of verdicts.
    """

    id: str
    name: str
    plan: Plan
    created: str
    assigned: tuple[str, ...]
    n: int

    def is_for(self, reviewer: str) -> bool:
        """Tell whether a reviewer is to see it."""
        return not self.assigned or reviewer in self.assigned


class SavedQueues:
    """The saved queues in the review file.

    Args:
        file: The open file.
    """

    def __init__(self, file: ReviewFile) -> None:
        self._file = file

    def save(
        self, name: str, plan: Plan, entries: Sequence[Entry], assigned: Sequence[str] = ()
    ) -> SavedQueue:
        """Keep a queue.

        Raises:
            InputRefusedError: It has no name or no verdict.
            StoreError: The file cannot be written.
        """
        if not name.strip() or not entries:
            raise InputRefusedError("A saved queue needs a name and at least one verdict.")
        names = tuple(dict.fromkeys(known_as(who) for who in assigned if known_as(who)))
        saved = SavedQueue(
            uuid.uuid4().hex[:16],
            name.strip(),
            plan,
            datetime.now(UTC).isoformat(timespec="seconds"),
            names,
            len(entries),
        )
        with self._file.writing() as db:
            db.execute(
                "INSERT INTO queues VALUES (?, ?, ?, ?, ?, ?)",
                (
                    saved.id,
                    saved.name,
                    plan.run,
                    saved.created,
                    _plan_json(plan),
                    json.dumps(names),
                ),
            )
            db.executemany(
                "INSERT INTO queue_items VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (saved.id, place, *entry.item, entry.chance)
                    for place, entry in enumerate(entries)
                ],
            )
        return saved

    def all(self, run: str | None = None) -> list[SavedQueue]:
        """Return the saved queues, of a run if one is named, oldest first."""
        where, values = ("WHERE run = ?", (run,)) if run else ("", ())
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT id, name, plan, created, assigned, "
                "(SELECT count(*) FROM queue_items WHERE queue = id) "
                f"FROM queues {where} ORDER BY created, rowid",
                values,
            ).fetchall()
        return [
            SavedQueue(id_, name, _plan(plan), created, tuple(json.loads(assigned)), n)
            for id_, name, plan, created, assigned, n in rows
        ]

    def entries(self, queue: str) -> list[Entry]:
        """Return the places of a queue in order; empty where there is no such queue."""
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT run, example, position, chance FROM queue_items WHERE queue = ? ORDER BY place",
                (queue,),
            ).fetchall()
        return [
            Entry(Item(run, example, position), chance) for run, example, position, chance in rows
        ]

    def assign(self, queue: str, reviewers: Sequence[str]) -> None:
        """Say who a queue is for; nobody named means everyone."""
        names = tuple(dict.fromkeys(known_as(who) for who in reviewers if known_as(who)))
        with self._file.writing() as db:
            db.execute("UPDATE queues SET assigned = ? WHERE id = ?", (json.dumps(names), queue))

    def remove(self, queue: str) -> None:
        """Remove a queue; the decisions made from it stay."""
        with self._file.writing() as db:
            db.execute("DELETE FROM queue_items WHERE queue = ?", (queue,))
            db.execute("DELETE FROM queues WHERE id = ?", (queue,))


def left(entries: Sequence[Entry], decided: Container[Item]) -> list[Entry]:
    """Return what a reviewer has still to decide, in order."""
    return [entry for entry in entries if entry.item not in decided]


def _plan_json(plan: Plan) -> str:
    return json.dumps(dataclasses.asdict(plan))


def _plan(text: str) -> Plan:
    values: dict[str, Any] = json.loads(text)
    conditions: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values["filters"].items()
    }
    return Plan(
        **{
            **values,
            "kind": QueueKind(values["kind"]),
            "filters": ExampleFilter(**conditions),
        }
    )
