"""The ledger of a reply that is being graded, and the band its score lies in while verdicts are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from components.chart import chart, palette
from components.ledger import ledger
from components.text import turns
from healthbench.charts.band import band
from healthbench.formatting import fraction
from healthbench.model import Message
from healthbench.scoring.example import tally
from healthbench.taxonomy import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from components.ledger import Switches
    from healthbench.model import Criterion, Verdict

_SCROLL = 620
_LONG = 1500
"""Characters of conversation and reply that take less than the height they would scroll in."""


def judged(
    prompt: Sequence[Message],
    reply: str,
    criteria: Sequence[Criterion],
    verdicts: Sequence[Verdict],
    *,
    key: str,
    switches: Switches,
) -> list[bool | None]:
    """Show what is judged beside its ledger, both scrolling, and return the verdicts shown."""
    with st.grid(2, min_column_width=430, gap="medium") as grid:
        long = len(reply) + sum(len(turn.content) for turn in prompt) > _LONG
        height = _SCROLL + 110 if long else "content"
        with grid.cell(), st.container(height=height, border=True, key=f"{key}_judged"):
            turns(prompt, key=f"{key}_prompt")
            turns([Message("reply", reply)], key=f"{key}_reply")
        with grid.cell():
            rows = ledger_rows(criteria, verdicts)
            return ledger(rows, key=key, height=_SCROLL, switches=switches)


def ledger_rows(criteria: Sequence[Criterion], verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Return a rubric with its verdicts as the ledger shows it, one row a criterion."""
    return pd.DataFrame(
        {
            "position": range(len(criteria)),
            "points": [float(criterion.points) for criterion in criteria],
            "met": pd.array([verdict.met for verdict in verdicts], dtype="boolean"),
            "criterion": [criterion.text for criterion in criteria],
            "tags": [list(criterion.tags) for criterion in criteria],
            "axis": [_tag(criterion, "axis") for criterion in criteria],
            "level": [_tag(criterion, "level") for criterion in criteria],
            "explanation": [verdict.explanation for verdict in verdicts],
            "failure": None,
        }
    )


def _tag(criterion: Criterion, kind: str) -> str | None:
    return next((tag for tag in criterion.tags if kind_of(tag) == kind), None)


def show_band(criteria: Sequence[Criterion], met: Sequence[bool | None], key: str) -> None:
    """Show the score, or the worst and the best that the missing verdicts leave open."""
    points = [criterion.points for criterion in criteria]
    whole, current = tally(points, [None] * len(points)).bounds, tally(points, met)
    if whole is None or current.bounds is None:
        st.markdown("**No score:** the rubric has no positive points, so nothing is possible.")
        return
    low, high = fraction(current.bounds.low, 2), fraction(current.bounds.high, 2)
    if current.score is not None:
        st.markdown(f"### Score {fraction(current.score, 2)}")
    else:
        st.markdown(f"### Score in [{low} … {high}]")
    chart(
        band(whole, current.bounds, palette()),
        key=f"{key}_band",
        alt=f"The score lies between {low} and {high}; before any verdict it was between {fraction(whole.low, 2)} and"
        f" {fraction(whole.high, 2)}.",
    )
