"""One example: conversation and reply beside the ledger of its score."""

from __future__ import annotations

import data
import review_data
import state
import streamlit as st
from components.frame import empty, run_line, run_or_stop
from components.ledger import ORDERS, ledger
from components.text import escaped, some, turns

from healthbench.errors import StoreError
from healthbench.formatting import characters, count, fraction
from healthbench.model import Message
from healthbench.taxonomy import display_name, kind_of

SCROLL = 640
NAME_WIDTH = 100
ERROR_WIDTH = 600


def _row(example: int | None, rows: list[int]) -> int:
    return (example or (rows[0] + 1 if rows else 1)) - 1


def _neighbours(row: int, rows: list[int]) -> tuple[int | None, int | None]:
    """Return what comes before and after a row in the list; from outside of it, the next of the list comes after."""
    if row not in rows:
        return None, next((other for other in rows if other > row), rows[0] if rows else None)
    place = rows.index(row)
    return rows[place - 1] if place else None, rows[place + 1] if place + 1 < len(rows) else None


def _step(direction: int) -> None:
    """Go to the previous (0) or next (1) example of where the reader is by now: keys come faster than pages."""
    now = state.view()
    rows = data.example_rows(run.id, now.filters, now.order)
    target = _neighbours(_row(now.example, rows), rows)[direction]
    if target is not None:
        state.change(example=target + 1)


run = run_or_stop()
run_line(run)
view = state.view()
listed = data.example_rows(run.id, view.filters, view.order)
row = _row(view.example, listed)
try:
    example = data.example(run.id, row)
except StoreError:
    empty(
        f"This run has no example {row + 1}.",
        f"It has {count(run.n_examples)}: choose one on the page *Examples*.",
    )
    st.stop()

place = listed.index(row) if row in listed else None
before, after = _neighbours(row, listed)

with st.container(horizontal=True, vertical_alignment="center", key="steps"):
    st.button(
        "Previous",
        key="previous",
        icon=":material/chevron_left:",
        shortcut="K",
        disabled=before is None,
        on_click=_step,
        args=(0,),
    )
    if place is None:
        st.markdown(
            f"Example **{count(row + 1)}**, outside the {count(len(listed))} the filter lists"
        )
    else:
        st.markdown(f"**{count(place + 1)}** of {count(len(listed))}")
    st.button(
        "Next",
        key="next",
        icon=":material/chevron_right:",
        icon_position="right",
        shortcut="J",
        disabled=after is None,
        on_click=_step,
        args=(1,),
    )
    st.page_link(
        "app_pages/examples.py",
        label="List",
        icon=":material/list:",
        query_params=state.query_for("examples"),
    )
    st.page_link(
        "app_pages/review.py",
        label="Review",
        icon=":material/rate_review:",
        help="Judge all its criteria yourself",
        query_params=state.query_for("review", queue=f"{review_data.ONE_EXAMPLE}{row + 1}"),
    )
    st.page_link(
        "app_pages/grade.py",
        label="Grade",
        icon=":material/grading:",
        help="Grade another reply to this conversation",
        query_params=state.query_for("grade", example=row + 1),
    )
    st.space("stretch")
    st.toggle(
        "Render Markdown",
        key=state.RENDERED,
        persist_state="session",
        help="Images are never loaded.",
    )
    with st.popover("Copy link", icon=":material/link:"):
        st.code(state.link("example", example=row + 1), language=None, wrap_lines=True)

tags = [
    escaped(display_name(tag), NAME_WIDTH) + (" (inferred)" if source == "inferred" else "")
    for tag, source in sorted(example.tags.items(), key=lambda item: kind_of(item[0]) != "theme")
]
facts = [
    f"example {count(row + 1)}",
    *tags,
    some(len(example.prompt), "message"),
    f"reply {characters(example.characters)}",
]
if example.n_repeats > 1:
    facts.append(f"reply {example.repeat + 1} of {example.n_repeats} to this prompt")
if example.stated_score is not None:
    facts.append(f"file states {fraction(example.stated_score)}")
st.caption(" · ".join(facts) + f" · prompt {escaped(example.prompt_id, NAME_WIDTH)}")
if example.error:
    st.warning(
        f"The file records an error for this example: {escaped(example.error, ERROR_WIDTH)}",
        icon=":material/warning:",
    )

key = f"ledger_{run.id}_{row}"


@st.fragment
def show_ledger() -> None:
    """Show the ledger by itself, so that a "what if" reruns nothing else."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Order",
            list(ORDERS),
            default="in the file",
            required=True,
            key=state.LEDGER_ORDER,
            label_visibility="collapsed",
        )
        st.toggle("Open all explanations", key=state.EXPLAIN, persist_state="session")
    reviews = {
        item.position: verdict
        for item, verdict in review_data.verdicts(run.id).items()
        if item.example == row
    }
    ledger(example.ledger, key=key, height=SCROLL, reviews=reviews)


with st.grid(2, min_column_width=430, gap="medium") as grid:
    with grid.cell():
        st.subheader("Conversation and reply")
        with st.container(height=SCROLL + 130, border=True, key="conversation"):
            turns(
                example.prompt,
                key=f"prompt_{key}",
                rendered=bool(st.session_state.get(state.RENDERED)),
            )
            reply = [Message("reply", example.reply)]
            turns(reply, key=f"reply_{key}", rendered=bool(st.session_state.get(state.RENDERED)))
    with grid.cell():
        st.subheader("Ledger")
        show_ledger()
