"""The tables of one run as DuckDB sees them, and their way into arrays."""

from __future__ import annotations

from importlib.resources import files as package_files
from typing import TYPE_CHECKING, Any

import numpy as np

from healthbench.scoring.run_scores import OVERALL, IntArray, Metric, RunScores

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb
    import numpy.typing as npt

TABLES = ("examples", "items", "criteria", "tag_scores")


def sql(name: str, **places: str) -> str:
    """Return a statement from ``store/sql``, with ``{name}`` places filled in (never with foreign values)."""
    text = (package_files("healthbench.store") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    return text.format(**places) if places else text


def quoted(text: object) -> str:
    """Return an SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


def create_views(cursor: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Show the Parquet files of a run's folder as views in the cursor's current schema."""
    for table in TABLES:
        parts = quoted(folder / table / "*.parquet")
        cursor.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({parts})")


def read_run_scores(
    cursor: duckdb.DuckDBPyConnection,
    *,
    as_stored: bool = False,
    with_tags: bool = True,
    inferred: bool = False,
) -> RunScores:
    """Read the points of every example and tag of the run in the cursor's schema.

    Args:
        cursor: Set to a schema with the run's tables (and ``example_tags`` where ``with_tags``).
        as_stored: Count verdicts with a producer's mark of failure as the file does, as not met.
        with_tags: False reads the overall score only.
        inferred: Count example tags that are only inferred from consensus clusters too.
    """
    overall = _arrays(cursor.execute(sql("run_scores")))
    rows = overall["example"].astype(np.int64)
    metrics = {OVERALL: _metric(OVERALL, rows, overall, as_stored=as_stored)}
    if with_tags:
        for tag, tagged in _by_tag(_arrays(cursor.execute(sql("tag_rows")))):
            metrics[tag] = _metric(
                tag, tagged["example"].astype(np.int64), tagged, as_stored=as_stored
            )
        sources = ["file", "dataset", "inferred"] if inferred else ["file", "dataset"]
        for tag, tagged in _by_tag(_arrays(cursor.execute(sql("example_tag_rows"), [sources]))):
            metrics[tag] = metrics[OVERALL].take(tagged["example"].astype(np.int64), tag)
    return RunScores(
        overall["prompt"].astype(np.int64), overall["characters"].astype(np.int64), metrics
    )


def _arrays(cursor: duckdb.DuckDBPyConnection) -> dict[str, npt.NDArray[Any]]:
    columns: dict[str, Any] = cursor.fetchnumpy()
    return {name: np.asarray(column) for name, column in columns.items()}


def _by_tag(
    table: dict[str, npt.NDArray[Any]],
) -> Iterator[tuple[str, dict[str, npt.NDArray[Any]]]]:
    """Split a table sorted by tag; the columns of each piece are views."""
    tags = np.asarray(table["tag"], dtype=object)
    if len(tags) == 0:
        return
    starts = np.flatnonzero(np.r_[True, tags[1:] != tags[:-1]])
    for start, end in zip(starts, np.r_[starts[1:], len(tags)], strict=True):
        yield str(tags[start]), {name: column[start:end] for name, column in table.items()}


def _metric(
    name: str, rows: IntArray, table: dict[str, npt.NDArray[Any]], *, as_stored: bool
) -> Metric:
    marked = 1 if as_stored else 0
    return Metric(
        name=name,
        example=rows,
        possible=np.asarray(table["possible"], dtype=np.float64),
        achieved=np.asarray(table["achieved"], dtype=np.float64),
        unknown_positive=np.asarray(
            table["unknown_positive"] - marked * table["marked_positive"], dtype=np.float64
        ),
        unknown_negative=np.asarray(
            table["unknown_negative"] - marked * table["marked_negative"], dtype=np.float64
        ),
        negative=np.asarray(table["negative"], dtype=np.float64),
        n_items=np.asarray(table["n_items"], dtype=np.int64),
        n_unknown=np.asarray(table["n_unknown"] - marked * table["n_marked"], dtype=np.int64),
    )
