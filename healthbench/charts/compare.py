"""Two runs beside each other: differences with intervals, prompts as a scatter, length against score, flips by axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from healthbench.charts.theme import ROW_HEIGHT, Palette, figure, legend_above, plain
from healthbench.formatting import (
    count,
    difference,
    difference_interval,
    fraction,
    p_value,
    points,
    sample_size,
)
from healthbench.scoring.length import CHARACTERS_PER_PENALTY, POINTS, LengthAdjustment
from healthbench.taxonomy import display_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from healthbench.scoring.compare import PairedDifference
    from healthbench.scoring.run_scores import FloatArray, IntArray

_WEBGL_ABOVE = 1_000


def differences(rows: Sequence[PairedDifference], palette: Palette) -> go.Figure:
    """Draw differences as dots with intervals around a line at 0, in the given order from the top, in points of 100.

    Only decisive ones are filled and coloured: the interval excludes 0 and so does the test after Holm's correction.
    The others are hollow and grey.
    """
    chart = figure(palette, height=(ROW_HEIGHT + 8) * max(len(rows), 1) + 56)
    labels = [f"{plain(display_name(row.name), 44)}, {sample_size(row.n_prompts)}" for row in rows]
    for row, label in zip(rows, labels, strict=True):
        color = _difference_color(row, palette)
        if row.low is not None and row.high is not None:
            chart.add_scatter(
                x=[POINTS * row.low, POINTS * row.high],
                y=[label, label],
                mode="lines",
                line={"color": color, "width": 3},
                opacity=0.6,
                hoverinfo="skip",
            )
        chart.add_scatter(
            x=[POINTS * row.difference],
            y=[label],
            mode="markers",
            marker={
                "color": color if row.decisive else palette.background,
                "size": 11,
                "line": {"color": color, "width": 2},
            },
            hovertemplate=f"{plain(display_name(row.name))}<br>{difference(row.difference)} "
            f"{difference_interval(row.low, row.high)}<br>{p_value(row.p_holm)} after Holm, "
            f"{'decisive' if row.decisive else 'not decisive'}<extra></extra>",
        )
    chart.add_vline(x=0, line={"color": palette.rule, "width": 1.5})
    chart.update_layout(
        yaxis={
            "categoryorder": "array",
            "categoryarray": labels[::-1],
            "type": "category",
            "showgrid": True,
        },
        xaxis={
            "title": "difference, points of 100",
            "range": _around_zero(rows),
        },
    )
    return chart


def _difference_color(row: PairedDifference, palette: Palette) -> str:
    if not row.decisive:
        return palette.unknown
    return palette.earned if row.difference > 0 else palette.incurred


def _around_zero(rows: Sequence[PairedDifference]) -> list[float]:
    """Return the ends of an axis with 0 in its middle that holds every dot and interval."""
    ends = [
        abs(end) for row in rows for end in (row.difference, row.low, row.high) if end is not None
    ]
    reach = 112 * max([*ends, 0.01])
    return [-reach, reach]


@dataclass(frozen=True, slots=True)
class Names:
    """What the two runs are called in a chart."""

    first: str
    second: str


def prompts(
    first: FloatArray, second: FloatArray, rows: IntArray, names: Names, palette: Palette
) -> go.Figure:
    """Draw each prompt by its score in both runs, unclipped; above the diagonal the second run is better.

    Args:
        first: Scores in the first run, shape (p,); NaN is left out.
        second: The same in the second.
        rows: Row of the prompt's first example in the run that is shown, shape (p,): the customdata of the dots.
        names: The runs.
        palette: Colours.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    first, second, rows = first[both], second[both], rows[both]
    many = len(rows) > _WEBGL_ABOVE
    kind = go.Scattergl if many else go.Scatter
    chart = figure(palette, height=440)
    low = float(min([0.0, *first, *second]))
    ends = [low - 0.05, 1.05]
    chart.add_scatter(
        x=ends, y=ends, mode="lines", line={"color": palette.rule, "width": 1.5}, hoverinfo="skip"
    )
    worse = second < first - 1e-12
    same = np.abs(second - first) <= 1e-12
    for chosen, color, symbol, name in (
        (~worse & ~same, palette.earned, "circle", "better"),
        (worse, palette.incurred, "triangle-down", "worse"),
        (same, palette.unknown, "circle-open", "the same"),
    ):
        chart.add_trace(
            kind(
                x=first[chosen],
                y=second[chosen],
                mode="markers",
                name=f"{name} ({count(int(chosen.sum()))})",
                marker={
                    "color": color,
                    "symbol": symbol,
                    "size": 5 if many else 9,
                    "opacity": 0.4 if many else 0.8,
                },
                customdata=rows[chosen],
                hovertext=[
                    f"example {row + 1}: {fraction(before, 2)} to {fraction(after, 2)}"
                    for row, before, after in zip(
                        rows[chosen], first[chosen], second[chosen], strict=True
                    )
                ],
                hoverinfo="text",
            )
        )
    for axis in ("x", "y"):
        chart.add_shape(
            type="line",
            line={"color": palette.grid, "width": 1.5},
            **_zero_line(axis, ends),
        )
    chart.update_layout(
        showlegend=True,
        legend={**legend_above(), "traceorder": "normal"},
        margin={"t": 36},
        clickmode="event+select",
        xaxis={"title": f"score, {plain(names.first, 40)}", "range": ends},
        yaxis={"title": f"score, {plain(names.second, 40)}", "range": ends},
    )
    chart.data[0].showlegend = False
    return chart


