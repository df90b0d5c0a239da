"""Runs whose files lack prompt_ids, criteria or tags get them from the data sets attached to the store."""

from __future__ import annotations

from contextlib import closing

import graded
import pytest
from specimens import CASES, dataset_rows, html_report, write_jsonl

from healthbench.readers.dataset import read_dataset
from healthbench.store.library import Library

REPORT = "healthbench_m_20260501_120000.html"


@pytest.fixture
def library(tmp_path):
    with closing(Library(tmp_path / "store")) as opened:
        yield opened


def report(folder):
    path = folder / REPORT
    path.write_text(html_report(), encoding="utf-8")
    return path


def log(folder, **more):
    rows = [
        {
            "prompt_id": case.prompt_id,
            "rubric_index": place,
            "rubric_points": item.points,
            "criteria_met": item.met,
            **more,
        }
        for case in CASES
        for place, item in enumerate(case.items)
    ]
    return write_jsonl(folder / "log.jsonl", rows)


def data(folder, cases=CASES, name="set.jsonl"):
    return write_jsonl(folder / name, dataset_rows(cases))


@pytest.mark.parametrize("make", [report, log])
def test_what_was_imported_before_its_data_set_is_imported_again_with_it(library, tmp_path, make):
    path = make(tmp_path)
    (alone,) = library.import_paths([path])
    library.attach_dataset(data(tmp_path))
    (joined,) = library.import_paths([path])
    assert joined.run.id != alone.run.id
    assert not joined.already_there
    assert library.import_paths([path])[0].already_there
    assert "axis:accuracy" in library.run_scores(joined.run.id).metrics
    assert "axis:accuracy" not in library.run_scores(alone.run.id).metrics
    assert library.themes_from(joined.run.id) == "dataset"
    view = library.example(joined.run.id, 0)
    assert view.prompt_id == "case-1"
    assert view.prompt[-1].content == CASES[0].prompt[-1]["content"]


@pytest.mark.parametrize("make", [report, log])
def test_a_data_set_of_other_conversations_makes_no_other_run(library, tmp_path, make):
    path = make(tmp_path)
    (alone,) = library.import_paths([path])
    others = graded.dataset_row("other", graded.item(), tags=("theme:hedging",))
    library.attach_dataset(graded.dataset(tmp_path / "others.jsonl", others))
    (again,) = library.import_paths([path])
    assert (again.run.id, again.already_there) == (alone.run.id, True)


def test_a_report_and_its_data_set_dropped_together_are_joined(library, tmp_path):
    outcomes = library.import_paths([report(tmp_path), data(tmp_path)])
    (run,) = (outcome.run for outcome in outcomes if outcome.run)
    assert library.themes_from(run.id) == "dataset"


def test_several_attached_data_sets_are_asked(library, tmp_path):
    for number, case in enumerate(CASES):
        library.attach_dataset(data(tmp_path, [case], f"set{number}.jsonl"))
    library.attach_dataset(data(tmp_path, CASES, "all.jsonl"))
    rows = list(read_dataset(library.home / "datasets"))
    assert sorted(row.prompt_id for row in rows) == ["case-1", "case-2", "case-3"]
    (outcome,) = library.import_paths([log(tmp_path)])
    assert not any("are not in the file" in warning for warning in outcome.run.report.warnings)


def test_an_attached_data_set_is_kept_whole(library, tmp_path):
    library.attach_dataset(data(tmp_path))
    kept = list(read_dataset(library.home / "datasets"))
    assert kept == list(read_dataset(tmp_path / "set.jsonl"))


def test_a_file_that_says_all_itself_is_one_run_with_and_without_a_data_set(library, tmp_path):
    path = log(tmp_path, prompt="Q", criterion="C", axis="accuracy")
    (alone,) = library.import_paths([path])
    library.attach_dataset(data(tmp_path))
    assert library.import_paths([path])[0].run.id == alone.run.id
