"""The colours, marks and the one plotly template of every chart, for light and dark.

The two data colours are the blue and vermilion of the Okabe-Ito palette (light) and its sky blue and orange (dark),
which stay apart under the common colour-vision deficiencies. Colour is never alone: each state of a criterion also has
its own mark, and the states that moved no points are outlines.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import NamedTuple

import plotly.graph_objects as go

from healthbench.scoring.example import State

ROW_HEIGHT = 24
"""Height in pixels of one row of a chart that lists things."""
_LOWEST = 140
"""Least height in pixels of a chart: one row with a legend above and a titled axis below."""
_EACH_NUMBER_UP_TO = 4
_ONE_LINE = 20
"""Letters that a label may have in one line; a longer one would take a narrow screen's width from the chart."""


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of one appearance.

    Attributes:
        name: ``light`` or ``dark``.
        earned: Positive points that were met.
        incurred: Penalties that were met, and scores below 0.
        unknown: Verdicts that were not given.
        text, muted, accent: Text, text that stands back, and text of what is chosen; each at least 4.5:1 on
            ``background``.
        grid, rule: Grid lines, and lines that mean something (0, 1, points possible).
        background: What is behind the chart.
    """

    name: str
    earned: str
    incurred: str
    unknown: str
    text: str
    muted: str
    accent: str
    grid: str
    rule: str
    background: str


LIGHT = Palette(
    name="light",
    earned="#0072B2",
    incurred="#D55E00",
    unknown="#6B7280",
    text="#1A1A1A",
    muted="#56606B",
    accent="#0B5A8A",
    grid="#E3E7EB",
    rule="#7A8490",
    background="#FFFFFF",
)
DARK = Palette(
    name="dark",
    earned="#56B4E9",
    incurred="#E69F00",
    unknown="#9AA3AD",
    text="#E8EBEE",
    muted="#A7B0BA",
    accent="#7CC6EF",
    grid="#2A323B",
    rule="#7F8A96",
    background="#11161C",
)
PALETTES = {palette.name: palette for palette in (LIGHT, DARK)}


class StateMark(NamedTuple):
    """How a state looks beside its colour.

    Attributes:
        symbol: A character for text; filled where points moved, an outline where none did.
        moved: True where the points counted.
    """

    symbol: str
    moved: bool


STATE_MARKS: dict[State, StateMark] = {
    State.EARNED: StateMark("●", moved=True),
    State.MISSED: StateMark("○", moved=False),
    State.INCURRED: StateMark("▲", moved=True),
    State.AVOIDED: StateMark("△", moved=False),
    State.UNKNOWN: StateMark("?", moved=False),
}


def state_color(state: State, palette: Palette) -> str:
    """Return the colour of a state; met and not met share the colour of their sign."""
    if state is State.UNKNOWN:
        return palette.unknown
    return palette.earned if state in (State.EARNED, State.MISSED) else palette.incurred


def state_marker(state: State, palette: Palette) -> dict[str, object]:
    """Return the plotly bar marker of a state: filled, an outline, or hatched grey."""
    color = state_color(state, palette)
    if state is State.UNKNOWN:
        pattern = {"shape": "/", "fgcolor": color, "bgcolor": "rgba(0,0,0,0)", "size": 6}
        return {"color": color, "pattern": pattern, "line": {"color": color, "width": 1}}
    fill = color if STATE_MARKS[state].moved else "rgba(0,0,0,0)"
    return {"color": fill, "line": {"color": color, "width": 1.5}}


def template(palette: Palette) -> go.layout.Template:
    """Return the template of every chart."""
    axis = {
        "gridcolor": palette.grid,
        "linecolor": palette.grid,
        "zeroline": False,
        "automargin": True,
        "ticks": "",
        "ticklabelstandoff": 5,
        "title": {"font": {"size": 13, "color": palette.muted}, "standoff": 8},
        "tickfont": {"size": 13, "color": palette.text},
    }
    return go.layout.Template(
        layout={
            "font": {"family": "sans-serif", "size": 13, "color": palette.text},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": [palette.earned, palette.incurred, palette.unknown],
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {"align": "left"},
            "separators": ".,",
        }
    )


def figure(palette: Palette, height: int) -> go.Figure:
    """Return an empty figure in the project's look, ``height`` pixels high, without a toolbar's worth of margin."""
    return go.Figure(
        layout={
            "template": template(palette),
            "height": max(height, _LOWEST),
            # Else plotly draws labels over each other rather than a plot of less than 64 pixels.
            "minreducedheight": 20,
            "margin": {"l": 8, "r": 16, "t": 8, "b": 8},
            "showlegend": False,
            "bargap": 0.3,
            "dragmode": False,
        }
    )


def legend_above() -> dict[str, object]:
    """Return a legend in one line above the plot, which leaves the plot its width."""
    return {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": 1,
        "yanchor": "bottom",
        "font": {"size": 13},
        "itemclick": False,
        "itemdoubleclick": False,
    }


def plain(text: str, width: int = 60) -> str:
    """Return foreign text for a chart, cut to ``width``: plotly reads a little HTML and, in templates, ``%{...}``."""
    line = " ".join(text.split())
    cut = line if len(line) <= width else line[: width - 1] + "…"
    return html.escape(cut, quote=False).replace("%{", "%&#123;")


def wrapped(text: str, width: int = 40) -> str:
    """Return foreign text for the labels of a chart: as ``plain``, in two lines where it is long."""
    words = plain(text, width).split(" ")
    if sum(map(len, words)) < _ONE_LINE or len(words) == 1:
        return " ".join(words)
    cut = min(
        range(1, len(words)),
        key=lambda place: max(len(" ".join(words[:place])), len(" ".join(words[place:]))),
    )
    return " ".join(words[:cut]) + "<br>" + " ".join(words[cut:])


def whole_numbers(largest: float) -> dict[str, object]:
    """Return an axis for counts up to ``largest``: from 0, and never a fraction of a thing."""
    return {
        "rangemode": "tozero",
        "tickformat": ",d",
        "nticks": 5,
        "dtick": 1 if largest <= _EACH_NUMBER_UP_TO else None,
    }
