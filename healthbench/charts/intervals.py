"""A dot and its interval for each of several means, with the n each stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from healthbench.charts.theme import ROW_HEIGHT, Palette, figure, plain
from healthbench.formatting import FEW, interval, sample_size, score

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go


@dataclass(frozen=True, slots=True)
class Mean:
    """One mean with its interval: fractions of 1, unclipped.

    Attributes:
        name: What is shown.
        value: The mean, None where no example has a score.
        low, high: Ends of the 95 % interval; None where there is none.
        n: Examples averaged.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int


def dots(means: Sequence[Mean], palette: Palette, reference: float | None = None) -> go.Figure:
    """Draw means as dots with intervals, in the given order from the top, on the scale of the run score (points of 100).

    A mean of fewer than 20 examples is hollow; means below 0 take the penalty colour. ``reference`` (a fraction)
    is a dotted line, usually the run's own mean.
    """
    shown = [(mean, mean.value) for mean in means if mean.value is not None]
    chart = figure(palette, height=(ROW_HEIGHT + 8) * max(len(shown), 1) + 56)
    labels = {id(mean): f"{plain(mean.name, 44)}, {sample_size(mean.n)}" for mean, _ in shown}
    for mean, value in shown:
        color = palette.incurred if value < 0 else palette.earned
        label = labels[id(mean)]
        if mean.low is not None and mean.high is not None:
            chart.add_scatter(
                x=[100 * mean.low, 100 * mean.high],
                y=[label, label],
                mode="lines",
                line={"color": color, "width": 3},
                opacity=0.55,
                hoverinfo="skip",
            )
        chart.add_scatter(
            x=[100 * value],
            y=[label],
            mode="markers",
            marker={
                "color": palette.background if mean.n < FEW else color,
                "size": 11,
                "line": {"color": color, "width": 2},
            },
            hovertemplate=f"{plain(mean.name)}<br>{score(value)} {interval(mean.low, mean.high)}"
            f"<br>{sample_size(mean.n)}<extra></extra>",
        )
    chart.add_vline(x=0, line={"color": palette.rule, "width": 1.5})
    if reference is not None:
        chart.add_vline(
            x=100 * reference, line={"color": palette.rule, "width": 1.5, "dash": "dot"}
        )
    chart.update_layout(
        yaxis={
            "categoryorder": "array",
            "categoryarray": [labels[id(mean)] for mean, _ in shown][::-1],
            "type": "category",
            "showgrid": True,
        },
        xaxis={"title": "unclipped mean, points of 100", "range": _range(shown)},
    )
    return chart


def _range(shown: Sequence[tuple[Mean, float]]) -> list[float]:
    """Return the ends of the axis: 0 and all that is drawn, with room for the dots."""
    ends = [0.0]
    for mean, value in shown:
        ends += [end for end in (value, mean.low, mean.high) if end is not None]
    room = 0.04 * (max(ends) - min(ends) or 1.0)
    return [100 * (min(ends) - room), 100 * (max(ends) + room)]
