"""What a run contains: counted bars with a share elsewhere beside them, and the clickable theme x axis grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from healthbench.charts.theme import ROW_HEIGHT, Palette, figure, legend_above, plain, wrapped
from healthbench.formatting import count, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

LARGEST_MARKER = 44
"""Side in pixels of the largest square of a grid; the area of the others is in proportion."""
_TEXT_INSIDE = 30
"""Squares of at least so many pixels have room for their number."""
_CELL_HEIGHT = 60
_LINES_HEIGHT = ROW_HEIGHT + 16
"""Height of a bar whose name takes two lines."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One counted thing.

    Attributes:
        name: What is shown.
        value: Count or points, >= 0.
        elsewhere: Share of the same thing in a published set, a fraction; None where none is printed.
    """

    name: str
    value: float
    elsewhere: float | None = None


def counted(
    bars: Sequence[Bar], unit: str, palette: Palette, *, penalty: bool = False, elsewhere: str = ""
) -> go.Figure:
    """Draw counts as bars, each with its number and share, in the given order from the top.

    Args:
        bars: What was counted.
        unit: Title of the axis.
        palette: Colours.
        penalty: True gives the bars the penalty colour.
        elsewhere: Name of the published set whose shares are marked, at the same share of this run's total.
    """
    total = sum(bar.value for bar in bars)
    names = [wrapped(bar.name) for bar in bars]
    ends = [max(bar.value, (bar.elsewhere or 0.0) * total if elsewhere else 0.0) for bar in bars]
    marked = [bar for bar in bars if bar.elsewhere is not None] if elsewhere else []
    chart = figure(palette, height=_LINES_HEIGHT * max(len(bars), 1) + (92 if marked else 64))
    chart.add_bar(
        orientation="h",
        y=names,
        x=[bar.value for bar in bars],
        name="this run",
        marker={"color": palette.incurred if penalty else palette.earned},
        hovertext=[f"{plain(bar.name)}: {_number(bar, total)}" for bar in bars],
        hoverinfo="text",
    )
    # A trace of their own, so that no number stands under a mark.
    chart.add_scatter(
        x=ends,
        y=names,
        mode="text",
        text=[f"  {_number(bar, total)}" for bar in bars],
        textposition="middle right",
        textfont={"size": 12, "color": palette.text},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )
    if marked:
        chart.add_scatter(
            x=[(bar.elsewhere or 0.0) * total for bar in marked],
            y=[wrapped(bar.name) for bar in marked],
            mode="markers",
            name=f"share in {plain(elsewhere)}",
            marker={
                "symbol": "line-ns",
                "size": 22,
                "line": {"color": palette.text, "width": 2.5},
            },
            hovertext=[
                f"{plain(bar.name)}: {percent(bar.elsewhere)} of {plain(elsewhere)}"
                for bar in marked
            ],
            hoverinfo="text",
        )
    chart.update_layout(
        showlegend=bool(marked),
        legend=legend_above(),
        margin={"t": 36 if marked else 8},
        yaxis={"categoryorder": "array", "categoryarray": names[::-1], "type": "category"},
        # Room for the number after the longest bar.
        xaxis={
            "title": unit,
            "range": [0, 1.45 * max([1.0, *ends])],
            "nticks": 5,
            "tickformat": ",d",
        },
    )
    return chart


@dataclass(frozen=True, slots=True)
class Square:
    """One cell of a grid: place, value, and what a click on it gives (strings, "" for a missing tag)."""

    row: str
    column: str
    value: float
    key: tuple[str, str]


def grid(
    squares: Sequence[Square],
    rows: Sequence[str],
    columns: Sequence[str],
    unit: str,
    palette: Palette,
    *,
    penalty: bool = False,
) -> go.Figure:
    """Draw a grid of squares whose areas are in proportion to their values; an empty cell has none.

    Args:
        squares: The cells; customdata of each point is its ``key``.
        rows: Names from the top.
        columns: Names from the left.
        unit: Said in the hover text.
        palette: Colours.
        penalty: True gives the squares the penalty colour.
    """
    shown = [square for square in squares if square.value > 0]
    values = np.array([square.value for square in shown], dtype=float)
    sides = LARGEST_MARKER * np.sqrt(values / values.max()) if len(values) else values
    inside = sides >= _TEXT_INSIDE
    color = palette.incurred if penalty else palette.earned
    chart = figure(palette, height=_CELL_HEIGHT * max(len(rows), 1) + 64)
    chart.add_scatter(
        x=[_lines(square.column) for square in shown],
        y=[wrapped(square.row) for square in shown],
        mode="markers+text",
        marker={
            "symbol": "square",
            "size": np.maximum(sides, 5),
            "color": color,
            "opacity": 1,
            "line": {"color": color, "width": 1},
        },
        text=[count(square.value) for square in shown],
        textposition=np.where(inside, "middle center", "bottom center"),
        textfont={"size": 12, "color": np.where(inside, palette.background, palette.text)},
        customdata=[list(square.key) for square in shown],
        hovertext=[
            f"{plain(square.row)}<br>{plain(square.column)}<br>{count(square.value)} {unit}"
            for square in shown
        ],
        hoverinfo="text",
        unselected={"marker": {"opacity": 0.55}, "textfont": {"color": palette.text}},
        cliponaxis=False,
    )
    chart.update_layout(
        clickmode="event+select",
        xaxis={
            "side": "top",
            "type": "category",
            "categoryorder": "array",
            "categoryarray": [_lines(name) for name in columns],
            "range": [-0.6, len(columns) - 0.4],
            "autotickangles": [0, -40, -90],
            "tickfont": {"size": 12},
        },
        yaxis={
            "type": "category",
            "categoryorder": "array",
            "categoryarray": [wrapped(name) for name in rows][::-1],
            "range": [-0.6, len(rows) - 0.4],
        },
    )
    return chart


def _number(bar: Bar, total: float) -> str:
    return f"{count(bar.value)} · {percent(bar.value / total if total else None)}"


def _lines(name: str) -> str:
    """Return a name with its words under one another, so that columns stay narrow."""
    return plain(name, 40).replace(" ", "<br>")


def seen_and_unseen(
    names: Sequence[str], seen: Sequence[float], unseen: Sequence[float], palette: Palette
) -> go.Figure:
    """Draw penalty points by axis: those that an axis score contains are filled, those that none contains are hatched.

    Args:
        names: Axes from the top, length n.
        seen: Points that the axis' score contains, length n, >= 0.
        unseen: Points on the axis that no axis score contains, length n, >= 0.
        palette: Colours.
    """
    labels = [wrapped(name) for name in names]
    chart = figure(palette, height=_LINES_HEIGHT * max(len(names), 1) + 92)
    solid = {"color": palette.incurred, "line": {"color": palette.incurred, "width": 1.5}}
    hatched = {
        **solid,
        "color": palette.background,
        "pattern": {
            "shape": "/",
            "fgcolor": palette.incurred,
            "bgcolor": palette.background,
            "size": 7,
        },
    }
    for name, values, marker in (
        ("in an axis score", seen, solid),
        ("in no axis score", unseen, hatched),
    ):
        chart.add_bar(
            orientation="h",
            y=labels,
            x=list(values),
            name=name,
            marker=marker,
            hovertext=[
                f"{plain(axis)}, {name}: {count(value)} penalty points"
                for axis, value in zip(names, values, strict=True)
            ],
            hoverinfo="text",
        )
    chart.update_layout(
        barmode="stack",
        showlegend=True,
        legend={**legend_above(), "traceorder": "normal"},
        margin={"t": 36},
        yaxis={"categoryorder": "array", "categoryarray": labels[::-1], "type": "category"},
        xaxis={
            "title": "penalty points, whatever the verdict",
            "rangemode": "tozero",
            "nticks": 6,
            "tickformat": ",d",
        },
    )
    return chart
