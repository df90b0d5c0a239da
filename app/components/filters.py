"""The filter of the list of examples: widgets that show the view's filter and change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import data
import state
import streamlit as st

from healthbench.scoring.example import State
from healthbench.store.filters import ORDERS
from healthbench.store.records import ExampleFilter
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from healthbench.store.records import RunSummary

PLACES = {
    "criterion": "in criteria",
    "explanation": "in explanations",
    "reply": "in the reply",
    "conversation": "in the conversation",
}
ORDER_NAMES = {
    "example": "as in the file",
    "score": "lowest score first",
    "score descending": "highest score first",
    "characters": "shortest reply first",
    "characters descending": "longest reply first",
    "possible descending": "most points possible first",
    "unknown descending": "most unknown verdicts first",
}


def filters(run: RunSummary) -> None:
    """Show the filter and the order of the list."""
    tags = sorted(data.metrics(run.id), key=sort_key)
    with st.grid(4, min_column_width=190):
        _widget(st.text_input, "text", "Text", placeholder="as written, any case")
        _widget(st.selectbox, "text_in", "Sought", options=list(PLACES), format_func=PLACES.get)
        _choices("themes", "Themes", [tag for tag in tags if kind_of(tag) == "theme"])
        _choices("axes", "Axis of a criterion", [tag for tag in tags if kind_of(tag) == "axis"])
        _choices("states", "State of a criterion", [str(name) for name in State])
        _widget(st.number_input, "min_score", "Score from", step=0.1, format="%.2f")
        _widget(st.number_input, "max_score", "Score to", step=0.1, format="%.2f")
        _order()
    with st.expander("More conditions", expanded=_any_of(_MORE)), st.grid(4, min_column_width=190):
        _choices("categories", "Category", [tag for tag in tags if kind_of(tag) == "category"])
        _choices("tags", "Other tags", [tag for tag in tags if kind_of(tag) == "tag"])
        _widget(
            st.number_input, "min_points", "Points of a criterion from", step=1.0, format="%.0f"
        )
        _widget(st.number_input, "max_points", "Points of a criterion to", step=1.0, format="%.0f")
        _widget(st.number_input, "min_characters", "Reply characters from", step=100, min_value=0)
        _widget(st.number_input, "max_characters", "Reply characters to", step=100, min_value=0)
        _widget(st.number_input, "min_messages", "Messages from", step=1, min_value=0)
        _widget(st.number_input, "max_messages", "Messages to", step=1, min_value=0)
        _widget(st.toggle, "withheld", "Without a score only")


_MORE = (
    "categories",
    "tags",
    "min_points",
    "max_points",
    "min_characters",
    "max_characters",
    "min_messages",
    "max_messages",
    "withheld",
)


def is_filtered() -> bool:
    """Return whether the list leaves any example out."""
    return state.view().filters != ExampleFilter(text_in=state.view().filters.text_in)


def clear() -> None:
    """Drop every condition; a callback."""
    state.change(filters=ExampleFilter(), page=1)


def _any_of(names: tuple[str, ...]) -> bool:
    wanted, empty = state.view().filters, ExampleFilter()
    return any(getattr(wanted, name) != getattr(empty, name) for name in names)


def _choices(name: str, label: str, options: list[str]) -> None:
    chosen = list(getattr(state.view().filters, name))
    # A link may name a tag this run does not have: it stays visible, because it is why nothing is listed.
    listed = options + [tag for tag in chosen if tag not in options]
    if listed:
        _widget(st.multiselect, name, label, options=listed, format_func=display_name)


def _widget(kind: Any, name: str, label: str, **options: Any) -> None:
    """Show one widget with the view's value; what the reader changes goes to the view before the page runs."""
    value = getattr(state.view().filters, name)
    key = f"filter_{name}"
    st.session_state[key] = list(value) if isinstance(value, tuple) else value
    if kind is st.number_input:
        options["value"] = None
    kind(label, key=key, on_change=_changed, args=(name,), **options)


def _changed(name: str) -> None:
    value = st.session_state[f"filter_{name}"]
    state.filter_examples(**{name: tuple(value) if isinstance(value, list) else value})


def _order() -> None:
    order = state.view().order
    st.session_state["order"] = order if order in ORDERS else "example"
    st.selectbox(
        "Order",
        list(ORDERS),
        key="order",
        format_func=lambda name: ORDER_NAMES.get(name, name),
        on_change=_reorder,
    )


def _reorder() -> None:
    state.change(order=st.session_state["order"], page=1)
