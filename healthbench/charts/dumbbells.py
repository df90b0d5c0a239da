"""Two values of each of several things, joined: what a treatment does to each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from healthbench.charts.theme import ROW_HEIGHT, Palette, figure, legend_above, plain, wrapped
from healthbench.formatting import difference, sample_size, score

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

_NEAR_ZERO = 0.1


@dataclass(frozen=True, slots=True)
class Pair:
    """Two values of one thing, fractions of 1, and the n they stand on."""

    name: str
    first: float
    second: float
    n: int


def dumbbells(
    pairs: Sequence[Pair], first: str, second: str, palette: Palette, title: str
) -> go.Figure:
    """Draw each pair as a filled dot, an outlined dot and a line between, in the given order from the top.

    Args:
        pairs: The values.
        first: Name of the first values, filled dots.
        second: Name of the second values, outlined diamonds.
        palette: Colours.
        title: Title of the axis, which is in points of 100.
    """
    labels = [wrapped(f"{pair.name}, {sample_size(pair.n)}", 60) for pair in pairs]
    chart = figure(palette, height=(ROW_HEIGHT + 14) * max(len(pairs), 1) + 92)
    # One trace for all lines, broken between them.
    chart.add_scatter(
        x=[end for pair in pairs for end in (100 * pair.first, 100 * pair.second, None)],
        y=[place for label in labels for place in (label, label, None)],
        mode="lines",
        line={"color": palette.rule, "width": 3},
        hoverinfo="skip",
        showlegend=False,
    )
    hover = [
        f"{plain(pair.name)}<br>{plain(first)} {score(pair.first)}<br>{plain(second)} {score(pair.second)}"
        f"<br>difference {difference(pair.second - pair.first)}"
        for pair in pairs
    ]
    for values, name, marker in (
        (
            [pair.first for pair in pairs],
            first,
            {"color": palette.earned, "line": {"color": palette.earned, "width": 2}},
        ),
        (
            [pair.second for pair in pairs],
            second,
            {
                "symbol": "diamond",
                "color": palette.background,
                "line": {"color": palette.text, "width": 2},
            },
        ),
    ):
        chart.add_scatter(
            x=[100 * value for value in values],
            y=labels,
            mode="markers",
            name=plain(name),
            marker={"size": 12, **marker},
            hovertext=hover,
            hoverinfo="text",
        )
    # The line would stretch the axis to 0 where all values are far from it.
    if min((min(pair.first, pair.second) for pair in pairs), default=0.0) < _NEAR_ZERO:
        chart.add_vline(x=0, line={"color": palette.rule, "width": 1.5})
    chart.update_layout(
        showlegend=True,
        legend=legend_above(),
        margin={"t": 36},
        yaxis={
            "categoryorder": "array",
            "categoryarray": labels[::-1],
            "type": "category",
            "showgrid": True,
        },
        xaxis={"title": title},
    )
    return chart
