"""The README's tables of formats: every row is read (or refused) in a fixture of that form, and gives what it says."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest
from forms import NOT_READ, READ
from specimens import ORACLE, dataset_rows, write_jsonl

from healthbench.readers import READERS, find_runs
from healthbench.readers.head import look
from healthbench.scoring.example import example_score
from healthbench.store.library import Library

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def table_after(heading):
    """The rows of the first table after a heading or sentence, cells by column."""
    lines = README[README.index(heading) :].splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


FORMATS = table_after("## Files it reads")
REFUSED = table_after("Refused by name")


def carries(library, path):
    """What a run holds once it is in the store, by the README's columns."""
    (outcome,) = library.import_paths([path])
    assert outcome.refusal is None, outcome.refusal
    run = outcome.run
    views = [library.example(run.id, row) for row in range(run.n_examples)]
    for view in views:
        points, met = view.ledger["points"], view.ledger["stored"]
        score = example_score(list(points), [None if m != m else bool(m) for m in met])  # noqa: PLR0124 - NaN
        name = view.prompt_id if view.prompt_id in ORACLE else list(ORACLE)[view.example]
        assert score == pytest.approx(ORACLE[name], abs=1e-12)
    ledgers = [row for view in views for row in view.ledger.to_dict("records")]
    metrics = library.run_scores(run.id).metrics
    return run, {
        "criteria": not any("is not in the file" in row["criterion"] for row in ledgers),
        "conversation": all(view.prompt for view in views),
        "reply": all(view.reply for view in views),
        "explanations": all(row["explanation"] for row in ledgers),
        "themes": any(name.startswith("theme:") for name in metrics),
        "axes": any(name.startswith("axis:") for name in metrics),
        "model": run.info.model is not None,
        "grader": run.info.grader is not None,
    }


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row["format"])
def test_a_file_of_each_form_carries_what_its_row_says(tmp_path, row):
    for name in ("alone", "joined"):
        (tmp_path / name).mkdir()
    path = READ[row["format"]](tmp_path / "alone")
    dataset = write_jsonl(tmp_path / "set.jsonl", dataset_rows())
    alone = {}
    if "cannot be read without the data set" in row["what is lost, and what to know"]:
        with closing(Library(tmp_path / "alone" / "store")) as library:
            (outcome,) = library.import_paths([path])
        assert "attach the data set" in outcome.refusal
        alone = {"model": True, "grader": True}  # its name says them
    else:
        with closing(Library(tmp_path / "alone" / "store")) as library:
            run, alone = carries(library, path)
    with closing(Library(tmp_path / "joined" / "store")) as library:
        library.attach_dataset(dataset)
        run, joined = carries(library, path)
    for column, has in joined.items():
        said = row[column]
        assert said in {"yes", "no", "data set", "file name"}, column
        assert has == (said != "no"), f"{column} with the data set"
        assert alone.get(column, False) == (said in {"yes", "file name"}), f"{column} without it"
        if said == "file name":
            assert getattr(run.info, column) in path.name


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row["file"])
def test_what_is_refused_by_name_is_refused_so(tmp_path, row):
    (found,) = find_runs([NOT_READ[row["file"]](tmp_path)])
    runs = [run for run in found.runs if list(run.examples())]
    assert not runs
    assert row["said"] in str(found.refused)


def test_every_fixture_has_a_row_and_every_row_a_fixture():
    assert [row["format"] for row in FORMATS] == list(READ)
    assert [row["file"] for row in REFUSED] == list(NOT_READ)


def test_every_reader_has_a_row(tmp_path):
    """A reader is known by the fixtures that it is the first to recognise."""
    used = set()
    for number, make in enumerate(READ.values()):
        (tmp_path / str(number)).mkdir()
        head = look(make(tmp_path / str(number)))
        if head.kind == "folder" and not any(reader.recognise(head) for reader in READERS):
            head = look(min(head.path.iterdir()))
        place = next(n for n, reader in enumerate(READERS) if reader.recognise(head))
        used.add(READERS[place].recognise.__module__)
    assert used == {reader.recognise.__module__ for reader in READERS}


def test_the_linked_schema_is_there():
    (link,) = re.findall(r"\]\((healthbench/readers/schema/[^)]+)\)", README)
    assert (Path(__file__).parents[2] / link).is_file()
