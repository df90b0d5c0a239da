"""Damage to what is stored is one sentence: never another number, never another exception, and importing again heals it."""

from __future__ import annotations

import json
import random
import shutil
from contextlib import closing

import graded
import pytest

from healthbench.errors import StoreError
from healthbench.store.library import Library

TABLES = ("examples", "items", "criteria", "tag_scores")


def cut(data):
    return data[: len(data) // 2]


def flip_one_byte(data):
    """Anywhere: in the footer, in a page, or in a number of a column that DuckDB would read as another number."""
    place = random.Random(len(data)).randrange(len(data))
    return data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]


DAMAGES = {
    "cut": cut,
    "empty": lambda _: b"",
    "foreign": lambda _: b"garbage" * 100,
    "magic only": lambda _: b"PAR1",
    "one byte": flip_one_byte,
    "gone": lambda _: None,
}
RECORDS = (
    "",
    "{",
    "[]",
    "null",
    "{}",
    '{"schema_version": 1}',
    '{"schema_version": 1, "info": 3}',
    "\x00",
    "[" * 50_000,
)


@pytest.fixture
def run_file(tmp_path):
    return graded.allresults(tmp_path / "r.json", *graded.three_examples())


@pytest.fixture
def data_set(tmp_path):
    rows = (graded.dataset_row(one["prompt_id"], graded.item()) for one in graded.three_examples())
    return graded.dataset(tmp_path / "set.jsonl", *rows)


def stored(home, *paths):
    with closing(Library(home)) as library:
        outcomes = library.import_paths(paths)
        return [(outcome.run or outcome.dataset).id for outcome in outcomes]


def damage(path, how):
    changed = DAMAGES[how](path.read_bytes())
    if changed is None:
        path.unlink()
    else:
        path.write_bytes(changed)


def questions(library, run_id):
    """Everything a page asks of a run's files."""
    return (
        lambda: library.run_scores(run_id),
        lambda: library.themes_from(run_id),
        lambda: library.examples(run_id),
        lambda: library.example(run_id, 1),
    )


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_part_is_a_sentence_and_importing_again_heals_it(tmp_path, run_file, table, how):
    home = tmp_path / "home"
    (run_id,) = stored(home, run_file)
    damage(home / "runs" / run_id / table / "part-0000.parquet", how)
    with closing(Library(home)) as library:
        for ask in questions(library, run_id):
            with pytest.raises(StoreError, match="damaged: import its file again"):
                ask()
        assert "damaged" in library.damage(run_id)
        (outcome,) = library.import_paths([run_file])
        assert outcome.run.id == run_id
        assert library.damage(run_id) is None
        assert library.run_scores(run_id).overall.scores.tolist() == [0.7, -1.6, 0.0]


@pytest.mark.parametrize("how", DAMAGES)
def test_damage_under_an_open_run_is_no_other_exception(tmp_path, run_file, how):
    home = tmp_path / "home"
    (run_id,) = stored(home, run_file)
    with closing(Library(home)) as library:
        library.ready(run_id)
        for table in TABLES:
            damage(home / "runs" / run_id / table / "part-0000.parquet", how)
        for ask in questions(library, run_id):
            try:
                ask()
            except StoreError as error:
                assert "damaged: import its file again" in str(error)  # noqa: PT017 - what is cached may still be right


def test_a_run_removed_under_an_open_one_is_a_sentence(tmp_path, run_file):
    home = tmp_path / "home"
    (run_id,) = stored(home, run_file)
    with closing(Library(home)) as library:
        library.ready(run_id)
        shutil.rmtree(home / "runs" / run_id)
        for ask in questions(library, run_id):
            with pytest.raises(StoreError, match="is not in the store"):
                ask()


@pytest.mark.parametrize("text", RECORDS)
def test_a_damaged_record_hides_no_other_run_and_importing_again_heals_it(
    tmp_path, run_file, data_set, text
):
    home = tmp_path / "home"
    other = graded.allresults(tmp_path / "other.json", *graded.three_examples()[:1])
    run_id, set_id = (stored(home, path)[0] for path in (run_file, data_set))
    stored(home, other)
    (home / "runs" / run_id / "run.json").write_text(text)
    (home / "datasets" / set_id / "dataset.json").write_text(text)
    with closing(Library(home)) as library:
        assert [run.n_examples for run in library.runs()] == [1]
        assert library.datasets() == []
        assert {unusable.id for unusable in library.unreadable()} == {run_id, set_id}
        assert all("import its file again" in u.reason for u in library.unreadable())
        library.import_paths([run_file, data_set])
        assert library.unreadable() == []
        assert sorted(run.n_examples for run in library.runs()) == [1, 3]


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_data_set_is_left_out_and_importing_it_again_heals_it(
    tmp_path, run_file, data_set, how
):
    home = tmp_path / "home"
    run_id, set_id = (stored(home, path)[0] for path in (run_file, data_set))
    damage(home / "datasets" / set_id / "examples.parquet", how)
    with closing(Library(home)) as library:
        assert library.themes_from(run_id) != "dataset"
        assert library.datasets() == []
        assert [unusable.id for unusable in library.unreadable()] == [set_id]
        library.import_paths([data_set])
        assert library.themes_from(run_id) == "dataset"
        assert library.unreadable() == []


def test_an_older_record_without_digests_is_used(tmp_path, run_file):
    home = tmp_path / "home"
    (run_id,) = stored(home, run_file)
    path = home / "runs" / run_id / "run.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["parts"]
    path.write_text(json.dumps(record), encoding="utf-8")
    with closing(Library(home)) as library:
        assert library.run_scores(run_id).overall.scores.tolist() == [0.7, -1.6, 0.0]
