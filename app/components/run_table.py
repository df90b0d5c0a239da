"""The table of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import pandas as pd
import review_data
import state
import streamlit as st

from components.chart import show_table
from healthbench.formatting import DASH, count, interval, percent, score
from healthbench.scoring.run_scores import OVERALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.store.records import RunSummary


def run_table(runs: Sequence[RunSummary]) -> None:
    """Show one line a run; the button of a line opens its score."""
    table = pd.DataFrame([_line(run) for run in runs])
    if all(run.headline.n_scored == run.n_examples for run in runs):
        table = table.drop(columns="scored")
    if not table["n fully reviewed"].any():
        table = table.drop(columns=["fully reviewed", "n fully reviewed"])
    if table["with reviews"].isna().all():
        table = table.drop(columns="with reviews")
    show_table(
        table,
        key="runs",
        alt="Runs in the store, one a row",
        formats={
            "examples": count,
            "scored": count,
            "score": score,
            "with reviews": score,
            "fully reviewed": score,
            "n fully reviewed": count,
            "unclipped": score,
            "below 0": lambda share: percent(share, 0),
            "characters": count,
        },
        column_config={
            "open": st.column_config.ButtonColumn(
                "open",
                key="open_run",
                on_click=_open,
                args=([run.id for run in runs],),
                width=62,
            ),
            "scored": st.column_config.Column(
                help="Examples the score is the mean of; the others have an unknown verdict or no positive points."
            ),
            "score": st.column_config.Column(help="Points of 100, clipped once at the end."),
            "95 %": st.column_config.Column(
                help="Interval of the unclipped mean, bootstrap over prompts.", alignment="right"
            ),
            "with reviews": st.column_config.Column(
                help="The score with people's verdicts in the place of the grader's, where they reviewed."
            ),
            "fully reviewed": st.column_config.Column(
                help="The score on the examples of which people gave every verdict."
            ),
            "below 0": st.column_config.Column(help="Share of example scores below 0"),
            "characters": st.column_config.Column(help="Mean length of a reply"),
            "file says": st.column_config.Column(
                help="The score the file states, and whether its figures equal ours"
            ),
        },
    )


def _line(run: RunSummary) -> dict[str, object]:
    head = run.headline
    return {
        "open": "Open",
        "run": data.label(run.id),
        "benchmark": "SYNTHETIC SAMPLE" if run.info.synthetic else run.info.benchmark or DASH,
        "grader": run.info.grader or DASH,
        "examples": run.n_examples,
        "scored": head.n_scored,
        "score": head.score,
        "95 %": interval(head.ci_low, head.ci_high),
        **_reviewed(run),
        "unclipped": head.unclipped,
        "below 0": head.below_zero / head.n_scored if head.n_scored else None,
        "characters": run.mean_characters,
        "file says": _file_says(run),
    }


def _reviewed(run: RunSummary) -> dict[str, float | int | None]:
    """Return the run's scores after review; None where nobody reviewed it, and nothing is computed then."""
    reviewed = review_data.events(run.id) and not data.damage(run.id)
    found = review_data.reviewed(run.id) if reviewed else None
    if found is None or not found.n_reviewed:
        return {"with reviews": None, "fully reviewed": None, "n fully reviewed": 0}
    full = found.fully_reviewed.get(OVERALL)
    return {
        "with reviews": found.with_reviews[OVERALL].score,
        "fully reviewed": full.score if full else None,
        "n fully reviewed": found.n_fully_reviewed,
    }


def _file_says(run: RunSummary) -> str:
    if data.damage(run.id):
        return "damaged"
    found = data.verification(run.id)
    if found is None or not found.comparisons:
        return DASH
    if found.differences:
        return f"▲ {score(found.score)}, {count(len(found.differences))} differ"
    return f"✓ {score(found.score)}"


def _open(run_ids: list[str]) -> None:
    state.choose_run(run_ids[st.session_state["open_run"]["row"]])
    state.open_page("score")
