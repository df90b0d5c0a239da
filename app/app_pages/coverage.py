"""What a run contains: two units side by side, the grid of both, and what no axis score shows."""

from __future__ import annotations

import data
import state
import streamlit as st
from components.coverage_parts import blind_spot, cells, conversations, criteria, published_sizes
from components.frame import run_line, run_or_stop

run = run_or_stop()
run_line(run)
found = data.coverage(run.id)

st.markdown(
    "The left chart counts conversations, the right one lines of their rubrics: two units on two scales, which cannot be "
    "compared bar by bar. A share of either is a share of the material, not of the score: each example weighs the same "
    "in the score, however many criteria it has."
)
with st.grid(2, min_column_width=430, gap="medium") as panels:
    with panels.cell():
        conversations(run, found)
    with panels.cell():
        criteria(run, found)
published_sizes(run, found)
cells(found)
blind_spot(run, data.blind_spot(run.id, as_stored=state.view().as_stored and bool(run.n_marked)))
