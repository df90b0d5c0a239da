"""The three numbers of a run: by the grader, with reviews applied, and on fully reviewed examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import review_data
import state
import streamlit as st

from components.chart import show_table
from components.text import some
from healthbench.formatting import DASH, count, difference, score
from healthbench.scoring.run_scores import OVERALL
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from healthbench.review.reviewed import ReviewedRun
    from healthbench.scoring.aggregate import MetricResult
    from healthbench.store.records import RunSummary


def reviewed_score(run: RunSummary, *, as_stored: bool = False) -> None:
    """Show the three numbers side by side, or where to start if nothing was reviewed."""
    found = review_data.reviewed(run.id, as_stored=as_stored)
    if not found.n_reviewed:
        with st.container(horizontal=True, vertical_alignment="center", key="reviewed_none"):
            st.caption("No verdict of this run was reviewed by a person.")
            st.page_link(
                "app_pages/review.py",
                label="Review verdicts",
                icon=":material/rate_review:",
                query_params=state.query_for("review"),
            )
        return
    with st.container(border=True, key="reviewed_score"):
        three_numbers(found)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(_in_words(found, run))
            if st.session_state.get(state.PAGE) != "agreement":
                st.page_link(
                    "app_pages/agreement.py",
                    label="Agreement",
                    icon=":material/handshake:",
                    query_params=state.query_for("agreement"),
                )
        with st.expander("Themes and axes with reviews"):
            _parts(found)


def three_numbers(found: ReviewedRun) -> None:
    """Show the three numbers as figures, each with its n."""
    with st.container(horizontal=True, gap="large"):
        _number("By the grader", found.by_grader.get(OVERALL), None)
        _number(
            "With reviews applied", found.with_reviews.get(OVERALL), found.by_grader.get(OVERALL)
        )
        _number(
            "On fully reviewed examples",
            found.fully_reviewed.get(OVERALL),
            found.grader_on_same.get(OVERALL),
        )


def _number(label: str, result: MetricResult | None, before: MetricResult | None) -> None:
    """Show one number; the difference is that of the unclipped means on the same examples."""
    shown = DASH if result is None else score(result.score)
    n = 0 if result is None else result.n
    moved = None
    if result and before and result.unclipped is not None and before.unclipped is not None:
        moved = f"{difference(result.unclipped - before.unclipped)} against the grader, {some(n, 'example')}"
    st.metric(
        label,
        shown,
        delta=moved or some(n, "example"),
        delta_color="off",
        delta_arrow="off",
        width="content",
    )
    if result is not None and result.score != result.unclipped:
        st.caption(f"unclipped {score(result.unclipped)}")


def _parts(found: ReviewedRun) -> None:
    names = sorted(
        (name for name in found.by_grader if kind_of(name) in ("theme", "axis")), key=sort_key
    )
    columns = {
        "by the grader": found.by_grader,
        "with reviews": found.with_reviews,
        "fully reviewed": found.fully_reviewed,
    }
    table = pd.DataFrame({"theme or axis": [display_name(name) for name in names]})
    for title, results in columns.items():
        table[title] = [results[name].unclipped if name in results else None for name in names]
    table["n"] = [found.by_grader[name].n for name in names]
    table["n fully reviewed"] = [
        found.fully_reviewed[name].n if name in found.fully_reviewed else 0 for name in names
    ]
    show_table(
        table,
        key="reviewed_parts",
        alt="Unclipped means of themes and axes by the grader, with reviews and on fully reviewed examples",
        formats={**dict.fromkeys(columns, score), "n": count, "n fully reviewed": count},
    )


def _in_words(found: ReviewedRun, run: RunSummary) -> str:
    parts = [
        f"{count(found.n_reviewed)} of {some(run.n_items, 'verdict')} reviewed",
        f"{count(found.n_overridden)} overridden",
    ]
    if found.n_contested:
        parts.append(f"{count(found.n_contested)} on which reviewers differ (the latest counts)")
    return " · ".join(parts)
