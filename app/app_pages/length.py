"""The length adjustment: a calculator, and what it does to a run."""

from __future__ import annotations

import data
import state
import streamlit as st
from components.calculator import adjustment, calculator, preset_of
from components.frame import empty, run_line
from components.length_parts import (
    between_runs,
    by_theme,
    correlation,
    order_of_steps,
    raw_and_adjusted,
)

from healthbench.scoring.length import mean_adjusted

run = {run.id: run for run in data.runs()}.get(state.view().run or "")
if run is not None:
    run_line(run)
st.subheader("Calculator")
chosen = adjustment(preset_of(run))
calculator(chosen)
st.caption(
    "The adjustment prices length at one published rate, so that scores of wordy and terse models can be set side by "
    "side. It does not say that a shorter reply would have scored the same, nor that length is bad for a reader."
)
if run is None:
    empty(
        "There is no run to adjust.", "Import one on the page *Runs* to see what this does to it."
    )
    st.stop()

st.subheader("What does the adjustment make of this run?")
as_stored = state.view().as_stored and bool(run.n_marked)
scores = data.run_scores(run.id, as_stored=as_stored)
mean = mean_adjusted(scores, chosen)
if mean is None:
    empty("No example of this run has a score.", "See on the page *Score* why.")
    st.stop()
raw_and_adjusted(run, scores, mean, chosen, as_stored=as_stored)
correlation(scores, chosen)
with st.grid(2, min_column_width=430, gap="medium") as panels:
    with panels.cell():
        by_theme(scores, chosen)
    with panels.cell():
        order_of_steps(scores, mean, chosen)
        between_runs(run, chosen, as_stored=as_stored)
