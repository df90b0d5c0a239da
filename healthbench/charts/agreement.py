"""Agreement of two raters: the two-by-two table as a picture, and figures of its parts with a yardstick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from healthbench.charts.theme import ROW_HEIGHT, Palette, figure, legend_above, plain
from healthbench.formatting import FEW, count, fraction, percent, plain_interval, sample_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from healthbench.scoring.agreement import Confusion


@dataclass(frozen=True, slots=True)
class Part:
    """One agreement figure of a part of the verdicts, from -1 to 1.

    Attributes:
        name: What is shown.
        value: The figure, None where it is not defined.
        low, high: Ends of its 95 % interval; None where there is none.
        n: Pairs of verdicts.
        yardstick: What is published of the same figure for physicians, None where nothing is.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    yardstick: float | None = None


def confusion_squares(table: Confusion, palette: Palette, first: str, second: str) -> go.Figure:
    """Draw a two-by-two table as four squares by share, agreement filled and disagreement outlined.

    Args:
        table: The table; its cells may be weighted.
        palette: Colours.
        first: Name of the first rater, on the rows.
        second: Name of the second rater, on the columns.
    """
    cells = (
        ("met", "met", table.both_met),
        ("met", "not met", table.only_first),
        ("not met", "met", table.only_second),
        ("not met", "not met", table.neither),
    )
    chart = figure(palette, height=250)
    for row, column, number in cells:
        share = number / table.total if table.total else 0.0
        agree = row == column
        color = palette.earned if agree else palette.incurred
        chart.add_scatter(
            x=[column],
            y=[row],
            mode="markers+text",
            marker={
                "symbol": "square",
                "size": 4 + 76 * share**0.5,
                "color": color if agree else palette.background,
                "opacity": 0.35 if agree else 1,
                "line": {"color": color, "width": 2},
            },
            text=[f" <b>{count(number)}</b><br> {percent(share)}"],
            textposition="middle right",
            textfont={"color": palette.text, "size": 14},
            hovertemplate=f"{plain(first)} {row}, {plain(second)} {column}<br>{count(number)}<extra></extra>",
        )
    axis = {"type": "category", "showgrid": False}
    chart.update_layout(
        xaxis={
            **axis,
            "categoryarray": ["met", "not met"],
            "range": [-0.4, 1.7],
            "title": plain(second),
            "side": "top",
        },
        yaxis={
            **axis,
            "categoryarray": ["not met", "met"],
            "range": [-0.5, 1.5],
            "title": plain(first),
        },
        margin={"t": 48},
    )
    return chart


def agreement_dots(parts: Sequence[Part], palette: Palette, title: str) -> go.Figure:
    """Draw the figures of several parts as dots with intervals, in the given order from the top.

    A part of fewer than 20 pairs is hollow; a published yardstick is an open diamond.
    """
    shown = [(part, part.value) for part in parts if part.value is not None]
    chart = figure(palette, height=(ROW_HEIGHT + 8) * max(len(shown), 1) + 84)
    labels = [f"{plain(part.name, 44)}, {sample_size(part.n)}" for part, _ in shown]
    for (part, value), label in zip(shown, labels, strict=True):
        if part.low is not None and part.high is not None:
            chart.add_scatter(
                x=[part.low, part.high],
                y=[label, label],
                mode="lines",
                line={"color": palette.earned, "width": 3},
                opacity=0.55,
                hoverinfo="skip",
                showlegend=False,
            )
        chart.add_scatter(
            x=[value],
            y=[label],
            mode="markers",
            marker={
                "color": palette.background if part.n < FEW else palette.earned,
                "size": 11,
                "line": {"color": palette.earned, "width": 2},
            },
            hovertemplate=f"{plain(part.name)}<br>{fraction(value, 2)} {plain_interval(part.low, part.high)}"
            "<extra></extra>",
            showlegend=False,
        )
    marked = [
        (part.yardstick, label)
        for (part, _), label in zip(shown, labels, strict=True)
        if part.yardstick is not None
    ]
    if marked:
        chart.add_scatter(
            x=[value for value, _ in marked],
            y=[label for _, label in marked],
            mode="markers",
            name="physicians, as published",
            marker={
                "symbol": "diamond-open",
                "size": 12,
                "color": palette.text,
                "line": {"width": 2},
            },
            hovertemplate="physicians, as published: %{x:.3f}<extra></extra>",
        )
    chart.add_vline(x=0, line={"color": palette.rule, "width": 1.5})
    lowest = min([0.0, *(part.low for part, _ in shown if part.low is not None)])
    chart.update_layout(
        showlegend=bool(marked),
        legend=legend_above(),
        margin={"t": 32},
        yaxis={"categoryorder": "array", "categoryarray": labels[::-1], "type": "category"},
        xaxis={"title": title, "range": [lowest - 0.04, 1.04]},
    )
    return chart
