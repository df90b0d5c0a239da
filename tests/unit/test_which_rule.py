"""Which rule gives this number: the specimen by hand, readings of a number, and every figure found again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.errors import InputRefusedError
from healthbench.model import Criterion, GradedExample, Message, Verdict
from healthbench.scoring.aggregate import RULES
from healthbench.scoring.run_scores import OVERALL, from_examples
from healthbench.scoring.which_rule import (
    LENGTH_LATE,
    LENGTH_UNCLIPPED,
    figures,
    find_rules,
    read_number,
)


def example(number, *items, characters=2000, failed=False):
    """Make an example from (points, met, axis) triples."""
    return GradedExample(
        prompt_id=f"p{number}",
        prompt=[Message("user", "q")],
        reply="x" * characters,
        criteria=[Criterion("c", points, (f"axis:{axis}",)) for points, _, axis in items],
        verdicts=[
            Verdict(stored=met, failure="failed" if failed and not met else None)
            for _, met, _ in items
        ],
        example_tags=(),
    )


def specimen(**options):
    """Scores 7/10 = 0.7, -8/5 = -1.6 and 0/10 = 0; accuracy 7/7 = 1 and -8/5 = -1.6."""
    return from_examples(
        [
            example(1, (7, True, "accuracy"), (3, False, "completeness"), **options),
            example(2, (5, False, "accuracy"), (-8, True, "accuracy"), **options),
            example(3, (10, False, "context_awareness"), (-2, False, "communication_quality")),
        ]
    )


def exact(number, *runs):
    matches = find_rules(dict(zip(("honest", "as_stored"), runs, strict=False)), number)
    return [match.figure for match in matches if match.exact]


def test_the_early_clipped_axis_of_inspect_is_found():
    # accuracy: mean(clip(1.0), clip(-1.6)) = (1 + 0) / 2 = 0.5, where the official rule has clip(-0.3) = 0.
    found = [(figure.rule, figure.metric) for figure in exact("50.0", specimen())]
    assert ("inspect", "axis:accuracy") in found
    assert ("openbench", "axis:accuracy") in found
    assert ("simple-evals", "axis:accuracy") not in found


@pytest.mark.parametrize("number", ["-30.0", "\N{MINUS SIGN}30.0", "-0.3", "-30 %", "-30,0"])
def test_the_unclipped_mean_is_found(number):
    # (0.7 - 1.6 + 0) / 3 = -0.3
    first = exact(number, specimen())[0]
    assert (first.rule, first.metric, first.preset) == ("unclipped", OVERALL, None)


def test_the_official_score_of_zero_comes_first():
    first = exact("0.0", specimen())[0]
    assert (first.rule, first.metric) == ("simple-evals", OVERALL)


def test_a_length_adjusted_mean_is_found_with_its_preset():
    # All replies have 3,000 characters but the third, of 2,000: mean adjustment 0.0147 * 2 * 2 / 3 = 0.0196.
    found = exact("-31.96", specimen(characters=3000))
    assert [(figure.rule, figure.preset) for figure in found] == [
        (LENGTH_UNCLIPPED, "professional")
    ]


def test_a_figure_of_the_other_verdict_policy_is_found():
    # With failed grades unknown the second example has no score: mean(0.7, 0) = 0.35 has lost example 1 too (a
    # positive criterion failed there), so only example 3 is left and the honest mean is 0.
    honest = specimen(failed=True)
    found = exact("-30.0", honest, specimen())
    assert {figure.policy for figure in found} == {"as_stored"}


def test_a_figure_that_both_policies_give_is_listed_once():
    assert figures({"honest": specimen(), "as_stored": specimen()}) == figures(
        {"honest": specimen()}
    )


def test_without_a_match_the_nearest_come_first():
    matches = find_rules({"honest": specimen()}, "0.6131")
    assert not any(match.exact for match in matches)
    distances = [abs(match.off) for match in matches]
    assert distances == sorted(distances)


def test_a_number_is_read_as_fraction_and_as_points():
    assert [(r.value, r.half_width, r.in_points) for r in read_number("0.51")] == [
        (0.51, 0.005, False),
        (0.0051, 0.00005, True),
    ]
    # 50.0 is no fraction; its last decimal is worth 0.1 point, half of it 0.0005 as a fraction.
    assert read_number("50.0") == [(0.5, pytest.approx(0.0005), True)]
    assert [reading.in_points for reading in read_number("1%")] == [True]


@pytest.mark.parametrize(
    "text", ["", "abc", "1.2.3", "nan", "inf", "--1", "900", "-2000", ".", "%"]
)
def test_what_cannot_be_a_score_is_refused(text):
    with pytest.raises(InputRefusedError):
        read_number(text)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(-10, 10).filter(bool), st.booleans(), st.sampled_from("ab")),
            min_size=1,
            max_size=5,
        ),
        min_size=1,
        max_size=5,
    )
)
def test_every_figure_is_found_by_its_own_number(rubrics):
    run = from_examples([example(place, *items) for place, items in enumerate(rubrics)])
    for figure in figures({"honest": run}):
        found = exact(f"{100 * figure.value:.2f}", run)
        assert figure in found


def test_every_rule_is_tried():
    assert {figure.rule for figure in figures({"honest": specimen()})} == {
        *RULES,
        LENGTH_LATE,
        LENGTH_UNCLIPPED,
    }
