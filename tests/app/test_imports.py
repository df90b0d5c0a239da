"""Importing many files, mapping the columns of a table, the whole import report, and the export menu."""

from __future__ import annotations

import csv

import graded
import pytest

COLUMNS = ["fall", "antwort", "kriterium", "gewicht", "erfuellt"]
# Points 7, 3, -6 with met, not met, met: (7 - 6) / 10 = 0.1.
ROWS = [
    ["p1", "Ruhe.", "Says rest.", 7, "true"],
    ["p1", "Ruhe.", "Asks how long.", 3, "false"],
    ["p1", "Ruhe.", "Guesses.", -6, "true"],
]
MAPPED = {
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


def upload(app, *paths):
    for path in paths:
        app.file_uploader[0].upload(path.name, path.read_bytes())
    app.run()
    assert not app.exception


def forty_files(folder):
    """39 runs of one example each, and one that is cut off in the middle."""
    folder.mkdir()
    for number in range(40):
        path = folder / f"healthbench_m{number:02}_20260101_100000_allresults.json"
        graded.allresults(path, graded.example(f"p{number}", graded.item(5, True)))
        if number == 17:
            path.write_bytes(path.read_bytes()[:-60])
    return sorted(folder.iterdir())


def choose(app, **columns):
    for field, column in columns.items():
        (box,) = (b for b in app.selectbox if b.key and b.key.startswith(f"map_{field}_"))
        box.set_value(column)


def submit(app):
    (button,) = (b for b in app.button if b.label == "Import by this mapping")
    button.click().run()
    assert not app.exception


def errors(app):
    """The refusals but that of the empty folder on which the tests start."""
    told = (str(error.value).replace("\\", "") for error in app.error)
    return [sentence for sentence in told if not sentence.startswith("nothing is a folder")]


def runs(app):
    """The table of runs, which stands below what became of an import."""
    return next(frame.value for frame in app.dataframe if "examples" in frame.value)


def facts(app):
    (box,) = (box for box in app.expander if box.label.startswith("Import report"))
    return {key: row.iloc[0] for key, row in box.table[0].value.iterrows()}


@pytest.mark.parametrize("way", ["folder", "upload"])
def test_forty_files_of_which_one_is_broken(open_page, texts, tmp_path, way):
    files = forty_files(tmp_path / "forty")
    app = open_page("runs")
    if way == "folder":
        app.text_input[0].set_value(str(tmp_path / "forty")).run()
    else:
        upload(app, *files)
    assert not app.exception
    assert "39 runs imported." in texts(app)
    (refused,) = errors(app)
    assert "m17" in refused
    assert len(runs(app)) == 39


def test_many_refusals_are_folded(open_page, tmp_path):
    paths = [tmp_path / f"{number}.json" for number in range(8)]
    for path in paths:
        path.write_text("{")
    app = open_page("runs")
    upload(app, *paths)
    assert len(app.error) == 5
    assert any("4 more refusals" in box.label for box in app.expander)


def test_a_table_is_mapped_and_the_next_like_it_is_read(open_page, texts, tmp_path):
    app = open_page("runs")
    upload(app, table(tmp_path / "a.csv"))
    assert any("map its columns" in error for error in errors(app))
    preview = next(frame.value for frame in app.dataframe if list(frame.value) == COLUMNS)
    assert list(preview["kriterium"]) == ["Says rest.", "Asks how long.", "Guesses."]

    choose(app, **{**MAPPED, "verdict": "antwort", "reply": None})
    submit(app)
    assert any("no verdict in its first rows" in error for error in errors(app))
    assert "There is no graded run yet." in texts(app)

    choose(app, **MAPPED)
    submit(app)
    assert "imported: a\\.csv, 1 example." in texts(app)
    assert not errors(app)
    assert runs(app)["score"].iloc[0] == pytest.approx(0.1)
    assert "points in gewicht" in facts(app)["Understood as"].replace("\\", "")

    upload(app, table(tmp_path / "b.csv", [*ROWS, ["p2", "Eile.", "Says rest.", 7, "true"]]))
    assert not errors(app)
    assert len(runs(app)) == 2


def test_tables_of_the_same_columns_are_mapped_together(open_page, tmp_path):
    first = table(tmp_path / "a.csv")
    second = table(tmp_path / "b.csv", [*ROWS, ["p2", "Eile.", "Says rest.", 7, "true"]])
    other = table(tmp_path / "c.csv", [[1, 2]], ["x", "y"])
    app = open_page("runs")
    upload(app, first, second, other)
    assert [box.label.replace("\\", "") for box in app.expander if box.label.startswith("Map")] == [
        "Map the columns of a.csv and 1 more table like it",
        "Map the columns of c.csv",
    ]
    (choice,) = {b.key.rsplit("_", 1)[1] for b in app.selectbox if "gewicht" in b.options}
    for field, column in MAPPED.items():
        app.selectbox(key=f"map_{field}_{choice}").set_value(column)
    next(b for b in app.button if b.label == "Import by this mapping").click().run()
    assert not app.exception
    assert sorted(runs(app)["examples"]) == [1, 2]
    assert [error.split()[0] for error in errors(app)] == ["c.csv"]


def test_a_remembered_mapping_can_be_forgotten(open_page, tmp_path):
    app = open_page("runs")
    upload(app, table(tmp_path / "a.csv"))
    choose(app, **MAPPED)
    submit(app)
    app.button(key="forget_0").click().run()
    assert not app.exception
    upload(app, table(tmp_path / "b.csv", ROWS[:1]))
    assert any("map its columns" in error for error in errors(app))


def test_a_table_named_at_the_start_can_be_mapped(open_page, tmp_path):
    app = open_page("runs", table(tmp_path / "a.csv"))
    choose(app, **MAPPED)
    submit(app)
    assert not errors(app)
    assert len(runs(app)) == 1


def test_the_report_is_complete(open_page, texts, tmp_path):
    examples = graded.three_examples()
    examples[0]["rubric_items"][0]["criteria_met"] = "true"
    examples[1]["rubric_items"][0]["criteria_met"] = None
    path = graded.allresults(
        tmp_path / "healthbench_m_20260101_100000_allresults.json",
        *examples,
        examples[2],
        metrics={"overall_score": 0.5, "overall_score:n_samples": 4},
        score=0.5,
    )
    app = open_page("runs", path)
    shown = facts(app)
    assert shown["Understood as"].startswith("simple\\-evals allresults (by ")
    assert shown["Rows read"] == "4"
    assert shown["Examples"] == "4 of 3 prompts"
    assert shown["Skipped"] == "none"
    assert set(shown["Verdicts"].partition(";")[0].split(", ")) == {
        "1 string",
        "7 bool",
        "1 null",
    }
    assert shown["Verdicts"].endswith("; 1 unknown")
    assert "answered 2 times" in shown["Duplicates"]
    assert shown["Themes"].startswith("inferred from consensus clusters")
    assert shown["Axes"] == "from the run file"
    assert shown["The producer clips"] == "once, the mean of the run"
    assert shown["Figures of the file"].startswith(
        "0 of 2 equal ours; the file's score is 50.0, ours "
    )
    assert "verdicts are missing or unreadable" in texts(app)


def test_the_export_menu_leaves_texts_out_where_a_canary_was_seen(open_page, texts, tmp_path):
    row = graded.example("p1", graded.item(), canary="x")
    marked = graded.allresults(tmp_path / "r.json", row)
    app = open_page("runs", marked)
    names = [button.proto.label for button in app.get("download_button")]
    assert {"JSON lines", "simple-evals JSON", "CSV", "Parquet"} <= set(names)
    (toggle,) = (t for t in app.toggle if t.key.startswith("export_texts_"))
    assert not toggle.value
    assert "are left out, because the benchmark's canary was seen" in texts(app)
    toggle.set_value(True).run()
    assert "The texts and the canary go into the file." in texts(app)


def test_without_a_canary_texts_are_in_the_export(open_page, texts, one_run):
    app = open_page("runs", one_run)
    (toggle,) = (t for t in app.toggle if t.key.startswith("export_texts_"))
    assert toggle.value
    assert "explanations are in the file." in texts(app)
