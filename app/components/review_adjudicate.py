"""What to look at together: verdicts on which reviewers differ, and those on which they differ from the grader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import pandas as pd
import review_data
import state
import streamlit as st

from components.chart import show_table
from components.frame import empty
from components.review_card import conversation, criterion
from components.review_desk import grader_met, line_of
from components.review_identity import reviewer_or_stop
from components.review_marks import when
from components.text import escaped, foreign, some
from healthbench.formatting import count, points
from healthbench.store.journal import Decision, Kind

if TYPE_CHECKING:
    from healthbench.review.effective import HumanVerdict
    from healthbench.store.journal import Item, Reviewer
    from healthbench.store.records import RunSummary

_SHOWN = 200
_WORDS = {True: "met", False: "not met", None: "unknown"}


def disagreements(run: RunSummary) -> None:
    """Show the disagreements of a run, and a place to adjudicate them."""
    st.subheader("Disagreements")
    found = {
        item: verdict
        for item, verdict in review_data.verdicts(run.id).items()
        if verdict.differ or verdict.overrides or verdict.adjudication
    }
    waiting = _waiting(run, found)
    shown = sorted(
        (item for item in found if item not in waiting),
        key=lambda item: (not found[item].contested, not found[item].differ, item),
    )
    if waiting:
        st.caption(
            f"{some(len(waiting), 'disagreement')} hidden: you have still to decide there, and should not know."
        )
    if not shown:
        empty("Reviewers and grader agree wherever they looked.", "Review more verdicts.")
        return
    _table(run, {item: found[item] for item in shown[:_SHOWN]})
    if len(shown) > _SHOWN:
        st.caption(f"The first {count(_SHOWN)} of {count(len(shown))}; the export has all.")
    with st.expander("Adjudicate", icon=":material/gavel:", key="adjudicate"):
        item = st.selectbox(
            "Verdict",
            shown,
            format_func=lambda item: _label(item, found[item]),
            key="adjudicated",
        )
        _adjudicate(item, found[item])


def _waiting(run: RunSummary, found: dict[Item, HumanVerdict]) -> set[Item]:
    """Return the disagreements that the reviewer of this session has in a queue and has not decided."""
    name = st.session_state.get(state.REVIEWER)
    if not name:
        return set()
    decided = review_data.own(run.id, name).decided
    queues = [queue for queue in review_data.saved_queues().all(run.id) if queue.is_for(name)]
    open_items = {
        entry.item
        for queue in queues
        for entry in review_data.saved_queues().entries(queue.id)
        if entry.item not in decided
    }
    return open_items & found.keys()


def _label(item: Item, verdict: HumanVerdict) -> str:
    state_ = (
        "reviewers differ"
        if verdict.contested
        else "adjudicated"
        if verdict.adjudication
        else "differs from the grader"
    )
    return f"Example {item.example + 1}, criterion {item.position + 1}: {state_}"


def _said(verdict: HumanVerdict) -> str:
    return ", ".join(f"{event.reviewer}: {event.decision}" for event in verdict.decisions)


def _table(run: RunSummary, found: dict[Item, HumanVerdict]) -> None:
    rows = review_data.population(run.id).set_index(["example", "position"])
    known = {item: verdict for item, verdict in found.items() if tuple(item[1:]) in rows.index}
    places = [tuple(item[1:]) for item in known]
    table = pd.DataFrame(
        {
            "example": [item.example + 1 for item in known],
            "criterion": [item.position + 1 for item in known],
            "points": rows.loc[places, "points"].tolist() if places else [],
            "the grader": [_WORDS[verdict.event.grader_met] for verdict in known.values()],
            "reviewers": [_said(verdict) for verdict in known.values()],
            "adjudicated": [
                str(verdict.adjudication.decision) if verdict.adjudication else None
                for verdict in known.values()
            ],
            "reason": [verdict.event.reason for verdict in known.values()],
            "last": [when(verdict.event.at) for verdict in known.values()],
        }
    )
    show_table(
        table,
        key="disagreements",
        alt="Verdicts on which reviewers differ among themselves or from the grader, one a row",
        formats={"points": points, "example": count, "criterion": count},
    )


def _adjudicate(item: Item, verdict: HumanVerdict) -> None:
    example = data.example(item.run, item.example)
    line = line_of(example, item)
    conversation(example)
    with st.container(border=True, key="adjudicated_criterion"):
        criterion(line, "_adjudicated")
    for event in verdict.decisions:
        blind = "before seeing the grader's" if event.blind else "after seeing the grader's"
        why = f" · {escaped(event.reason)}" if event.reason else ""
        st.markdown(
            f"**{escaped(event.reviewer)}** ({escaped(event.role)}): **{event.decision}**, {blind}{why}"
        )
        if event.note:
            foreign(event.note, key=f"adjudicated_note_{event.id}", kind="quiet")
    graded = grader_met(example, item)
    st.markdown(f"The grader: **{_WORDS[graded]}**")
    if isinstance(line["explanation"], str):
        foreign(line["explanation"], key="adjudicated_explanation", kind="quiet")
    reviewer = reviewer_or_stop()
    st.text_input("Why (optional)", key=_why(item), max_chars=2000)
    with st.container(horizontal=True):
        for decision in (Decision.MET, Decision.NOT_MET):
            st.button(
                f"Adjudicate: {decision}",
                key=f"adjudicate_{decision.name}",
                type="primary"
                if verdict.adjudication and verdict.met == decision.met
                else "secondary",
                on_click=_record,
                args=(item, reviewer, decision),
            )
        st.button(
            "Take back",
            key="adjudicate_undo",
            disabled=verdict.adjudication is None or verdict.adjudication.reviewer != reviewer.name,
            on_click=review_data.journal().undo,
            args=(item, reviewer, Kind.ADJUDICATION),
        )


def _record(item: Item, reviewer: Reviewer, decision: Decision) -> None:
    example = data.example(item.run, item.example)
    review_data.journal().record(
        item,
        reviewer,
        decision,
        prompt_id=example.prompt_id,
        kind=Kind.ADJUDICATION,
        grader_met=grader_met(example, item),
        note=st.session_state.get(_why(item)),
    )


def _why(item: Item) -> str:
    return f"adjudicated_why_{item.example}_{item.position}"
