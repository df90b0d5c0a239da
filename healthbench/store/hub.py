"""The one in-memory DuckDB of a process: a schema of views a run, a cursor a query.

A connection must not be shared by threads, so every query gets a cursor of its own. Nothing is written through the
hub; runs are immutable files, so another process may read, add and remove runs at the same time.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import duckdb

from healthbench.errors import StoreError
from healthbench.store import parts
from healthbench.store.summaries import DATASET, RUN, damaged_folder, read_record
from healthbench.store.tables import create_views, quoted, sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class Hub:
    """Gives cursors on runs of one store.

    Args:
        home: Folder of the store.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self._lock = threading.Lock()
        self._schemas: set[str] = set()
        self._datasets: tuple[tuple[str, int], ...] = ()
        self._damaged_datasets: frozenset[str] = frozenset()
        self._connection = duckdb.connect(":memory:")
        self._connection.execute("SET parquet_metadata_cache = true")
        self._connection.execute(sql("hub"))

    def close(self) -> None:
        """Close the connection and with it every cursor."""
        self._connection.close()

    @contextmanager
    def cursor(self, run_id: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a cursor, with the tables of a run in its current schema if one is named.

        Tables of other runs are reached as ``run_<id>.examples`` after ``ready(id)``.

        Raises:
            StoreError: The run is not (or no longer) in the store.
        """
        self._refresh_datasets()
        with self._connection.cursor() as cursor:
            if run_id is not None:
                self.ready(run_id)
                cursor.execute(f"USE memory.{schema(run_id)}")
            try:
                yield cursor
            except (duckdb.Error, UnicodeDecodeError) as error:
                # A folder that changed under us is no fault of the query.
                for name in [run_id] if run_id else sorted(self._schemas):
                    try:
                        _hold(self.home / "runs" / name)
                    except StoreError as damage:
                        self.forget(name)
                        raise damage from error
                raise

    def ready(self, run_id: str) -> None:
        """Make a run's views, once.

        Raises:
            StoreError: The run is not in the store, or is damaged.
        """
        if run_id in self._schemas:
            return
        folder = self.home / "runs" / run_id
        with self._lock:
            if run_id in self._schemas:
                return
            _hold(folder)
            with self._connection.cursor() as cursor:
                try:
                    cursor.execute(f"CREATE SCHEMA {schema(run_id)}")
                    cursor.execute(f"USE memory.{schema(run_id)}")
                    create_views(cursor, folder)
                    cursor.execute(sql("run_views"))
                except duckdb.Error as error:
                    cursor.execute("USE memory.main")
                    cursor.execute(f"DROP SCHEMA IF EXISTS {schema(run_id)} CASCADE")
                    raise StoreError(damaged_folder(folder)) from error
            self._schemas.add(run_id)

    def forget(self, run_id: str) -> None:
        """Drop the views of a removed run."""
        with self._lock, self._connection.cursor() as cursor:
            cursor.execute(f"DROP SCHEMA IF EXISTS {schema(run_id)} CASCADE")
            self._schemas.discard(run_id)

    def damaged_datasets(self) -> frozenset[str]:
        """Return the ids of the data sets that cannot be used."""
        self._refresh_datasets()
        return self._damaged_datasets

    def _refresh_datasets(self) -> None:
        """Load the example tags of the attached data sets, again whenever one came or went; damaged ones are left out."""
        shelf = self.home / "datasets"
        seen = stamps(sorted(path.parent for path in shelf.glob(f"[!.]*/{DATASET}")))
        if seen == self._datasets:
            return
        present = [name for name, _ in seen]
        with self._lock, self._connection.cursor() as cursor:
            intact = [name for name in present if _is_intact(shelf / name, DATASET)]
            files = [quoted(shelf / name / "examples.parquet") for name in intact]
            rows = (
                f"SELECT prompt_id, arg_max(example_tags, len(example_tags)) AS example_tags "
                f"FROM read_parquet([{', '.join(files)}]) GROUP BY prompt_id"
                if files
                else "SELECT NULL::VARCHAR AS prompt_id, NULL::VARCHAR[] AS example_tags WHERE false"
            )
            cursor.execute(f"CREATE OR REPLACE TABLE dataset_tags AS {rows}")
            self._datasets = seen
            self._damaged_datasets = frozenset(present) - frozenset(intact)


def schema(run_id: str) -> str:
    """Return the schema a run's tables are in."""
    return f"run_{run_id}"


def stamps(folders: Iterable[Path]) -> tuple[tuple[str, int], ...]:
    """Return names and times of folders; the time tells one written again after damage from the one before."""
    found = []
    for folder in folders:
        with suppress(FileNotFoundError):  # removed by another process meanwhile
            found.append((folder.name, folder.stat().st_mtime_ns))
    return tuple(found)


def _is_intact(folder: Path, record: str) -> bool:
    try:
        return parts.are_intact(folder, read_record(folder / record))
    except StoreError:
        return False


def _hold(folder: Path) -> None:
    """Raise StoreError where the folder of a run is gone or damaged."""
    if not (folder / RUN).exists():
        raise StoreError(
            f"Run {folder.name} is not in the store at {folder.parent.parent}: import its file again."
        )
    if not _is_intact(folder, RUN):
        raise StoreError(damaged_folder(folder))
