"""Levers and leverage: worked by hand, and equal to regrading the run as supposed."""

from __future__ import annotations

import pytest
from graded import allresults, example, item, three_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.scoring.aggregate import summarize_metric
from healthbench.scoring.example import example_score
from healthbench.scoring.levers import Lost, levers
from healthbench.store.leverage import leverage, lost_by_axis
from healthbench.store.library import Library


def library_with(folder, *examples):
    library = Library(folder / "home")
    (outcome,) = library.import_paths([allresults(folder / "x_allresults.json", *examples)])
    return library, outcome.run.id


def levers_of(library, run):
    mean = summarize_metric(library.run_scores(run).overall).unclipped
    return {(lever.name, lever.axis): lever for lever in levers(mean, lost_by_axis(library, run))}


def test_the_three_examples_by_hand(tmp_path):
    # Scores 7/10, -8/5 and 0/10; the mean is -0.3.
    found = levers_of(*library_with(tmp_path, *three_examples()))
    # Without the -8: 7/10, 0/5, 0/10, mean 0.7 / 3.
    penalties = found["penalties", None]
    assert penalties.unclipped == pytest.approx(0.7 / 3)
    assert (penalties.n_verdicts, penalties.score) == (1, penalties.unclipped)
    # Accuracy perfect: 7/10 stays, the second becomes 5/5, the third stays 0: mean 1.7 / 3.
    assert found["axis", "axis:accuracy"].unclipped == pytest.approx(1.7 / 3)
    assert found["axis", "axis:accuracy"].n_verdicts == 2
    # Context awareness perfect: the third becomes 10/10: (0.7 - 1.6 + 1) / 3.
    assert found["axis", "axis:context_awareness"].unclipped == pytest.approx(0.1 / 3)
    # 1 % of 4 positive criteria is 0.04 of the 3 missed, which are worth (0.3 + 1 + 1) / 3 together.
    more = found["more met", None]
    assert more.gain == pytest.approx(2.3 / 3 * 0.04 / 3)
    # A perfect axis that leaves the mean below 0 still shows 0.
    assert found["axis", "axis:completeness"].unclipped == pytest.approx(-0.2)
    assert found["axis", "axis:completeness"].score == 0


def test_examples_without_a_score_do_not_count(tmp_path):
    library, run = library_with(
        tmp_path,
        example("p1", item(5, True, "axis:accuracy"), item(5, False, "axis:accuracy")),
        example("p2", item(5, None, "axis:accuracy"), item(-5, True, "axis:accuracy")),
        example("p3", item(-5, True, "axis:accuracy")),
    )
    (lost,) = lost_by_axis(library, run)
    assert lost == Lost("axis:accuracy", 0.5, 0, 2, 1, 0)
    assert leverage(library, run).n_verdicts == 2


def test_without_any_score_there_are_no_levers(tmp_path):
    library, run = library_with(tmp_path, example("p1", item(-5, True)))
    assert lost_by_axis(library, run) == []
    assert leverage(library, run).median is None


def test_no_more_is_met_than_was_missed():
    # 1 % of 1,000 criteria is 10, but only 2 were missed.
    (_, more, _) = levers(0.9, [Lost(None, 0.1, 0.0, 1000, 2, 0)])
    assert (more.n_verdicts, more.gain) == (2, pytest.approx(0.1))
    (_, none, _) = levers(1.0, [Lost(None, 0.0, 0.0, 10, 0, 0)])
    assert none.gain == 0


def test_leverage_by_hand(tmp_path):
    found = leverage(*library_with(tmp_path, *three_examples()))
    # The -8 over 5 possible points and 3 examples: 1.6 / 3.
    first = found.farthest.iloc[0]
    assert (first["example"], first["points"], first["state"]) == (1, -8, "incurred")
    assert first["move"] == pytest.approx(1.6 / 3)
    # Moves times 3: 0.7, 0.3, 0.6, 1, 1.6, 1, 0.2; the median is 0.7.
    assert found.median == pytest.approx(0.7 / 3)
    assert found.n_verdicts == 7


RUBRICS = st.lists(
    st.lists(
        st.tuples(
            st.integers(-10, 10).filter(bool),
            st.booleans(),
            st.sampled_from([("axis:accuracy",), ("axis:completeness",), ()]),
        ),
        min_size=1,
        max_size=5,
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=8, deadline=None)
@given(RUBRICS)
def test_each_lever_equals_regrading_the_run(tmp_path_factory, rubrics):
    def mean(verdict):
        scores = [
            example_score([p for p, _, _ in rubric], [verdict(*one) for one in rubric])
            for rubric in rubrics
        ]
        known = [score for score in scores if score is not None]
        return sum(known) / len(known) if known else None

    if mean(lambda _, met, __: met) is None:
        return
    library, run = library_with(
        tmp_path_factory.mktemp("run"),
        *(
            example(f"p{place}", *(item(points, met, *tags) for points, met, tags in rubric))
            for place, rubric in enumerate(rubrics)
        ),
    )
    found = levers_of(library, run)
    avoided = mean(lambda points, met, _: met and points > 0)
    assert found["penalties", None].unclipped == pytest.approx(avoided, abs=1e-12)
    for (name, axis), lever in found.items():
        if name == "axis":
            perfect = mean(
                lambda points, met, tags, axis=axis: (
                    points > 0 if tags == ((axis,) if axis else ()) else met
                )
            )
            assert lever.unclipped == pytest.approx(perfect, abs=1e-12)
