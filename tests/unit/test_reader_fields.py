"""Single foreign values: what is read, what is counted, what is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthbench.errors import InputRefusedError
from healthbench.model import ImportReport, Message, Verdict
from healthbench.readers.fields import (
    INSPECT_MARKS,
    SIMPLE_EVALS_MARKS,
    Where,
    canary_of,
    content_id,
    fraction_of,
    id_of,
    messages_of,
    points_of,
    stated_figures,
    tags_of,
    text_of,
    verdict_of,
)

HERE = Where("run.json", 3, 2)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def test_a_refusal_says_what_where_and_what_to_do():
    with pytest.raises(InputRefusedError) as caught:
        points_of("5", HERE)
    assert str(caught.value) == (
        "run.json, example 3, criterion 2: points is text, not a number; write it as a number without quotes."
    )


@given(ANY_JSON)
def test_points_are_finite_bounded_and_not_zero_or_refused(value):
    try:
        points = points_of(value, HERE)
    except InputRefusedError:
        return
    assert type(points) in (int, float)
    assert math.isfinite(points)
    assert 0 < abs(points) <= 1000


@given(ANY_JSON, ANY_JSON)
def test_every_value_is_one_counted_verdict(value, explanation):
    report = ImportReport()
    verdict = verdict_of(value, explanation, report)
    assert sum(report.verdicts.values()) == 1
    assert verdict.stored in (True, False, None)
    (kind,) = report.verdicts
    assert (verdict.stored is None) == (kind in ("null", "unreadable"))
    if kind in ("bool", "failure mark"):
        assert verdict.stored is value


@pytest.mark.parametrize(
    ("value", "stored", "kind"),
    [
        (True, True, "bool"),
        (False, False, "bool"),
        (1, True, "0/1"),
        (0.0, False, "0/1"),
        ("true", True, "string"),
        (" False ", False, "string"),
        ("MET", True, "string"),
        ("UNMET", False, "string"),
        ("not met", False, "string"),
        (None, None, "null"),
        ("", None, "unreadable"),
        ("1", None, "unreadable"),
        ("no", None, "unreadable"),
        (2, None, "unreadable"),
        (-1, None, "unreadable"),
        ([False], None, "unreadable"),
        ({"met": True}, None, "unreadable"),
    ],
)
def test_verdicts(value, stored, kind):
    report = ImportReport()
    assert verdict_of(value, "Words.", report) == Verdict(stored, "Words.")
    assert dict(report.verdicts) == {kind: 1}


@pytest.mark.parametrize(
    "words",
    [
        "Failed to parse after retries",
        "**Failed to parse** the reply",
        "Invalid grading response format",
        "Judge returned invalid response: {",
        "[grading parse error]",
    ],
)
@pytest.mark.parametrize("marks", [SIMPLE_EVALS_MARKS, INSPECT_MARKS])
def test_marks_of_every_producer(words, marks):
    report = ImportReport()
    verdict = verdict_of(False, words, report, marks)
    assert verdict.stored is False
    assert verdict.met is None
    assert dict(report.verdicts) == {"failure mark": 1}
    assert verdict_of(True, words, ImportReport(), marks).met is True


@pytest.mark.parametrize("words", [None, "", "  ", "No explanation provided"])
def test_marks_of_some_producers_only(words):
    assert verdict_of(False, words, ImportReport(), INSPECT_MARKS).met is None
    assert verdict_of(False, words, ImportReport(), SIMPLE_EVALS_MARKS).met is False


def test_a_sentence_about_parsing_is_no_mark():
    words = "The reply failed to parse the lab values."
    assert verdict_of(False, words, ImportReport(), INSPECT_MARKS).met is False


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (None, ""),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "image_url", "image_url": {"url": "x"}}, "b"], "[image_url]\nb"),
        ({"content": "a"}, "a"),
        (5, "5"),
    ],
)
def test_texts(value, text):
    assert text_of(value) == text


def test_messages():
    assert messages_of("Q", HERE) == [Message("user", "Q")]
    assert messages_of([{"role": "system", "content": None}, "Q"], HERE) == [
        Message("system", ""),
        Message("user", "Q"),
    ]
    assert messages_of({"messages": [{"content": "Q"}]}, HERE) == [Message("user", "Q")]
    assert messages_of([], HERE) == []


def test_tags():
    assert tags_of(None, HERE) == ()
    assert tags_of(["a", "b"], HERE) == ("a", "b")
    with pytest.raises(InputRefusedError, match="tags is text"):
        tags_of("a", HERE)


def test_ids_and_fractions():
    assert [id_of(v) for v in ("a ", 7, True, "", None, 1.5)] == ["a", "7", None, None, None, None]
    assert [fraction_of(v) for v in (1, 0.5, True, "0.5", math.nan)] == [1.0, 0.5, None, None, None]
    assert stated_figures({"a": 1, "b": None, "c": math.inf, "d": "x"}) == {"a": 1.0}
    assert stated_figures(None) == {}


def test_the_canary_and_the_identity_of_a_conversation():
    assert canary_of({"canary": "healthbench:1"}) == "healthbench:1"
    assert canary_of({"canary_string": "x"}) == "x"
    assert canary_of({"prompt": "Is a canary a pet?"}) == ""
    assert content_id([Message("user", "Q")]) == content_id([Message("user", "Q")])
    assert content_id([Message("user", "Q")]) != content_id([Message("system", "Q")])
