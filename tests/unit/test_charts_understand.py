"""Figures of coverage, clipping, length and published results, tested by their data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench import published
from healthbench.charts.clipping import two_treatments
from healthbench.charts.coverage import Bar, Square, counted, grid, seen_and_unseen
from healthbench.charts.dumbbells import Pair, dumbbells
from healthbench.charts.intervals import Mean
from healthbench.charts.length import before_and_after, length_histogram, score_by_length
from healthbench.charts.published import raw_and_adjusted, run_spread
from healthbench.charts.theme import DARK, LIGHT, wrapped


def test_counted_bars_carry_number_and_share_and_the_share_elsewhere():
    chart = counted(
        [Bar("Accuracy", 30, 0.5), Bar("Completeness", 10)],
        "criteria",
        LIGHT,
        elsewhere="the full set",
    )
    bars, numbers, marks = chart.data
    assert list(bars.x) == [30, 10]
    assert [text.strip() for text in numbers.text] == ["30 · 75.0 %", "10 · 25.0 %"]
    # Half of this run's 40, and the number stands behind whichever is further right.
    assert list(marks.x) == [20]
    assert list(numbers.x) == [30, 10]
    assert marks.name == "share in the full set"


def test_penalty_bars_have_the_penalty_colour_and_nothing_has_no_share():
    assert (
        counted([Bar("a", 1)], "points", DARK, penalty=True).data[0].marker.color == DARK.incurred
    )
    assert "\N{EN DASH}" in counted([Bar("a", 0)], "points", LIGHT).data[1].text[0]
    assert counted([], "points", LIGHT).data[0].x is not None


def test_squares_have_areas_in_proportion_and_know_their_cell():
    chart = grid(
        [
            Square("A", "x", 4, ("theme:a", "axis:x")),
            Square("A", "y", 1, ("theme:a", "")),
            Square("B", "x", 0, ("theme:b", "axis:x")),
        ],
        ["A", "B"],
        ["x", "y"],
        "criteria",
        LIGHT,
    )
    (squares,) = chart.data
    assert squares.marker.symbol == "square"
    # An area of a quarter is half the side; an empty cell has no square.
    assert squares.marker.size[0] == 2 * squares.marker.size[1]
    assert [list(key) for key in squares.customdata] == [["theme:a", "axis:x"], ["theme:a", ""]]
    assert len(grid([], [], [], "criteria", LIGHT).data[0].x) == 0


def test_seen_and_unseen_points_stack():
    seen, unseen = seen_and_unseen(["Accuracy"], [8], [6], LIGHT).data
    assert (seen.x[0], unseen.x[0]) == (8, 6)
    assert unseen.marker.pattern.shape == "/"


def test_dumbbells_join_both_values_in_points():
    chart = dumbbells([Pair("Accuracy", 0.0, 0.5, 25)], "late", "early", LIGHT, "score")
    line, first, second = chart.data
    assert list(line.x) == [0, 50, None]
    assert (first.x[0], second.x[0]) == (0, 50)
    assert "difference +50.0" in first.hovertext[0]
    assert "n = 25" in first.y[0]


def heights(chart, name):
    bars = next(trace for trace in chart.data if trace.name == name)
    return {
        round(float(middle), 3): int(height) for middle, height in zip(bars.x, bars.y, strict=True)
    }


def test_clipping_moves_scores_to_the_ends():
    chart = two_treatments(np.array([-1.6, -0.2, 0.0, 0.7, 1.1, np.nan]), LIGHT)
    assert sum(heights(chart, "as they are").values()) == 5
    assert heights(chart, "within 0-1") == {0.05: 1, 0.75: 1}
    # Two from below 0 stand at 0, one from above 1 at 1.
    assert heights(chart, "moved by clipping") == {0.05: 2, 0.95: 1}
    texts = {annotation.text for annotation in chart.layout.annotations}
    # (-1.6 - 0.2 + 0 + 0.7 + 1.1) / 5 = 0 and (0.7 + 1) / 5 = 0.34
    assert texts == {"late: mean 0.000", "early: mean 0.340"}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-8.67, 1.2), min_size=1, max_size=40))
def test_no_score_is_lost_in_either_treatment(scores):
    chart = two_treatments(np.array(scores), LIGHT)
    clipped = [
        *heights(chart, "within 0-1").values(),
        *heights(chart, "moved by clipping").values(),
    ]
    assert sum(heights(chart, "as they are").values()) == sum(clipped) == len(scores)


def test_lengths_are_counted_with_center_mean_and_fitted_range():
    chart = length_histogram(np.array([100, 300, 5000]), 2000, 4000, LIGHT)
    assert sum(chart.data[0].y) == 3
    texts = " ".join(annotation.text for annotation in chart.layout.annotations)
    assert "center 2,000" in texts
    assert "mean 1,800" in texts
    assert "fitted range" in texts
    assert any(shape.type == "rect" and shape.x1 == 4000 for shape in chart.layout.shapes)
    assert sum(length_histogram(np.array([], dtype=int), 0, 4000, LIGHT).data[0].y) == 0


def test_score_by_length_knows_its_rows_and_averages_tenths():
    few = score_by_length(np.array([0.5, np.nan, -0.5]), np.array([10, 20, 30]), 2000, LIGHT)
    assert len(few.data) == 1
    assert few.data[0].customdata.tolist() == [[0, 1], [2, 3]]
    many = score_by_length(np.linspace(0, 1, 100), np.arange(100), 2000, LIGHT)
    tenths = many.data[1]
    assert len(tenths.x) == 10
    # The first ten lengths are 0 to 9.
    assert tenths.x[0] == pytest.approx(4.5)


def test_before_and_after_shows_both_means():
    chart = before_and_after(
        Mean("raw", 0.6, 0.5, 0.7, 10), Mean("adjusted", 0.5706, None, None, 10), LIGHT
    )
    line, raw, adjusted = chart.data
    assert list(line.y) == pytest.approx([60, 57.06])
    assert raw.error_y.visible
    assert not adjusted.error_y.visible


def test_published_plots_show_every_row():
    spread = run_spread(published.RUN_SPREAD.rows, LIGHT)
    assert list(spread.data[1].x) == [100 * row.mean for row in published.RUN_SPREAD.rows]
    rows = [row for row in published.LENGTH_ROWS.rows if row.benchmark == "hard"]
    _, raw, adjusted = raw_and_adjusted(rows, 2000, LIGHT).data
    assert list(raw.y) == [row.raw_points for row in rows]
    assert list(adjusted.y) == [row.adjusted_points for row in rows]


def test_long_names_take_two_lines_of_about_the_same_length():
    assert wrapped("Accuracy") == "Accuracy"
    assert wrapped("Expertise-tailored communication") == "Expertise-tailored<br>communication"
    assert wrapped("Otorhinolaryngologically") == "Otorhinolaryngologically"
