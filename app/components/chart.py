"""Charts and tables as every page shows them: named for screen readers, and each chart with the table behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from components.downloads import downloads
from healthbench.charts.theme import LIGHT, PALETTES, Palette
from healthbench.formatting import DASH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd
    import plotly.graph_objects as go

_DIGITS = 13
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


def palette() -> Palette:
    """Return the colours of the appearance the reader has chosen."""
    return PALETTES.get(st.context.theme.type or "", LIGHT)


def chart(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    table: pd.DataFrame | None = None,
    formats: Mapping[str, Callable[[Any], str]] | None = None,
    on_select: Callable[[], None] | None = None,
) -> None:
    """Show a figure and, folded, its table.

    Args:
        figure: From ``healthbench.charts``.
        key: Unique on the page.
        alt: What the chart says, in one sentence.
        table: The numbers behind it; None where they stand on the page anyway.
        formats: How the table's numbers are written, by column.
        on_select: Called when something in the chart is clicked; reads ``st.session_state[key]``.
    """
    st.plotly_chart(
        figure,
        key=key,
        alt=alt,
        config=_CONFIG,
        theme=None,
        on_select=on_select or "ignore",
        selection_mode="points",
    )
    if table is not None:
        with st.expander("Table of this chart"):
            show_table(table, key=f"{key}_table", alt=f"Table. {alt}", formats=formats)


def show_table(
    table: pd.DataFrame,
    *,
    key: str,
    alt: str,
    formats: Mapping[str, Callable[[Any], str]] | None = None,
    **options: Any,
) -> Any:
    """Show a table as every page does: named for screen readers, without an index, numbers in the one format.

    The numbers stay numbers underneath, so a click on a column's head sorts them as such. They are what a screen reader
    reads, so they are rid of the last digits in which 0.3 becomes 0.30000000000000004.
    """
    styled = table.round(_DIGITS).style.format(dict(formats or {}), na_rep=DASH)
    shown = st.dataframe(styled, key=key, alt=alt, hide_index=True, placeholder=DASH, **options)
    downloads(table, key=key)
    return shown
