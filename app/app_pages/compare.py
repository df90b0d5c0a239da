"""Two runs on the prompts they share: the difference, whether it is noise, and the criteria behind it."""

from __future__ import annotations

import compare_data
import numpy as np
import state
import streamlit as st
from components.calculator import adjustment, preset_of
from components.chart import chart, palette
from components.compare_parts import (
    agreement_panel,
    columns,
    compared,
    gate_panel,
    headline,
    pickers,
    plots,
)
from components.downloads import report_button
from components.failed_gradings import failed_gradings
from components.flip_parts import flip_list, summary
from components.frame import empty, run_line, run_or_stop
from components.side_by_side import ORDERS, listed_rows, prompt_list, side_by_side
from components.slices import outcome_notice, slice_bar

from healthbench.charts.compare import Names, length_against_difference, prompts
from healthbench.comparison.pair import prompt_scores
from healthbench.formatting import count, difference
from healthbench.scoring.compare import length_part

PARTS = {"": "Difference", "criteria": "Criteria", "prompts": "Prompts", "example": "Side by side"}


def _choose_part() -> None:
    state.change(part=st.session_state["compare_part"])


def _open_selected(key: str) -> None:
    selected = st.session_state[key]["selection"]["points"]
    if selected and "customdata" in selected[0]:
        state.change(part="example", example=int(selected[0]["customdata"]) + 1)


run = run_or_stop()
run_line(run)
others = pickers(run)
if others is None:
    empty("There is only one run.", "Import a second one over the same prompts on the page *Runs*.")
    st.stop()
slice_bar()
outcome_notice(compared=True)
as_stored = failed_gradings((run.id, others.first, *others.further))
found = compared(run, others.first, as_stored=as_stored)
if found is None:
    st.stop()
gate_panel(found)
part = state.view().part if state.view().part in PARTS else ""
st.session_state["compare_part"] = part
with st.container(horizontal=True, horizontal_alignment="distribute"):
    st.segmented_control(
        "What to see",
        list(PARTS),
        key="compare_part",
        format_func=PARTS.get,
        required=True,
        on_change=_choose_part,
        label_visibility="collapsed",
        wrap=True,
        width="content",
    )
    report_button(run.id, others.first)
wanted = state.in_slice()
one, two = (compare_data.side(run_id, as_stored=as_stored) for run_id in (others.first, run.id))

if part == "":
    graders = compare_data.grader_agreement(others.first, run.id, wanted, as_stored=as_stored)
    if graders is not None and graders.same_replies:
        agreement_panel(graders)
    headline(found)
    if graders is not None and not graders.same_replies:
        st.caption(
            f"{count(graders.n_replies)} of {count(graders.n_pairs)} paired replies are the same text."
        )
    plots(found)
    further = [compared(run, other, as_stored=as_stored) for other in others.further]
    columns(found, [comparison for comparison in further if comparison is not None])
elif part == "criteria":
    rows = compare_data.flips(others.first, run.id, wanted, as_stored=as_stored)
    summary(rows)
    flip_list(rows, found)
elif part == "prompts":
    scores = prompt_scores(one, two, found.matching)
    names = Names(f"{found.gate.names[0]} (other)", f"{found.gate.names[1]} (this)")
    st.subheader("Each prompt in both runs")
    chart(
        prompts(scores.first, scores.second, scores.second_row, names, palette()),
        key="prompts_chart",
        alt=f"Score of each prompt in both runs: {count(found.overall.wins)} better in this run, "
        f"{count(found.overall.losses)} worse, {count(found.overall.ties)} the same.",
        on_select=lambda: _open_selected("prompts_chart"),
    )
    st.caption("Above the diagonal this run is better. Click a prompt to see both replies.")
    prompt_list(scores)
    st.subheader("How much of the difference is length?")
    price = adjustment(preset_of(run))
    parts = length_part(one.scores, two.scores, found.matching, price)
    if parts is not None:
        st.markdown(
            f"Raw difference **{difference(parts.raw)}** = **{difference(parts.adjusted)}** adjusted for length + "
            f"**{difference(parts.length)}** that the length of the replies is worth at this price."
        )
    extra = scores.second_characters - scores.first_characters
    chart(
        length_against_difference(
            extra, scores.second - scores.first, scores.second_row, price, palette()
        ),
        key="length_chart",
        alt=f"Difference of scores against difference of lengths; this run's replies are on average "
        f"{count(float(np.mean(extra)))} characters longer.",
        on_select=lambda: _open_selected("length_chart"),
    )
else:
    order = st.segmented_control(
        "Order of the examples",
        list(ORDERS),
        default=next(iter(ORDERS)),
        required=True,
        key="pair_order",
    )
    side_by_side(found, listed_rows(found, (one, two), order or next(iter(ORDERS))))
