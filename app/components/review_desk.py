"""One reviewer at one queue: where they are, what they have decided, and what a key press does.

Everything that happens here is in the journal before the next verdict is drawn. Only the place in the queue and the
half-typed note live in the session.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import data
import pandas as pd
import review_data
import state
import streamlit as st

from healthbench.store.journal import Decision

if TYPE_CHECKING:
    from healthbench.review.queues import Entry
    from healthbench.store.journal import Event, Item, Reviewer
    from healthbench.store.records import ExampleView

_LONGEST = 3600.0
"""Seconds after which a verdict was left open rather than thought about."""


@dataclass(frozen=True, slots=True)
class Desk:
    """A reviewer's blind copy of a queue."""

    reviewer: Reviewer
    queue: review_data.OpenQueue

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The places of the queue, in order."""
        return self.queue.entries

    @property
    def place(self) -> int:
        """The place shown, from 0; at first the first that is open."""
        key = self._key("place")
        if key not in st.session_state:
            st.session_state[key] = self._open_from(0) or 0
        return min(int(st.session_state[key]), len(self.entries) - 1)

    @property
    def entry(self) -> Entry:
        """What is shown."""
        return self.entries[self.place]

    def own(self, item: Item) -> Event | None:
        """Return the reviewer's standing decision on an item."""
        return review_data.own(item.run, self.reviewer.name).decided.get(item)

    def seen(self, item: Item) -> bool:
        """Tell whether the reviewer was shown the grader's verdict: only after an event of theirs."""
        return item in review_data.own(item.run, self.reviewer.name).seen

    def decisions(self) -> list[Event | None]:
        """Return the reviewer's standing decision at each place, None where it is open."""
        runs = {entry.item.run for entry in self.entries}
        decided = {run: review_data.own(run, self.reviewer.name).decided for run in runs}
        return [decided[entry.item.run].get(entry.item) for entry in self.entries]

    def go(self, step: int) -> None:
        """Go to another place, decided or not; for callbacks."""
        st.session_state[self._key("place")] = max(0, min(self.place + step, len(self.entries) - 1))

    def go_to(self, place: int) -> None:
        """Go to a place; for callbacks."""
        st.session_state[self._key("place")] = place

    def go_on(self) -> None:
        """Go to the next open place, from the start again after the end; for callbacks."""
        following = self._open_from(self.place + 1)
        if following is not None:
            st.session_state[self._key("place")] = following

    def show(self, item: Item) -> None:
        """Start the clock of an item that is on the screen."""
        clock = st.session_state.get(state.REVIEW_CLOCK)
        if clock is None or clock[0] != item:
            st.session_state[state.REVIEW_CLOCK] = (item, time.monotonic())

    def decide(self, decision: Decision) -> None:
        """Record a decision on what is shown; for callbacks."""
        entry = self.entry
        example = data.example(entry.item.run, entry.item.example)
        first = not self.seen(entry.item)
        event = review_data.journal().record(
            entry.item,
            self.reviewer,
            decision,
            prompt_id=example.prompt_id,
            blind=first,
            grader_met=grader_met(example, entry.item),
            seconds=self._elapsed(entry.item) if first else None,
            queue=self.queue.saved.id if self.queue.saved else None,
            chance=entry.chance,
            **self._added(entry.item),
        )
        if first and st.session_state.get(state.REVIEW_ADVANCE) and event.met == event.grader_met:
            self.go_on()

    def note_changed(self) -> None:
        """Keep what was added to a decision after it was made, at once; for callbacks."""
        standing = self.own(self.entry.item)
        added = self._added(self.entry.item)
        if standing is None or all(
            getattr(standing, name) == value for name, value in added.items()
        ):
            return
        review_data.journal().record(
            standing.item,
            self.reviewer,
            Decision(standing.decision),
            prompt_id=standing.prompt_id,
            grader_met=standing.grader_met,
            queue=standing.queue,
            chance=standing.chance,
            **added,
        )

    def undo(self) -> None:
        """Take back the decision on what is shown; for callbacks."""
        review_data.journal().undo(self.entry.item, self.reviewer)

    def field(self, name: str, item: Item) -> str:
        """Return the session key of what is added to a decision: ``reason``, ``note`` or ``confidence``."""
        return f"review_{name}_{item.run}_{item.example}_{item.position}"

    def _added(self, item: Item) -> dict[str, Any]:
        found = {
            name: st.session_state.get(self.field(name, item))
            for name in ("reason", "note", "confidence")
        }
        return {name: (value or "").strip() or None for name, value in found.items()}

    def _elapsed(self, item: Item) -> float | None:
        clock = st.session_state.get(state.REVIEW_CLOCK)
        if clock is None or clock[0] != item:
            return None
        elapsed = time.monotonic() - clock[1]
        return round(elapsed, 2) if elapsed <= _LONGEST else None

    def _open_from(self, start: int) -> int | None:
        open_places = [place for place, event in enumerate(self.decisions()) if event is None]
        return next(
            (place for place in open_places if place >= start), next(iter(open_places), None)
        )

    def _key(self, name: str) -> str:
        return f"review_{name}_{self.queue.id}"


def grader_met(example: ExampleView, item: Item) -> bool | None:
    """Return the grader's verdict on an item of an example, None where unknown."""
    met = line_of(example, item)["met"]
    return None if pd.isna(met) else bool(met)


def verdicts_of(example: ExampleView) -> list[bool | None]:
    """Return the grader's verdicts on an example's criteria, in file order."""
    return [None if pd.isna(met) else bool(met) for met in example.ledger["met"]]


def line_of(example: ExampleView, item: Item) -> dict[str, Any]:
    """Return an item's row of the example's ledger."""
    ledger = example.ledger
    found: dict[str, Any] = ledger[ledger["position"] == item.position].iloc[0].to_dict()
    return found
