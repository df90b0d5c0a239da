"""The examples of a run: searched, filtered, sorted and paged by the store."""

from __future__ import annotations

import data
import state
import streamlit as st
from components.chart import show_table
from components.filters import clear, filters, is_filtered
from components.frame import empty, run_line, run_or_stop
from components.slices import save_slice

from healthbench.formatting import DASH, count, fraction, plain_points
from healthbench.taxonomy import display_name

PAGE_SIZE = 25


def _open() -> None:
    clicked = st.session_state["open_example"]
    state.open_page("example", example=st.session_state[state.LISTED][clicked["row"]])


def _turn_page(key: str) -> None:
    state.change(page=st.session_state[key])


run = run_or_stop()
run_line(run)
filters(run)
view = state.view()
offset = PAGE_SIZE * (max(view.page, 1) - 1)
listed, total = data.examples(run.id, view.filters, view.order, PAGE_SIZE, offset)
if total and listed.empty:
    # The link names a page beyond the end of this list.
    state.change(page=1)
    st.rerun()

with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(f"**{count(total)}** of {count(run.n_examples)} examples")
    if is_filtered():
        st.button(
            "Clear all conditions", key="clear", icon=":material/filter_alt_off:", on_click=clear
        )
    save_slice()
if not total:
    empty("No example meets all these conditions.", "Take one away, or clear them all.")
    st.stop()

st.session_state[state.LISTED] = [int(row) + 1 for row in listed["example"]]
table = listed.assign(
    open="Open",
    number=listed["example"] + 1,
    theme=[display_name(theme) if isinstance(theme, str) else DASH for theme in listed["theme"]],
    points=[
        f"{plain_points(achieved)} / {plain_points(possible)}"
        for achieved, possible in zip(listed["achieved"], listed["possible"], strict=True)
    ],
    bounds=[
        f"{fraction(low, 2)} to {fraction(high, 2)}" if unknown else DASH
        for low, high, unknown in zip(
            listed["low"], listed["high"], listed["n_unknown"], strict=True
        )
    ],
    reply=listed["repeat"] + 1,
)
columns = [
    "open",
    "number",
    "score",
    "points",
    "theme",
    "n_items",
    "characters",
    "n_messages",
    "snippet",
]
if listed["n_unknown"].any():
    columns[3:3] = ["bounds", "n_unknown"]
if run.n_prompts < run.n_examples:
    columns.insert(2, "reply")
show_table(
    table[columns],
    key="examples",
    alt="Examples of the run, one a row",
    formats={
        "score": lambda value: fraction(value, 3),
        "characters": count,
    },
    column_config={
        "open": st.column_config.ButtonColumn(
            "open", key="open_example", on_click=_open, width="small"
        ),
        "number": st.column_config.Column("example", width="small"),
        "reply": st.column_config.Column(
            "reply", help="k-th reply to the same prompt", width="small"
        ),
        "score": st.column_config.Column(
            help="Unclipped; a dash where it is withheld.", width="small"
        ),
        "bounds": st.column_config.Column(help="What the unknown verdicts leave open"),
        "points": st.column_config.Column(
            help="Points achieved of points possible", width="small", alignment="right"
        ),
        "n_items": st.column_config.Column("criteria", width="small"),
        "n_unknown": st.column_config.Column("unknown", width="small"),
        "n_messages": st.column_config.Column("messages", width="small"),
        "snippet": st.column_config.Column("last user turn", width="large"),
    },
    height="content",
)
pages = -(-total // PAGE_SIZE)
if pages > 1:
    current = min(max(view.page, 1), pages)
    # A key of its own for every page, because a link or the filter may change the page, too.
    key = f"list_page_{current}"
    st.pagination(pages, default=current, key=key, on_change=_turn_page, args=(key,))
