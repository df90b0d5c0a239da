"""A grader's words are read as the reference reads them, and nothing else is a verdict."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthbench.grading.verdicts import BadReplyError, parse_grade


def reference_label(text):
    """The published rule: one json fence off each end, JSON, and a label that is True or False."""
    cleaned = re.sub(r"^```json\s*|\s*```$", "", text.strip())
    try:
        answer = json.loads(cleaned)
    except json.JSONDecodeError:
        return None
    label = answer.get("criteria_met") if isinstance(answer, dict) else None
    return label if label is True or label is False else None


def label_of(text):
    try:
        return parse_grade(text).met
    except BadReplyError:
        return None


GOOD = '{"explanation": "It does.", "criteria_met": true}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"  ```json{GOOD}```  \n",
        f"{GOOD}\n```",
        '{"criteria_met": false}',
        '{"criteria_met": true, "criteria_met": false}',
        '{"criteria_met": false, "explanation": NaN}',
    ],
)
def test_a_verdict_is_read(text):
    assert label_of(text) is reference_label(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "true",
        f"```\n{GOOD}\n```",
        f"Here it is: {GOOD}",
        f"[{GOOD}]",
        '{"criteria_met": "true"}',
        '{"criteria_met": 1}',
        '{"criteria_met": null}',
        '{"criteria-met": true}',
        "{'criteria_met': True}",
        GOOD[:-1],
        "[" * 100_000,
        '{"criteria_met": ' + "9" * 5000 + "}",
    ],
)
def test_anything_else_is_no_verdict(text):
    with pytest.raises(BadReplyError) as refusal:
        parse_grade(text)
    assert "It does" not in str(refusal.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["criteria_met", "explanation", "x"]), inner, max_size=3
            )
        ),
        max_leaves=6,
    ),
    st.sampled_from(["{}", "```json\n{}\n```", "```{}```", "{} .", " {}\n"]),
)
def test_the_label_is_always_the_references(value, frame):
    text = frame.replace("{}", json.dumps(value))
    assert label_of(text) is reference_label(text)


def test_half_a_surrogate_pair_in_an_explanation_can_be_stored():
    grade = parse_grade('{"explanation": "a\\ud83d b", "criteria_met": true}')
    assert grade.explanation == "a? b"
