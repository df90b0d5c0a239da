"""Comparing two runs: hand-worked pairs, scipy's answers, and what holds under the null hypothesis."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from healthbench.errors import InputRefusedError
from healthbench.scoring.compare import (
    compare_runs,
    holm,
    length_part,
    mcnemar_p,
    rank_runs,
    sign_flip_p,
)
from healthbench.scoring.length import LengthAdjustment
from healthbench.scoring.matching import match_examples, prompt_means
from healthbench.scoring.run_scores import OVERALL, Metric, RunScores

NAN = np.nan


def metric_of(name, rows, scores):
    none = np.zeros(len(scores))
    whole = np.zeros(len(scores), int)
    points = np.array(scores, float)
    return Metric(
        name, np.array(rows), np.ones(len(scores)), points, none, none, none, whole + 1, whole
    )


def run_of(scores, characters=None, **tags):
    metrics = {OVERALL: (range(len(scores)), scores), **tags}
    return RunScores(
        np.arange(len(scores)),
        np.full(len(scores), 2000) if characters is None else np.array(characters),
        {name: metric_of(name, rows, values) for name, (rows, values) in metrics.items()},
    )


def ids(size):
    return [f"p{place}" for place in range(size)]


def test_examples_are_matched_by_prompt_and_repeat():
    # a: twice against once; b: only in the first; c: once each; d: only in the second.
    matching = match_examples(["a", "b", "c", "a"], ["c", "d", "a"])
    assert matching.prompt_ids == ("a", "c")
    np.testing.assert_array_equal(matching.first, [0, -1, 1, 0])
    np.testing.assert_array_equal(matching.second, [1, -1, 0])
    np.testing.assert_array_equal(matching.pairs, [[0, 2], [2, 0]])
    assert (matching.only_first, matching.only_second) == (1, 1)
    assert (matching.unpaired_first, matching.unpaired_second) == (1, 0)


def test_runs_without_a_shared_prompt_are_refused():
    with pytest.raises(InputRefusedError, match="share no prompt"):
        match_examples(["a"], ["b"])


def test_repeats_of_a_prompt_are_averaged():
    matching = match_examples(["a", "b", "a"], ["a", "b"])
    means = prompt_means(run_of([0.2, NAN, 0.6]), matching.first, 2)
    np.testing.assert_allclose(means, [0.4, NAN])


def test_paired_difference_by_hand():
    # Differences 0.2, -0.1, 0, 0.5, and one prompt without a score in the second run.
    first = run_of([0.1, 0.5, 0.3, -0.2, 0.9])
    second = run_of([0.3, 0.4, 0.3, 0.3, NAN])
    result = compare_runs(first, second, match_examples(ids(5), ids(5)))[OVERALL]
    assert result.first == pytest.approx(0.7 / 4)
    assert result.second == pytest.approx(1.3 / 4)
    assert result.difference == pytest.approx(0.6 / 4)
    assert (result.n_prompts, result.wins, result.losses, result.ties) == (4, 2, 1, 1)
    # Flips of 0.2, -0.1, 0.5 (sum 0.6): |sum| is 0.6, 0.8, 0.4, 0.2 and their mirror images; 4 of 8 reach 0.6.
    assert result.p == result.p_holm == 0.5
    assert not result.decisive
    # Bootstrap: sqrt(mean square deviation / n) = sqrt((0.05^2 + 0.25^2 + 0.15^2 + 0.35^2) / 4 / 4) = 0.1146.
    assert result.standard_error == pytest.approx(0.1146, rel=0.06)
    # Four prompts cannot be decisive: even if all agreed, p would be 2 / 2^4 = 12.5 %.
    assert result.smallest_detectable is None


def test_the_smallest_detectable_difference_needs_enough_prompts_to_decide():
    # 1.96 + 0.8416 standard errors; the smallest p of 5 prompts is 2 / 2^5 = 6.25 %, of 6 it is 3.1 %.
    scores = [0.1, 0.5, 0.3, -0.2, 0.9, 0.4]
    others = [0.3, 0.4, 0.3, 0.3, 0.5, 0.4]
    for n, known in ((5, False), (6, True)):
        pair = compare_runs(run_of(scores[:n]), run_of(others[:n]), match_examples(ids(n), ids(n)))[
            OVERALL
        ]
        assert (pair.smallest_detectable is not None) == known
    assert pair.smallest_detectable == pytest.approx(2.8016 * pair.standard_error, rel=1e-4)


def test_a_clear_difference_is_decisive():
    scores = np.linspace(0, 0.5, 40)
    result = compare_runs(run_of(scores), run_of(scores + 0.2), match_examples(ids(40), ids(40)))[
        OVERALL
    ]
    assert result.decisive
    assert (result.low, result.high) == pytest.approx((0.2, 0.2))


def test_one_prompt_has_no_interval_and_decides_nothing():
    result = compare_runs(run_of([0.1]), run_of([0.9]), match_examples(["a"], ["a"]))[OVERALL]
    assert (result.low, result.high, result.standard_error) == (None, None, None)
    assert result.smallest_detectable is None
    assert result.p == 1.0
    assert not result.decisive


def test_metrics_are_compared_where_both_have_a_score():
    first = run_of([0.1, 0.2], **{"axis:a": ([0], [0.5]), "axis:b": ([0, 1], [0.5, 0.5])})
    second = run_of([0.1, 0.2], **{"axis:a": ([1], [0.5]), "axis:b": ([0, 1], [0.7, 0.5])})
    results = compare_runs(first, second, match_examples(ids(2), ids(2)))
    assert set(results) == {OVERALL, "axis:b"}
    assert results["axis:b"].difference == pytest.approx(0.1)
    assert compare_runs(first, second, match_examples(ids(2), ids(2)), ["axis:a"]) == {}


def test_holm_is_counted_within_a_family():
    rng = np.random.default_rng(3)
    rows = list(range(30))

    def tags():
        return {name: (rows, rng.normal(0.3, 0.3, 30)) for name in ("axis:a", "axis:b", "theme:t")}

    results = compare_runs(
        run_of(rng.normal(0.3, 0.3, 30), **tags()),
        run_of(rng.normal(0.3, 0.3, 30), **tags()),
        match_examples(ids(30), ids(30)),
    )
    for alone in (OVERALL, "theme:t"):
        assert results[alone].p_holm == results[alone].p
    axes = [results["axis:a"], results["axis:b"]]
    assert [axis.p_holm for axis in axes] == holm([axis.p for axis in axes])


def test_length_adjustment_and_the_part_that_is_length():
    # The second run is 0.10 better and 1,000 characters longer: 2 * 0.0147 of it is length.
    professional = LengthAdjustment(2000, 0.0147)
    first, second = run_of([0.2, 0.4], [1000, 3000]), run_of([0.3, 0.5], [2500, 3500])
    matching = match_examples(ids(2), ids(2))
    part = length_part(first, second, matching, professional)
    assert part == pytest.approx((0.1, 0.0706, 0.0294))
    adjusted = compare_runs(first, second, matching, adjustment=professional)[OVERALL]
    assert adjusted.difference == pytest.approx(part.adjusted)
    unscored = run_of([NAN, NAN])
    assert length_part(unscored, second, matching, professional) is None


@pytest.mark.parametrize("seed", range(5))
def test_exact_sign_flips_equal_scipy(seed):
    differences = np.random.default_rng(seed).normal(0.2, 0.5, 9)
    expected = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert sign_flip_p(differences[:, None])[0] == pytest.approx(expected)


def test_drawn_sign_flips_approach_scipys_t_test():
    differences = np.random.default_rng(7).normal(0.05, 0.4, 200)
    expected = stats.ttest_1samp(differences, 0).pvalue
    assert sign_flip_p(differences[:, None], 20_000)[0] == pytest.approx(expected, abs=0.01)


def test_equal_runs_have_p_of_one():
    assert sign_flip_p(np.zeros((50, 1)))[0] == 1.0
    assert sign_flip_p(np.full((3, 1), NAN))[0] == 1.0


def test_p_is_uniform_under_the_null():
    # 300 metrics of 60 prompts each whose differences are symmetric about 0.
    differences = np.random.default_rng(12).standard_t(4, (60, 300))
    p_values = sign_flip_p(differences, 2000)
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
    assert 0.02 <= np.mean(p_values <= 0.05) <= 0.09


def test_interval_covers_the_true_difference():
    # 1,000 simulated pairs of 150 prompts with a true difference of 0.1, as 1,000 metrics of one comparison.
    rng = np.random.default_rng(13)
    before = rng.normal(0.4, 0.3, (150, 1000))
    after = before + 0.1 + rng.normal(0, 0.25, (150, 1000))
    rows = list(range(150))

    def run(scores):
        tags = {f"tag{place}": (rows, scores[:, place]) for place in range(1000)}
        return run_of(scores[:, 0], **tags)

    results = compare_runs(
        run(before), run(after), match_examples(ids(150), ids(150)), permutations=100
    )
    hits = sum(
        results[f"tag{place}"].low <= 0.1 <= results[f"tag{place}"].high for place in range(1000)
    )
    assert 930 <= hits <= 970


def test_holm_by_hand():
    # Ascending 0.01, 0.03, 0.04: times 3, 2, 1 gives 0.03, 0.06, 0.04, and the last may not fall below 0.06.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(("fixed", "regressed"), [(8, 2), (2, 8), (5, 5), (1, 0)])
def test_mcnemar_is_the_exact_binomial_test(fixed, regressed):
    # 8 against 2 of 10: 2 * (45 + 10 + 1) / 1024 = 0.109.
    tail = stats.binom.cdf(min(fixed, regressed), fixed + regressed, 0.5)
    assert mcnemar_p(fixed, regressed) == pytest.approx(min(1.0, 2 * tail))


def test_mcnemar_without_flips():
    assert mcnemar_p(0, 0) == 1.0


def test_ranks_group_runs_that_cannot_be_told_apart():
    rng = np.random.default_rng(4)
    prompts = rng.normal(0.4, 0.3, (300, 1))
    noise = rng.normal(0, 0.05, (300, 3))
    scores = prompts + np.array([0.0, 0.3, 0.301]) + noise
    ranking = rank_runs(scores)
    np.testing.assert_array_equal(ranking.rank, [3, 1, 1])
    assert ranking.decisive[1, 0]
    assert ranking.decisive[2, 0]
    assert ranking.decisive.sum() == 2


def test_ranking_needs_prompts_that_all_runs_scored():
    scores = np.array([[0.1, 0.9], [0.2, NAN], [NAN, 0.7]])
    np.testing.assert_array_equal(rank_runs(scores).rank, [1, 1])
    np.testing.assert_array_equal(rank_runs(scores[:, :1]).rank, [1])


def test_a_constant_difference_is_decisive_and_none_is_not():
    scores = np.linspace(0, 1, 20)[:, None] + np.array([0.0, 0.0, 0.1])
    np.testing.assert_array_equal(rank_runs(scores).rank, [2, 2, 1])
