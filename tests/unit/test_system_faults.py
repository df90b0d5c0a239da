"""What the system or a file's numbers do wrong is one sentence that names the file, and nothing is imported."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path

import graded
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from healthbench.cli import main
from healthbench.errors import InputRefusedError, StoreError
from healthbench.readers import simple_evals
from healthbench.readers.fields import Where, fraction_of, points_of
from healthbench.run_figures import as_json, run_figures
from healthbench.store.library import Library

FAULTS = (
    PermissionError(errno.EACCES, "Permission denied"),
    OSError(errno.EIO, "Input/output error"),
)
FEW = {"max_examples": 40, "deadline": None}


def shut(monkeypatch, method, name, fault):
    """Let one method of Path fail for one file or folder, as the system would."""
    original = getattr(Path, method)

    def failing(self, *args, **options):
        if self.name == name:
            raise fault
        return original(self, *args, **options)

    monkeypatch.setattr(Path, method, failing)


def refusals(home, path, dataset=None):
    with closing(Library(home)) as library:
        outcomes = library.import_paths([path], dataset)
        assert library.runs() == []
        assert library.datasets() == []
    assert all(outcome.run is None for outcome in outcomes)
    return [outcome.refusal for outcome in outcomes]


@pytest.mark.parametrize("fault", FAULTS, ids=["not allowed", "broken disk"])
@pytest.mark.parametrize("method", ["open", "stat"])
def test_a_file_the_system_does_not_give(tmp_path, monkeypatch, method, fault):
    path = graded.allresults(tmp_path / "shut.json", *graded.three_examples())
    shut(monkeypatch, method, path.name, fault)
    (sentence,) = refusals(tmp_path / "home", path)
    assert sentence.startswith(f"shut.json cannot be read ({fault.strerror})")


def test_a_folder_that_may_not_be_listed_hides_no_other_file(tmp_path, monkeypatch):
    folder = tmp_path / "runs"
    (folder / "locked").mkdir(parents=True)
    graded.allresults(folder / "good.json", *graded.three_examples())
    shut(monkeypatch, "iterdir", "locked", FAULTS[0])
    with closing(Library(tmp_path / "home")) as library:
        outcomes = library.import_paths([folder])
        assert [run.info.source for run in library.runs()] == ["good.json"]
    assert [o.refusal for o in outcomes if o.refusal] == [
        "locked cannot be read (Permission denied); check that it is a readable file."
    ]


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_disk_that_fails_while_a_file_is_read(tmp_path, monkeypatch, after):
    """The file is at fault and is named, not the store that is being written meanwhile."""
    whole = simple_evals.json_items

    def failing(path, prefix, **options):
        for number, value in enumerate(whole(path, prefix, **options)):
            if prefix.endswith("item") and number == after:
                raise OSError(errno.EIO, "Input/output error")
            yield value

    monkeypatch.setattr(simple_evals, "json_items", failing)
    path = graded.allresults(tmp_path / "torn.json", *graded.three_examples())
    (sentence,) = refusals(tmp_path / "home", path)
    assert sentence.startswith("torn.json cannot be read (Input/output error)")
    assert list((tmp_path / "home" / "runs").iterdir()) == []


def test_a_data_set_the_system_does_not_give(tmp_path, monkeypatch):
    path = graded.dataset(tmp_path / "set.jsonl", graded.dataset_row("p1", graded.item()))
    shut(monkeypatch, "open", path.name, FAULTS[0])
    with (
        closing(Library(tmp_path / "home")) as library,
        pytest.raises(InputRefusedError, match="set"),
    ):
        library.attach_dataset(path)


NUMBERS = st.one_of(
    st.integers(-12, 12),
    st.integers(),
    st.sampled_from([10**30, 10**308, 10**309, -(10**400), 2**63, -(2**63) - 1]),
    st.floats(),
    st.sampled_from([5e-324, 1e-320, -1e-300, 1e-6, 1e-7, 999.999, 1000.0001, 1e308, -0.0]),
)


@given(NUMBERS)
def test_points_are_computed_with_or_refused(value):
    """Whatever number a file holds, a sum of 5,000 criteria over the least of them stays a number."""
    with suppress(InputRefusedError):
        points = points_of(value, Where("r.json", 1, 1))
        assert math.isfinite(5000 * 1000 / points)


@given(st.one_of(NUMBERS, st.booleans(), st.none(), st.text()))
def test_a_stated_figure_is_a_finite_number_or_none(value):
    stated = fraction_of(value)
    assert stated is None or math.isfinite(stated)


@settings(**FEW, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    points=st.lists(NUMBERS, min_size=1, max_size=4), score=NUMBERS, overall=NUMBERS, met=NUMBERS
)
def test_any_numbers_in_a_file_end_in_finite_figures_or_a_refusal(
    tmp_path, points, score, overall, met
):
    items = [graded.item(value, True, criterion=f"c{n}") for n, value in enumerate(points)]
    one = graded.example("p1", *items, graded.item(5, met), score=score)
    path = graded.allresults(tmp_path / "r.json", one, metrics={"overall_score": overall})
    with closing(Library(tmp_path / "home")) as library:
        (outcome,) = library.import_paths([path])
        if outcome.run is None:
            assert outcome.refusal.startswith("r.json")
            return
        json.dumps(as_json(run_figures(library, outcome.run.id), str(path)), allow_nan=False)
        library.remove(outcome.run.id)


def test_a_rubric_beyond_any_use_is_refused(tmp_path):
    items = [graded.item(1, True, criterion=f"c{n}") for n in range(5001)]
    path = graded.allresults(tmp_path / "r.json", graded.example("p1", *items))
    (sentence,) = refusals(tmp_path / "home", path)
    assert sentence.startswith("r.json, example 1: its rubric has 5,001 criteria")


def test_a_store_that_is_a_file_is_one_sentence(tmp_path):
    path = graded.allresults(tmp_path / "r.json", *graded.three_examples())
    home = tmp_path / "home"
    home.write_text("not a folder")
    with closing(Library(home)) as library:
        assert library.runs() == []
        with pytest.raises(StoreError, match=f"{os.sep}home"):
            library.import_paths([path])
    assert home.read_text() == "not a folder"


def test_no_room_for_passing_files_is_one_sentence(tmp_path, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = graded.allresults(tmp_path / "r.json", *graded.three_examples())
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    monkeypatch.setattr(sys, "argv", ["healthbench", "score", str(path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("No passing folder could be made (No space left")
