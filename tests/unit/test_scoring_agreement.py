"""Agreement of verdicts: textbook tables, the paper's meta-evaluation, weighted samples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.scoring.agreement import (
    Confusion,
    agreement_interval,
    cohens_kappa,
    confusion,
    confusion_by_sign,
    gwet_ac1,
    inverse_probability_weights,
    pair_with_labels,
    pairwise_f1,
)

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text("utf-8"))["vectors"]
FIELDS = {
    "pairwise_model_precision_pos": "precision_met",
    "pairwise_model_recall_pos": "recall_met",
    "pairwise_model_f1_pos": "f1_met",
    "pairwise_model_precision_neg": "precision_not_met",
    "pairwise_model_recall_neg": "recall_not_met",
    "pairwise_model_f1_neg": "f1_not_met",
    "pairwise_model_f1_balanced": "reference_macro",
    "paper_formula_MF1": "macro",
}


@pytest.mark.parametrize(
    ("given_", "expected"),
    [pytest.param(v["input"], v["expected"], id=v["id"]) for v in VECTORS if v["kind"] == "meta"],
)
def test_pairwise_macro_f1_of_worked_cases(given_, expected):
    result = pairwise_f1(pair_with_labels(given_["pred"], given_["labels"]))
    for key, value in expected.items():
        if key != "__absent__":
            assert getattr(result, FIELDS[key]) == pytest.approx(value, abs=1e-12)
    if "__absent__" in expected:
        # The reference writes no such key; the paper's formula still has an F1 of 0 for "not met".
        assert result.reference_macro is None
        assert result.f1_not_met == 0


def test_macro_f1_without_one_of_the_classes_is_not_defined():
    result = pairwise_f1(Confusion(5, 0, 0, 0))
    assert (result.f1_met, result.f1_not_met, result.macro) == (1.0, None, None)
    assert set(vars_of(pairwise_f1(Confusion(0, 0, 0, 0)))) == {None}


def vars_of(result):
    return [getattr(result, field) for field in FIELDS.values()]


def test_macro_f1_is_zero_where_nothing_agrees():
    result = pairwise_f1(Confusion(0, 3, 2, 0))
    assert (result.f1_met, result.f1_not_met, result.macro) == (0, 0, 0)
    assert result.reference_macro == 0


def test_kappa_of_the_textbook_table():
    # 20, 5, 10, 15 of 50: agreement 0.7, chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5, kappa 0.2 / 0.5.
    table = Confusion(20, 5, 10, 15)
    assert table.agreement == pytest.approx(0.7)
    assert cohens_kappa(table) == pytest.approx(0.4)


def test_ac1_stays_meaningful_where_kappa_collapses():
    # 118, 5, 2, 0 of 125: agreement 0.944. Kappa: chance 0.984 * 0.96 + 0.016 * 0.04 = 0.94528, (0.944 - 0.94528) /
    # 0.05472 = -0.0234. AC1: q = 0.972, chance 2 * 0.972 * 0.028 = 0.054432, 0.889568 / 0.945568 = 0.9408.
    table = Confusion(118, 5, 2, 0)
    assert table.agreement == pytest.approx(0.944)
    assert cohens_kappa(table) == pytest.approx(-0.00128 / 0.05472)
    assert gwet_ac1(table) == pytest.approx(0.889568 / 0.945568)


@pytest.mark.parametrize(
    ("table", "kappa", "ac1"),
    [
        (Confusion(0, 0, 0, 0), None, None),
        (Confusion(7, 0, 0, 0), None, 1.0),  # chance alone makes it certain: kappa says nothing
        (Confusion(0, 0, 0, 7), None, 1.0),
        (Confusion(5, 0, 0, 5), 1.0, 1.0),
        (Confusion(0, 5, 5, 0), -1.0, -1.0),
    ],
)
def test_edges_of_kappa_and_ac1(table, kappa, ac1):
    assert cohens_kappa(table) == kappa
    assert gwet_ac1(table) == ac1


def test_confusion_by_sign():
    points = np.array([5.0, 3.0, -4.0, -8.0, 2.0])
    first = np.array([True, True, True, False, False])
    second = np.array([True, False, False, False, True])
    tables = confusion_by_sign(points, first, second)
    assert tables == {"positive": Confusion(1, 1, 1, 0), "negative": Confusion(0, 1, 0, 1)}
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    weighted = confusion_by_sign(points, first, second, weights)
    assert weighted == {"positive": Confusion(1, 2, 5, 0), "negative": Confusion(0, 3, 0, 4)}


def test_only_boolean_verdicts_of_one_shape_are_counted():
    with pytest.raises(ValueError, match="two boolean arrays"):
        confusion(np.array([1, 0]), np.array([True, False]))
    with pytest.raises(ValueError, match="two boolean arrays"):
        confusion(np.array([True]), np.array([True, False]))
    with pytest.raises(ValueError, match="2 verdicts but labels for 1"):
        pair_with_labels([True, False], [[True]])


def test_weights_undo_a_queue_that_was_not_random():
    # Of 8 criteria met by both and 8 on which they differ, all of the latter but only 2 of the former were reviewed.
    first = np.array([True] * 10)
    second = np.array([True] * 2 + [False] * 8)
    weights = inverse_probability_weights(np.array([0.25] * 2 + [1.0] * 8))
    assert confusion(first, second).agreement == pytest.approx(0.2)
    weighted = confusion(first, second, weights)
    assert weighted == Confusion(8, 8, 0, 0)
    assert weighted.agreement == pytest.approx(0.5)
    # Labels paired with a verdict carry its weight.
    paired = pair_with_labels([True, False], [[True, True], [True]], np.array([4.0, 1.0]))
    assert paired == Confusion(8, 0, 1, 0)


@pytest.mark.parametrize("chance", [0.0, -0.1, 1.5, np.nan])
def test_impossible_chances_are_refused(chance):
    with pytest.raises(ValueError, match="above 0 and not above 1"):
        inverse_probability_weights(np.array([0.5, chance]))


def test_interval_draws_whole_groups():
    # Ten prompts of four criteria each, wholly agreeing or wholly not: as if there were ten criteria.
    first = np.ones(40, dtype=bool)
    second = np.repeat([True] * 5 + [False] * 5, 4)
    groups = np.repeat(np.arange(10), 4)

    def share(table):
        return table.agreement

    grouped = agreement_interval(share, first, second, groups)
    assert grouped == agreement_interval(share, first[::4], second[::4], groups[::4])
    single = agreement_interval(share, first, second, np.arange(40))
    assert grouped.high - grouped.low > 1.5 * (single.high - single.low)
    weights = np.full(40, 3.0)
    assert agreement_interval(share, first, second, groups, weights) == grouped


def test_interval_needs_two_groups_and_a_defined_figure():
    met = np.ones(4, dtype=bool)
    assert agreement_interval(cohens_kappa, met, met, np.zeros(4, int)) is None
    assert agreement_interval(cohens_kappa, met, met, np.arange(4)) is None


verdicts = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)


@settings(max_examples=60)
@given(verdicts)
def test_agreement_does_not_depend_on_who_is_first(pairs):
    first, second = np.array(pairs).T
    one, other = confusion(first, second), confusion(second, first)
    assert one.total == len(pairs)
    for statistic in (cohens_kappa, gwet_ac1, lambda table: pairwise_f1(table).macro):
        assert statistic(one) == pytest.approx(statistic(other))
    # Met and not met may be exchanged as well.
    assert cohens_kappa(confusion(~first, ~second)) == pytest.approx(cohens_kappa(one))
