"""Agreement: how far the grader can be trusted, as far as people have looked."""

from __future__ import annotations

import agreement_data
import review_data
import streamlit as st
from components.frame import empty, run_line, run_or_stop
from components.review_adjudicate import disagreements
from components.review_agreement import basis, between, confusions, estimate, overall, parts
from components.reviewed_score import reviewed_score

run = run_or_stop()
run_line(run)
reviewed_score(run)
if not review_data.events(run.id):
    empty(
        "Agreement compares the grader's verdicts with those of people, and nobody has decided on this run yet.",
        "Open *Review verdicts*, give your name, and decide on a few: this page fills from the first decision on.",
    )
    st.stop()

st.subheader("How far does the grader agree with reviewers?")
chosen = basis(run)
found = agreement_data.overall(run.id, chosen)
if found is None:
    empty(
        "No decision fits this choice.",
        "Choose other reviewers, decisions as they stand, or other weights.",
    )
else:
    overall(found)
    confusions(agreement_data.by_part(run.id, chosen, "sign"))
    parts(run, chosen)

wanted = agreement_data.wanted_precision(run.id, chosen.sample) if chosen.sample else None
estimate(agreement_data.estimate(run.id, chosen.sample), wanted)
between(run, chosen)
disagreements(run)
