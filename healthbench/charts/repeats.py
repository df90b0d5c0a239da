"""How far a repeat can be trusted: scores of repeats, worst of k replies, prompts by mean and worst, parts of variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import plotly.graph_objects as go

from healthbench.charts.theme import ROW_HEIGHT, Palette, figure, legend_above, plain
from healthbench.formatting import count, fraction, interval, percent, sample_size, score
from healthbench.scoring.length import POINTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.scoring.reliability import PromptSpread, RepeatSpread, WorstAtK

_WEBGL_ABOVE = 1_000
_SHADE = 0.18


def repeat_scores(spread: RepeatSpread, palette: Palette) -> go.Figure:
    """Draw the run score of each repeat as a dot on one line, with their mean and one SD to each side."""
    chart = figure(palette, height=150)
    mean, sd = POINTS * spread.mean, POINTS * spread.sd
    chart.add_shape(
        type="rect",
        x0=mean - sd,
        x1=mean + sd,
        y0=-0.6,
        y1=0.6,
        fillcolor=palette.earned,
        opacity=_SHADE,
        line={"width": 0},
        layer="below",
    )
    chart.add_vline(x=mean, line={"color": palette.text, "width": 1.5, "dash": "dot"})
    chart.add_scatter(
        x=POINTS * spread.scores,
        y=np.zeros(len(spread.scores)),
        mode="markers",
        marker={
            "color": palette.earned,
            "size": 12,
            "opacity": 0.75,
            "line": {"color": palette.background, "width": 1},
        },
        hovertext=[
            f"repeat {number + 1}: {score(value)}, {sample_size(int(n))}"
            for number, (value, n) in enumerate(zip(spread.scores, spread.n_prompts, strict=True))
        ],
        hoverinfo="text",
    )
    reach = max(1.3 * float(np.abs(POINTS * spread.scores - mean).max()), 2 * sd, 0.5)
    chart.update_layout(
        xaxis={
            "title": "run score of each repeat, points of 100",
            "range": [mean - reach, mean + reach],
        },
        yaxis={"visible": False, "range": [-1, 1]},
    )
    return chart


class Curve(NamedTuple):
    """Worst-at-k of one group of prompts, from k = 1."""

    name: str
    points: Sequence[WorstAtK]


def worst_at_k(overall: Curve, other: Curve | None, palette: Palette) -> go.Figure:
    """Draw the score to expect if the worst of k replies counted, with 95 % bands over prompts.

    Args:
        overall: All prompts, a full line with circles.
        other: Some of them, a dashed line with diamonds; None for none.
        palette: Colours.
    """
    chart = figure(palette, height=340)
    styles = (
        (overall, palette.earned, "solid", "circle"),
        (other, palette.incurred, "dash", "diamond"),
    )
    for curve, color, dash, symbol in styles:
        if curve is None or not curve.points:
            continue
        banded = [point for point in curve.points if point.low is not None]
        if banded:
            chart.add_scatter(
                x=[point.k for point in banded] + [point.k for point in banded[::-1]],
                y=[POINTS * point.low for point in banded if point.low is not None]
                + [POINTS * point.high for point in banded[::-1] if point.high is not None],
                fill="toself",
                mode="lines",
                line={"width": 0},
                fillcolor=color,
                opacity=_SHADE,
                hoverinfo="skip",
                showlegend=False,
            )
        chart.add_scatter(
            x=[point.k for point in curve.points],
            y=[POINTS * point.unclipped for point in curve.points],
            mode="lines+markers",
            name=plain(curve.name, 40),
            line={"color": color, "width": 2.5, "dash": dash},
            marker={"size": 8, "symbol": symbol},
            hovertext=[
                f"worst of {point.k}: {score(point.unclipped)} {interval(point.low, point.high)}, "
                f"{sample_size(point.n_prompts)}"
                for point in curve.points
            ],
            hoverinfo="text",
        )
    lowest = min(
        (
            POINTS * value
            for curve, *_ in styles
            if curve
            for point in curve.points
            for value in (point.unclipped, point.low)
            if value is not None
        ),
        default=0.0,
    )
    if lowest <= 0:
        chart.add_hline(y=0, line={"color": palette.rule, "width": 1.5})
    most = max((len(curve.points) for curve, *_ in styles if curve), default=1)
    chart.update_layout(
        showlegend=True,
        legend=legend_above(),
        margin={"t": 36},
        xaxis={
            "title": "k replies",
            "dtick": 1 if most <= 16 else None,
            "range": [0.7, most + 0.3],
        },
        yaxis={"title": "points of 100", "rangemode": "tozero"},
    )
    return chart


def mean_and_worst(spread: PromptSpread, palette: Palette) -> go.Figure:
    """Draw each prompt by the mean and the worst of its scores; far below the diagonal it is good only on average.

    The customdata of the dots is the place of the prompt in ``spread``.
    """
    many = len(spread.mean) > _WEBGL_ABOVE
    kind = go.Scattergl if many else go.Scatter
    chart = figure(palette, height=420)
    low = min(0.0, float(spread.worst.min(initial=0)))
    ends = [low - 0.05, 1.05]
    chart.add_scatter(
        x=ends, y=ends, mode="lines", line={"color": palette.rule, "width": 1.5}, hoverinfo="skip"
    )
    below = spread.worst < 0
    for chosen, color, symbol, name in (
        (~below, palette.earned, "circle", "worst reply at 0 or above"),
        (below, palette.incurred, "triangle-down", "worst reply below 0"),
    ):
        places = np.flatnonzero(chosen)
        chart.add_trace(
            kind(
                x=spread.mean[chosen],
                y=spread.worst[chosen],
                mode="markers",
                name=f"{name} ({count(len(places))})",
                marker={
                    "color": color,
                    "symbol": symbol,
                    "size": 5 if many else 9,
                    "opacity": 0.4 if many else 0.8,
                },
                customdata=places,
                hovertext=[
                    f"mean {fraction(spread.mean[place], 2)}, worst {fraction(spread.worst[place], 2)}, "
                    f"best {fraction(spread.best[place], 2)} of {spread.n[place]}"
                    for place in places
                ],
                hoverinfo="text",
            )
        )
    chart.add_hline(y=0, line={"color": palette.grid, "width": 1.5})
    chart.update_layout(
        showlegend=True,
        legend=legend_above(),
        margin={"t": 36},
        clickmode="event+select",
        xaxis={"title": "mean score of a prompt's replies", "range": ends},
        yaxis={"title": "score of its worst reply", "range": ends},
    )
    chart.data[0].showlegend = False
    return chart


class Part(NamedTuple):
    """One part of the variance of example scores, a squared fraction of 1, not negative."""

    name: str
    variance: float


def variance_parts(parts: Sequence[Part], palette: Palette) -> go.Figure:
    """Draw the parts of the variance as one bar each, with their shares of the whole."""
    chart = figure(palette, height=(ROW_HEIGHT + 14) * len(parts) + 60)
    whole = sum(part.variance for part in parts) or 1.0
    chart.add_bar(
        orientation="h",
        y=[part.name for part in parts],
        x=[100 * part.variance / whole for part in parts],
        marker={"color": palette.earned},
        text=[percent(part.variance / whole) for part in parts],
        textposition="outside",
        cliponaxis=False,
        hoverinfo="skip",
    )
    chart.update_layout(
        margin={"r": 60},
        yaxis={"autorange": "reversed", "type": "category"},
        xaxis={"title": "share of the variance of example scores, %", "range": [0, 105]},
    )
    return chart
