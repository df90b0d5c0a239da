"""Where the points went: sums of points by axis and state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthbench.charts.theme import (
    ROW_HEIGHT,
    STATE_MARKS,
    Palette,
    figure,
    legend_above,
    plain,
    state_marker,
)
from healthbench.formatting import count, points
from healthbench.scoring.example import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import plotly.graph_objects as go

_ORDER = (State.EARNED, State.MISSED, State.INCURRED, State.AVOIDED, State.UNKNOWN)


def where_points_went(sums: pd.DataFrame, names: Sequence[str], palette: Palette) -> go.Figure:
    """Draw positive points to the right of 0 and penalties to the left, one stacked bar a name.

    Args:
        sums: One row a name and state: ``name``, ``state``, ``points`` (signed sum), ``n`` (criteria). Unknown
            verdicts have up to two rows a name, one for each sign.
        names: Order from the top.
        palette: Colours.
    """
    chart = figure(palette, height=(ROW_HEIGHT + 12) * max(len(names), 1) + 92)
    labels = {name: plain(name, 40) for name in names}
    for state in _ORDER:
        part = sums[sums["state"] == state]
        if part.empty:
            continue
        chart.add_bar(
            orientation="h",
            name=f"{STATE_MARKS[state].symbol} {state}",
            y=[labels[name] for name in part["name"]],
            x=part["points"],
            marker=state_marker(state, palette),
            hovertext=[
                f"{labels[name]}, {state}: {points(total)} points, {count(n)} {'criterion' if n == 1 else 'criteria'}"
                for name, total, n in zip(part["name"], part["points"], part["n"], strict=True)
            ],
            hoverinfo="text",
        )
    chart.add_vline(x=0, line={"color": palette.rule, "width": 1.5})
    chart.update_layout(
        barmode="relative",
        showlegend=True,
        legend=legend_above(),
        margin={"t": 36},
        yaxis={
            "categoryorder": "array",
            "categoryarray": [labels[name] for name in names][::-1],
            "type": "category",
        },
        xaxis={"title": "points, summed over examples"},
    )
    return chart
