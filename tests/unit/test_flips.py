"""A difference traced to its criteria: the cells by hand, duplicates in order, and effects that sum to the whole."""

from __future__ import annotations

from contextlib import closing

import graded
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from healthbench.comparison.flips import (
    by_axis,
    by_axis_and_sign,
    flips,
    grader_agreement,
)
from healthbench.comparison.pair import compare, prompt_scores, side
from healthbench.store.library import Library


def compared(tmp_path, first, second):
    """Import two runs; return the library, the comparison and its flips."""
    library = Library(tmp_path / "store")
    sides = []
    for model, examples in (("a", first), ("b", second)):
        path = graded.allresults(tmp_path / f"healthbench_{model}_allresults.json", *examples)
        (outcome,) = library.import_paths([path])
        sides.append(side(library, outcome.run.id))
    result = compare(*sides)
    return library, result, flips(library, result, sides[0]), sides


ACCURACY, COMPLETENESS = "axis:accuracy", "axis:completeness"


def example(prompt_id, *verdicts, reply="A reply."):
    points = (7, 3, -6, 5)
    axes = (ACCURACY, COMPLETENESS, ACCURACY, COMPLETENESS)
    items = [graded.item(*one) for one in zip(points, verdicts, axes, strict=True)]
    return graded.example(prompt_id, *items, reply=reply)


def test_cells_by_hand(tmp_path):
    # p1: +7 stays met, +3 fixed, -6 regressed, +5 stays not met: 7/15 -> (7 + 3 - 6)/15, difference -3/15.
    # p2: +7 fixed, +3 regressed, -6 fixed (no longer incurred), +5 unknown in b: no score in b.
    _, result, rows, _ = compared(
        tmp_path,
        [example("p1", True, False, False, False), example("p2", False, True, True, False)],
        [example("p1", True, True, True, False), example("p2", True, False, False, None)],
    )
    assert rows["flip"].tolist() == [
        "both met", "fixed", "regressed", "both not met",
        "fixed", "regressed", "fixed", "unknown",
    ]  # fmt: skip
    assert rows["moved"].tolist() == [0, 3, -6, 0, 7, -3, 6, 0]
    np.testing.assert_allclose(rows["effect"], [0, 3 / 15, -6 / 15, 0, 0, 0, 0, 0])
    assert result.overall.difference == pytest.approx(-3 / 15)
    table = by_axis(rows).set_index("name")
    assert table.loc["Accuracy", ["fixed", "regressed", "both met", "both not met"]].tolist() == [
        2,
        1,
        1,
        0,
    ]
    assert table.loc["Completeness", ["fixed", "regressed", "unknown"]].tolist() == [1, 1, 1]
    assert table.loc["Accuracy", "moved"] == 7
    # Exact McNemar: 2 of 3 flips one way, p = 1; Holm keeps it at 1.
    assert table.loc["Accuracy", "p"] == 1
    signs = by_axis_and_sign(rows).set_index(["name", "sign"])
    assert signs.loc[("Accuracy", "penalty"), ["fixed", "regressed"]].tolist() == [1, 1]


def test_mcnemar_by_axis_equals_the_binomial_test(tmp_path):
    first = [example(f"p{n}", False, True, False, False) for n in range(9)]
    second = [example(f"p{n}", True, n > 1, False, False) for n in range(9)]
    _, _, rows, _ = compared(tmp_path, first, second)
    table = by_axis(rows).set_index("name")
    assert table.loc["Accuracy", "p"] == pytest.approx(stats.binomtest(9, 9).pvalue)
    assert table.loc["Completeness", "p"] == pytest.approx(stats.binomtest(0, 2).pvalue)
    # Holm over two axes: the smaller doubled.
    assert table.loc["Accuracy", "p_holm"] == pytest.approx(2 * stats.binomtest(9, 9).pvalue)


