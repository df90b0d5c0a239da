"""Length of replies: their distribution, score against length, and the score before and after the adjustment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from healthbench.charts.theme import Palette, figure, whole_numbers
from healthbench.formatting import characters as characters_in_words
from healthbench.formatting import count, fraction, score

if TYPE_CHECKING:
    from healthbench.charts.intervals import Mean
    from healthbench.scoring.run_scores import FloatArray, IntArray

_BINS = 60
_TENTHS = 10
_WEBGL_ABOVE = 1_000


def length_histogram(
    characters: IntArray, center: float, fitted_up_to: float, palette: Palette
) -> go.Figure:
    """Draw the distribution of reply lengths with the center, their mean, and the range the penalty was fitted on.

    Args:
        characters: Lengths in code points, shape (n,).
        center: Length at which the adjustment changes nothing.
        fitted_up_to: Longest mean length the published penalties were fitted on.
        palette: Colours.
    """
    longest = max(int(characters.max()) if len(characters) else 0, int(fitted_up_to), int(center))
    step = _round_step(longest / _BINS)
    edges = np.arange(0, longest + 2 * step, step)
    counts = np.histogram(characters, bins=edges)[0]
    chart = figure(palette, height=290)
    chart.add_bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=counts,
        width=0.92 * step,
        marker={"color": palette.earned},
        name="replies",
        hovertext=[
            f"{count(low)} to {characters_in_words(high)}: {count(n)}"
            for low, high, n in zip(edges[:-1], edges[1:], counts, strict=True)
        ],
        hoverinfo="text",
    )
    chart.add_vrect(
        x0=0,
        x1=fitted_up_to,
        line_width=0,
        fillcolor=palette.muted,
        opacity=0.12,
        layer="below",
    )
    chart.add_annotation(
        x=fitted_up_to,
        y=1,
        yref="paper",
        xanchor="left",
        yanchor="top",
        showarrow=False,
        text=" \N{LEFTWARDS ARROW} fitted range",
        font={"color": palette.muted},
        bgcolor=palette.background,
    )
    lines = [(center, "center", "solid", 1.0)]
    if len(characters):
        lines.append((float(characters.mean()), "mean", "dot", 1.09))
    for place, label, dash, height in lines:
        chart.add_vline(x=place, line={"color": palette.text, "width": 1.5, "dash": dash})
        chart.add_annotation(
            x=place,
            y=height,
            yref="paper",
            yanchor="bottom",
            showarrow=False,
            text=f"{label} {count(place)}",
        )
    chart.update_layout(
        bargap=0,
        margin={"t": 48},
        xaxis={
            "title": "characters of the reply",
            # Room for the name of the fitted range, whose end is marked.
            "range": [0, max(float(edges[-1]), 1.3 * fitted_up_to)],
            "nticks": 7,
            "tickformat": ",d",
        },
        yaxis={"title": "examples", **whole_numbers(counts.max(initial=0))},
    )
    return chart


def score_by_length(
    scores: FloatArray, characters: IntArray, center: float, palette: Palette
) -> go.Figure:
    """Draw example scores against reply length, with the mean of each tenth of the examples by length.

    Args:
        scores: Unclipped example scores, shape (n,); NaN is left out.
        characters: Lengths in code points, shape (n,).
        center: Length at which the adjustment changes nothing.
        palette: Colours.

    Returns:
        A figure whose first trace holds the examples (customdata: row, and the number shown) and whose second, where there are at least 50
        examples, holds the means of tenths.
    """
    rows = np.flatnonzero(~np.isnan(scores))
    known, lengths = scores[rows], characters[rows]
    many = len(rows) > _WEBGL_ABOVE
    chart = figure(palette, height=330)
    chart.add_trace(
        (go.Scattergl if many else go.Scatter)(
            x=lengths,
            y=known,
            mode="markers",
            name="one example",
            marker={
                # Numbers on a scale of two colours: plotly checks colours given by name one at a time.
                "color": (known < 0).astype(np.int8),
                "colorscale": [[0, palette.earned], [1, palette.incurred]],
                "cmin": 0,
                "cmax": 1,
                "size": 4 if many else 8,
                "opacity": 0.35 if many else 0.75,
            },
            customdata=np.column_stack([rows, rows + 1]),
            # A template, because thousands of texts would take longer to write than the rest of the page.
            hovertemplate="example %{customdata[1]}: %{y:.3f}, %{x:,} characters<extra></extra>",
        )
    )
    if len(rows) >= 5 * _TENTHS:
        tenths = np.array_split(np.argsort(lengths, kind="stable"), _TENTHS)
        chart.add_scatter(
            x=[float(lengths[part].mean()) for part in tenths],
            y=[float(known[part].mean()) for part in tenths],
            mode="lines+markers",
            name="mean of a tenth",
            line={"color": palette.text, "width": 2},
            marker={"size": 8, "color": palette.text},
            hovertext=[
                f"mean of {count(len(part))} examples around {characters_in_words(float(lengths[part].mean()))}: "
                f"{fraction(float(known[part].mean()), 3)}"
                for part in tenths
            ],
            hoverinfo="text",
        )
    chart.add_vline(x=center, line={"color": palette.rule, "width": 1.5})
    chart.add_annotation(
        x=center,
        y=1,
        yref="paper",
        yanchor="bottom",
        showarrow=False,
        text=f"center {count(center)}",
    )
    chart.add_hline(y=0, line={"color": palette.rule, "width": 1.5})
    chart.update_layout(
        margin={"t": 26},
        clickmode="event+select",
        xaxis={
            "title": "characters of the reply",
            "rangemode": "tozero",
            "nticks": 7,
            "tickformat": ",d",
        },
        yaxis={"title": "example score, unclipped", "tickformat": ".2~f"},
    )
    return chart


def before_and_after(raw: Mean, adjusted: Mean, palette: Palette) -> go.Figure:
    """Draw the raw and the adjusted mean with their intervals, joined by a line; points of 100."""
    chart = figure(palette, height=290)
    pair = [raw, adjusted]
    values = [100 * (mean.value or 0.0) for mean in pair]
    names = [mean.name for mean in pair]
    chart.add_scatter(
        x=names,
        y=values,
        mode="lines",
        line={"color": palette.rule, "width": 2},
        hoverinfo="skip",
    )
    for mean, value, filled in zip(pair, values, (True, False), strict=True):
        known = mean.low is not None and mean.high is not None
        chart.add_scatter(
            x=[mean.name],
            y=[value],
            mode="markers+text",
            # Away from the line that joins both.
            text=[f"{score(mean.value)}   " if filled else f"   {score(mean.value)}"],
            textposition="middle left" if filled else "middle right",
            textfont={"size": 16},
            marker={
                "size": 13,
                "color": palette.earned if filled else palette.background,
                "line": {"color": palette.earned, "width": 2.5},
            },
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [100 * ((mean.high or 0.0) - (mean.value or 0.0))],
                "arrayminus": [100 * ((mean.value or 0.0) - (mean.low or 0.0))],
                "color": palette.earned,
                "thickness": 2,
                "visible": known,
            },
            hoverinfo="skip",
            cliponaxis=False,
        )
    chart.update_layout(
        xaxis={"type": "category", "range": [-0.6, 1.6]},
        yaxis={"title": "unclipped mean, points of 100", "nticks": 6},
    )
    return chart


def _round_step(rough: float) -> int:
    """Return a round width of at least ``rough`` characters."""
    for step in (25, 50, 100, 200, 250, 500, 1_000, 2_000, 5_000, 10_000):
        if step >= rough:
            return step
    return int(rough) + 1
