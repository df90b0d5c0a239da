"""The bootstrap: exact small cases, prompts against rows, rare tags, and the reference's own statistic."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.scoring.length import PRESETS, adjust
from healthbench.scoring.run_scores import OVERALL, Metric, RunScores
from healthbench.scoring.uncertainty import (
    bootstrap,
    draw_counts,
    reference_bootstrap_std,
    resampled_means,
)

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text("utf-8"))["vectors"]
BOOTSTRAP = [
    pytest.param(v["input"]["values"], v["expected"], id=v["id"])
    for v in VECTORS
    if v["kind"] == "bootstrap"
]


def metric_of(name, scores, rows=None):
    size = len(scores)
    none = np.zeros(size)
    return Metric(
        name,
        np.arange(size) if rows is None else np.array(rows),
        np.ones(size),
        np.array(scores, float),
        none,
        none,
        none,
        np.ones(size, int),
        np.zeros(size, int),
    )


def run_of(scores, prompts=None, characters=None, **tags):
    size = len(scores)
    return RunScores(
        np.arange(size) if prompts is None else np.array(prompts),
        np.full(size, 2000) if characters is None else np.array(characters),
        {OVERALL: metric_of(OVERALL, scores), **tags},
    )


@pytest.mark.parametrize(("values", "expected"), BOOTSTRAP)
def test_reference_statistic_of_worked_cases(values, expected):
    spread = reference_bootstrap_std(np.array(values), resamples=4000)
    assert spread == pytest.approx(expected["std_exact"], abs=expected["tol"])


@pytest.mark.parametrize(("values", "expected"), BOOTSTRAP)
def test_standard_error_of_worked_cases_is_not_hidden_by_the_clip(values, expected):
    interval = bootstrap(run_of(values), resamples=4000).get(OVERALL)
    if len(values) == 1:
        assert interval is None  # one prompt tells nothing about other prompts
        return
    exact = expected.get("unclipped_exact", expected["std_exact"])
    assert interval.standard_error == pytest.approx(exact, abs=0.03)


def test_reference_statistic_agrees_with_a_plain_loop():
    scores = np.random.default_rng(5).uniform(-0.4, 0.4, 30)
    rng = np.random.default_rng(6)
    means = [np.clip(np.mean(rng.choice(scores, 30)), 0, 1) for _ in range(4000)]
    assert reference_bootstrap_std(scores, 4000) == pytest.approx(np.std(means), rel=0.06)


def test_reference_statistic_without_scores_is_nan():
    assert np.isnan(reference_bootstrap_std(np.array([np.nan])))


def test_resampled_means_equal_the_enumeration():
    # All 27 draws of 3 prompts, each as counts, against the mean of the drawn scores.
    scores = np.array([0.1, 0.5, -0.7])
    draws = list(itertools.product(range(3), repeat=3))
    counts = np.array([np.bincount(draw, minlength=3) for draw in draws], np.uint8)
    means = resampled_means(counts, scores[:, None], np.ones((3, 1)))[:, 0]
    np.testing.assert_allclose(means, [np.mean(scores[list(draw)]) for draw in draws], atol=1e-15)
    assert np.std(means) == pytest.approx(np.std(scores) / np.sqrt(3))


def test_repeats_of_a_prompt_move_together():
    # Four equal repeats each of 20 prompts hold no more than the 20 prompts.
    scores = np.random.default_rng(1).uniform(-0.5, 1, 20)
    once = bootstrap(run_of(scores))[OVERALL]
    repeated = bootstrap(run_of(np.repeat(scores, 4), np.repeat(np.arange(20), 4)))[OVERALL]
    assert repeated[:3] == pytest.approx(once[:3], abs=1e-12)
    assert (repeated.n, repeated.n_prompts) == (80, 20)
    assert reference_bootstrap_std(np.repeat(scores, 4)) < 0.6 * once.standard_error


def test_prompt_numbers_need_not_be_dense():
    scores = [0.1, 0.9, 0.4]
    assert bootstrap(run_of(scores, [7, 2, 900])) == bootstrap(run_of(scores, [1, 0, 2]))


def test_resamples_without_an_example_are_left_out():
    # A tag on 2 of 3 prompts: (1/3)^3 = 3.7 % of the resamples hold none.
    run = run_of([0.2, 0.4, 0.9], **{"theme:rare": metric_of("theme:rare", [0.2, 0.4], [0, 1])})
    interval = bootstrap(run, resamples=3000)["theme:rare"]
    assert 3000 * 0.945 < interval.resamples < 3000 * 0.98
    assert (interval.low, interval.high) == pytest.approx((0.2, 0.4))
    assert (interval.n, interval.n_prompts) == (2, 2)


def test_metrics_without_two_prompts_have_no_interval():
    run = run_of(
        [0.2, np.nan, 0.9],
        **{
            "theme:single": metric_of("theme:single", [0.2], [0]),
            "axis:unscored": metric_of("axis:unscored", [np.nan, np.nan], [0, 1]),
        },
    )
    assert set(bootstrap(run)) == {OVERALL}
    assert bootstrap(run, ["theme:single", "no such"]) == {}


def test_length_adjustment_is_applied_to_every_example():
    scores, characters = np.array([0.2, 0.4, 0.9, 0.1]), [100, 9000, 2000, 40]
    hard = PRESETS["hard"]
    adjusted = adjust(scores, np.array(characters), hard)
    assert bootstrap(run_of(scores, None, characters), adjustment=hard)[OVERALL] == pytest.approx(
        bootstrap(run_of(adjusted))[OVERALL], abs=1e-12
    )


def test_draw_is_seeded_shared_and_protected():
    counts = draw_counts(50, 20, 3)
    assert counts.shape == (20, 50)
    assert (counts.sum(axis=1) == 50).all()
    np.testing.assert_array_equal(counts, draw_counts(50, 20, 3))
    assert (counts != draw_counts(50, 20, 4)).any()
    with pytest.raises(ValueError, match="read-only"):
        counts[0, 0] = 1
    with pytest.raises(ValueError, match="at least one of each"):
        draw_counts(0)


def test_interval_covers_the_true_mean():
    # 200 runs of 60 prompts with a known mean of 0.3; a 95 % interval may miss about ten of them.
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(200):
        interval = bootstrap(run_of(rng.normal(0.3, 0.4, 60)), resamples=400)[OVERALL]
        hits += interval.low <= 0.3 <= interval.high
    assert 180 <= hits <= 198


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-5, 1), min_size=2, max_size=15))
def test_interval_lies_within_the_scores(values):
    interval = bootstrap(run_of(values), resamples=100)[OVERALL]
    assert min(values) - 1e-12 <= interval.low <= interval.high <= max(values) + 1e-12
    assert interval.standard_error >= 0
