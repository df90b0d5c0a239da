"""Grading by hand: a person sets each verdict, and ledger and score move at once. Nothing is sent anywhere."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st

from components.grade_ledger import ledger_rows, show_band
from components.grade_outcome import beside, save
from components.ledger import OPEN_VERDICTS, Switches, ledger, switch_key
from components.text import some
from healthbench.model import RunInfo, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from components.grade_subject import Subject

BY_HAND = "by hand"
_GIVEN = "grade_hand_given"


def hand_verdicts(subject: Subject, reply: str) -> list[bool | None]:
    """Return the verdicts a person has given to this very reply, in rubric order."""
    key = _key(subject, reply)
    chosen = [st.session_state.get(switch_key(key, n)) for n in range(len(subject.criteria))]
    return [None if verdict is None else verdict == OPEN_VERDICTS[0] for verdict in chosen]


@st.fragment
def by_hand(subject: Subject, reply: str) -> None:
    """Show the ledger with a switch for each criterion, and what becomes of it."""
    key = _key(subject, reply)
    met = hand_verdicts(subject, reply)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "Say for each criterion whether the reply meets it. Nothing leaves this machine."
        )
        st.space("stretch")
        _offers(subject, key, met)
    show_band(subject.criteria, met, key)
    rows = ledger_rows(subject.criteria, [Verdict(None)] * len(subject.criteria))
    met = ledger(rows, key=key, switches=Switches.BY_HAND)
    beside(subject, reply, met, key)
    verdicts = [Verdict(verdict) for verdict in met]
    if not reply.strip():
        st.caption("With a reply in step 2, this can be saved as a run.")
    elif any(verdict is not None for verdict in met):
        save(subject, reply, verdicts, _describe, key)


def _key(subject: Subject, reply: str) -> str:
    return f"grade_hand_{subject.digest(reply)}"


def _describe(name: str) -> RunInfo:
    return RunInfo(
        source=name,
        format="graded-run JSON lines",
        grader=BY_HAND,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        clip_level="run",
    )


def _offers(subject: Subject, key: str, met: Sequence[bool | None]) -> None:
    """Offer to clear the verdicts, or to take over those given before the reply was changed."""
    given = st.session_state.setdefault(_GIVEN, {})
    if any(verdict is not None for verdict in met):
        given[subject.digest()] = list(met)
        st.button(
            "Clear all",
            key=f"{key}_clear",
            icon=":material/ink_eraser:",
            on_click=_set,
            args=(subject, key, [None] * len(met)),
        )
    elif earlier := given.get(subject.digest()):
        n = sum(verdict is not None for verdict in earlier)
        st.button(
            f"Take over {some(n, 'verdict')}",
            key=f"{key}_take",
            icon=":material/content_copy:",
            help="Verdicts given to this conversation before the reply was changed.",
            on_click=_set,
            args=(subject, key, earlier),
        )


def _set(subject: Subject, key: str, verdicts: Sequence[bool | None]) -> None:
    st.session_state[_GIVEN].pop(subject.digest(), None)
    for position, met in enumerate(verdicts):
        st.session_state[switch_key(key, position)] = (
            None if met is None else OPEN_VERDICTS[0 if met else 1]
        )
