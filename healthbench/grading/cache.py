"""Verdicts that were paid for, kept so that they are paid for once.

One SQLite file in WAL mode holds them by the hash of everything that decides a verdict (template, grader, parameters,
texts). Only verdicts enter it: a reply that held none is never kept. A second table keeps what each grading run was
charged, failed attempts included, so that a cost cap holds across interruptions. Neither table holds a key, a prompt or
a reply.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import StoreError
from healthbench.grading.provider import Usage
from healthbench.grading.verdicts import Grade

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FILE_NAME = "grades.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS grades (
    key TEXT PRIMARY KEY, met INTEGER NOT NULL, explanation TEXT, graded_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) STRICT;
CREATE TABLE IF NOT EXISTS charges (
    run TEXT NOT NULL, calls INTEGER NOT NULL, input INTEGER NOT NULL, cached INTEGER NOT NULL,
    output INTEGER NOT NULL, cost REAL
) STRICT;
CREATE INDEX IF NOT EXISTS charges_of_run ON charges (run);
"""
_LARGEST_QUERY = 500


class Charge(NamedTuple):
    """What a grading was charged.

    Attributes:
        calls: Requests sent.
        usage: Tokens they were charged for.
        cost: US dollars; None where the model has no price.
    """

    calls: int
    usage: Usage
    cost: float | None


class Entry(NamedTuple):
    """One criterion's outcome, to be kept.

    Attributes:
        run: The grading run it is charged to, "" for none.
        key: Hash of everything that decides the verdict.
        grade: The verdict; None where no attempt brought one.
        charge: What all its attempts were charged.
    """

    run: str
    key: str
    grade: Grade | None
    charge: Charge


class GradeCache:
    """The verdicts in one file; safe to use from several threads and processes.

    Args:
        path: The SQLite file, made with its folder where it does not exist.

    Raises:
        StoreError: The file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._named_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path, timeout=30, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            # FULL, because a verdict counts only once it would survive a power cut.
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_SCHEMA)

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self.path.name}: the grade cache cannot be used ({type(error).__name__}); check the disk and the"
                " folder, or delete the file to start an empty one."
            ) from error

    def find(self, keys: Sequence[str]) -> dict[str, Grade]:
        """Return the verdicts known for these keys."""
        known: dict[str, Grade] = {}
        with self._lock, self._named_errors():
            for start in range(0, len(keys), _LARGEST_QUERY):
                part = keys[start : start + _LARGEST_QUERY]
                places = ",".join("?" * len(part))
                rows = self._db.execute(
                    f"SELECT key, met, explanation FROM grades WHERE key IN ({places})", part
                )
                known.update((key, Grade(bool(met), words)) for key, met, words in rows)
        return known

    def keep(self, entries: Sequence[Entry]) -> None:
        """Keep outcomes in one transaction; when this returns they are on the disk."""
        grades = [(e.key, e.grade.met, e.grade.explanation) for e in entries if e.grade]
        charges = [
            (e.run, e.charge.calls, *e.charge.usage, e.charge.cost) for e in entries if e.run
        ]
        with self._lock, self._named_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany(
                    "INSERT OR IGNORE INTO grades (key, met, explanation) VALUES (?, ?, ?)", grades
                )
                self._db.executemany("INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?)", charges)
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def charged(self, run: str) -> Charge:
        """Return everything a grading run was charged so far, over all its starts."""
        with self._lock, self._named_errors():
            calls, paid, cached, output, cost = self._db.execute(
                "SELECT sum(calls), sum(input), sum(cached), sum(output), sum(cost) FROM charges WHERE run = ?",
                (run,),
            ).fetchone()
        return Charge(calls or 0, Usage(paid or 0, cached or 0, output or 0), cost)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()


class Recorder:
    """Keeps outcomes in a cache from an event loop: those that arrive during one write share the next."""

    def __init__(self, cache: GradeCache) -> None:
        self._cache = cache
        self._waiting: list[tuple[Entry, asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def keep(self, entry: Entry) -> None:
        """Keep one outcome; it is on the disk when this returns, and gets there even if the caller is cancelled."""
        kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, kept))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        await kept

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            problem: BaseException | None = None
            try:
                await asyncio.to_thread(self._cache.keep, [entry for entry, _ in batch])
            except StoreError as error:
                problem = error
            for _, kept in batch:
                if kept.cancelled():
                    continue
                if problem is None:
                    kept.set_result(None)
                else:
                    kept.set_exception(problem)

    async def close(self) -> None:
        """Wait until everything is kept."""
        if self._writer is not None:
            await asyncio.shield(self._writer)
