"""What people said about a verdict, as the ledger marks it: who, when, why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.text import escaped, foreign

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from healthbench.review.effective import HumanVerdict
    from healthbench.store.journal import Event

_WORDS = {True: "met", False: "not met", None: "unknown"}


def with_reviews(
    graded: Sequence[bool | None], reviews: Mapping[int, HumanVerdict]
) -> list[bool | None]:
    """Return the verdicts that count: a person's where there is one, else the grader's."""
    counted = []
    for position, verdict in enumerate(graded):
        human = reviews[position].met if position in reviews else None
        counted.append(verdict if human is None else human)
    return counted


def review_mark(verdict: HumanVerdict | None, graded: bool | None, key: str) -> None:
    """Mark a reviewed verdict in its row; an override stands out."""
    if verdict is None:
        return
    event = verdict.event
    if verdict.met is None:
        st.caption(f":material/person: {_who(event)} could not judge; the grader's verdict stays.")
    elif verdict.met == graded:
        st.caption(f":material/person: Confirmed by {_who(event)}.")
    else:
        st.markdown(
            f":material/edit: **Overridden: {_WORDS[verdict.met]}** (the grader: {_WORDS[graded]}) by {_who(event)}"
        )
    if verdict.adjudication is not None:
        st.caption("Reviewers were adjudicated.")
    elif verdict.contested:
        st.caption("Reviewers differ here; the latest decision counts until somebody adjudicates.")
    if event.reason:
        st.caption(f"Reason: {escaped(event.reason)}")
    if event.note:
        foreign(event.note, key=f"{key}_note", label="Note", kind="quiet")


def when(at: str) -> str:
    """Write the time of an event to the minute."""
    return f"{at[:10]} {at[11:16]} UTC"


def _who(event: Event) -> str:
    return f"{escaped(event.reviewer)} ({escaped(event.role)}), {when(event.at)}"
