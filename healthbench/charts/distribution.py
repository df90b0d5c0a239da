"""The example scores of a run: a histogram over a strip with one dot an example."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from healthbench.charts.theme import Palette, figure, whole_numbers
from healthbench.formatting import count, fraction

if TYPE_CHECKING:
    import numpy.typing as npt

    from healthbench.scoring.run_scores import FloatArray

BINS_PER_UNIT = 10
_STRIP_IS_WEBGL_ABOVE = 1_000
# Multiples of the golden ratio spread dots evenly without a random generator: the same run always looks the same.
_SPREAD = (math.sqrt(5) - 1) / 2


def histogram(
    scores: FloatArray, bins_per_unit: int = BINS_PER_UNIT
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Count scores in bins that have 0 and 1 as edges, so that no bar mixes scores below 0 with others.

    Args:
        scores: Unclipped example scores, shape (n,); NaN has no score and is left out.
        bins_per_unit: Number of bins between 0 and 1.

    Returns:
        Edges, shape (b + 1,), and counts, shape (b,). A score of exactly 1 falls in the bin that ends there.
    """
    known = scores[~np.isnan(scores)]
    # In whole bins, because sums of 0.1 would put a score of 0.3 on the wrong side of an edge.
    lowest = min(0, math.floor(float(known.min()) * bins_per_unit)) if len(known) else 0
    highest = (
        max(bins_per_unit, math.ceil(float(known.max()) * bins_per_unit))
        if len(known)
        else bins_per_unit
    )
    edges = np.arange(lowest, highest + 1) / bins_per_unit
    counts, _ = np.histogram(known, bins=edges)
    return edges, counts.astype(np.int64)


def example_scores(scores: FloatArray, palette: Palette, mean: float | None = None) -> go.Figure:
    """Draw the distribution of example scores, unclipped; 0 and 1 are marked, the tail below 0 has the penalty colour.

    Args:
        scores: Unclipped fractions by row of the example, shape (n,); NaN has no score.
        palette: Colours.
        mean: Unclipped mean to mark.

    Returns:
        A figure whose first trace holds the bars (customdata: low edge, high edge); the second and third hold the
        dots below 0 and the others (customdata: row of the example).
    """
    edges, counts = histogram(scores)
    chart = figure(palette, height=300)
    low, high = edges[:-1], edges[1:]
    chart.add_bar(
        x=(low + high) / 2,
        y=counts,
        width=(high - low) * 0.92,
        marker={"color": np.where(low < 0, palette.incurred, palette.earned)},
        customdata=np.column_stack([low, high]),
        hovertext=[
            f"{fraction(a, 1)} to {fraction(b, 1)}: {count(n)} example{'' if n == 1 else 's'}"
            for a, b, n in zip(low, high, counts, strict=True)
        ],
        hoverinfo="text",
        name="examples",
    )
    for below in (True, False):
        chart.add_trace(_strip(scores, palette, below=below))
    for place, dash in ((0.0, "solid"), (1.0, "solid")):
        chart.add_vline(x=place, line={"color": palette.rule, "width": 1.5, "dash": dash})
    if mean is not None:
        chart.add_vline(x=mean, line={"color": palette.text, "width": 1.5, "dash": "dot"})
        chart.add_annotation(
            x=mean,
            y=1,
            yref="paper",
            yanchor="bottom",
            showarrow=False,
            text=f"mean {fraction(mean, 3)}",
        )
    chart.update_layout(
        margin={"t": 26},
        bargap=0,
        clickmode="event+select",
        xaxis={
            "title": "example score, unclipped",
            "tickformat": ".2~f",
            "anchor": "y2",
        },
        yaxis={"title": "examples", "domain": [0.26, 1], **whole_numbers(counts.max(initial=0))},
        yaxis2={"domain": [0, 0.2], "visible": False, "range": [-0.15, 1.15], "anchor": "x"},
    )
    return chart


def _strip(scores: FloatArray, palette: Palette, *, below: bool) -> go.Scatter | go.Scattergl:
    """Return one dot an example on one side of 0; one colour a trace, because colours by dot are slow to draw."""
    rows = np.flatnonzero(scores < 0 if below else scores >= 0)
    many = len(scores) > _STRIP_IS_WEBGL_ABOVE
    kind = go.Scattergl if many else go.Scatter
    return kind(
        x=scores[rows],
        y=(rows * _SPREAD) % 1.0,
        yaxis="y2",
        mode="markers",
        marker={
            "color": palette.incurred if below else palette.earned,
            "size": 5 if many else 7,
            "opacity": 0.35 if many else 0.75,
        },
        customdata=rows,
        text=rows + 1,
        hovertemplate="example %{text}: %{x:.3f}<extra></extra>",
        name="below 0" if below else "0 and above",
    )
