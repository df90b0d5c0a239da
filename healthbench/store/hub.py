"""The one in-memory DuckDB of a process: a schema of views a run, a cursor a query.

A connection must not be shared by threads, so every query gets a cursor of its own. Nothing is written through the
hub; runs are immutable files, so another process may read, add and remove runs at the same time.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import duckdb

from healthbench.errors import StoreError
from healthbench.store.tables import create_views, quoted, sql

if TYPE_CHECKING:
    from collections.abc import Iterator
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
        self._datasets: tuple[str, ...] = ()
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
            except duckdb.IOException as error:
                raise StoreError(
                    f"Run {run_id} can no longer be read from {self.home}: import its file again."
                ) from error

    def ready(self, run_id: str) -> None:
        """Make a run's views, once."""
        if run_id in self._schemas:
            return
        folder = self.home / "runs" / run_id
        if not (folder / "run.json").exists():
            raise StoreError(
                f"Run {run_id} is not in the store at {self.home}: import its file again."
            )
        with self._lock:
            if run_id in self._schemas:
                return
            with self._connection.cursor() as cursor:
                try:
                    cursor.execute(f"CREATE SCHEMA {schema(run_id)}")
                    cursor.execute(f"USE memory.{schema(run_id)}")
                    create_views(cursor, folder)
                    cursor.execute(sql("run_views"))
                except duckdb.Error as error:
                    cursor.execute("USE memory.main")
                    cursor.execute(f"DROP SCHEMA IF EXISTS {schema(run_id)} CASCADE")
                    raise StoreError(
                        f"Run {run_id} in {self.home} is damaged: remove it and import its file again."
                    ) from error
            self._schemas.add(run_id)

    def forget(self, run_id: str) -> None:
        """Drop the views of a removed run."""
        with self._lock, self._connection.cursor() as cursor:
            cursor.execute(f"DROP SCHEMA IF EXISTS {schema(run_id)} CASCADE")
            self._schemas.discard(run_id)

    def _refresh_datasets(self) -> None:
        """Load the example tags of the attached data sets, again whenever one came or went."""
        present = tuple(
            sorted(path.parent.name for path in (self.home / "datasets").glob("[!.]*/dataset.json"))
        )
        if present == self._datasets:
            return
        with self._lock, self._connection.cursor() as cursor:
            parts = [quoted(self.home / "datasets" / name / "examples.parquet") for name in present]
            rows = (
                f"SELECT prompt_id, arg_max(example_tags, len(example_tags)) AS example_tags "
                f"FROM read_parquet([{', '.join(parts)}]) GROUP BY prompt_id"
                if parts
                else "SELECT NULL::VARCHAR AS prompt_id, NULL::VARCHAR[] AS example_tags WHERE false"
            )
            cursor.execute(f"CREATE OR REPLACE TABLE dataset_tags AS {rows}")
            self._datasets = present


def schema(run_id: str) -> str:
    """Return the schema a run's tables are in."""
    return f"run_{run_id}"


def read_record(path: Path) -> dict[str, object]:
    """Read ``run.json`` or ``dataset.json``.

    Raises:
        StoreError: The file is missing or damaged.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path.parent.name} in the store is damaged: remove it and import its file again."
        ) from error
    if not isinstance(record, dict):
        raise StoreError(
            f"{path.parent.name} in the store is damaged: remove it and import its file again."
        )
    return record
