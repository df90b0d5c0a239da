"""The one example score: every worked case, and what holds for all rubrics."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.model import Criterion, GradedExample, Message, Verdict
from healthbench.scoring.aggregate import summarize
from healthbench.scoring.example import Bounds, State, clip, example_score, state_of, tally
from healthbench.scoring.run_scores import from_examples

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text("utf-8"))["vectors"]


def cases(kind):
    return [
        pytest.param(v["input"], v["expected"], id=v["id"]) for v in VECTORS if v["kind"] == kind
    ]


@pytest.mark.parametrize(("given_", "expected"), cases("example_score"))
def test_example_score_of_worked_cases(given_, expected):
    points = [item["points"] for item in given_["items"]]
    met = [item["met"] for item in given_["items"]]
    score = example_score(points, met)
    if expected["score"] is None:
        assert score is None
    else:
        assert score == pytest.approx(expected["score"], abs=1e-12)


@pytest.mark.parametrize(("given_", "expected"), cases("example_score_error"))
def test_a_missing_verdict_is_refused(given_, expected):
    assert expected["raises"] == "ValueError"
    with pytest.raises(ValueError, match="2 points but 1 verdicts"):
        tally(given_["points"], given_["met"])


@pytest.mark.parametrize(("given_", "expected"), cases("example_score_truthiness"))
def test_truthiness_never_decides_a_verdict(given_, expected):
    # The reference would score 5/10 here, taking the text "false" for met.
    assert expected["score"] == 0.5
    with pytest.raises(TypeError, match="True, False or None, not str"):
        tally(given_["points"], given_["met"])


@pytest.mark.parametrize(("given_", "expected"), cases("grade_sample"))
def test_tag_scores_of_one_example(given_, expected):
    example = GradedExample(
        prompt_id="p",
        prompt=[Message("user", "q")],
        reply="r",
        criteria=[Criterion("c", item["points"], tuple(item["tags"])) for item in given_["items"]],
        verdicts=[Verdict(item["met"]) for item in given_["items"]],
        example_tags=tuple(given_["example_tags"]),
    )
    results = summarize(from_examples([example]))
    for name, score in expected.items():
        if name == "__absent__":
            assert not set(score) & set(results)
        else:
            assert results[name].unclipped == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("points", "met", "state"),
    [
        (5, True, State.EARNED),
        (5, False, State.MISSED),
        (-5, True, State.INCURRED),
        (-5, False, State.AVOIDED),
        (5, None, State.UNKNOWN),
        (-5, None, State.UNKNOWN),
    ],
)
def test_the_states_of_a_criterion(points, met, state):
    assert state_of(points, met) is state


def test_unknown_verdicts_withhold_the_score_and_leave_bounds():
    # +8 met, +4 unknown, -6 unknown: worst (8 - 6)/12, best (8 + 4)/12; the file's "false" is not assumed.
    counted = tally([8, 4, -6], [True, None, None])
    assert counted.score is None
    assert counted.bounds == Bounds(2 / 12, 12 / 12)
    assert counted.negative == -6


@pytest.mark.parametrize(
    ("value", "clipped"), [(-0.3, 0.0), (0.0, 0.0), (0.4, 0.4), (1.0, 1.0), (1.03, 1.0)]
)
def test_clip(value, clipped):
    assert clip(value) == clipped


def test_clip_leaves_nan_alone():
    assert math.isnan(clip(math.nan))


rubric = st.lists(
    st.tuples(st.integers(-10, 10).filter(bool), st.sampled_from([True, False, None])),
    max_size=12,
)


@settings(max_examples=60)
@given(rubric)
def test_invariants_of_every_rubric(items):
    points, met = [p for p, _ in items], [m for _, m in items]
    counted = tally(points, met)
    if not any(p > 0 for p in points):
        assert counted.score is None
        assert counted.bounds is None
        return
    low, high = counted.bounds
    assert counted.negative / counted.possible <= low <= high <= 1
    if None in met:
        assert counted.score is None
    else:
        assert low == counted.score == high
    # The bounds are reached by answering every unknown verdict the worst and the best way.
    worst = [p < 0 if m is None else m for p, m in items]
    best = [p > 0 if m is None else m for p, m in items]
    assert example_score(points, worst) == pytest.approx(low, abs=1e-12)
    assert example_score(points, best) == pytest.approx(high, abs=1e-12)
