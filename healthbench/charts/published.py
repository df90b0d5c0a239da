"""Published results as plots: scores over repeated runs, and scores before and after the length adjustment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthbench.charts.theme import ROW_HEIGHT, Palette, figure, legend_above, plain
from healthbench.formatting import characters, fraction, score

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from healthbench.published import LengthRow, RunSpread


def run_spread(rows: Sequence[RunSpread], palette: Palette) -> go.Figure:
    """Draw the mean and range over repeated full runs of each model, on the scale of the run score."""
    chart = figure(palette, height=(ROW_HEIGHT + 10) * len(rows) + 92)
    names = [plain(row.model) for row in rows]
    chart.add_bar(
        orientation="h",
        name="lowest to highest of 16 runs",
        y=names,
        base=[100 * row.low for row in rows],
        x=[100 * (row.high - row.low) for row in rows],
        width=0.5,
        marker={"color": palette.earned, "opacity": 0.45},
        hoverinfo="skip",
    )
    chart.add_scatter(
        x=[100 * row.mean for row in rows],
        y=names,
        mode="markers",
        name="mean",
        marker={
            "symbol": "line-ns",
            "size": 18,
            "line": {"color": palette.text, "width": 2.5},
        },
        hovertext=[
            f"{name}: {score(row.mean)}, from {fraction(100 * row.low, 2)} to {fraction(100 * row.high, 2)}, "
            f"SD {fraction(100 * row.sd, 2)}"
            for name, row in zip(names, rows, strict=True)
        ],
        hoverinfo="text",
    )
    chart.update_layout(
        showlegend=True,
        legend=legend_above(),
        margin={"t": 36},
        xaxis={"title": "score, points of 100", "range": [0, 66]},
        yaxis={"categoryorder": "array", "categoryarray": names[::-1], "type": "category"},
    )
    return chart


def raw_and_adjusted(rows: Sequence[LengthRow], center: float, palette: Palette) -> go.Figure:
    """Draw each model's raw and length-adjusted score above its mean length.

    Args:
        rows: Models of one benchmark.
        center: Length at which both are equal.
        palette: Colours.
    """
    chart = figure(palette, height=380)
    x: list[float | None] = []
    y: list[float | None] = []
    for row in rows:
        x += [row.mean_characters, row.mean_characters, None]
        y += [row.raw_points, row.adjusted_points, None]
    chart.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": palette.rule, "width": 2},
        hoverinfo="skip",
        showlegend=False,
    )
    hover = [
        f"{plain(row.model)}<br>raw {fraction(row.raw_points, 1)}, adjusted {fraction(row.adjusted_points, 1)}"
        f"<br>mean length {characters(row.mean_characters)}"
        for row in rows
    ]
    for name, values, marker in (
        ("raw", [row.raw_points for row in rows], {"color": palette.earned}),
        (
            "adjusted",
            [row.adjusted_points for row in rows],
            {
                "symbol": "diamond",
                "color": palette.background,
                "line": {"color": palette.text, "width": 2},
            },
        ),
    ):
        chart.add_scatter(
            x=[row.mean_characters for row in rows],
            y=values,
            mode="markers",
            name=name,
            marker={"size": 10, **marker},
            hovertext=hover,
            hoverinfo="text",
        )
    chart.add_vline(x=center, line={"color": palette.rule, "width": 1.5})
    chart.update_layout(
        showlegend=True,
        legend=legend_above(),
        margin={"t": 36},
        xaxis={"title": "mean characters of a reply", "tickformat": ",d", "nticks": 7},
        yaxis={"title": "score, points of 100"},
    )
    return chart
