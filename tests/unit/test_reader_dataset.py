"""The benchmark's data sets: HealthBench's schema and Professional's."""

from __future__ import annotations

import gzip
import json

import pytest

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.model import Criterion, Message
from healthbench.readers import open_runs
from healthbench.readers.dataset import is_dataset, read_dataset

CLASSIC = {
    "prompt_id": "p1",
    "prompt": [{"role": "user", "content": "What helps?"}],
    "example_tags": ["theme:hedging", "physician_agreed_category:no-uncertainty"],
    "rubrics": [
        {"criterion": "Says rest.", "points": 5, "tags": ["level:example", "axis:accuracy"]},
        {"criterion": "Guesses.", "points": -3, "tags": ["level:example"]},
    ],
    "ideal_completions_data": None,
    "canary": "healthbench:0",
}
PROFESSIONAL = {
    "id": "0" * 32,
    "conversation": {"messages": [{"role": "user", "content": "Dose?"}]},
    "rubric_items": [{"criterion_text": "Asks for weight.", "points": 7}],
    "use_case": "consult",
    "type": "good_faith",
    "difficulty": "typical",
    "specialty": "Pediatrics",
    "physician_response": "T",
    "canary_string": "x",
}


def write(tmp_path, *rows, name="set.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_healthbench_rows(tmp_path):
    path = write(tmp_path, CLASSIC, CLASSIC | {"prompt_id": "p2", "canary": None})
    assert is_dataset(path)
    first, second = read_dataset(path)
    assert first.prompt_id == "p1"
    assert first.prompt == [Message("user", "What helps?")]
    assert first.example_tags == ("theme:hedging", "physician_agreed_category:no-uncertainty")
    assert first.criteria == [
        Criterion("Says rest.", 5, ("level:example", "axis:accuracy")),
        Criterion("Guesses.", -3, ("level:example",)),
    ]
    assert (first.canary, second.canary) == ("healthbench:0", "")


def test_professional_rows_get_unprefixed_tags(tmp_path):
    (row,) = read_dataset(write(tmp_path, PROFESSIONAL))
    assert row.prompt_id == "0" * 32
    assert row.example_tags == ("consult", "good_faith", "typical", "Pediatrics")
    assert row.criteria == [Criterion("Asks for weight.", 7, ())]
    assert row.canary == "x"


def test_a_synthetic_data_set_has_no_canary(tmp_path):
    path = write(tmp_path, CLASSIC | {"canary": "synthetic sample, no benchmark text"})
    (row,) = read_dataset(path)
    assert (row.canary, row.synthetic) == ("", True)


def test_gzip_and_a_json_list(tmp_path):
    packed = tmp_path / "set.jsonl.gz"
    packed.write_bytes(gzip.compress(write(tmp_path, CLASSIC).read_bytes()))
    assert [row.prompt_id for row in read_dataset(packed)] == ["p1"]
    listed = tmp_path / "set.json"
    listed.write_text(json.dumps([CLASSIC, CLASSIC | {"prompt_id": "p2"}]), encoding="utf-8")
    assert [row.prompt_id for row in read_dataset(listed)] == ["p1", "p2"]


def test_a_data_set_given_as_a_run_is_named(tmp_path):
    with pytest.raises(NotAGradedRunError, match="attach it as a data set instead"):
        open_runs([write(tmp_path, CLASSIC)])
    with pytest.raises(NotAGradedRunError, match="attach it as a data set instead"):
        open_runs([write(tmp_path, PROFESSIONAL)])


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "Q", "rubrics": [{"criterion": "T", "points": 1, "criteria_met": True}]},
        CLASSIC | {"prompt_response": [{"role": "assistant", "content": "A"}]},
        {"prompt": "Q"},
        {"id": "x", "score": 0.1},
    ],
)
def test_what_is_no_data_set(tmp_path, row):
    path = write(tmp_path, row)
    assert not is_dataset(path)
    with pytest.raises(InputRefusedError, match="is no HealthBench data set"):
        list(read_dataset(path))
    assert not is_dataset(tmp_path / "missing.jsonl")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (CLASSIC, "example 2: prompt_id stands in an earlier row too"),
        (CLASSIC | {"prompt_id": None}, "example 2: prompt_id is missing"),
        ({"x": 1}, "example 2: the row is no data-set row"),
        ([1], "example 2: the row is no data-set row"),
        (
            CLASSIC | {"prompt_id": "p2", "rubrics": [{"criterion": "T", "points": "5"}]},
            "example 2, criterion 1: points is text, not a number",
        ),
        (
            CLASSIC | {"prompt_id": "p2", "rubrics": [{"points": 5}]},
            "example 2, criterion 1: criterion is missing",
        ),
    ],
)
def test_bad_rows_are_refused_with_their_place(tmp_path, row, said):
    with pytest.raises(InputRefusedError, match=said):
        list(read_dataset(write(tmp_path, CLASSIC, row)))


def test_a_row_cut_off_is_refused_with_its_line(tmp_path):
    path = write(tmp_path, CLASSIC, CLASSIC | {"prompt_id": "p2"})
    path.write_text(path.read_text()[:-40], encoding="utf-8")
    with pytest.raises(InputRefusedError, match="line 2 ends in the middle of a value"):
        list(read_dataset(path))
