"""How far to trust a repeat: spread, worst of k replies, and where the variance comes from."""

from __future__ import annotations

import compare_data
import state
import streamlit as st
from components.failed_gradings import failed_gradings
from components.frame import empty, run_line, run_or_stop
from components.repeats_parts import (
    pickers,
    prompt_panel,
    remarks,
    spread_panel,
    variance_panel,
    worst_panel,
)
from components.slices import outcome_notice, slice_bar

run = run_or_stop()
run_line(run)
run_ids = pickers(run)
as_stored = failed_gradings((*run_ids, state.view().regrade or run.id))
if not remarks(run_ids, as_stored=as_stored):
    st.stop()
slice_bar()
outcome_notice()
wanted = state.in_slice()
found = compare_data.repeats(run_ids, wanted, as_stored=as_stored)
if not found.prompt_ids:
    empty("No prompt lies in this slice.", "Widen it, or look at all examples.")
    st.stop()
if found.repeats.n_repeats < 2:
    empty(
        "This run has one reply to each prompt, so nothing was repeated.",
        "Join a further run of the same model over the same prompts above, or choose a run with repeats.",
    )
    st.stop()
spread_panel(found)
worst_panel(run_ids, wanted, as_stored=as_stored)
variance_panel(run, found, as_stored=as_stored)
prompt_panel(run_ids, found)
