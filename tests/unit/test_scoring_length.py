"""The length adjustment: worked cases, published rows, units, and what it may not be given."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.errors import InputRefusedError
from healthbench.scoring.length import (
    PRESETS,
    LengthAdjustment,
    adjust,
    adjust_points,
    characters_bought,
    characters_for_score,
    mean_adjusted,
    parse_adjustment,
    score_for_characters,
)
from healthbench.scoring.run_scores import OVERALL, Metric, RunScores

DATA = json.loads(Path(__file__).with_name("vectors.json").read_text("utf-8"))


def cases(kind):
    return [
        pytest.param(v["input"], v["expected"], id=v["id"])
        for v in DATA["vectors"]
        if v["kind"] == kind
    ]


def run_of(scores, characters):
    size = len(scores)
    none = np.zeros(size)
    overall = Metric(
        OVERALL,
        np.arange(size),
        np.ones(size),
        np.array(scores, float),
        none,
        none,
        none,
        np.ones(size, int),
        np.zeros(size, int),
    )
    return RunScores(np.arange(size), np.array(characters), {OVERALL: overall})


@pytest.mark.parametrize(("given_", "expected"), cases("length_adjust"))
def test_adjusted_score_of_worked_cases(given_, expected):
    adjustment = LengthAdjustment(given_["center"], given_["penalty_per_500"])
    adjusted = adjust(given_["score"], given_["chars"], adjustment)
    assert adjusted == pytest.approx(expected["adjusted"], abs=1e-12)
    assert adjust_points(100 * given_["score"], given_["chars"], adjustment) == pytest.approx(
        100 * expected["adjusted"], abs=1e-10
    )


@pytest.mark.parametrize(("given_", "expected"), cases("length_text"))
def test_length_is_counted_in_code_points(given_, expected):
    text = "".join(part * times for part, times in given_["parts"])
    adjustment = LengthAdjustment(given_["center"], given_["penalty_per_500"])
    assert len(text) == expected["chars"]
    assert len(text.encode()) == expected["utf8_bytes"]
    assert adjust(given_["score"], len(text), adjustment) == expected["adjusted"]


@pytest.mark.parametrize(("given_", "expected"), cases("length_aggregate"))
def test_adjust_then_average_then_clip_once(given_, expected):
    adjustment = LengthAdjustment(given_["center"], given_["penalty_per_500"])
    run = run_of(given_["scores"], given_["chars"])
    adjusted = adjust(run.overall.scores, run.characters, adjustment)
    np.testing.assert_allclose(adjusted, expected["adjusted"], atol=1e-12)
    result = mean_adjusted(run, adjustment)
    assert result.unclipped == pytest.approx(expected["mean_adjusted"], abs=1e-12)
    assert result.score == result.unclipped
    if "mean_raw" in expected:
        assert result.raw == pytest.approx(expected["mean_raw"], abs=1e-12)
        assert result.mean_characters == expected["mean_chars"]
    if "per_example_clip_WRONG" in expected:
        clipped_each = float(np.mean(np.clip(adjusted, 0, 1)))
        assert clipped_each == pytest.approx(expected["per_example_clip_WRONG"], abs=1e-12)


@pytest.mark.parametrize(("given_", "expected"), cases("break_even"))
def test_score_that_pays_for_characters(given_, expected):
    adjustment = LengthAdjustment(2000, given_["penalty_per_500"])
    gain = score_for_characters(given_["extra_chars"], adjustment)
    assert gain == pytest.approx(expected["raw_gain"], abs=1e-12)
    assert 100 * gain == pytest.approx(expected["points_of_100"], abs=1e-10)


@pytest.mark.parametrize(("given_", "expected"), cases("break_even_item"))
def test_characters_one_met_criterion_buys(given_, expected):
    adjustment = LengthAdjustment(2000, given_["penalty_per_500"])
    bought = characters_bought(given_["item_points"], given_["total_positive_points"], adjustment)
    assert bought == pytest.approx(expected["chars"], abs=1e-6)
    assert score_for_characters(bought, adjustment) == pytest.approx(expected["raw_gain"])


def test_characters_bought_needs_a_score():
    with pytest.raises(ValueError, match="without positive points"):
        characters_bought(5, 0, PRESETS["professional"])


@pytest.mark.parametrize(
    "row",
    DATA["published"]["length_adjusted_rows"]["rows"],
    ids=lambda row: f"{row['evaluation']}-{row['model']}",
)
def test_published_rows_obey_the_formula(row):
    # Printed to 0.1: 0.05 of rounding in the raw score and 0.05 in the adjusted one.
    adjusted = adjust_points(row["raw"], row["mean_chars"], PRESETS[row["evaluation"]])
    assert adjusted == pytest.approx(row["adjusted"], abs=0.1 + 1e-9)


def test_presets_are_the_published_coefficients():
    printed = DATA["published"]["length_adjusted_rows"]["coef_per_500_chars"]
    assert {name: 100 * preset.penalty for name, preset in PRESETS.items()} == pytest.approx(
        printed
    )
    assert {preset.center for preset in PRESETS.values()} == {2000}


def test_a_coefficient_for_fractions_is_never_applied_to_points():
    # 0.60 at 3,000 characters: 0.60 - 0.0147 * 2 = 0.5706; 60 points: 57.06, not 60 - 0.0294.
    professional = PRESETS["professional"]
    assert adjust(0.60, 3000, professional) == pytest.approx(0.5706)
    assert adjust_points(60, 3000, professional) == pytest.approx(57.06)


def test_mean_is_clipped_at_both_ends_once():
    # 1.0 + 0.0588 for an empty reply; -0.1 + 0.0588.
    professional = PRESETS["professional"]
    assert mean_adjusted(run_of([1.0], [0]), professional)[:2] == pytest.approx((1.0588, 1.0))
    assert mean_adjusted(run_of([-0.1], [0]), professional)[:2] == pytest.approx((-0.0412, 0.0))


def test_examples_without_a_score_are_left_out_with_their_length():
    result = mean_adjusted(run_of([0.5, np.nan], [2000, 9000]), PRESETS["hard"])
    assert (result.unclipped, result.mean_characters, result.n) == (0.5, 2000, 1)
    assert mean_adjusted(run_of([np.nan], [10]), PRESETS["hard"]) is None
    assert mean_adjusted(run_of([0.5], [10]), PRESETS["hard"], "axis:no_such") is None


def test_without_a_penalty_any_length_is_free():
    free = LengthAdjustment(2000, 0)
    assert characters_for_score(0.1, free) == math.inf
    assert characters_for_score(-0.1, free) == -math.inf
    assert characters_for_score(0.0, free) == 0


@pytest.mark.parametrize(
    ("center", "penalty"),
    [
        (-1, 0.0147),
        (2000, -0.1),
        (math.nan, 0.1),
        (2000, math.inf),
        (math.inf, 0),
        (2000, math.nan),
    ],
)
def test_impossible_adjustments_are_refused(center, penalty):
    with pytest.raises(InputRefusedError, match="give a finite number of 0 or more"):
        LengthAdjustment(center, penalty)


@pytest.mark.parametrize(
    ("text", "adjustment"),
    [
        ("professional", PRESETS["professional"]),
        (" Hard ", PRESETS["hard"]),
        ("2000,0.0147", LengthAdjustment(2000, 0.0147)),
        ("1500, 0", LengthAdjustment(1500, 0)),
    ],
)
def test_parse_adjustment(text, adjustment):
    assert parse_adjustment(text) == adjustment


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "pro",
            "not understood; give professional, healthbench, hard, consensus or CENTER,PENALTY",
        ),
        ("2000", "not understood"),
        ("2000,0.01,3", "not understood"),
        ("", "not understood"),
        ("2000,1.47", "in points of 100; give it as a fraction, 0.0147"),
        ("-5,0.01", "center of the length adjustment is -5.0"),
        ("2000,nan", "penalty of the length adjustment is nan"),
    ],
)
def test_parse_refuses_with_one_sentence(text, sentence):
    with pytest.raises(InputRefusedError, match=sentence) as refused:
        parse_adjustment(text)
    assert "\n" not in str(refused.value)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.floats(-8, 1), st.integers(0, 20_000)), min_size=1, max_size=20),
    st.floats(0, 5000),
    st.floats(0, 0.2),
)
def test_mean_moves_by_the_mean_length_alone(rows, center, penalty):
    adjustment = LengthAdjustment(center, penalty)
    result = mean_adjusted(run_of([s for s, _ in rows], [c for _, c in rows]), adjustment)
    expected = adjust(result.raw, result.mean_characters, adjustment)
    assert result.unclipped == pytest.approx(expected, abs=1e-9)
    assert 0 <= result.score <= 1
