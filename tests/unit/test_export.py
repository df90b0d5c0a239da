"""What is exported comes back as the same run, in every format."""

from __future__ import annotations

import csv
import json
from contextlib import closing
from pathlib import Path

import duckdb
import graded
import pytest
from forms import READ
from specimens import dataset_rows, write_jsonl

from healthbench.errors import InputRefusedError, StoreError
from healthbench.export import SUFFIXES, canary_of_run, export_run, stored_examples, suggested_name
from healthbench.readers import open_runs
from healthbench.scoring.aggregate import summarize
from healthbench.scoring.run_scores import from_examples
from healthbench.scoring.verification import verify
from healthbench.store.library import Library

SAMPLES = Path(__file__).parents[2] / "sample_runs"
NAME = "healthbench_some-model_20260101_120000_allresults.json"


@pytest.fixture
def library(tmp_path):
    with closing(Library(tmp_path / "store")) as opened:
        yield opened


def imported(library, path):
    (outcome,) = library.import_paths([path])
    assert outcome.refusal is None
    return outcome.run.id


def odd_run(folder):
    """A run with repeats, failed and missing verdicts, an error, formulas, and a row without criteria with points."""
    return graded.allresults(
        folder / NAME,
        graded.example(
            "p1",
            graded.item(7, True, "axis:accuracy", criterion="=SUM(A1)"),
            graded.item(-2.5, False, "axis:accuracy", explanation="Failed to parse after retries"),
            graded.item(3, None, criterion='- Lists, "quotes"\nand lines'),
            reply="- Rest\n- Drink 🩺 مرحبا",
            error="HTTP 500",
            example_tags=["theme:hedging"],
        ),
        graded.example("p1", graded.item(7, False, "axis:accuracy"), reply="@cmd"),
        graded.example("p2", graded.item(-3, True), graded.item(5, True), graded.item(5, False)),
    )


def metrics_of(examples):
    return {
        name: (result.score, result.unclipped, result.n, result.bounds)
        for name, result in summarize(from_examples(examples)).items()
    }


def everything_of(library, run_id):
    """The run's examples, what is known of it, and all its metrics under both readings of failed grades."""
    metrics = [
        {
            name: (result.score, result.unclipped, result.n, result.bounds)
            for name, result in summarize(
                library.run_scores(run_id, as_stored=as_stored, inferred=True)
            ).items()
        }
        for as_stored in (False, True)
    ]
    return list(stored_examples(library, run_id)), library.summary(run_id).info, metrics


def any_run(name, folder, library):
    """Import a sample run, the odd run, or a run in one of the README's forms."""
    if name == "odd":
        return imported(library, odd_run(folder))
    if name.endswith(".json"):
        return imported(library, SAMPLES / name)
    library.attach_dataset(write_jsonl(folder / "set.jsonl", dataset_rows()))
    return imported(library, READ[name](folder))


@pytest.mark.parametrize("name", ["odd", *(path.name for path in SAMPLES.glob("*.json")), *READ])
def test_any_run_survives_our_lines_and_keeps_its_metrics_as_allresults(library, tmp_path, name):
    run_id = any_run(name, tmp_path, library)
    before, info, metrics = everything_of(library, run_id)
    lines = export_run(library, run_id, tmp_path / "lines.jsonl", "jsonl", texts=True)
    evals = export_run(library, run_id, tmp_path / "out_allresults.json", "allresults", texts=True)
    with closing(Library(tmp_path / "other")) as other:
        assert everything_of(other, imported(other, lines.path)) == (before, info, metrics)
        again = imported(other, evals.path)
        examples, _, (withheld, _) = everything_of(other, again)
        assert withheld == metrics[0]
        assert [example.reply for example in examples] == [example.reply for example in before]
        check = verify(
            other.summary(again).info.stated,
            other.run_scores(again, as_stored=True),
            "simple-evals",
        )
        assert check is None or not check.differences


@pytest.mark.parametrize("form", SUFFIXES)
def test_round_trips(library, tmp_path, form):
    run_id = imported(library, odd_run(tmp_path))
    before = list(stored_examples(library, run_id))
    exported = export_run(library, run_id, tmp_path / f"out{SUFFIXES[form]}", form)
    (run,) = open_runs([exported.path])
    after = list(run.examples())
    assert metrics_of(after) == metrics_of(before)
    assert [e.reply for e in after] == [e.reply for e in before]
    assert [e.criteria for e in after] == [e.criteria for e in before]
    assert [[v.met for v in e.verdicts] for e in after] == [
        [v.met for v in e.verdicts] for e in before
    ]
    assert after[0].example_tags == ("theme:hedging",)
    assert after[0].error == "HTTP 500"
    if form != "allresults":
        assert after == before
        assert run.info.model == "some-model"


