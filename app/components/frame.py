"""What stands around a page's own content: which run it is, what to do without one, and the short notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import state
import streamlit as st

from components.text import escaped, some

if TYPE_CHECKING:
    from healthbench.scoring.verification import Verification
    from healthbench.store.records import RunSummary

NOTICE = (
    "For research; not medical advice. Verdicts come from a model unless a person reviewed them."
)


def run_or_stop() -> RunSummary:
    """Return the current run, or show what to do without one and end the page."""
    chosen = state.view().run
    runs = {run.id: run for run in data.runs()}
    if chosen in runs:
        return runs[chosen]
    if runs:
        empty("No run is chosen.", "Choose one under *Run* in the sidebar.")
    else:
        empty("There is no graded run yet.", "Import one on the page *Runs*.")
        st.page_link("app_pages/runs.py", label="Go to Runs", icon=":material/arrow_forward:")
    return st.stop()


def empty(what: str, then: str) -> None:
    """Show an empty state: why there is nothing, and what to do next."""
    st.info(f"{what} {then}", icon=":material/info:")


def run_line(run: RunSummary) -> None:
    """Show the one quiet line on top of every page about a run; each part leads to what explains it."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="run_line"):
        if run.info.synthetic:
            st.badge("SYNTHETIC SAMPLE", icon=":material/science:", color="violet")
        _part("runs", f"**{escaped(data.label(run.id))}**", "The run in the table of all runs")
        _part(
            "runs",
            escaped(run.info.benchmark or "benchmark not recorded"),
            "What was read from the file",
        )
        grader = (
            f"graded by {escaped(run.info.grader)}" if run.info.grader else "grader not recorded"
        )
        _part("method", grader, "Who gives the verdicts, and why it matters")
        _part("examples", some(run.n_examples, "example"), "The list of examples")
        _part("score", verified(data.verification(run.id)), "Figures of the file against ours")


def verified(verification: Verification | None) -> str:
    """Return in a few words whether the file's own figures are ours."""
    if verification is None or not verification.comparisons:
        return "file states no score"
    differences = len(verification.differences)
    if differences:
        return f"▲ {some(differences, 'difference')} from the file"
    return "✓ verified against the file"


def notice(text: str = NOTICE) -> None:
    """Show a short notice in small print."""
    st.caption(text)


def _part(page: str, label: str, help_text: str) -> None:
    st.page_link(
        f"app_pages/{page}.py",
        label=label,
        icon="",
        help=help_text,
        query_params=state.query_for(page),
    )
