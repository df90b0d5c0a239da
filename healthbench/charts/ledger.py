"""The signed waterfall of one example: from 0, criterion by criterion, to the points achieved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from healthbench.charts.theme import (
    ROW_HEIGHT,
    STATE_MARKS,
    Palette,
    figure,
    legend_above,
    state_marker,
)
from healthbench.formatting import plain_points, points
from healthbench.scoring.example import State, state_of

if TYPE_CHECKING:
    import plotly.graph_objects as go


def with_running_total(ledger: pd.DataFrame) -> pd.DataFrame:
    """Add each criterion's state and the points so far to a ledger, in the ledger's own order.

    Args:
        ledger: One row a criterion, with ``points`` (signed) and ``met`` (nullable bool; missing is unknown).

    Returns:
        A copy with ``state`` (``State``), ``before`` and ``running``: the sum of met points before and after the row.
    """
    met = [None if pd.isna(verdict) else bool(verdict) for verdict in ledger["met"]]
    signed = [float(value) for value in ledger["points"]]
    counted = pd.Series(
        [value if verdict else 0.0 for value, verdict in zip(signed, met, strict=True)],
        index=ledger.index,
        dtype="float64",
    )
    running = counted.cumsum()
    return ledger.assign(
        state=[state_of(value, verdict) for value, verdict in zip(signed, met, strict=True)],
        before=running - counted,
        running=running,
    )


def waterfall(ledger: pd.DataFrame, possible: float, palette: Palette) -> go.Figure:
    """Draw a ledger: filled bars move the total, outlines show points that were missed or penalties avoided.

    Args:
        ledger: One row a criterion in the order to draw: ``position`` (0-based in the file), ``points``, ``met``.
        possible: Sum of the positive points, drawn as the line the score is measured against.
        palette: Colours.
    """
    rows = with_running_total(ledger)
    names = [
        f"{position + 1} · {points(value)}"
        for position, value in zip(rows["position"], rows["points"], strict=True)
    ]
    chart = figure(palette, height=ROW_HEIGHT * len(rows) + 84)
    for state in State:
        chosen = (rows["state"] == state).to_numpy()
        if not chosen.any():
            continue
        part = rows[chosen]
        chart.add_bar(
            orientation="h",
            name=f"{STATE_MARKS[state].symbol} {state}",
            y=[name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen],
            base=part["before"],
            x=part["points"],
            marker=state_marker(state, palette),
            customdata=[
                [points(value), plain_points(total)]
                for value, total in zip(part["points"], part["running"], strict=True)
            ],
            hovertemplate=f"%{{customdata[0]}} {state}<br>points so far %{{customdata[1]}}<extra></extra>",
        )
    chart.add_vline(x=0, line={"color": palette.rule, "width": 1.5})
    if possible > 0:
        chart.add_vline(x=possible, line={"color": palette.rule, "width": 1.5, "dash": "dot"})
        chart.add_annotation(
            x=possible,
            y=0,
            yref="paper",
            yanchor="top",
            yshift=-22,
            text=f"possible {plain_points(possible)}",
            showarrow=False,
        )
    chart.update_layout(
        barmode="overlay",
        showlegend=True,
        legend=legend_above(),
        margin={"b": 40, "t": 32},
        yaxis={"categoryorder": "array", "categoryarray": names[::-1], "type": "category"},
        xaxis={"title": None, "nticks": 8},
    )
    return chart
