"""The one SQLite file of reviews: how it is opened, shared by threads and processes, and written.

WAL with full synchronisation, because a review counts only once it would survive a power cut. It is a file of its own
beside the grade cache, because a cache may be deleted and a review may not.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock

from healthbench.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAYOUT = 1
FILE_NAME = "reviews.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    run TEXT NOT NULL,
    example INTEGER NOT NULL,
    position INTEGER NOT NULL,
    prompt_id TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    role TEXT NOT NULL,
    decision TEXT,
    blind INTEGER NOT NULL,
    reason TEXT,
    note TEXT,
    confidence TEXT,
    grader_met INTEGER,
    supersedes TEXT,
    seconds REAL,
    queue TEXT,
    chance REAL
) STRICT;
CREATE INDEX IF NOT EXISTS events_of_item ON events (run, example, position);
CREATE TRIGGER IF NOT EXISTS events_never_change BEFORE UPDATE ON events
BEGIN SELECT raise(ABORT, 'reviews are append-only'); END;
CREATE TRIGGER IF NOT EXISTS events_never_go BEFORE DELETE ON events
BEGIN SELECT raise(ABORT, 'reviews are append-only'); END;
CREATE TABLE IF NOT EXISTS queues (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    run TEXT NOT NULL,
    created TEXT NOT NULL,
    plan TEXT NOT NULL,
    assigned TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS queue_items (
    queue TEXT NOT NULL,
    place INTEGER NOT NULL,
    run TEXT NOT NULL,
    example INTEGER NOT NULL,
    position INTEGER NOT NULL,
    chance REAL,
    PRIMARY KEY (queue, place)
) STRICT, WITHOUT ROWID;
"""


class ReviewFile:
    """The open file; safe to share between threads, and to open from several processes at once.

    Where nothing can be written (a folder without the permission, a full disk), what is there is read all the same, and
    every write tries anew to open the file for writing.

    Args:
        path: The SQLite file, made with its folder where it does not exist.

    Raises:
        StoreError: The file cannot be opened, or a newer version wrote it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        with self._named_errors():
            try:
                self._db = self._open()
                self._only_reading = False
            except (sqlite3.OperationalError, OSError):
                self._db = self._open_for_reading()
                self._only_reading = True

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # SQLite does not wait for its own timeout while the journal mode is being changed.
        with FileLock(f"{self.path}.lock", timeout=30):
            db = _connect(self.path)
            try:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = FULL")
                if self._layout(db) < LAYOUT:
                    db.executescript(_SCHEMA)
                    db.execute(f"PRAGMA user_version = {LAYOUT}")
            except BaseException:
                db.close()
                raise
        return db

    def _open_for_reading(self) -> sqlite3.Connection:
        if not self.path.exists():
            db = _connect(":memory:")
            db.executescript(_SCHEMA)
            db.execute("PRAGMA query_only = ON")
            return db
        # Reviews that wait in a write-ahead log are seen only by who may use it; without one nothing else can change.
        waiting = self.path.with_name(f"{self.path.name}-wal").exists()
        db = _connect(f"{self.path.resolve().as_uri()}?mode=ro{'' if waiting else '&immutable=1'}")
        try:
            self._layout(db)
        except BaseException:
            db.close()
            raise
        return db

    def _layout(self, db: sqlite3.Connection) -> int:
        found = int(db.execute("PRAGMA user_version").fetchone()[0])
        if found > LAYOUT:
            raise StoreError(
                f"{self.path.name} was written by a newer version (layout {found}, this one knows {LAYOUT}): "
                "update before reviewing; nothing was changed."
            )
        return found

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread for a query."""
        with self._lock, self._named_errors():
            yield self._db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection inside a transaction that no other writer shares; on leaving it is on the disk."""
        with self._lock, self._named_errors():
            if self._only_reading:
                writable = self._open()
                self._db.close()
                self._db, self._only_reading = writable, False
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self.path.name}: the reviews cannot be used ({type(error).__name__}); check the disk and the "
                "permissions of its folder, and do not delete it."
            ) from error


def _connect(place: Path | str) -> sqlite3.Connection:
    return sqlite3.connect(
        place,
        timeout=30,
        isolation_level=None,
        check_same_thread=False,
        uri=isinstance(place, str),
    )
