"""Grading by hand: a person sets each verdict, and ledger and score move at once. Nothing is sent anywhere."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st

from components.grade_ledger import judged, show_band
from components.grade_outcome import beside, save
from components.ledger import OPEN_VERDICTS, Switches, switch_key
from components.text import some
from healthbench.model import RunInfo, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from components.grade_subject import Subject

BY_HAND = "by hand"
_GRADER = "a person"
_GIVEN = "grade_hand_given"
_LAST = "grade_hand_last"


def hand_verdicts(subject: Subject, reply: str) -> list[bool | None]:
    """Return the verdicts a person has given to this very reply, in rubric order."""
    key = _key(subject, reply)
    chosen = [st.session_state.get(switch_key(key, n)) for n in range(len(subject.criteria))]
    return [None if verdict is None else verdict == OPEN_VERDICTS[0] for verdict in chosen]


@st.fragment
def by_hand(subject: Subject, reply: str) -> None:
    """Show the ledger with a switch for each criterion, and what becomes of it."""
    key = _key(subject, reply)
    _keep_through_rubric_changes(subject, reply, key)
    met = hand_verdicts(subject, reply)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "Say for each criterion whether the reply meets it. Nothing leaves this machine."
        )
        st.space("stretch")
        _offers(subject, reply, key, met)
    show_band(subject.criteria, met, key)
    none = [Verdict(None)] * len(subject.criteria)
    met = judged(subject.prompt, reply, subject.criteria, none, key=key, switches=Switches.BY_HAND)
    beside(subject, reply, met, key)
    verdicts = [Verdict(verdict) for verdict in met]
    if not reply.strip():
        st.caption("With a reply in step 2, this can be saved as a run.")
    elif any(verdict is not None for verdict in met):
        save(subject, reply, verdicts, _describe, key)


def _key(subject: Subject, reply: str) -> str:
    return f"grade_hand_{subject.digest(reply)}"


def _names(subject: Subject) -> list[tuple[str, int]]:
    """Name each criterion by its text, and by its number among equal ones: what a verdict is about."""
    seen: Counter[str] = Counter()
    names = []
    for criterion in subject.criteria:
        names.append((criterion.text, seen[criterion.text]))
        seen[criterion.text] += 1
    return names


def _keep_through_rubric_changes(subject: Subject, reply: str, key: str) -> None:
    """Note the verdicts by what they are about, and set them where the rubric has been edited around them."""
    given = st.session_state.setdefault(_GIVEN, {}).setdefault(subject.talk(reply), {})
    begun = f"{key}_begun"
    if begun not in st.session_state:
        st.session_state[begun] = True
        _set(key, [given.get(name) for name in _names(subject)])
    given.update(zip(_names(subject), hand_verdicts(subject, reply), strict=True))
    if any(verdict is not None for verdict in given.values()):
        st.session_state.setdefault(_LAST, {})[subject.talk()] = subject.talk(reply)


def _offers(subject: Subject, reply: str, key: str, met: Sequence[bool | None]) -> None:
    """Offer to clear the verdicts, or to take over those given before the reply was changed."""
    if any(verdict is not None for verdict in met):
        st.button(
            "Clear all",
            key=f"{key}_clear",
            icon=":material/ink_eraser:",
            on_click=_set,
            args=(key, [None] * len(met)),
        )
        return
    last = st.session_state.get(_LAST, {}).get(subject.talk())
    if last is None or last == subject.talk(reply):
        return
    earlier = [st.session_state[_GIVEN][last].get(name) for name in _names(subject)]
    n = sum(verdict is not None for verdict in earlier)
    if n:
        st.button(
            f"Take over {some(n, 'verdict')}",
            key=f"{key}_take",
            icon=":material/content_copy:",
            help="Given to this conversation before the reply was changed.",
            on_click=_set,
            args=(key, earlier),
        )


def _set(key: str, verdicts: Sequence[bool | None]) -> None:
    for position, met in enumerate(verdicts):
        st.session_state[switch_key(key, position)] = (
            None if met is None else OPEN_VERDICTS[0 if met else 1]
        )


def _describe(name: str) -> RunInfo:
    return RunInfo(
        source=name,
        format="graded-run JSON lines",
        grader=_GRADER,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        clip_level="run",
    )
