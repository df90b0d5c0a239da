"""Downloads: every table on screen as CSV or Parquet, and the report on a run."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import data
import pandas as pd
import review_data
import state
import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = ("criterion", "explanation", "last user turn", "snippet")
"""Columns with text of the benchmark, of models or of graders; they are downloaded only where asked for."""
_BUTTONS = "open"


def downloads(table: pd.DataFrame, *, key: str) -> None:
    """Offer a table as CSV and as Parquet, made when asked for; texts are left out unless switched on.

    Args:
        table: As it is shown; its numbers are written in full.
        key: The table's key; it names the file.
    """
    kept = table.drop(columns=[_BUTTONS], errors="ignore")
    texts = [name for name in kept.columns if name in TEXTS]
    with st.popover(
        "Download", icon=":material/download:", type="tertiary", key=f"{key}_downloads"
    ):
        with_texts = bool(texts) and st.toggle(
            "With texts",
            key=f"{key}_with_texts",
            help="The authors of the benchmark ask that its examples not be published.",
        )
        shown = kept if with_texts else without_texts(kept)
        with st.container(horizontal=True):
            for kind, write in (("CSV", as_csv), ("Parquet", as_parquet)):
                st.download_button(
                    kind,
                    data=_made(shown, write, with_texts=with_texts),
                    file_name=f"{key}.{kind.lower()}",
                    key=f"{key}_{kind.lower()}",
                    on_click="ignore",
                )


def without_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table without the columns that hold text of the benchmark, of models or of graders."""
    return table.drop(columns=[name for name in table.columns if name in TEXTS])


def _made(
    table: pd.DataFrame, write: Callable[[pd.DataFrame], bytes], *, with_texts: bool
) -> Callable[[], bytes]:
    """Return what makes the file when the button is pressed."""
    run_id = state.view().run
    canary = data.canary(run_id) if with_texts and run_id is not None else ""
    return lambda: write(table.assign(canary=canary) if canary else table)


def as_csv(table: pd.DataFrame) -> bytes:
    """Return a table as CSV in UTF-8 with the mark by which spreadsheets know it."""
    return table.to_csv(index=False).encode("utf-8-sig")


def as_parquet(table: pd.DataFrame) -> bytes:
    """Return a table as Parquet; a column of mixed values becomes text."""
    clean = table.rename(columns=str)
    for name in clean.columns:
        if clean[name].dtype == object and len(set(map(type, clean[name]))) > 1:
            clean[name] = clean[name].map(lambda value: None if pd.isna(value) else str(value))
    target = io.BytesIO()
    clean.to_parquet(target, index=False)
    return target.getvalue()


def report_button(run_id: str, against: str | None = None) -> None:
    """Offer the report on a run, alone or less another one, as one HTML file made when asked for."""
    with st.popover("Report", icon=":material/description:", key="report"):
        st.markdown(
            "One HTML file with the numbers, charts, conditions and import report; it opens offline and prints."
        )
        texts = st.toggle(
            "With texts",
            key="report_texts",
            help="Conversations, replies and criteria of the lowest examples. The authors of the benchmark ask that its "
            "examples not be published.",
        )
        st.download_button(
            "Write the report",
            data=data.report_maker(run_id, against, review_data.events(run_id), texts=texts),
            file_name=data.report_name(run_id),
            mime="text/html",
            key="report_file",
            on_click="ignore",
            icon=":material/download:",
        )
