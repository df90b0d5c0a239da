"""Worst-at-k, spread over repeats and the split of variance: worked cases and enumeration."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.scoring.reliability import (
    Repeats,
    grading_variance,
    joined_repeats,
    prompt_spread,
    repeat_spread,
    repeats_of,
    variance_split,
    worst_at_k,
    worst_at_k_curve,
)
from healthbench.scoring.run_scores import OVERALL, Metric, RunScores

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text("utf-8"))["vectors"]
NAN = np.nan


def run_of(scores, prompts, **tags):
    metrics = {OVERALL: (range(len(scores)), scores), **tags}
    return RunScores(
        np.array(prompts),
        np.full(len(scores), 2000),
        {name: metric_of(name, rows, values) for name, (rows, values) in metrics.items()},
    )


def metric_of(name, rows, scores):
    none = np.zeros(len(scores))
    whole = np.zeros(len(scores), int)
    points = np.array(scores, float)
    return Metric(
        name, np.array(rows), np.ones(len(scores)), points, none, none, none, whole + 1, whole
    )


def repeats_from(rows):
    return Repeats(OVERALL, np.arange(len(rows)), np.array(rows, float))


@pytest.mark.parametrize(
    ("problems", "expected"),
    [
        pytest.param(v["input"]["problems"], v["expected"], id=v["id"])
        for v in VECTORS
        if v["kind"] == "worst_at_k"
    ],
)
def test_worst_at_k_of_worked_cases(problems, expected):
    curve = worst_at_k_curve(repeats_from(problems))
    assert [str(point.k) for point in curve] == list(expected)
    for point in curve:
        assert point.score == pytest.approx(expected[str(point.k)], abs=1e-12)


@settings(max_examples=40)
@given(st.lists(st.floats(-8, 1), min_size=1, max_size=7))
def test_worst_at_k_equals_the_enumeration_of_all_subsets(scores):
    worst = worst_at_k(np.array([scores]))[0]
    for k in range(1, len(scores) + 1):
        minima = [min(subset) for subset in itertools.combinations(scores, k)]
        assert worst[k - 1] == pytest.approx(np.mean(minima), abs=1e-12)
    assert (np.diff(worst) <= 1e-12).all()


def test_worst_at_k_leaves_out_what_has_no_score():
    # 0.2 and 0.8 are left of the second prompt: k = 1 gives 0.5, k = 2 gives 0.2, k = 3 is not to be had.
    worst = worst_at_k(np.array([[0.2, 0.5, 0.8], [NAN, 0.8, 0.2]]))
    np.testing.assert_allclose(worst, [[0.5, 0.3, 0.2], [0.5, 0.2, NAN]])
    curve = worst_at_k_curve(repeats_from([[0.2, 0.5, 0.8], [NAN, 0.8, 0.2]]))
    assert [point.n_prompts for point in curve] == [2, 2, 1]
    assert (curve[2].low, curve[2].high) == (None, None)


def test_worst_at_k_is_clipped_once_after_the_mean():
    # k = 2: (-2.0 + 0.5) / 2 = -0.75, shown as 0; the interval is that of the unclipped mean.
    point = worst_at_k_curve(repeats_from([[-2.0, 1.0], [0.5, 0.5]]))[1]
    assert (point.score, point.unclipped) == (0.0, -0.75)
    assert (point.low, point.high) == (-2.0, 0.5)


def test_no_scores_no_curve():
    empty = repeats_from([[NAN, NAN]])
    assert worst_at_k_curve(empty) == []
    assert repeat_spread(empty) is None
    assert variance_split(empty) is None


def test_the_kth_row_of_a_prompt_is_its_kth_repeat():
    # Prompts 3 and 5 in the order of the reference (all, then all again); a tag on prompt 5 alone.
    run = run_of([0.1, 0.5, 0.2, NAN], [3, 5, 3, 5], **{"theme:x": ([1, 3], [0.5, NAN])})
    repeats = repeats_of(run)
    assert repeats.n_repeats == 2
    np.testing.assert_array_equal(repeats.prompts, [3, 5])
    np.testing.assert_array_equal(repeats.scores, [[0.1, 0.2], [0.5, NAN]])
    tagged = repeats_of(run, "theme:x").scores
    np.testing.assert_array_equal(tagged, [[NAN, NAN], [0.5, NAN]])


def test_unequal_repeats_leave_gaps():
    repeats = repeats_of(run_of([0.1, 0.2, 0.3], [0, 0, 1]))
    np.testing.assert_array_equal(repeats.scores, [[0.1, 0.2], [0.3, NAN]])


def test_runs_joined_as_repeats_keep_the_prompts_they_share():
    first = run_of([0.1, 0.2, 0.3], [0, 1, 2])
    second = run_of([0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1])
    joined = joined_repeats([first, second], [["a", "b", "c"], ["c", "a", "c", "a"]])
    np.testing.assert_array_equal(joined.scores, [[0.1, 0.8, 0.6], [0.3, 0.9, 0.7]])


def test_spread_over_repeats_as_in_table_7():
    # Repeat means 0.3 and 0.5: mean 0.4, SD (ddof 0) 0.1.
    spread = repeat_spread(repeats_from([[0.2, 0.6], [0.4, 0.4]]))
    np.testing.assert_allclose(spread.scores, [0.3, 0.5])
    assert (spread.mean, spread.sd, spread.low, spread.high) == pytest.approx((0.4, 0.1, 0.3, 0.5))


def test_each_repeat_is_clipped_as_a_run():
    spread = repeat_spread(repeats_from([[-0.5, 0.5], [NAN, 0.1]]))
    np.testing.assert_allclose(spread.scores, [0.0, 0.3])
    np.testing.assert_array_equal(spread.n_prompts, [1, 2])


def test_variance_split_by_hand():
    # Means 0.2 and 0.8. Within: each prompt's variance is 0.02 (0.1 and 0.3: 2 * 0.1^2) and 0.08, mean 0.05.
    # Var of means (ddof 1) 2 * 0.3^2 = 0.18; between 0.18 - 0.05 / 2 = 0.155.
    split = variance_split(repeats_from([[0.1, 0.3], [0.6, 1.0]]), grading_variance=0.02)
    assert split.within == pytest.approx(0.05)
    assert split.between_prompts == pytest.approx(0.155)
    assert split.gradings == pytest.approx(0.02)
    assert split.between_replies == pytest.approx(0.03)
    # Standard error: sqrt(0.155 / 2 + 0.05 / 4) = 0.3, which is the SD of the two means over sqrt(2).
    assert split.standard_error == pytest.approx(0.3)
    assert split.standard_error_with(8, 2) == pytest.approx(0.15)
    assert split.prompts_to_halve == 8
    assert split.repeats_to_halve is None  # the prompts' own variance alone leaves more than half


def test_repeats_to_halve_where_replies_vary_most():
    # Prompt means are equal: all variance is within, so four times the repeats halve the error.
    split = variance_split(repeats_from([[0.0, 1.0], [1.0, 0.0]]))
    assert split.between_prompts == 0
    assert split.repeats_to_halve == 8
    half = split.standard_error_with(2, split.repeats_to_halve)
    assert half == pytest.approx(split.standard_error / 2)


@pytest.mark.parametrize("rows", [[[0.1, 0.2]], [[0.1, NAN], [0.2, NAN]]])
def test_too_few_prompts_or_repeats_give_no_split(rows):
    assert variance_split(repeats_from(rows)) is None


def test_variance_split_finds_what_was_put_in():
    rng = np.random.default_rng(2)
    prompts = rng.normal(0.4, 0.3, (4000, 1))
    split = variance_split(repeats_from(prompts + rng.normal(0, 0.1, (4000, 6))))
    assert split.between_prompts == pytest.approx(0.09, rel=0.06)
    assert split.within == pytest.approx(0.01, rel=0.06)


def test_grading_variance_by_hand():
    # Differences 0.2 and 0: mean square 0.02, half of it.
    first, second = np.array([0.5, 0.3, NAN]), np.array([0.3, 0.3, 0.1])
    assert grading_variance(first, second) == pytest.approx(0.01)
    assert grading_variance(np.array([NAN]), np.array([1.0])) is None


def test_prompts_good_on_average_and_bad_at_worst():
    spread = prompt_spread(repeats_from([[0.9, -0.3, NAN], [NAN, NAN, NAN], [0.5, 0.5, 0.5]]))
    np.testing.assert_array_equal(spread.prompts, [0, 2])
    np.testing.assert_allclose(spread.mean, [0.3, 0.5])
    np.testing.assert_allclose(spread.worst, [-0.3, 0.5])
    np.testing.assert_allclose(spread.best, [0.9, 0.5])
    np.testing.assert_allclose(spread.sd, [0.6, 0.0])
    np.testing.assert_array_equal(spread.n, [2, 3])
