"""All the app asks of reviews; what is kept in memory is keyed by the journal's version, so nothing is ever stale.

The journal is read by every process that has it open, so a decision made in another window or on another port is seen
at the next rerun.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import data
import streamlit as st

from healthbench.config import Settings
from healthbench.errors import InputRefusedError
from healthbench.review import queues as making
from healthbench.review.effective import HumanVerdict, decided_by, human_verdicts
from healthbench.review.queues import Entry, Plan, QueueKind
from healthbench.review.reviewed import ReviewedRun, reviewed_run
from healthbench.review.saved import SavedQueue, SavedQueues
from healthbench.store.journal import Event, Item, Journal
from healthbench.store.review_file import FILE_NAME, ReviewFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

ONE_EXAMPLE = "example-"
"""Start of the name of a queue that is not saved: all criteria of one example, counted from 1 as on the screen."""


@st.cache_resource(show_spinner=False)
def _file() -> ReviewFile:
    return ReviewFile(Settings().home / FILE_NAME)


def journal() -> Journal:
    """Return the journal of this store."""
    return Journal(_file())


def saved_queues() -> SavedQueues:
    """Return the saved queues of this store."""
    return SavedQueues(_file())


def events(run_id: str) -> list[Event]:
    """Return the events of a run."""
    return _events(run_id, journal().version(run_id))


@st.cache_resource(show_spinner=False, max_entries=16)
def _events(run_id: str, version: int) -> list[Event]:
    return journal().events(run_id) if version else []


def verdicts(run_id: str) -> Mapping[Item, HumanVerdict]:
    """Return what people say about a run's verdicts."""
    return _verdicts(run_id, journal().version(run_id))


@st.cache_resource(show_spinner=False, max_entries=16)
def _verdicts(run_id: str, version: int) -> Mapping[Item, HumanVerdict]:
    return human_verdicts(_events(run_id, version))


@dataclass(frozen=True, slots=True)
class Own:
    """What one reviewer did in a run: standing decisions, and the verdicts whose grading they have been shown."""

    decided: Mapping[Item, Event]
    seen: frozenset[Item]


def own(run_id: str, reviewer: str) -> Own:
    """Return what a reviewer did in a run."""
    return _own(run_id, reviewer, journal().version(run_id))


@st.cache_resource(show_spinner=False, max_entries=64)
def _own(run_id: str, reviewer: str, version: int) -> Own:
    found = [event for event in _events(run_id, version) if event.reviewer == reviewer]
    return Own(decided_by(found, reviewer), frozenset(event.item for event in found))


def reviewed(run_id: str, *, as_stored: bool = False) -> ReviewedRun:
    """Return the three numbers of a run: by the grader, with reviews, and on fully reviewed examples."""
    key = tuple(dataset.id for dataset in data.datasets())
    return _reviewed(run_id, as_stored, journal().version(run_id), key)


@st.cache_resource(show_spinner=False, max_entries=32)
def _reviewed(run_id: str, as_stored: bool, version: int, _key: tuple[str, ...]) -> ReviewedRun:
    scores = data.run_scores(run_id, as_stored=as_stored)
    return reviewed_run(
        data.library(), run_id, scores, _verdicts(run_id, version), as_stored=as_stored
    )


def population(run_id: str) -> pd.DataFrame:
    """Return every verdict of a run with what it weighs; not to be written to."""
    return _population(run_id, tuple(dataset.id for dataset in data.datasets()))


@st.cache_resource(show_spinner=False, max_entries=3)
def _population(run_id: str, _key: tuple[str, ...]) -> pd.DataFrame:
    return making.population(data.library(), run_id)


@dataclass(frozen=True, slots=True)
class OpenQueue:
    """A queue to be worked through, saved or not.

    Attributes:
        id: As the URL names it.
        name: What the reviewer knows it by.
        entries: Its places in order.
        saved: The saved queue, None for one example.
    """

    id: str
    name: str
    entries: tuple[Entry, ...]
    saved: SavedQueue | None


def open_queue(queue_id: str, run_id: str) -> OpenQueue | None:
    """Return the queue a link names, None where there is none (any more)."""
    if queue_id.startswith(ONE_EXAMPLE):
        return _one_example(queue_id, run_id)
    found = next((queue for queue in saved_queues().all() if queue.id == queue_id), None)
    if found is None:
        return None
    return OpenQueue(queue_id, found.name, _entries(queue_id), found)


@st.cache_resource(show_spinner=False, max_entries=16)
def _entries(queue_id: str) -> tuple[Entry, ...]:
    return tuple(saved_queues().entries(queue_id))


@st.cache_resource(show_spinner=False, max_entries=16)
def _one_example(queue_id: str, run_id: str) -> OpenQueue | None:
    number = queue_id.removeprefix(ONE_EXAMPLE)
    if not number.isdecimal():
        return None
    plan = Plan(kind=QueueKind.EXAMPLE, run=run_id, example=int(number) - 1)
    try:
        entries = make(plan)
    except InputRefusedError:
        return None
    return OpenQueue(queue_id, f"All criteria of example {number}", tuple(entries), None)


def make(plan: Plan) -> list[Entry]:
    """Choose the verdicts of a queue.

    Raises:
        InputRefusedError: The plan is incomplete or nothing fits it.
    """
    return making.make_queue(data.library(), plan)
