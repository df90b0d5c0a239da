"""Run scores: worked cases, every named rule by hand, and the gap between early and late clipping."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.model import Criterion, GradedExample, Message, Verdict
from healthbench.scoring.aggregate import (
    RULES,
    clip,
    early_late_gap,
    summarize,
    summarize_metric,
)
from healthbench.scoring.example import Bounds
from healthbench.scoring.length import LengthAdjustment
from healthbench.scoring.run_scores import OVERALL, Metric, RunScores, from_examples

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text("utf-8"))["vectors"]


def cases(kind):
    return [
        pytest.param(v["input"], v["expected"], id=v["id"]) for v in VECTORS if v["kind"] == kind
    ]


def metric_of(name, scores, rows=None):
    """Make a metric whose examples have these scores, with one point possible each."""
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


def run_of(scores, **tags):
    metrics = {OVERALL: metric_of(OVERALL, scores), **tags}
    return RunScores(np.arange(len(scores)), np.full(len(scores), 2000), metrics)


def example(number, items, reply="", theme="theme:hedging"):
    """Make an example from (points, met, axis) triples."""
    return GradedExample(
        prompt_id=f"p{number}",
        prompt=[Message("user", "q")],
        reply=reply,
        criteria=[Criterion("c", points, (f"axis:{axis}",)) for points, _, axis in items],
        verdicts=[Verdict(met) for _, met, _ in items],
        example_tags=(theme,),
    )


@pytest.fixture(scope="module")
def three():
    """Three graded replies, worked by hand.

    1: (+7) / (7 + 3) = 0.7         accuracy 7/7 = 1.0    completeness 0/3 = 0.0
    2: (-8) / 5 = -1.6              accuracy -8/5 = -1.6
    3: (-2) / 8 = -0.25             context 0/8 = 0.0     communication: penalty of -2 incurred, one of -6 avoided
    Mean (0.7 - 1.6 - 0.25)/3 = -1.15/3.
    """
    return from_examples(
        [
            example(
                1, [(7, True, "accuracy"), (3, False, "completeness")], "x" * 3000, "theme:hedging"
            ),
            example(2, [(5, False, "accuracy"), (-8, True, "accuracy")], "x" * 2000),
            example(
                3,
                [
                    (8, False, "context_awareness"),
                    (-2, True, "communication_quality"),
                    (-6, False, "communication_quality"),
                ],
                "",
                "theme:global_health",
            ),
        ]
    )


@pytest.mark.parametrize(("given_", "expected"), cases("aggregate"))
def test_mean_of_example_scores_is_clipped_once(given_, expected):
    run = run_of(given_["scores"])
    overall = summarize(run)[OVERALL]
    assert overall.score == pytest.approx(expected["mean"], abs=1e-12)
    assert overall.n == expected["n_samples"]
    if "unclipped_mean" in expected:
        assert overall.unclipped == pytest.approx(expected["unclipped_mean"], abs=1e-12)
    if "early_clip_WRONG" in expected:
        assert overall.early_clipped == pytest.approx(expected["early_clip_WRONG"], abs=1e-12)
        assert RULES["openbench"](run) == pytest.approx(expected["early_clip_WRONG"], abs=1e-12)


def test_macro_average_is_not_pooled_points():
    # A04: (1/2 + 30/40)/2 = 0.625, but (1 + 30)/(2 + 40) = 31/42.
    run = from_examples(
        [
            example(1, [(1, True, "accuracy"), (1, False, "accuracy")]),
            example(2, [(30, True, "accuracy"), (10, False, "accuracy")]),
        ]
    )
    assert RULES["simple-evals"](run) == pytest.approx(0.625)
    assert RULES["pooled"](run) == pytest.approx(31 / 42)


@pytest.mark.parametrize(("given_", "expected"), cases("aggregate_metrics"))
def test_each_metric_averages_only_the_examples_that_have_it(given_, expected):
    examples = given_["examples"]
    names = {name for graded in examples for name in graded["metrics"]} - {OVERALL}
    metrics = {}
    for name in names:
        rows = [row for row, graded in enumerate(examples) if name in graded["metrics"]]
        metrics[name] = metric_of(name, [examples[row]["metrics"][name] for row in rows], rows)
    results = summarize(run_of([graded["score"] for graded in examples], **metrics))
    for key, value in expected.items():
        name = key.removesuffix(":n_samples")
        if key.endswith(":n_samples"):
            assert results[name].n == value
        else:
            result = results[OVERALL if name == "score" else name]
            assert result.score == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("rule", "name", "value"),
    [
        ("simple-evals", OVERALL, 0.0),  # mean -1.15/3, clipped
        ("simple-evals", "axis:accuracy", 0.0),  # (1.0 - 1.6)/2 = -0.3, clipped
        ("simple-evals", "axis:completeness", 0.0),
        ("simple-evals", "axis:communication_quality", None),  # penalties only
        ("simple-evals", "theme:hedging", 0.0),  # (0.7 - 1.6)/2 = -0.45, clipped
        ("inspect", OVERALL, 0.0),
        ("inspect", "axis:accuracy", 0.5),  # (1.0 + 0)/2
        ("inspect", "theme:hedging", 0.35),  # (0.7 + 0)/2
        ("inspect", "axis:communication_quality", None),
        ("openbench", OVERALL, 0.7 / 3),  # (0.7 + 0 + 0)/3
        ("openbench", "axis:accuracy", 0.5),
        # Professional preset: 0.7 - 0.0147 * 2 = 0.6706; -1.6 stays below 0; -0.25 + 0.0588 stays below 0.
        ("medarc", OVERALL, 0.6706 / 3),
        # On accuracy 1 less 0.0294 is 0.9706, and the other stays 0.
        ("medarc", "axis:accuracy", 0.9706 / 2),
        # Context: an empty reply that scored 0 gets 0.0147 * 4.
        ("medarc", "axis:context_awareness", 0.0588),
        ("autorubric", OVERALL, 0.7 / 3),
        # Penalties alone: 1 - 2/8 of them incurred.
        ("autorubric", "axis:communication_quality", 0.75),
        ("pooled", OVERALL, (7 - 8 - 2) / (10 + 5 + 8)),
        ("pooled", "axis:accuracy", (7 - 8) / (7 + 5)),
        ("pooled", "axis:communication_quality", None),  # nothing to divide by
        ("unclipped", OVERALL, -1.15 / 3),
        ("unclipped", "axis:accuracy", -0.3),
        ("unclipped", "axis:no_such", None),
    ],
)
def test_named_rules_by_hand(three, rule, name, value):
    result = RULES[rule](three, name)
    assert result is None if value is None else result == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_rule_of_a_metric_that_is_not_there(three, rule):
    assert RULES[rule](three, "axis:no_such") is None


def test_only_medarc_reads_the_length_adjustment(three):
    # HealthBench: 0.7 - 0.0299 * 2 = 0.6402; -0.25 + 0.0299 * 4 = -0.1304 stays below 0.
    adjustment = LengthAdjustment(2000, 0.0299)
    assert RULES["medarc"](three, OVERALL, adjustment) == pytest.approx(0.6402 / 3)
    for name in RULES.keys() - {"medarc"}:
        assert RULES[name](three, OVERALL, adjustment) == RULES[name](three, OVERALL)


def test_rules_have_the_names_of_the_interface():
    assert list(RULES) == [
        "simple-evals",
        "inspect",
        "openbench",
        "medarc",
        "autorubric",
        "pooled",
        "unclipped",
    ]
    assert all(rule.name == name for name, rule in RULES.items())


def test_a_tag_with_penalties_only_is_no_metric(three):
    results = summarize(three)
    assert "axis:communication_quality" not in results
    assert results["axis:accuracy"].n == 2
    assert results["theme:hedging"].n == 2


def test_unknown_verdicts_withhold_an_example_but_not_the_bounds():
    # 1: 5/10 = 0.5, known. 2: +6 met, +2 and -4 unknown of 8: from 2/8 to 8/8.
    run = from_examples(
        [
            example(1, [(5, True, "accuracy"), (5, False, "accuracy")]),
            example(
                2,
                [(6, True, "accuracy"), (2, None, "accuracy"), (-4, None, "communication_quality")],
            ),
        ]
    )
    overall = summarize(run)[OVERALL]
    assert (overall.n, overall.n_scorable, overall.n_carrying) == (1, 2, 2)
    assert overall.score == overall.unclipped == 0.5
    assert overall.bounds == Bounds((0.5 + 0.25) / 2, (0.5 + 1.0) / 2)
    for rule in RULES.values():
        value = rule(run, OVERALL, LengthAdjustment(0, 0))
        assert value == pytest.approx(0.5)


def test_an_unknown_penalty_alone_has_no_score_in_any_rule():
    run = from_examples([example(1, [(5, True, "accuracy"), (-4, None, "communication_quality")])])
    assert {rule(run, "axis:communication_quality") for rule in RULES.values()} == {None}
    assert summarize(run)[OVERALL].score is None


def test_a_run_without_scores_has_no_score():
    run = from_examples([example(1, [(-5, True, "accuracy")])])
    result = summarize_metric(run.overall)
    assert result.score is result.unclipped is result.bounds is result.early_clipped is None
    assert summarize(run)[OVERALL] == result
    assert early_late_gap(run.overall.scores) is None


def test_gap_of_a_worked_run():
    # 1.05, -0.5, 0.25: mean 0.8/3; early (1 + 0 + 0.25)/3; lifted 0.5/3, cut 0.05/3.
    gap = early_late_gap([1.05, -0.5, 0.25])
    assert gap.late == gap.unclipped == pytest.approx(0.8 / 3)
    assert gap.early == pytest.approx(1.25 / 3)
    assert gap.lifted_below_zero == pytest.approx(0.5 / 3)
    assert gap.cut_above_one == pytest.approx(0.05 / 3)
    assert gap.final_clip == 0
    assert (gap.n_below_zero, gap.n_above_one, gap.n) == (1, 1, 3)


scores = st.lists(st.floats(-9, 1.5), min_size=1, max_size=30)


@settings(max_examples=100)
@given(scores)
def test_gap_is_what_is_lifted_less_what_is_cut(values):
    gap = early_late_gap(values)
    assert gap.gap == pytest.approx(gap.lifted_below_zero - gap.cut_above_one, abs=1e-12)
    assert gap.late == pytest.approx(gap.unclipped + gap.final_clip, abs=1e-12)
    assert gap.shown_gap == pytest.approx(gap.gap - gap.final_clip, abs=1e-12)
    assert gap.early == pytest.approx(
        gap.late + gap.lifted_below_zero - gap.cut_above_one - gap.final_clip, abs=1e-12
    )


@settings(max_examples=60)
@given(scores)
def test_every_rule_agrees_on_scores_inside_the_range(values):
    inside = [clip(value) for value in values]
    run = run_of(inside)
    mean = sum(inside) / len(inside)
    for rule in RULES.values():
        assert rule(run, OVERALL, LengthAdjustment(2000, 0.0)) == pytest.approx(mean, abs=1e-12)


@settings(max_examples=60)
@given(scores)
def test_early_clipping_of_raw_scores_never_lowers_the_mean(values):
    run = run_of([min(value, 1.0) for value in values])
    assert RULES["openbench"](run) >= RULES["unclipped"](run) - 1e-12
