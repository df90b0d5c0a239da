"""``healthbench export``: any run as a file in each of four forms."""

from __future__ import annotations

from contextlib import closing

import graded
import pytest
from typer.testing import CliRunner

from healthbench.cli import app
from healthbench.errors import InputRefusedError
from healthbench.export import SUFFIXES
from healthbench.readers import open_runs
from healthbench.store.library import Library

NAME = "healthbench_some-model_20260101_120000_allresults.json"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HEALTHBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    return graded.allresults(folder / NAME, *graded.three_examples())


def export(*arguments):
    return CliRunner().invoke(app, ["export", *map(str, arguments)], catch_exceptions=False)


@pytest.mark.parametrize("form", SUFFIXES)
def test_a_file_becomes_a_file_of_each_form_named_after_the_run(run, tmp_path, form):
    done = export(run, "--format", form)
    written = tmp_path / f"healthbench_some-model_20260101_120000{SUFFIXES[form]}"
    assert done.output == f"3 examples are in {written.name}, with texts.\n"
    (again,) = open_runs([written])
    assert len(list(again.examples())) == 3


def test_a_stored_run_is_named_by_its_id_and_nothing_is_kept(run, tmp_path, home):
    with closing(Library(home)) as library:
        (outcome,) = library.import_paths([run])
    done = export(outcome.run.id, "--out", tmp_path / "x.jsonl", "--no-texts")
    assert done.output.endswith("x.jsonl, without texts.\n")
    assert "A question?" not in (tmp_path / "x.jsonl").read_text(encoding="utf-8")
    with closing(Library(home)) as library:
        assert [one.id for one in library.runs()] == [outcome.run.id]


def test_where_a_canary_was_seen_texts_are_written_only_when_asked_for(tmp_path):
    marked = graded.allresults(
        tmp_path / "r.json", graded.example("p1", graded.item(), reply="Hidden", canary="x")
    )
    out = tmp_path / "x.jsonl"
    assert "because the benchmark's canary was seen" in export(marked, "--out", out).output
    assert "Hidden" not in out.read_text(encoding="utf-8")
    assert "with texts and the canary" in export(marked, "--texts", "--out", out).output
    assert "Hidden" in out.read_text(encoding="utf-8")


def test_the_runs_own_file_is_never_replaced(run, monkeypatch):
    before = run.read_bytes()
    monkeypatch.chdir(run.parent)
    with pytest.raises(InputRefusedError, match="is the run's own file"):
        export(run.name, "--format", "allresults")
    assert run.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("missing.json",), "neither a file nor the id"), (("--format", "xml"), "no export format")],
)
def test_what_cannot_be_exported_is_one_sentence(run, arguments, said):
    name = [] if "missing.json" in arguments else [run]
    with pytest.raises(InputRefusedError, match=said):
        export(*name, *arguments)
