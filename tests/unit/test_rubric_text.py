"""A rubric as a person pastes or types it, and the one sentence for what is wrong."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.errors import InputRefusedError
from healthbench.grading.rubric_text import MOST_CRITERIA, criteria_of, parse_rubric

TWO = [("Names a dose, and says why.", 5, ()), ("Invents a drug", -8, ("axis:accuracy",))]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"criterion": t, "points": p, "tags": list(tags)} for t, p, tags in TWO]),
        json.dumps(
            {"rubrics": [{"criterion": t, "points": p, "tags": tags} for t, p, tags in TWO]}
        ),
        json.dumps(
            {"rubric_items": [{"criterion_text": t, "points": p, "tags": g} for t, p, g in TWO]}
        ),
        "\n".join(json.dumps({"Criterion": t, "Points": p, "tags": g}) for t, p, g in TWO),
        'points,criterion,axis\n5,"Names a dose, and says why.",\n-8,Invents a drug,Accuracy\n',
        "Criterion;Points;Tags\nNames a dose, and says why.;5;\nInvents a drug;\N{MINUS SIGN}8;axis:accuracy",
        "points\tcriterion\taxis\r\n+5\tNames a dose, and says why.\t\r\n-8\tInvents a drug\taccuracy",
    ],
)
def test_every_form_gives_the_same_criteria(text):
    assert parse_rubric(text) == TWO


@pytest.mark.parametrize(
    "text", ['5,"A, B"\n-2.5,C', '"A, B",5\nC,-2.5', '\n\n5,"A, B"\n\n-2.5,C\n']
)
def test_a_csv_needs_no_head(text):
    assert [(c.text, c.points) for c in parse_rubric(text)] == [("A, B", 5), ("C", -2.5)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("[]", "no criterion yet"),
        ("just words", "neither JSON nor CSV"),
        ('[{"criterion": "A", "points": 5},', "begins like JSON but is none"),
        ('[{"criterion": "A", "points": "5"}]', "criterion 1: points is text, not a number"),
        ('[{"criterion": "A", "points": 5}, {"criterion": "B"}]', "criterion 2: points is missing"),
        ('[{"criterion": "A", "points": 0}]', "points is 0"),
        ('[{"criterion": "A", "points": NaN}]', "points is missing"),
        ('[{"criterion": "A", "points": 1e9}]', "beyond"),
        ('[{"criterion": "A", "points": true}]', "points is true"),
        ('[{"points": 5}]', "its text is missing"),
        ('[{"criterion": 7, "points": 5}]', "its text is the number 7"),
        ('[{"criterion": "A", "points": 5, "tags": 3}]', "tags is the number 3"),
        ("[5]", "criterion 1: the row is the number 5"),
        ("points,criterion\nmany,A", "points is text"),
        ("A,B\nC,D", "no column of points"),
        ("points,criterion\n5,A, and B", "more cells than there are columns"),
        ('points,criterion\n5,"A', "no complete CSV"),
        ("5,A\n" * (MOST_CRITERIA + 1), "at most 200"),
    ],
)
def test_what_is_wrong_is_one_sentence(text, words):
    with pytest.raises(InputRefusedError) as refused:
        parse_rubric(text)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_rows_of_a_table_count_from_one_and_empty_ones_are_passed_over():
    nothing = {"points": math.nan, "criterion": None, "axis": None}
    rows = [{"points": 5.0, "criterion": " A ", "axis": "Completeness"}, nothing, nothing]
    assert criteria_of(rows) == [("A", 5, ("axis:completeness",))]
    with pytest.raises(InputRefusedError, match="criterion 3: points is missing"):
        criteria_of([*rows[:2], nothing | {"criterion": "B"}])


@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_rubric_or_a_sentence(text):
    sentence = "The rubric"
    try:
        found = parse_rubric(text)
    except InputRefusedError as refused:
        found, sentence = [], str(refused)
    assert sentence.startswith("The rubric")
    assert found or sentence.endswith(".")
