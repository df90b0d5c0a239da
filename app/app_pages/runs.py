"""Import graded runs, see them side by side, and read what an import understood."""

from __future__ import annotations

import data
import state
import streamlit as st
from components.column_mapping import column_mappings, remembered
from components.frame import empty, notice
from components.import_report import datasets, report, unusable
from components.imports import importer, outcomes
from components.leaderboard import leaderboard
from components.run_table import run_table

runs = data.runs()
with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.title("Graded runs", width="content")
    button = st.container(width="content")
importer(button)
outcomes()
column_mappings()
for folder in data.unreadable():
    unusable(folder.id, folder.reason)

if not runs:
    empty(
        "There is no graded run yet.",
        "Drop the *_allresults.json of a HealthBench run under *Import*, or name its folder there.",
    )
    datasets()
    remembered()
    st.stop()

run_table(runs)
if any(run.info.synthetic for run in runs):
    notice(
        "Runs marked SYNTHETIC SAMPLE are made up for demonstration: invented assistants, invented conversations."
    )
chosen = {run.id: run for run in runs}.get(state.view().run or "")
if chosen is not None:
    report(chosen)
datasets()
remembered()
leaderboard([run for run in runs if not data.damage(run.id)])
