"""Our own graded-run JSON lines: lossless, documented, versioned."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import healthbench.readers
from healthbench.errors import InputRefusedError
from healthbench.model import Criterion, GradedExample, Message, RunInfo, Verdict
from healthbench.readers import open_runs
from healthbench.readers.fields import MIN_POINTS
from healthbench.readers.own_jsonl import example_line, header_line, without_texts

SCHEMA = json.loads(
    (Path(healthbench.readers.__file__).parent / "schema" / "graded-run-1.schema.json").read_text(
        encoding="utf-8"
    )
)
VALID = jsonschema.Draft202012Validator(SCHEMA)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
named = texts.filter(lambda text: text.strip() == text and text != "")
points = st.one_of(
    st.integers(-1000, 1000).filter(bool),
    st.floats(-1000, 1000, allow_nan=False).filter(lambda p: abs(p) >= MIN_POINTS and p != int(p)),
)
verdicts = st.one_of(
    st.builds(Verdict, st.sampled_from([True, False, None]), st.none() | named, st.none()),
    st.builds(Verdict, st.just(value=False), st.none() | named, named),
)
criteria = st.builds(Criterion, named, points, st.lists(texts, max_size=3).map(tuple))
graded = st.lists(st.tuples(criteria, verdicts), max_size=4)


@st.composite
def examples(draw):
    items = draw(graded)
    return GradedExample(
        prompt_id=draw(named),
        prompt=draw(st.lists(st.builds(Message, named, texts), max_size=3)),
        reply=draw(texts),
        criteria=[criterion for criterion, _ in items],
        verdicts=[verdict for _, verdict in items],
        example_tags=draw(st.none() | st.lists(texts, max_size=2).map(tuple)),
        completion_id=draw(st.none() | named),
        stated_score=draw(st.none() | st.floats(-10, 1)),
        error=draw(st.none() | texts),
    )


infos = st.builds(
    RunInfo,
    source=texts,
    format=named,
    model=st.none() | named,
    grader=st.none() | named,
    benchmark=st.none() | named,
    created=st.none() | named,
    clip_level=st.sampled_from([None, "run", "example", "none"]),
    stated=st.dictionaries(texts, st.floats(-10, 10), max_size=3),
    settings=st.dictionaries(texts, texts, max_size=2),
    synthetic=st.booleans(),
)


def write(path, info, rows, **header):
    arguments = {"texts": True, "canary": None} | header
    lines = [header_line(info, len(rows), **arguments), *map(example_line, rows)]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def read(path):
    (run,) = open_runs([path])
    return run, list(run.examples())


@given(infos, st.lists(examples(), min_size=1, max_size=3), st.none() | named)
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_nothing_is_lost_and_every_line_is_valid(tmp_path, info, rows, canary):
    path = write(tmp_path / "run.jsonl", info, rows, canary=canary)
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        VALID.validate(json.loads(line))
    run, back = read(path)
    assert back == rows
    assert run.info == info
    assert run.report.canary == (canary or "")
    assert sum(run.report.verdicts.values()) == sum(len(row.criteria) for row in rows)


def one_example(**changes):
    fields = {
        "prompt_id": "p1",
        "prompt": [Message("user", "What helps?")],
        "reply": "Rest.",
        "criteria": [
            Criterion("Says rest.", 7, ("axis:accuracy",)),
            Criterion("Guesses.", -2.5, ()),
        ],
        "verdicts": [Verdict(stored=True, explanation="It does."), Verdict(stored=None)],
        "error": "HTTP 500: What helps?",
    }
    return GradedExample(**fields | changes)


def test_without_texts_it_can_still_be_scored_and_matched(tmp_path):
    hidden = without_texts(one_example())
    path = write(
        tmp_path / "run.jsonl", RunInfo("a.json", "x"), [hidden], texts=False, canary="seen"
    )
    content = path.read_text(encoding="utf-8")
    assert not any(
        text in content for text in ("What helps", "Rest", "Says rest", "Guesses", "It does")
    )
    run, (one,) = read(path)
    assert len(one.reply) == len("Rest.")
    assert [c.points for c in one.criteria] == [7, -2.5]
    assert [v.met for v in one.verdicts] == [True, None]
    assert one.criteria[0].tags == ("axis:accuracy",)
    assert one.criteria[0] != one.criteria[1]
    assert run.report.warnings[0].startswith("Texts were left out")


def changed(value, number, **fields):
    lines = value.split("\n")
    lines[number] = json.dumps(json.loads(lines[number]) | fields)
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("number", "fields", "said"),
    [
        (0, {"graded_run_version": 2}, "version 2, and this program reads version 1"),
        (0, {"n_examples": "1"}, "n_examples is text, not a number"),
        (0, {"n_examples": 2}, "holds 1 of 2 examples"),
        (1, {"prompt_id": None}, "example 1: prompt_id is missing"),
        (1, {"reply": None}, "example 1: reply is null, not text"),
        (1, {"criteria": {}}, "example 1: criteria is an object, not a list"),
        (1, {"criteria": [5]}, "criterion 1: the criterion is the number 5"),
        (1, {"criteria": [{"criterion": "T", "points": "5"}]}, "criterion 1: points is text"),
        (1, {"criteria": [{"criterion": "", "points": 5}]}, "criterion 1: criterion is empty"),
        (1, {"example_tags": "x"}, "example_tags is text, not a list of texts"),
    ],
)
def test_bad_lines_are_refused(tmp_path, number, fields, said):
    path = write(tmp_path / "run.jsonl", RunInfo("a.json", "x"), [one_example()])
    path.write_text(
        changed(path.read_text(encoding="utf-8").rstrip(), number, **fields), encoding="utf-8"
    )
    with pytest.raises(InputRefusedError, match=said):
        read(path)


def test_a_verdict_absent_is_unknown_and_unknown_fields_are_ignored(tmp_path):
    path = write(tmp_path / "run.jsonl", RunInfo("a.json", "x"), [one_example()])
    items = [{"criterion": "T", "points": 5, "note": 1}]
    path.write_text(
        changed(path.read_text(encoding="utf-8").rstrip(), 1, criteria=items, note=2),
        encoding="utf-8",
    )
    run, (one,) = read(path)
    assert one.verdicts == [Verdict(stored=None)]
    assert dict(run.report.verdicts) == {"null": 1}