def _zero_line(axis: str, ends: list[float]) -> dict[str, float]:
    if axis == "x":
        return {"x0": ends[0], "x1": ends[1], "y0": 0, "y1": 0}
    return {"x0": 0, "x1": 0, "y0": ends[0], "y1": ends[1]}


def length_against_difference(
    characters: FloatArray,
    scores: FloatArray,
    rows: IntArray,
    price: LengthAdjustment,
    palette: Palette,
) -> go.Figure:
    """Draw how much longer the second run's reply is against how much better; the line is what length costs.

    Args:
        characters: Length of the second run's reply less the first's by prompt, in code points, shape (p,).
        scores: Score of the second less the first, unclipped fractions, shape (p,); NaN is left out.
        rows: Row of the prompt's first example in the run that is shown, shape (p,): the customdata of the dots.
        price: The length adjustment whose penalty is the line's slope.
        palette: Colours.
    """
    known = ~np.isnan(scores)
    characters, scores, rows = characters[known], scores[known], rows[known]
    many = len(rows) > _WEBGL_ABOVE
    kind = go.Scattergl if many else go.Scatter
    chart = figure(palette, height=360)
    ends = np.array([min(characters.min(initial=0), 0), max(characters.max(initial=0), 0)])
    chart.add_scatter(
        x=ends,
        y=ends / CHARACTERS_PER_PENALTY * price.penalty,
        mode="lines",
        line={"color": palette.text, "width": 1.5, "dash": "dot"},
        name="what length costs",
        hoverinfo="skip",
    )
    chart.add_trace(
        kind(
            x=characters,
            y=scores,
            mode="markers",
            name="one prompt",
            marker={
                "color": palette.earned,
                "size": 5 if many else 9,
                "opacity": 0.35 if many else 0.75,
            },
            customdata=rows,
            hovertext=[
                f"example {row + 1}: {points(float(extra))} characters, {fraction(value, 2)}"
                for row, extra, value in zip(rows, characters, scores, strict=True)
            ],
            hoverinfo="text",
        )
    )
    chart.add_hline(y=0, line={"color": palette.rule, "width": 1.5})
    chart.add_vline(x=0, line={"color": palette.rule, "width": 1.5})
    chart.update_layout(
        showlegend=True,
        legend=legend_above(),
        margin={"t": 36},
        clickmode="event+select",
        xaxis={"title": "characters that this run's reply is longer"},
        yaxis={"title": "difference of example scores"},
    )
    return chart


def flips_by_axis(table: pd.DataFrame, palette: Palette) -> go.Figure:
    """Draw fixed criteria to the right of 0 and regressed ones to the left, a row an axis, each sign a pattern.

    Args:
        table: Columns name, sign (``positive`` or ``penalty``), fixed, regressed: numbers of criteria.
        palette: Colours.
    """
    names = list(dict.fromkeys(table["name"]))
    labels = {name: plain(name, 40) for name in names}
    chart = figure(palette, height=(ROW_HEIGHT + 12) * max(len(names), 1) + 92)
    for column, direction, color in (
        ("fixed", 1, palette.earned),
        ("regressed", -1, palette.incurred),
    ):
        for sign, hatch in (("positive", ""), ("penalty", "/")):
            part = table[(table["sign"] == sign) & (table[column] > 0)]
            if part.empty:
                continue
            chart.add_bar(
                orientation="h",
                name=f"{column}, {'positive points' if sign == 'positive' else 'penalties'}",
                y=[labels[name] for name in part["name"]],
                x=direction * part[column],
                marker={
                    "color": color,
                    "line": {"color": color, "width": 1.5},
                    "pattern": {"shape": hatch, "bgcolor": palette.background, "fgcolor": color},
                },
                hovertext=[
                    f"{labels[name]}: {count(n)} {column} ({sign})"
                    for name, n in zip(part["name"], part[column], strict=True)
                ],
                hoverinfo="text",
            )
    chart.add_vline(x=0, line={"color": palette.rule, "width": 1.5})
    chart.update_layout(
        barmode="relative",
        showlegend=True,
        legend=legend_above(),
        margin={"t": 56},
        yaxis={
            "categoryorder": "array",
            "categoryarray": [labels[name] for name in names][::-1],
            "type": "category",
        },
        xaxis={"title": "criteria: regressed to the left, fixed to the right"},
    )
    return chart
