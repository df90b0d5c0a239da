"""Importing on the Runs page, the table of runs and the import report."""

from __future__ import annotations

import graded
import pytest


def upload(app, path):
    app.file_uploader[0].upload(path.name, path.read_bytes())
    app.run()
    assert not app.exception


def table(app):
    return app.dataframe[0].value


def test_an_upload_is_imported_and_becomes_the_run(open_page, texts, one_run):
    app = open_page("runs")
    upload(app, one_run)
    assert "imported: model\\-one, 3 examples." in texts(app)
    assert list(table(app)["run"]) == ["model-one"]
    assert table(app)["score"].iloc[0] == 0
    assert app.sidebar.selectbox(key="run_picker").value == app.query_params["run"]


def test_the_same_file_twice_is_one_run(open_page, texts, one_run):
    app = open_page("runs", one_run)
    upload(app, one_run)
    assert "was imported before" in texts(app)
    assert len(table(app)) == 1


def test_two_files_of_one_name_are_two_runs(open_page, tmp_path, one_run):
    app = open_page("runs")
    other = tmp_path / "other"
    other.mkdir()
    second = graded.allresults(other / one_run.name, *graded.three_examples()[:2])
    for path in (one_run, second):
        app.file_uploader[0].upload(path.name, path.read_bytes())
    app.run()
    assert not app.exception
    assert sorted(table(app)["examples"]) == [2, 3]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.json", b'{"score": 0.5, "metr'),
        ("other.json", b'{"hello": "world"}'),
        ("empty.json", b""),
        ("notes.txt", b"nothing of the kind"),
    ],
)
def test_a_bad_file_is_one_sentence_and_no_run(open_page, texts, tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    app = open_page("runs")
    if content:
        upload(app, path)
    else:
        app.text_input[0].set_value(str(path)).run()
    assert any(name in str(error.value).replace("\\", "") for error in app.error)
    assert "There is no graded run yet." in texts(app)


def test_a_path_on_this_computer_is_opened(open_page, one_run):
    app = open_page("runs")
    app.text_input[0].set_value(str(one_run)).run()
    assert not app.exception
    assert list(table(app)["run"]) == ["model-one"]


def test_a_data_set_gives_the_themes(open_page, texts, tmp_path, one_run):
    app = open_page("runs", one_run)
    rows = [
        graded.dataset_row(row["prompt_id"], *row["rubric_items"], tags=("theme:global_health",))
        for row in graded.three_examples()
    ]
    upload(app, graded.dataset(tmp_path / "data.jsonl", *rows))
    assert "attached: 3 examples." in texts(app)
    app.switch_page("app_pages/score.py").run()
    themes = next(
        frame.value
        for frame in app.dataframe
        if "Global health" in list(frame.value.get("name", []))
    )
    assert themes["n"].iloc[0] == 3


def test_a_removed_run_is_gone(open_page, texts, one_run):
    app = open_page("runs", one_run)
    app.button(key="remove_run").click().run()
    assert not app.exception
    assert "There is no graded run yet." in texts(app)


def test_the_report_says_what_was_understood(open_page, one_run):
    app = open_page("runs", one_run)
    (facts,) = (box for box in app.expander if box.label.startswith("Import report"))
    shown = {key: row.iloc[0] for key, row in facts.table[0].value.iterrows()}
    assert "simple\\-evals" in shown["Understood as"]
    assert shown["Examples"] == "3 of 3 prompts"
    assert shown["Verdicts"].startswith("7 bool")
