"""Which verdict counts after review, and which decisions count as independent of the grader."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from healthbench.store.journal import Event, Item, Kind, standing, valid

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class HumanVerdict:
    """What people say about one verdict.

    Attributes:
        met: The verdict that counts; None where all who looked could not judge: then the grader's stays.
        event: The decision it is from: the adjudication where there is one, else the latest.
        decisions: Each reviewer's standing decision, in order.
        adjudication: The latest adjudication, None where there is none.
    """

    met: bool | None
    event: Event
    decisions: tuple[Event, ...]
    adjudication: Event | None

    @property
    def contested(self) -> bool:
        """True where reviewers differ and nobody has adjudicated."""
        return self.adjudication is None and self.differ

    @property
    def differ(self) -> bool:
        """True where one reviewer says met and another not met."""
        return len({event.met for event in self.decisions if event.met is not None}) > 1

    @property
    def overrides(self) -> bool:
        """True where the verdict that counts is not the one the grader gave (or failed to give)."""
        return self.met is not None and self.met != self.event.grader_met


def human_verdicts(events: Iterable[Event]) -> dict[Item, HumanVerdict]:
    """Return what people say, by item; an item without a standing decision has no entry.

    The latest decision counts; where an adjudication was made it counts instead, whatever was decided after it.
    "Cannot judge" takes nobody's verdict away.
    """
    by_item: dict[Item, list[Event]] = defaultdict(list)
    for event in standing(events).values():
        by_item[event.item].append(event)
    return {item: _verdict(found) for item, found in by_item.items()}


def _verdict(found: list[Event]) -> HumanVerdict:
    ordered = sorted(found, key=lambda event: (event.at, event.id))
    decisions = tuple(event for event in ordered if event.kind == Kind.DECISION)
    adjudications = [event for event in ordered if event.kind == Kind.ADJUDICATION]
    adjudication = next((e for e in reversed(adjudications) if e.met is not None), None)
    judged = [event for event in decisions if event.met is not None]
    counts = adjudication or (judged[-1] if judged else ordered[-1])
    return HumanVerdict(counts.met, counts, decisions, adjudication)


def blind_decisions(events: Iterable[Event]) -> dict[tuple[Item, str], Event]:
    """Return the decision each reviewer made before seeing the grader's verdict, by item and reviewer.

    A later change of mind does not touch it: it was made knowing what the grader says. One taken back does not count.
    """
    return {
        (event.item, event.reviewer): event
        for event in valid(events)
        if event.blind and event.kind == Kind.DECISION
    }


def decided_by(events: Iterable[Event], reviewer: str) -> dict[Item, Event]:
    """Return a reviewer's standing decisions, by item: what is left of a queue is what is not in it."""
    return {
        item: event
        for (item, name, kind), event in standing(events).items()
        if name == reviewer and kind == Kind.DECISION
    }