def test_jsonl_keeps_what_is_known_of_the_run(library, tmp_path):
    run_id = imported(library, odd_run(tmp_path))
    exported = export_run(library, run_id, tmp_path, "jsonl")
    assert exported.path.name == "healthbench_some-model_20260101_120000.jsonl"
    (run,) = open_runs([exported.path])
    assert run.info == library.summary(run_id).info
    again = imported(library, exported.path)
    second = export_run(library, again, tmp_path / "again.jsonl", "jsonl")
    assert second.path.read_bytes() == exported.path.read_bytes()


def test_stated_figures_of_an_allresults_export_match(library, tmp_path):
    path = next(SAMPLES.glob("*_repeats4_allresults.json"))
    run_id = imported(library, path)
    exported = export_run(library, run_id, tmp_path / f"copy_{path.name}", "allresults")
    original, copy = (json.loads(p.read_text(encoding="utf-8")) for p in (path, exported.path))
    ours = copy["metrics"]
    for name, value in original["metrics"].items():
        if name in ours:
            assert ours[name] == pytest.approx(value, abs=1e-12)
    assert ours["overall_score"] == copy["score"] == pytest.approx(original["score"], abs=1e-12)
    (run,) = open_runs([exported.path])
    assert run.info.synthetic


def test_themes_of_an_attached_data_set_travel_with_the_run(library, tmp_path):
    library.import_paths([SAMPLES / "healthbench_sample.jsonl"])
    run_id = imported(library, next(SAMPLES.glob("*sample-careful*_allresults.json")))
    exported = export_run(library, run_id, tmp_path / "run.jsonl")
    (run,) = open_runs([exported.path])
    assert all(any(tag.startswith("theme:") for tag in e.example_tags) for e in run.examples())


def test_texts_are_left_out_where_a_canary_was_seen_unless_asked(library, tmp_path):
    path = graded.allresults(
        tmp_path / NAME,
        graded.example("p1", graded.item(7, True, criterion="Secret"), reply="Hidden", canary="x"),
    )
    run_id = imported(library, path)
    assert canary_of_run(library, run_id) == "x"
    for form, suffix in SUFFIXES.items():
        left_out = export_run(library, run_id, tmp_path / f"a{suffix}", form)
        assert not left_out.texts
        assert not any(
            word in left_out.path.read_bytes() for word in (b"Secret", b"Hidden", b"A question")
        )
        kept = export_run(library, run_id, tmp_path / f"b{suffix}", form, texts=True)
        (run,) = open_runs([kept.path])
        (one,) = run.examples()
        assert (one.reply, one.criteria[0].text) == ("Hidden", "Secret")
        assert run.report.canary == "x"


def test_an_attached_data_set_with_a_canary_counts_for_its_conversations_only(library, tmp_path):
    rows = [
        {
            "prompt_id": "p1",
            "prompt": [{"role": "user", "content": "Q"}],
            "rubrics": [],
            "canary": "x",
        },
    ]
    dataset = tmp_path / "set.jsonl"
    dataset.write_text("\n".join(map(json.dumps, rows)))
    library.attach_dataset(dataset)
    known = imported(
        library, graded.allresults(tmp_path / NAME, graded.example("p1", graded.item()))
    )
    other = imported(
        library, graded.allresults(tmp_path / "other.json", graded.example("p9", graded.item()))
    )
    assert canary_of_run(library, known) == "x"
    assert not canary_of_run(library, other)


def test_tables_have_a_row_a_criterion_and_run_no_formula(library, tmp_path):
    run_id = imported(library, odd_run(tmp_path))
    path = export_run(library, run_id, tmp_path / "run.csv", "csv").path
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7
    assert rows[0]["criterion"] == "'=SUM(A1)"
    assert rows[0]["reply"].startswith("'- Rest")
    assert rows[1]["reply"] == ""
    assert [row["criteria_met"] for row in rows[:3]] == ["true", "false", ""]
    parquet = export_run(library, run_id, tmp_path / "run.parquet", "parquet").path
    found = duckdb.sql(
        f"SELECT count(*), sum(points) FROM '{parquet}' WHERE criteria_met"
    ).fetchall()
    assert found == [(3, 9.0)]  # met: 7, -3, 5


def test_what_cannot_be_written_leaves_nothing(library, tmp_path):
    run_id = imported(library, odd_run(tmp_path))
    with pytest.raises(InputRefusedError, match="xml is no export format"):
        export_run(library, run_id, tmp_path / "x", "xml")
    with pytest.raises(StoreError, match="could not be written"):
        export_run(library, run_id, tmp_path / "no folder" / "x.csv", "csv")
    with pytest.raises(StoreError):
        export_run(library, "unknown", tmp_path / "x.csv", "csv")
    assert not [p for p in tmp_path.iterdir() if p.name.startswith((".x", "x"))]


def test_names(library, tmp_path):
    run_id = imported(
        library, graded.allresults(tmp_path / "odd name.json", graded.example("p1", graded.item()))
    )
    summary = library.summary(run_id)
    assert suggested_name(summary, "csv") == f"healthbench_{run_id}.csv"
