"""Clipping once or every example first: both scores, who computes what, and a sandbox."""

from __future__ import annotations

import data
import state
import streamlit as st
from components.clipping_parts import (
    by_tag,
    distribution,
    errors,
    makers,
    numbers,
    rules,
    sandbox,
    which_rule,
)
from components.frame import empty, run_line

from healthbench.scoring.aggregate import early_late_gap
from healthbench.scoring.run_scores import OVERALL

run = {run.id: run for run in data.runs()}.get(state.view().run or "")
if run is None:
    empty("There is no run to look at.", "Import one on the page *Runs*, or try the sandbox.")
else:
    run_line(run)
    as_stored = state.view().as_stored and bool(run.n_marked)
    scores = data.run_scores(run.id, as_stored=as_stored)
    gap = early_late_gap(scores.overall.scores)
    if gap is None:
        empty("No example of this run has a score.", "See on the page *Score* why.")
    else:
        numbers(gap)
        st.subheader("What does clipping do to the example scores?")
        distribution(scores.overall.scores, gap, key="treatments")
        results = data.metrics(run.id, as_stored=as_stored)
        with st.grid(2, min_column_width=430, gap="medium") as panels:
            with panels.cell():
                by_tag(results, "theme", inferred=data.themes_from(run.id) == "inferred")
            with panels.cell():
                by_tag(results, "axis")
            with panels.cell():
                makers(scores.overall.scores)
            with panels.cell():
                interval = data.intervals(run.id, as_stored=as_stored).get(OVERALL)
                errors(interval, *data.reference_errors(run.id, as_stored=as_stored))
        rules(scores)
        which_rule(run)
sandbox()