def test_the_same_criterion_twice_pairs_in_order(tmp_path):
    def twice(*verdicts):
        return graded.example(
            "p1",
            *(graded.item(5, verdict, ACCURACY, criterion="said twice") for verdict in verdicts),
            graded.item(5, True, ACCURACY, criterion="said once"),
        )

    _, _, rows, _ = compared(tmp_path, [twice(True, False)], [twice(False, False)])
    assert rows["flip"].tolist() == ["regressed", "both not met", "both met"]
    assert rows["position_first"].tolist() == rows["position_second"].tolist() == [0, 1, 2]


def test_rubrics_in_another_order_pair_by_text(tmp_path):
    items = [graded.item(7, True, ACCURACY), graded.item(3, False, ACCURACY)]
    _, _, rows, _ = compared(
        tmp_path, [graded.example("p1", *items)], [graded.example("p1", *items[::-1])]
    )
    assert rows["position_second"].tolist() == [1, 0]
    assert rows["flip"].tolist() == ["both met", "both not met"]


verdict = st.booleans()


@given(
    runs=st.lists(
        st.tuples(st.tuples(*[verdict] * 4), st.tuples(*[verdict] * 4)), min_size=1, max_size=5
    )
)
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_effects_sum_to_the_difference(tmp_path_factory, runs):
    folder = tmp_path_factory.mktemp("effects")
    library, result, rows, _ = compared(
        folder,
        [example(f"p{n}", *one) for n, (one, _) in enumerate(runs)],
        # The reply differs, so that the two files are never one and the same run.
        [example(f"p{n}", *two, reply="Another.") for n, (_, two) in enumerate(runs)],
    )
    with closing(library):
        assert rows["effect"].sum() == pytest.approx(result.overall.difference, abs=1e-12)


def test_two_gradings_of_the_same_replies(tmp_path):
    # Eight criteria: both met 3, only first 1, only second 2, neither 2.
    first = [example("p1", True, True, True, False), example("p2", True, False, False, False)]
    second = [example("p1", True, True, False, True), example("p2", True, True, False, False)]
    library, result, rows, _ = compared(tmp_path, first, second)
    found = grader_agreement(library, result, rows)
    assert found.same_replies
    assert found.table == (3, 1, 2, 2)
    # Agreement 5/8; shares met 4/8 and 5/8; chance 1/2*5/8 + 1/2*3/8 = 1/2; kappa (5/8 - 1/2) / (1/2) = 1/4.
    assert found.kappa == pytest.approx(0.25)
    # AC1: q = 9/16, chance 2 * 9/16 * 7/16 = 126/256; (5/8 - 126/256) / (130/256) = 34/130.
    assert found.ac1 == pytest.approx(34 / 130)
    # F1 met 6/9, not met 4/7: macro 0.5 * (6/9 + 4/7).
    assert found.macro_f1 == pytest.approx(0.5 * (6 / 9 + 4 / 7))
    assert found.by_sign["negative"] == (0, 1, 0, 1)


def test_other_replies_have_no_grader_agreement(tmp_path):
    first = [example("p1", True, True, True, False)]
    second = [example("p1", True, True, True, False, reply="Another.")]
    library, result, rows, _ = compared(tmp_path, first, second)
    assert grader_agreement(library, result, rows) is None


def test_scores_by_prompt(tmp_path):
    # p1 twice in a: 7/15 and 3/15; lengths 8 and 2.
    first = [
        example("p1", True, False, False, False),
        example("p2", False, False, False, False),
        example("p1", False, True, False, False, reply="No"),
    ]
    second = [example("p2", True, False, False, False), example("p1", True, False, False, False)]
    _, result, _, sides = compared(tmp_path, first, second)
    found = prompt_scores(*sides, result.matching)
    np.testing.assert_allclose(found.first, [5 / 15, 0])
    np.testing.assert_allclose(found.second, [7 / 15, 7 / 15])
    np.testing.assert_allclose(found.first_characters, [5, 8])
    assert found.first_row.tolist() == [0, 1]
    assert found.second_row.tolist() == [1, 0]
