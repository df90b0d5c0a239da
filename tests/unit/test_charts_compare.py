"""Charts of comparisons and repeats, tested by their data: what is coloured, what a click carries, where lines lie."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from healthbench.charts.compare import (
    Names,
    differences,
    flips_by_axis,
    length_against_difference,
    prompts,
)
from healthbench.charts.repeats import (
    Curve,
    Part,
    mean_and_worst,
    repeat_scores,
    variance_parts,
    worst_at_k,
)
from healthbench.charts.theme import DARK, LIGHT
from healthbench.scoring.compare import PairedDifference
from healthbench.scoring.length import LengthAdjustment
from healthbench.scoring.reliability import Repeats, prompt_spread, repeat_spread, worst_at_k_curve


def paired(name, difference, low, high, p):
    return PairedDifference(
        name, 0.5, 0.5 + difference, difference, 40, 0.1, low, high, p, p, 9, 9, 9, 0.2
    )


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_only_decisive_differences_are_coloured(palette):
    chart = differences(
        [
            paired("theme:hedging", 0.3, 0.1, 0.5, 0.01),
            paired("theme:communication", -0.3, -0.5, -0.1, 0.01),
            # The interval excludes 0, but not after Holm.
            paired("theme:global_health", 0.3, 0.1, 0.5, 0.2),
        ],
        palette,
    )
    dots = [trace for trace in chart.data if trace.mode == "markers"]
    assert [dot.marker.color for dot in dots] == [
        palette.earned,
        palette.incurred,
        palette.background,
    ]
    assert dots[2].marker.line.color == palette.unknown
    assert [dot.x[0] for dot in dots] == pytest.approx([30, -30, 30])
    low, high = chart.layout.xaxis.range
    assert low == -high


def test_prompts_are_told_apart_and_carry_their_row():
    chart = prompts(
        np.array([0.2, 0.6, 0.4, np.nan]),
        np.array([0.5, 0.1, 0.4, 0.3]),
        np.array([7, 8, 9, 10]),
        Names("one", "<b>two"),
        LIGHT,
    )
    better, worse, same = chart.data[1:]
    assert [list(trace.customdata) for trace in (better, worse, same)] == [[7], [8], [9]]
    assert better.marker.color != worse.marker.color
    assert {better.marker.symbol, worse.marker.symbol, same.marker.symbol} == {
        "circle",
        "triangle-down",
        "circle-open",
    }
    assert "&lt;b&gt;two" in chart.layout.yaxis.title.text


def test_the_price_line_has_the_penalty_as_slope():
    chart = length_against_difference(
        np.array([-500.0, 1000.0]),
        np.array([0.1, -0.1]),
        np.array([0, 1]),
        LengthAdjustment(2000, 0.03),
        LIGHT,
    )
    # 0.03 for each 500 characters.
    assert list(chart.data[0].x) == [-500, 1000]
    assert list(chart.data[0].y) == pytest.approx([-0.03, 0.06])


def test_fixed_lie_right_and_regressed_left():
    table = pd.DataFrame(
        {
            "name": ["Accuracy", "Accuracy"],
            "sign": ["penalty", "positive"],
            "fixed": [2, 5],
            "regressed": [0, 3],
        }
    )
    chart = flips_by_axis(table, LIGHT)
    assert {trace.name: list(trace.x) for trace in chart.data} == {
        "fixed, positive points": [5],
        "fixed, penalties": [2],
        "regressed, positive points": [-3],
    }


SCORES = np.array([[0.8, 0.2], [0.6, 0.6], [0.4, -0.2]])


def test_scores_of_repeats():
    spread = repeat_spread(Repeats("overall_score", np.arange(3), SCORES))
    # 1.8 / 3 and 0.6 / 3
    assert list(repeat_scores(spread, LIGHT).data[0].x) == pytest.approx([60, 20])


def test_worst_at_k_has_a_band_and_a_second_curve():
    curve = worst_at_k_curve(Repeats("overall_score", np.arange(3), SCORES))
    chart = worst_at_k(Curve("all", curve), Curve("some", curve[:1]), LIGHT)
    lines = [trace for trace in chart.data if trace.mode == "lines+markers"]
    # Worst of two: (0.2 + 0.6 - 0.2) / 3 = 0.2
    assert list(lines[0].y) == pytest.approx([40, 20])
    assert lines[0].line.dash != lines[1].line.dash
    assert sum(trace.fill == "toself" for trace in chart.data) == 2


def test_prompts_by_mean_and_worst():
    chart = mean_and_worst(prompt_spread(Repeats("overall_score", np.arange(3), SCORES)), LIGHT)
    above, below = chart.data[1:]
    assert list(above.customdata) == [0, 1]
    assert list(below.customdata) == [2]
    assert list(below.y) == pytest.approx([-0.2])


def test_parts_of_the_variance_are_shares():
    chart = variance_parts([Part("between prompts", 0.03), Part("within", 0.01)], LIGHT)
    assert list(chart.data[0].x) == pytest.approx([75, 25])
