"""Column mappings: what is asked of them before an import, and that they are remembered for tables of the same columns."""

from __future__ import annotations

import csv
import json
from contextlib import closing

import pytest

from healthbench.errors import StoreError
from healthbench.readers.aliases import ColumnMapping
from healthbench.readers.mapping_check import problem_of
from healthbench.readers.tables import table_columns
from healthbench.store.library import Library
from healthbench.store.mappings import FILE_NAME, forget_mapping, read_mappings, remember_mapping
from healthbench.store.opening import opened

COLUMNS = ["", "fall", "antwort", "kriterium", "gewicht", "erfuellt", "score"]
# Points 7, 3, -6 with met, not met, met: (7 - 6) / 10 = 0.1; under the mapping of the score column all are met: 0.4.
ROWS = [
    [0, "p1", "Ruhe.", "Says rest.", 7, "ja", "1"],
    [1, "p1", "Ruhe.", "Asks how long.", 3, "true", "1"],
    [2, "p1", "Ruhe.", "Guesses.", -6, "false", "1"],
]
FIELDS = {
    "prompt_id": "fall",
    "reply": "antwort",
    "criterion": "kriterium",
    "points": "gewicht",
    "verdict": "erfuellt",
}


def table(path, rows=ROWS, columns=COLUMNS):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def mapping(**changes):
    columns = {field: column for field, column in (FIELDS | changes).items() if column}
    return ColumnMapping(columns, frozenset(COLUMNS))


@pytest.fixture
def library(tmp_path):
    with closing(Library(tmp_path / "store")) as opened_library:
        yield opened_library


def test_a_refused_table_says_what_could_be_mapped(library, tmp_path):
    (outcome,) = library.import_paths([table(tmp_path / "a.csv")])
    assert "map its columns on the page Runs" in outcome.refusal
    assert outcome.columns.names == tuple(COLUMNS)
    assert outcome.columns.preview[1] == ("1", "p1", "Ruhe.", "Asks how long.", "3", "true", "1")


def test_prose_offers_no_mapping(library, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Runs, and how\nthey were made\n")
    (outcome,) = library.import_paths([path])
    assert outcome.refusal
    assert outcome.columns is None


def test_a_folder_with_nothing_but_such_tables_names_each(library, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    table(folder / "a.csv")
    table(folder / "b.csv", columns=["x", *COLUMNS[1:]])
    (folder / "README.md").write_text("Two tables")
    outcomes = library.import_paths([folder])
    assert [outcome.path.name for outcome in outcomes] == ["a.csv", "b.csv"]
    assert all(outcome.columns for outcome in outcomes)


def test_a_mapping_counts_for_every_table_with_the_same_columns(library, tmp_path):
    library.remember_mapping(mapping())
    first = table(tmp_path / "a.csv")
    other_order = table(tmp_path / "b.csv", [row[::-1] for row in ROWS[:2]], columns=COLUMNS[::-1])
    one_more = table(tmp_path / "c.csv", [[*row, 1] for row in ROWS], columns=[*COLUMNS, "more"])
    outcomes = {o.path.name: o for o in library.import_paths([first, other_order, one_more])}
    # "ja" is no verdict that can be read: one of three is unknown.
    assert outcomes["a.csv"].run.n_unknown == 1
    assert "points in gewicht" in outcomes["a.csv"].run.report.recognised_by
    assert outcomes["b.csv"].run.n_items == 2
    assert outcomes["c.csv"].columns is not None


def test_the_same_file_under_another_mapping_is_another_run(library, tmp_path):
    path = table(tmp_path / "a.csv")
    runs = []
    for verdict in ("erfuellt", "score"):
        library.remember_mapping(mapping(verdict=verdict))
        (outcome,) = library.import_paths([path])
        runs.append(outcome.run)
    assert runs[0].id != runs[1].id
    # (7 + 3 - 6) / 10 with all met
    assert runs[1].headline.unclipped == pytest.approx(0.4)


def test_mappings_are_kept_one_for_each_set_of_columns(tmp_path):
    home = tmp_path / "new"
    assert read_mappings(home) == ()
    remember_mapping(home, mapping())
    other = ColumnMapping({"items": "list"}, frozenset({"list", "id"}))
    remember_mapping(home, other)
    remember_mapping(home, mapping(verdict="score"))
    assert read_mappings(home) == (mapping(verdict="score"), other)
    forget_mapping(home, other.names)
    assert read_mappings(home) == (mapping(verdict="score"),)
    assert [path.name for path in home.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"version": 2, "mappings": []}',
        '{"version": 1, "mappings": 3}',
        json.dumps({"version": 1, "mappings": [3, {"names": ["a"], "columns": {"points": 3}}]}),
        json.dumps({"version": 1, "mappings": [{"names": ["a"], "columns": {"nothing": "a"}}]}),
        json.dumps({"version": 1, "mappings": [{"names": [1], "columns": {"points": "a"}}]}),
        "[" * 100_000,
    ],
)
def test_what_cannot_be_read_is_nothing_remembered(tmp_path, content):
    (tmp_path / FILE_NAME).write_text(content)
    assert read_mappings(tmp_path) == ()
    remember_mapping(tmp_path, mapping())
    assert read_mappings(tmp_path) == (mapping(),)


def test_a_mapping_that_cannot_be_kept_is_one_sentence(tmp_path):
    home = tmp_path / "file"
    home.write_text("")
    with pytest.raises(StoreError, match="could not be kept"):
        remember_mapping(home, mapping())


def test_commands_read_tables_by_the_remembered_mappings(library, tmp_path):
    library.remember_mapping(mapping(verdict="score"))
    path = table(tmp_path / "a.csv")
    with opened([str(path)], library.home) as (passing, ids):
        assert passing.summary(ids[0]).headline.unclipped == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"verdict": "score"}, None),
        ({"points": ""}, "Choose the columns of points and of verdicts"),
        ({"verdict": ""}, "Choose the columns of points and of verdicts"),
        ({"prompt_id": ""}, "which conversation a row belongs to"),
        ({"prompt_id": "", "prompt": "fall"}, None),
        (
            {"points": "kriterium", "criterion": ""},
            "Row 1 has no points in column kriterium (it is text, not a number)",
        ),
        ({"verdict": "antwort", "reply": ""}, "Column antwort has no verdict in its first rows"),
        ({"criterion": "fall"}, "Column fall is chosen twice"),
        (
            {"points": "", "verdict": "", "reply": "", "items": "antwort"},
            "Column antwort has no list of criteria",
        ),
    ],
)
def test_a_mapping_is_held_against_the_first_rows(tmp_path, changes, said):
    offered = table_columns(table(tmp_path / "a.csv"))
    problem = problem_of(mapping(**changes), offered)
    assert (problem is None) if said is None else said in problem
    assert problem is None or problem.endswith(".")


def test_a_column_of_lists_is_taken(tmp_path):
    items = json.dumps([{"criterion": "Says rest.", "points": 7, "criteria_met": True}])
    offered = table_columns(table(tmp_path / "a.csv", [["p1", items]], ["fall", "urteile"]))
    assert problem_of(ColumnMapping({"prompt_id": "fall", "items": "urteile"}), offered) is None
