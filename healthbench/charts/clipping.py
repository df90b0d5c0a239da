"""The same example scores twice: as they are, and each clipped to 0-1 first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from healthbench.charts.distribution import histogram
from healthbench.charts.theme import Palette, figure, whole_numbers
from healthbench.formatting import count, fraction

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from healthbench.scoring.run_scores import FloatArray


def two_treatments(scores: FloatArray, palette: Palette) -> go.Figure:
    """Draw the distribution of example scores as they are above that of the clipped ones, each with its mean.

    What clipping moves stands in the lower panel as an outline at 0 (and at 1), where it is lifted (or cut) to.

    Args:
        scores: Unclipped example scores, shape (n,); NaN is left out.
        palette: Colours.

    Returns:
        A figure with the traces ``as they are``, ``within 0-1`` and ``moved by clipping``.
    """
    known = scores[~np.isnan(scores)]
    edges, counts = histogram(known)
    inside = known[(known >= 0) & (known <= 1)]
    kept = np.histogram(inside, bins=edges)[0]
    moved = np.zeros_like(kept)
    width = edges[1] - edges[0]
    zero = int(np.searchsorted(edges, 0.0 - width / 2))
    one = int(np.searchsorted(edges, 1.0 - width / 2))
    moved[zero] += int((known < 0).sum())
    moved[one - 1] += int((known > 1).sum())
    middles = (edges[:-1] + edges[1:]) / 2
    chart = figure(palette, height=430)
    color = np.where(middles < 0, palette.incurred, palette.earned)
    for all_heights, name, marker, axis in (
        (counts, "as they are", {"color": color[np.flatnonzero(counts)]}, "y"),
        (kept, "within 0-1", {"color": palette.earned}, "y2"),
        (
            moved,
            "moved by clipping",
            {"color": "rgba(0,0,0,0)", "line": {"color": palette.incurred, "width": 2}},
            "y2",
        ),
    ):
        # An empty bar with an outline would still draw a line.
        filled = np.flatnonzero(all_heights)
        heights = all_heights[filled]
        chart.add_bar(
            x=middles[filled],
            y=heights,
            width=0.9 * width,
            marker=marker,
            name=name,
            yaxis=axis,
            hovertext=[
                f"{fraction(low, 1)} to {fraction(high, 1)}, {name}: {count(n)}"
                for low, high, n in zip(edges[filled], edges[filled + 1], heights, strict=True)
            ],
            hoverinfo="text",
        )
    _mark_mean(chart, known, "late: mean", "y", palette)
    _mark_mean(chart, np.clip(known, 0, 1), "early: mean", "y2", palette)
    for place in (0, 1):
        chart.add_vline(x=place, line={"color": palette.rule, "width": 1.5})
    chart.update_layout(
        barmode="stack",
        bargap=0,
        margin={"t": 26},
        xaxis={"title": "example score", "anchor": "y2", "tickformat": ".2~f", "nticks": 12},
        yaxis={"title": "as they are", "domain": [0.57, 1], **whole_numbers(counts.max(initial=0))},
        yaxis2={
            "title": "each clipped first",
            "domain": [0, 0.43],
            "anchor": "x",
            **whole_numbers((kept + moved).max(initial=0)),
        },
    )
    return chart


def _mark_mean(
    chart: go.Figure, scores: FloatArray, label: str, axis: str, palette: Palette
) -> None:
    if len(scores) == 0:
        return
    mean = float(np.mean(scores))
    chart.add_shape(
        type="line",
        x0=mean,
        x1=mean,
        y0=0,
        y1=1,
        yref=f"{axis} domain",
        line={"color": palette.text, "width": 1.5, "dash": "dot"},
    )
    chart.add_annotation(
        x=mean,
        y=1,
        yref=f"{axis} domain",
        yanchor="bottom",
        showarrow=False,
        text=f"{label} {fraction(mean, 3)}",
        bgcolor=palette.background,
    )
