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

    # What follows is for callbacks. Each names the place it was drawn for: two keys may arrive together, and the second
    # must not act on what the first has led to.

    def go_to(self, place: int) -> None:
        """Go to a place, decided or not."""
        st.session_state[self._key("place")] = max(0, min(place, len(self.entries) - 1))

    def go_on(self, place: int) -> None:
        """Go to the next open place after one, from the start again after the end; stay where none is open."""
        following = self._open_from(place + 1)
        if following is not None:
            self.go_to(following)

    def show(self) -> None:
        """Note what is on the screen now, and start its clock."""
        item = self.entry.item
        clock = st.session_state.get(state.REVIEW_CLOCK)
        if clock is None or clock[0] != item:
            st.session_state[state.REVIEW_CLOCK] = (item, time.monotonic())
        st.session_state[self._key("unseen")] = None

    def say(self, what: str) -> None:
        """Leave a word for the next drawing; callbacks must not draw."""
        st.session_state[self._key("said")] = what

    def said(self) -> str | None:
        """Return, once, what was left to say."""
        return st.session_state.pop(self._key("said"), None)

    def decided_unseen(self, place: int) -> bool:
        """Tell whether a place was decided and the page not drawn since: then nobody can have confirmed it."""
        return bool(st.session_state.get(self._key("unseen")) == place)

    def decide(self, place: int, decision: Decision) -> None:
        """Record a decision; the same one again is none, and neither is one that came after the place was left."""
        if place != self.place:
            return
        entry = self.entries[place]
        standing, added = self.own(entry.item), self._added(entry.item)
        if standing is not None and standing.decision == decision and _has(standing, added):
            return
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
            **added,
        )
        st.session_state[self._key("unseen")] = place
        if first and st.session_state.get(state.REVIEW_ADVANCE) and event.met == event.grader_met:
            self.go_on(place)

    def note_changed(self, place: int) -> None:
        """Keep what was added to a decision after it was made, at once."""
        item = self.entries[place].item
        standing = self.own(item)
        added = self._added(item)
        if standing is None or all(
            getattr(standing, name) == value for name, value in added.items()
        ):
            return
        review_data.journal().record(
            item,
            self.reviewer,
            Decision(standing.decision),
            prompt_id=standing.prompt_id,
            grader_met=standing.grader_met,
            queue=standing.queue,
            chance=standing.chance,
            **added,
        )

    def undo(self, place: int) -> None:
        """Take back the decision on a place that is still shown."""
        if place != self.place:
            return
        review_data.journal().undo(self.entries[place].item, self.reviewer)

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


def _has(event: Event, added: dict[str, Any]) -> bool:
    return all(getattr(event, name) == value for name, value in added.items())


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
