"""Figures are tested by their data: what a reader would read off them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthbench.charts.distribution import example_scores, histogram
from healthbench.charts.intervals import Mean, dots
from healthbench.charts.ledger import waterfall, with_running_total
from healthbench.charts.points import where_points_went
from healthbench.charts.theme import DARK, LIGHT, PALETTES, STATE_MARKS, plain
from healthbench.scoring.example import State, tally


def ledger_of(points, met):
    return pd.DataFrame(
        {"position": range(len(points)), "points": points, "met": pd.array(met, dtype="boolean")}
    )


def luminance(color):
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_text_and_marks_can_be_told_from_the_background(palette):
    for color in (palette.text, palette.muted, palette.accent):
        assert contrast(color, palette.background) >= 4.5
    for color in (palette.earned, palette.incurred, palette.unknown):
        assert contrast(color, palette.background) >= 3


def test_the_promised_colours():
    assert (LIGHT.earned, LIGHT.incurred) == ("#0072B2", "#D55E00")
    assert (DARK.earned, DARK.incurred) == ("#56B4E9", "#E69F00")


def test_each_state_has_its_own_mark():
    assert len({mark.symbol for mark in STATE_MARKS.values()}) == len(State)


def test_running_total_adds_met_points_only():
    rows = with_running_total(ledger_of([10, -8, 7, -5, 4], [True, True, False, None, True]))
    # 10, then 10 - 8 = 2, then two rows that move nothing, then 2 + 4 = 6
    assert list(rows["running"]) == [10, 2, 2, 2, 6]
    assert list(rows["before"]) == [0, 10, 2, 2, 2]
    assert list(rows["state"]) == ["earned", "incurred", "missed", "unknown", "earned"]


@given(
    st.lists(
        st.tuples(st.integers(-10, 10).filter(bool), st.sampled_from([True, False, None])),
        min_size=1,
        max_size=20,
    )
)
def test_the_waterfall_ends_at_the_points_achieved(rubric):
    points, met = zip(*rubric, strict=True)
    rows = with_running_total(ledger_of(points, met))
    assert rows["running"].iloc[-1] == tally(points, met).achieved


def test_waterfall_draws_each_criterion_once_from_where_the_total_stood():
    chart = waterfall(ledger_of([10, -8, 7], [True, True, False]), 17, LIGHT)
    bars = {trace.name: trace for trace in chart.data}
    assert set(bars) == {"● earned", "▲ incurred", "○ missed"}
    assert list(bars["▲ incurred"].base) == [10]
    assert list(bars["▲ incurred"].x) == [-8]
    assert bars["▲ incurred"].y[0] == "2 · \N{MINUS SIGN}8"
    assert "possible 17" in chart.layout.annotations[0].text


def test_histogram_never_mixes_scores_below_zero_with_others():
    edges, counts = histogram(np.array([-0.01, 0.0, 0.3, 1.0, np.nan]))
    # Bins of 0.1 from -0.1 to 1: one below 0, one in [0, 0.1), 0.3 in [0.3, 0.4), 1 in the last.
    assert edges[0] == pytest.approx(-0.1)
    assert edges[-1] == 1
    assert list(counts) == [1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]


@given(st.lists(st.floats(-8.67, 1), max_size=50))
def test_histogram_counts_every_score(scores):
    _, counts = histogram(np.array(scores))
    assert counts.sum() == len(scores)


def test_the_tail_below_zero_has_the_penalty_colour():
    chart = example_scores(np.array([-0.25, 0.5, np.nan]), LIGHT, mean=0.125)
    bars, below, others = chart.data
    colored = dict(zip(bars.x, bars.marker.color, strict=True))
    assert all((center < 0) == (color == LIGHT.incurred) for center, color in colored.items())
    assert (list(below.customdata), below.marker.color) == ([0], LIGHT.incurred)
    assert (list(others.customdata), others.marker.color) == ([1], LIGHT.earned)
    assert {line.x0 for line in chart.layout.shapes} == {0, 1, 0.125}


def test_an_empty_run_still_draws():
    assert sum(example_scores(np.array([np.nan]), LIGHT).data[0].y) == 0
    assert not dots([], LIGHT).data


def test_dots_show_n_and_leave_out_what_has_no_mean():
    chart = dots(
        [
            Mean("Accuracy", 0.5, 0.4, 0.6, 25),
            Mean("Few", -0.1, None, None, 3),
            Mean("None", None, None, None, 0),
        ],
        LIGHT,
    )
    dot = [trace for trace in chart.data if trace.mode == "markers"]
    assert [trace.y[0] for trace in dot] == ["Accuracy, n = 25", "Few, n = 3 (few)"]
    assert [trace.x[0] for trace in dot] == [50, -10]
    assert dot[1].marker.color == LIGHT.background
    assert dot[1].marker.line.color == LIGHT.incurred


def test_points_of_each_state_stand_on_their_side_of_zero():
    sums = pd.DataFrame(
        [("Accuracy", "earned", 20.0, 3), ("Accuracy", "incurred", -8.0, 1)],
        columns=["name", "state", "points", "n"],
    )
    chart = where_points_went(sums, ["Accuracy"], LIGHT)
    assert {trace.name: trace.x[0] for trace in chart.data} == {"● earned": 20, "▲ incurred": -8}


def test_foreign_text_cannot_format_a_chart():
    assert (
        plain("<b>x</b> & <a href='y'>z</a>")
        == "&lt;b&gt;x&lt;/b&gt; &amp; &lt;a href='y'&gt;z&lt;/a&gt;"
    )
    assert len(plain("word " * 50, 20)) == 20


def test_a_chart_of_one_row_keeps_room_for_its_labels():
    """Below some 140 pixels, and with a plot of at least 64 of them, plotly draws the axis' title over its numbers."""
    for chart in (
        dots([Mean("one", 0.5, 0.4, 0.6, 3)], LIGHT),
        waterfall(with_running_total(ledger_of([5], [True])), 5, LIGHT),
    ):
        assert chart.layout.height >= 140
        assert chart.layout.minreducedheight <= 20
