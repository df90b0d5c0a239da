"""Whatever happens to the store, every page is a page: it says in a sentence what is wrong and shows no traceback."""

from __future__ import annotations

import errno
import json
import os
import shutil
from contextlib import closing
from pathlib import Path

import graded
import pytest
from streamlit.testing.v1 import element_tree

from healthbench.store import folders, review_file
from healthbench.store.library import Library

ROOT = Path(__file__).resolve().parents[2]
PAGES = [path.stem for path in (ROOT / "app" / "app_pages").glob("*.py")]
TABLES = ("examples", "items", "criteria", "tag_scores")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def keep_shown(monkeypatch):
    """Let a picker keep what it shows when its option is gone, as the browser does and AppTest does not."""
    index = element_tree.Selectbox.index.fget

    def shown(self):
        try:
            return index(self)
        except ValueError:
            raw = self.proto.raw_value
            return self.options.index(raw) if raw in self.options else None

    monkeypatch.setattr(element_tree.Selectbox, "index", property(shown))


def told(app):
    kinds = ("error", "warning", "info")
    return "\n".join(str(e.value) for kind in kinds for e in app.get(kind)).replace("\\", "")


def only_run(home):
    (folder,) = (home / "runs").glob("[!.]*")
    return folder


def no_writing(monkeypatch):
    """Let the store be one that may only be read; permissions do not stop the superuser of a test machine."""

    class Refusing:
        def __init__(self, *_, **__):
            pass

        def __enter__(self):
            raise PermissionError(errno.EACCES, "Permission denied")

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(folders, "FileLock", Refusing)
    monkeypatch.setattr(review_file, "FileLock", Refusing)


@pytest.mark.parametrize("page", PAGES)
def test_a_store_that_is_a_file(open_page, home, one_run, page):
    home.write_text("not a folder")
    app = open_page(page, one_run)
    if page == "runs":
        assert f"{os.sep}home" in told(app)
        assert "could not be written" in told(app)
        assert "There is no graded run yet." in told(app)


@pytest.mark.parametrize("page", PAGES)
def test_a_store_that_may_only_be_read(open_page, home, one_run, monkeypatch, page):
    with closing(Library(home)) as library:
        library.import_paths([one_run])
    no_writing(monkeypatch)
    app = open_page(page)
    assert "could not be written" not in told(app)
    assert "There is no graded run yet." not in told(app)


def test_nothing_changes_in_a_store_that_may_only_be_read(
    open_page, home, one_run, tmp_path, monkeypatch
):
    rows = graded.dataset(tmp_path / "set.jsonl", graded.dataset_row("p1", graded.item()))
    with closing(Library(home)) as library:
        library.import_paths([one_run, rows])
    no_writing(monkeypatch)
    app = open_page("runs")
    app.button(key="remove_run").click().run()
    assert not app.exception
    assert "could not be removed" in told(app)
    (detach,) = (button for button in app.button if button.label == "Detach")
    detach.click().run()
    assert not app.exception
    assert "could not be removed" in told(app)
    other = graded.allresults(tmp_path / "other.json", *graded.three_examples()[:1])
    app.text_input[0].set_value(str(other)).run()
    assert not app.exception
    assert "could not be written" in told(app)
    with closing(Library(home)) as library:
        assert len(library.runs()) == len(library.datasets()) == 1


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("page", ["runs", "score", "example"])
def test_a_damaged_part_is_said_where_the_run_is_shown(open_page, home, one_run, page, table):
    with closing(Library(home)) as library:
        library.import_paths([one_run])
    path = only_run(home) / table / "part-0000.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    app = open_page(page)
    assert "damaged: import its file again" in told(app)
    if page == "runs":
        app.text_input[0].set_value(str(one_run)).run()
        assert not app.exception
        assert "damaged" not in told(app)


