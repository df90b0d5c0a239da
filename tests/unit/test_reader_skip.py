"""Passing over the bulk of an allresults file changes nothing of what is read from it."""

from __future__ import annotations

import gzip
import json

import graded
import pytest

from healthbench.readers import head, open_runs
from healthbench.readers.head import json_items

PREFIX = "metadata.example_level_metadata.item"
KEY = "example_level_metadata"


def document(*rows, **before):
    return json.dumps({**before, "metadata": {KEY: list(rows)}, "after": {"more": [1]}})


@pytest.mark.parametrize("size", [1 << 20, 7, 24, 25, 26])
@pytest.mark.parametrize(
    "before",
    [
        {},
        {"htmls": ["x" * 3000]},
        # The key's words inside texts, with and without quotes of their own.
        {"htmls": [KEY, f'"{KEY}"', f'\\"{KEY}\\"', f'{{"{KEY}": [1]}}']},
        {"note": KEY},
    ],
)
def test_rows_are_the_same_with_and_without_skipping(tmp_path, monkeypatch, size, before):
    monkeypatch.setattr(head, "_SKIPPED_AT_ONCE", size)
    path = tmp_path / "r.json"
    path.write_text(document({"a": 1}, {"b": [2, "é"]}, **before), encoding="utf-8")
    assert list(json_items(path, PREFIX, skip=True)) == [{"a": 1}, {"b": [2, "é"]}]
    assert list(json_items(path, PREFIX)) == [{"a": 1}, {"b": [2, "é"]}]


def test_compressed_files_are_skipped_through_too(tmp_path):
    path = tmp_path / "r.json.gz"
    path.write_bytes(gzip.compress(document({"a": 1}, htmls=["x" * 3_000_000]).encode()))
    assert list(json_items(path, PREFIX, skip=True)) == [{"a": 1}]


def test_a_file_whose_metadata_stands_first_is_read_too(tmp_path):
    run = json.loads(graded.allresults(tmp_path / "r.json", *graded.three_examples()).read_text())
    turned = {"metadata": run.pop("metadata"), **run}
    path = tmp_path / "turned.json"
    path.write_text(json.dumps(turned))
    (source,) = open_runs([path])
    assert [example.prompt_id for example in source.examples()] == ["p1", "p2", "p3"]
