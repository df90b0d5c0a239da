"""Figures of agreement are tested by their data."""

from __future__ import annotations

import pytest

from healthbench.charts.agreement import Part, agreement_dots, confusion_squares
from healthbench.charts.theme import LIGHT, PALETTES
from healthbench.formatting import DASH, plain_interval
from healthbench.scoring.agreement import Confusion


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_squares_show_every_cell_with_its_share(palette):
    # 6, 1, 2, 1 of 10.
    chart = confusion_squares(Confusion(6, 1, 2, 1), palette, "grader", "reviewer")
    cells = {(mark.y[0], mark.x[0]): mark.text[0] for mark in chart.data}
    assert "<b>6</b><br> 60.0 %" in cells["met", "met"]
    assert "<b>1</b><br> 10.0 %" in cells["met", "not met"]
    assert "<b>2</b><br> 20.0 %" in cells["not met", "met"]
    sizes = [mark.marker.size for mark in chart.data]
    # The side grows with the root of the share, so the area with the share: (6 / 1) ** 0.5.
    assert (sizes[0] - 4) / (sizes[1] - 4) == pytest.approx(6**0.5)


def test_an_empty_table_is_drawn_without_a_share():
    chart = confusion_squares(Confusion(0, 0, 0, 0), LIGHT, "a", "b")
    assert all("0.0 %" in mark.text[0] for mark in chart.data)


def test_parts_keep_their_order_and_say_when_they_are_few():
    chart = agreement_dots(
        [
            Part("First", 0.8, 0.6, 0.9, 30, 0.65),
            Part("Few", -0.1, None, None, 5),
            Part("None", None, None, None, 2),
        ],
        LIGHT,
        "Macro F1",
    )
    assert list(chart.layout.yaxis.categoryarray) == ["Few, n = 5 (few)", "First, n = 30"]
    dots = [mark for mark in chart.data if mark.mode == "markers" and not mark.name]
    assert [mark.x[0] for mark in dots] == [0.8, -0.1]
    assert dots[1].marker.color == LIGHT.background
    (yardstick,) = [mark for mark in chart.data if mark.name]
    assert (list(yardstick.x), yardstick.name) == ([0.65], "physicians, as published")
    (line,) = [mark for mark in chart.data if mark.mode == "lines"]
    assert list(line.x) == [0.6, 0.9]


def test_intervals_of_plain_fractions():
    assert plain_interval(-0.414, 0.6) == "[\N{MINUS SIGN}0.41, 0.60]"
    assert plain_interval(None, 0.6) == DASH
