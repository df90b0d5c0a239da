"""The band that a reply's score lies in while verdicts are missing, on the scale of everything that was possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthbench.charts.theme import Palette, figure, state_marker
from healthbench.formatting import fraction
from healthbench.scoring.example import State

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from healthbench.scoring.example import Bounds

HEIGHT = 74
_POINT = 0.006


def band(possible: Bounds, current: Bounds, palette: Palette) -> go.Figure:
    """Draw the current bounds, hatched as what is unknown, inside those before any verdict; a point where they meet.

    Args:
        possible: Bounds with every verdict unknown.
        current: Bounds with the verdicts so far.
        palette: Colours.
    """
    chart = figure(palette, height=HEIGHT)
    chart.add_bar(
        orientation="h",
        y=[""],
        base=[possible.low],
        x=[possible.high - possible.low],
        marker={"color": "rgba(0,0,0,0)", "line": {"color": palette.grid, "width": 1}},
        hoverinfo="skip",
    )
    state = State.UNKNOWN
    if current.low == current.high:
        state = State.EARNED if current.low >= 0 else State.INCURRED
    # Wide enough to be seen where worst and best are the same.
    width = max(current.high - current.low, _POINT * (possible.high - possible.low))
    chart.add_bar(
        orientation="h",
        y=[""],
        base=[(current.low + current.high - width) / 2],
        x=[width],
        marker=state_marker(state, palette),
        hovertemplate=f"worst {fraction(current.low, 3)}<br>best {fraction(current.high, 3)}<extra></extra>",
    )
    for place in (0.0, 1.0):
        chart.add_vline(x=place, line={"color": palette.rule, "width": 1.5})
    chart.update_layout(
        barmode="overlay",
        margin={"t": 4, "b": 26},
        yaxis={"visible": False},
        xaxis={"range": [min(possible.low, 0) - 0.02, max(possible.high, 1) + 0.02], "nticks": 10},
    )
    return chart
