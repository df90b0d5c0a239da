"""The three numbers of a run: by the grader, with reviews applied, and on fully reviewed examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import review_data
import state
import streamlit as st

from components.text import some
from healthbench.formatting import DASH, count, difference, score
from healthbench.scoring.run_scores import OVERALL

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
            st.page_link(
                "app_pages/agreement.py",
                label="Agreement",
                icon=":material/handshake:",
                query_params=state.query_for("agreement"),
            )


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


def _in_words(found: ReviewedRun, run: RunSummary) -> str:
    parts = [
        f"{count(found.n_reviewed)} of {some(run.n_items, 'verdict')} reviewed",
        f"{count(found.n_overridden)} overridden",
    ]
    if found.n_contested:
        parts.append(f"{count(found.n_contested)} on which reviewers differ (the latest counts)")
    return " · ".join(parts)
