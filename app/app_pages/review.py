"""Review: a person judges single verdicts before seeing the grader's."""

from __future__ import annotations

import data
import review_data
import state
import streamlit as st
from components.frame import empty, run_or_stop
from components.review_card import WIDTH, card
from components.review_desk import Desk
from components.review_example import example_list
from components.review_identity import identity_line, reviewer_or_stop
from components.review_queues import queue_form, queue_list
from components.review_transfer import transfer

run = run_or_stop()
reviewer = reviewer_or_stop()
chosen = state.view().queue
queue = review_data.open_queue(chosen, run.id) if chosen else None

with st.container(horizontal=True, vertical_alignment="center"):
    if queue:
        st.button(
            "All queues",
            icon=":material/arrow_back:",
            type="tertiary",
            key="queues",
            on_click=state.change,
            kwargs={"queue": None},
        )
    st.space("stretch")
    identity_line(reviewer)

gone = (
    {entry.item.run for entry in queue.entries} - {other.id for other in data.runs()}
    if queue
    else set()
)
if gone:
    empty(
        "This queue holds verdicts of a run that is no longer in the store.",
        "Import its file again on the page *Runs*, or go back to the other queues.",
    )
elif queue:
    desk = Desk(reviewer, queue)

    @st.fragment
    def work() -> None:
        """Redraw the desk alone after a key press."""
        if queue.saved is None:
            example_list(desk)
        else:
            with st.container(horizontal_alignment="center"), st.container(width=WIDTH):
                card(desk)

    work()
else:
    if chosen:
        empty(
            "This link names a queue that is not in this store.", "Choose one below, or make one."
        )
    st.subheader("Queues")
    st.caption(
        "You judge each criterion before you see what the grader said. Then it is shown, and you may revise: both "
        "decisions are kept, and only the first counts as independent."
    )
    queue_list(run, reviewer)
    queue_form(run, {other.id: data.label(other.id) for other in data.runs() if other.id != run.id})
    transfer(run)
