"""Reviews can be read where nothing can be written, and are written again as soon as they can be."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import closing

import pytest

from healthbench.errors import StoreError
from healthbench.store import review_file
from healthbench.store.review_file import FILE_NAME, ReviewFile

FAULTS = {
    "not allowed": PermissionError(errno.EACCES, "Permission denied"),
    "read-only": OSError(errno.EROFS, "Read-only file system"),
    "full": sqlite3.OperationalError("database or disk is full"),
}


def names(file):
    with file.reading() as db:
        return [name for (name,) in db.execute("SELECT name FROM queues")]


def add(file, name):
    with file.writing() as db:
        db.execute("INSERT INTO queues VALUES (?, ?, 'r', 'now', '{}', '[]')", [name, name])


def let_nothing_be_written(monkeypatch, fault):
    def refuse(*_, **__):
        raise FAULTS[fault]

    monkeypatch.setattr(review_file, "FileLock", refuse)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("left_open", [False, True], ids=["closed", "still open elsewhere"])
def test_what_is_there_is_read(tmp_path, monkeypatch, left_open, fault):
    first = ReviewFile(tmp_path / FILE_NAME)
    add(first, "a")
    if not left_open:
        first.close()
    let_nothing_be_written(monkeypatch, fault)
    with closing(ReviewFile(tmp_path / FILE_NAME)) as file:
        assert names(file) == ["a"]
        with pytest.raises(StoreError, match="check the disk and the permissions"):
            add(file, "b")
        assert names(file) == ["a"]
        monkeypatch.undo()
        add(file, "b")
        assert names(file) == ["a", "b"]
    if left_open:
        assert names(first) == ["a", "b"]
        first.close()


@pytest.mark.parametrize("fault", FAULTS)
def test_without_a_file_there_is_no_review(tmp_path, monkeypatch, fault):
    let_nothing_be_written(monkeypatch, fault)
    home = tmp_path / "home"
    with closing(ReviewFile(home / FILE_NAME)) as file:
        assert names(file) == []
        with pytest.raises(StoreError):
            add(file, "a")
        monkeypatch.undo()
        add(file, "a")
        assert names(file) == ["a"]


@pytest.mark.parametrize("content", [b"no database at all" * 100, b""])
def test_a_damaged_file_is_a_sentence_or_taken_as_new(tmp_path, content):
    path = tmp_path / FILE_NAME
    path.write_bytes(content)
    if content:
        with pytest.raises(StoreError, match="do not delete it"):
            ReviewFile(path)
        assert path.read_bytes() == content
    else:
        with closing(ReviewFile(path)) as file:
            assert names(file) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_newer_layout_is_refused_for_reading_too(tmp_path, monkeypatch, fault):
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as db:
        db.execute("PRAGMA user_version = 99")
    let_nothing_be_written(monkeypatch, fault)
    with pytest.raises(StoreError, match="newer version"):
        ReviewFile(tmp_path / FILE_NAME)
