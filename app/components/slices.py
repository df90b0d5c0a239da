"""Slices: named filters, chosen here and used by every page that computes figures. The URL carries the conditions."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import data
import state
import streamlit as st

from components.score_parts import means
from components.text import escaped, some
from healthbench.errors import HealthBenchError
from healthbench.formatting import FEW, count, interval, score
from healthbench.scoring.run_scores import OVERALL
from healthbench.store.records import ExampleFilter
from healthbench.store.slices import LONGEST_NAME, by_outcome, in_words

if TYPE_CHECKING:
    from healthbench.store.records import RunSummary

_ALL = "All examples"
_THESE = "The conditions of the page Examples"


def slice_bar(note: str = "Every figure below is of this slice only.") -> None:
    """Let the reader choose the slice on which the page's figures are computed, and say loudly that there is one.

    Args:
        note: What the slice means for the page.
    """
    current = state.view()
    conditions = dataclasses.replace(current.filters, criterion=None)
    has_conditions = in_words(conditions) != in_words(ExampleFilter())
    saved = {one.name: one.wanted for one in data.slices()}
    named = next((name for name, wanted in saved.items() if wanted == conditions), None)
    options = [_ALL, *saved]
    if has_conditions and named is None:
        options.append(_THESE)
    if len(options) == 1:
        return
    st.session_state["slice"] = (named or _THESE) if state.in_slice() else _ALL
    with st.container(horizontal=True, vertical_alignment="bottom", key="slice_bar"):
        st.selectbox("Examples counted", options, key="slice", on_change=_choose, width=340)
        if state.in_slice():
            st.page_link(
                "app_pages/examples.py",
                label="List them",
                icon=":material/list:",
                query_params=state.query_for("examples", page=1),
            )
    if state.in_slice():
        st.warning(f"Slice: {escaped(in_words(conditions))}. {note}", icon=":material/filter_alt:")


def _choose() -> None:
    chosen = st.session_state["slice"]
    saved = {one.name: one.wanted for one in data.slices()}
    if chosen in saved:
        state.change(filters=saved[chosen], sliced=True, page=1)
    else:
        state.change(sliced=chosen == _THESE)


def outcome_notice(*, compared: bool = False) -> None:
    """Warn where the slice looks at what a run did: its figures then partly show luck."""
    wanted = state.in_slice()
    if wanted is None or not by_outcome(wanted):
        return
    text = "This slice looks at scores, verdicts or replies, so its figures show luck as well as skill."
    if compared:
        text += " A prompt is in where either run meets the conditions, which treats both alike."
    st.caption(text)


def slice_score(run: RunSummary, whole: float | None, *, as_stored: bool) -> None:
    """Show the score of the slice beside that of the whole run; nothing where no slice is chosen.

    Args:
        run: The run.
        whole: Unclipped mean of the whole run.
        as_stored: Count failed gradings as the file does.
    """
    wanted = state.in_slice()
    if wanted is None:
        return
    scores = data.slice_scores(run.id, wanted, as_stored=as_stored)
    with st.container(border=True, key="slice_score"):
        if not scores.n_examples:
            st.markdown("**No example of this run lies in the slice.**")
            return
        results, intervals = data.slice_figures(run.id, wanted, as_stored=as_stored)
        overall, spread = results[OVERALL], intervals.get(OVERALL)
        few = f" Fewer than {FEW}, so read it with care." if overall.n < FEW else ""
        st.markdown(
            f"**{score(overall.unclipped)}** {interval(spread.low, spread.high) if spread else ''} is the unclipped mean of the "
            f"slice, over {some(overall.n, 'scored example')} of {count(scores.n_examples)} in it; the whole run has "
            f"{score(whole)}.{few}"
        )
        outcome_notice()
        with st.expander("Themes and axes of the slice"), st.grid(2, min_column_width=430) as grid:
            for kind in ("theme", "axis"):
                with grid.cell():
                    means(results, intervals, kind, overall.unclipped, key="slice_dots")


def save_slice() -> None:
    """Let the reader name the conditions of the list, and forget slices."""
    with st.popover("Slices", icon=":material/bookmark:", key="slices"):
        conditions = dataclasses.replace(state.view().filters, criterion=None)
        st.markdown(f"These conditions: {escaped(in_words(conditions))}")
        st.text_input("Name of the slice", key="slice_name", max_chars=LONGEST_NAME)
        st.button(
            "Save as a slice", key="slice_save", on_click=_save, icon=":material/bookmark_add:"
        )
        problem = st.session_state.pop("slice_problem", None)
        if problem:
            st.warning(problem, icon=":material/block:")
        for number, one in enumerate(data.slices()):
            with st.container(horizontal=True, vertical_alignment="center", key=f"slice_{number}"):
                st.button(
                    escaped(one.name),
                    key=f"slice_use_{number}",
                    help=in_words(one.wanted),
                    on_click=state.change,
                    kwargs={"filters": one.wanted, "sliced": True, "page": 1},
                    type="tertiary",
                )
                st.space("stretch")
                st.button(
                    "Forget",
                    key=f"slice_forget_{number}",
                    on_click=data.remove_slice,
                    args=(one.name,),
                    type="tertiary",
                    icon=":material/delete:",
                )


def _save() -> None:
    try:
        data.save_slice(st.session_state["slice_name"], state.view().filters)
    except HealthBenchError as refused:
        st.session_state["slice_problem"] = str(refused)
    else:
        st.session_state["slice_name"] = ""