def test_what_cannot_be_used_can_be_removed(open_page, home, one_run, tmp_path):
    second = graded.allresults(tmp_path / "second.json", *graded.three_examples()[:2])
    rows = graded.dataset(tmp_path / "set.jsonl", graded.dataset_row("p1", graded.item()))
    with closing(Library(home)) as library:
        outcomes = library.import_paths([one_run, second, rows])
        first, other, data_set = (
            (o.run or o.dataset).id for o in sorted(outcomes, key=lambda o: str(o.path))
        )
    (home / "runs" / first / "items" / "part-0000.parquet").write_bytes(b"PAR1")
    record = home / "runs" / other / "run.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "schema_version": 99}))
    (home / "datasets" / data_set / "examples.parquet").unlink()
    app = open_page("runs", run=first)
    assert "(layout 99, this one reads" in told(app)
    assert told(app).count("damaged") == 2
    for _ in range(3):
        next(button for button in app.button if button.label == "Remove it").click().run()
        assert not app.exception
    assert not [button for button in app.button if button.label == "Remove it"]
    assert not [path for kind in ("runs", "datasets") for path in (home / kind).iterdir()]


@pytest.mark.usefixtures("keep_shown")
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("what", ["run", "data set", "store"])
def test_what_another_process_removes_while_a_page_shows_it(
    open_page, tmp_path, one_run, page, what
):
    home = tmp_path / "home"
    rows = [graded.dataset_row(one["prompt_id"], graded.item()) for one in graded.three_examples()]
    data_set = graded.dataset(tmp_path / "set.jsonl", *rows)
    app = open_page(page, one_run, data_set)
    if what == "store":
        shutil.rmtree(home)
    else:
        with closing(Library(home)) as library:
            if what == "run":
                library.remove(library.runs()[0].id)
            else:
                library.detach_dataset(library.datasets()[0].id)
    app.run()
    assert not app.exception
    assert ("not in this store" in told(app)) == (what != "data set")


def test_an_upload_that_cannot_be_kept_is_a_sentence(open_page, one_run, monkeypatch):
    app = open_page("runs")
    full = OSError(errno.ENOSPC, "No space left on device")
    written = Path.write_bytes

    def refuse(self, content):
        if "uploads" in str(self):
            raise full
        return written(self, content)

    app.file_uploader[0].upload(one_run.name, one_run.read_bytes())
    monkeypatch.setattr(Path, "write_bytes", refuse)
    app.run()
    assert not app.exception
    assert "No space left on device" in told(app)
    assert "There is no graded run yet." in told(app)


def test_an_upload_leaves_nothing_behind(open_page, home, one_run):
    app = open_page("runs")
    app.file_uploader[0].upload(one_run.name, one_run.read_bytes())
    app.run()
    assert not app.exception
    assert only_run(home).exists()
    assert list((home / "uploads").iterdir()) == []


def test_a_path_with_the_separator_of_paths_in_it(open_page, texts, tmp_path):
    folder = tmp_path / f"2026-01-01T10{os.pathsep}00"
    folder.mkdir()
    app = open_page("score", graded.allresults(folder / "r.json", *graded.three_examples()))
    assert "There is no graded run yet." not in texts(app)


def test_no_two_runs_are_called_the_same_in_a_picker(open_page, tmp_path):
    """A picker tells options apart by what they are called: of two of one name, one could never be chosen."""
    files = []
    for number in range(1, 4):
        (tmp_path / str(number)).mkdir()
        name = "healthbench_same_20260101_100000_allresults.json"
        files.append(
            graded.allresults(tmp_path / str(number) / name, *graded.three_examples()[:number])
        )
    app = open_page("examples", *files)
    picker = app.sidebar.selectbox[0]
    assert len(set(picker.options)) == 3
    shown = set()
    for option in list(picker.options):
        app.sidebar.selectbox[0].select(option).run()
        assert app.sidebar.selectbox[0].options[app.sidebar.selectbox[0].index] == option
        shown |= {str(m.value) for m in app.markdown if "examples" in str(m.value)}
    assert len([line for line in shown if " of " in line]) == 3
