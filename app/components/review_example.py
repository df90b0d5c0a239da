"""Whole-example mode: all criteria of one example in a list beside the reply, decided one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import streamlit as st

from components.review_card import additions, buttons, conversation, criterion, grader_view, head
from components.review_desk import Desk, line_of
from components.review_keys import listen
from healthbench.formatting import count

if TYPE_CHECKING:
    from healthbench.store.records import ExampleView

_SCROLL = 600
"""Height in pixels of the two boxes, so that reply and criterion stay side by side."""
_MARKS = {
    "met": ":material/check:",
    "not met": ":material/close:",
    "cannot judge": ":material/question_mark:",
}


def example_list(desk: Desk) -> None:
    """Show the example of the queue with all its criteria; the keys work on the one that is open."""
    first = desk.entries[0].item
    example = data.example(first.run, first.example)
    desk.show()
    head(desk)
    with st.grid(2, min_column_width=430, gap="medium") as grid:
        with grid.cell():
            st.subheader("Conversation and reply")
            with st.container(height=_SCROLL, key="review_texts"):
                conversation(example, _SCROLL // 2)
        with grid.cell():
            st.subheader("Criteria")
            with st.container(height=_SCROLL, key="review_list"):
                for place in range(len(desk.entries)):
                    _row(desk, example, place)
    buttons(desk, desk.own(desk.entry.item))
    listen(str(tuple(first[:2])), show=f"st-key-review_row_{desk.place}")


def _row(desk: Desk, example: ExampleView, place: int) -> None:
    item = desk.entries[place].item
    decided = desk.own(item)
    current = place == desk.place
    said = f" · {_MARKS[str(decided.decision)]} you: **{decided.decision}**" if decided else ""
    with st.container(border=True, gap="xsmall", key=f"review_row_{place}"):
        st.button(
            f"Criterion {count(place + 1)}{' (open)' if current else ''}{said}",
            key=f"review_to_{place}",
            type="tertiary",
            icon=":material/arrow_right:" if current else None,
            on_click=desk.go_to,
            args=(place,),
        )
        criterion(line_of(example, item), f"_{place}")
        if desk.seen(item):
            grader_view(example, item, decided, f"_{place}")
        if current:
            additions(desk)
