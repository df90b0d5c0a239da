"""Turn the examples of a run into the Parquet files of its folder.

Rows go to DuckDB in batches and become files part by part, so that the memory an import takes does not grow with its
file. A part is written by a second thread while the next one is being read.
"""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

import duckdb

from healthbench.store.tables import quoted, sql
from healthbench.taxonomy import CLUSTER_PREFIX, inferred_example_tags

if TYPE_CHECKING:
    from pathlib import Path

    from healthbench.model import Criterion, GradedExample

# A part is closed when it holds this much.
PART_EXAMPLES = 2_500
PART_CHARACTERS = 32_000_000
# What is handed to DuckDB at a time.
BATCH_ITEMS = 6_000
BATCH_CHARACTERS = 4_000_000

# Small enough that looking up one example reads little.
_ROW_GROUPS = {"examples": 512, "items": 4_096, "criteria": 16_384, "tag_scores": 65_536}

_to_json = json.JSONEncoder(ensure_ascii=False).encode


class RunWriter:
    """Writes the tables of one run; use it as a context manager.

    Args:
        folder: Where the tables' folders go.
        connection: An in-memory database of this writer alone.

    Attributes:
        n_examples, n_items: Rows taken so far.
        replies: Number of replies taken so far by prompt_id.
    """

    def __init__(self, folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
        self.folder = folder
        self.connection = connection
        self.n_examples = self.n_items = 0
        self.replies: Counter[str] = Counter()
        self._criteria: dict[Criterion, tuple[int, str | None]] = {}
        self._tag_sets: dict[tuple[str, ...], tuple[int, str | None]] = {}
        self._inferred: dict[frozenset[str], list[str]] = {}
        self._rows: dict[str, list[tuple[object, ...]]] = {
            "tag_sets": [],
            "criteria": [],
            "verdicts": [],
            "examples": [],
        }
        self._part = self._part_examples = 0
        self._batch_characters = self._part_characters = 0
        self._writing: Future[None] | None = None
        self._second_thread = ThreadPoolExecutor(1, thread_name_prefix="run-writer")
        connection.execute(sql("run_tables"))
        connection.execute(sql("part_tables", part="0"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._second_thread.shutdown(wait=True, cancel_futures=True)

    def add(self, example: GradedExample) -> None:
        """Take one example."""
        row = self.n_examples
        verdicts = self._rows["verdicts"]
        known = self._criteria
        clusters: set[str] = set()
        characters = len(example.reply)
        for position, (criterion, verdict) in enumerate(
            zip(example.criteria, example.verdicts, strict=True)
        ):
            number, cluster = known.get(criterion) or self._new_criterion(criterion)
            if cluster is not None:
                clusters.add(cluster)
            stored, explanation, failure = verdict
            if explanation is not None:
                characters += len(explanation)
            verdicts.append((row, position, number, stored, failure, explanation))
        prompt = _to_json([{"role": role, "content": content} for role, content in example.prompt])
        self._rows["examples"].append(
            (
                row,
                example.prompt_id,
                self.replies[example.prompt_id],
                example.completion_id,
                prompt,
                len(example.prompt),
                example.reply,
                len(example.reply),
                None if example.example_tags is None else list(example.example_tags),
                self._inferred_from(clusters),
                example.stated_score,
                example.error,
            )
        )
        self.replies[example.prompt_id] += 1
        self.n_examples += 1
        self.n_items += len(example.criteria)
        self._part_examples += 1
        self._batch_characters += characters + len(prompt)
        if len(verdicts) >= BATCH_ITEMS or self._batch_characters >= BATCH_CHARACTERS:
            self._append()
        if self._part_examples >= PART_EXAMPLES or self._part_characters >= PART_CHARACTERS:
            self._close_part()

    def finish(self) -> None:
        """Write what is left."""
        self._close_part()
        if self._writing:
            self._writing.result()
        _copy(self.connection, self.folder, "criteria", "part-0000", sql("criteria"))

    def _new_criterion(self, criterion: Criterion) -> tuple[int, str | None]:
        text, points, tags = criterion
        tag_set = self._tag_sets.get(tags) or self._new_tag_set(tags)
        number = len(self._criteria)
        known = self._criteria[criterion] = (number, tag_set[1])
        self._rows["criteria"].append((number, text, points, tag_set[0]))
        return known

    def _new_tag_set(self, tags: tuple[str, ...]) -> tuple[int, str | None]:
        axis, level, cluster = (
            next((tag for tag in tags if tag.startswith(kind)), None)
            for kind in ("axis:", "level:", CLUSTER_PREFIX)
        )
        number = len(self._tag_sets)
        known = self._tag_sets[tags] = (number, cluster)
        self._rows["tag_sets"].append((number, list(tags), axis, level, cluster))
        return known

    def _inferred_from(self, clusters: set[str]) -> list[str]:
        key = frozenset(clusters)
        if key not in self._inferred:
            self._inferred[key] = list(inferred_example_tags(clusters))
        return self._inferred[key]

    def _append(self) -> None:
        for kind, rows in self._rows.items():
            if not rows:
                continue
            table = kind if kind in ("criteria", "tag_sets") else f"{kind}_{self._part}"
            try:
                with self.connection.appender(table) as appender:
                    appender.append_rows(rows)
            except duckdb.InvalidInputException:
                # A lone surrogate, which JSON can carry and no database takes, becomes a question mark.
                with self.connection.appender(table) as appender:
                    appender.append_rows([tuple(map(_storable, row)) for row in rows])
            rows.clear()
        self._part_characters += self._batch_characters
        self._batch_characters = 0

    def _close_part(self) -> None:
        """Hand the part to the second thread, once it is done with the part before."""
        self._append()
        if not self._part_examples:
            return
        if self._writing:
            self._writing.result()
        self._writing = self._second_thread.submit(
            _write_part, self.connection.cursor(), self.folder, self._part
        )
        self._part += 1
        self._part_examples = self._part_characters = 0
        self.connection.execute(sql("part_tables", part=str(self._part)))


def _write_part(cursor: duckdb.DuckDBPyConnection, folder: Path, number: int) -> None:
    part, name = str(number), f"part-{number:04d}"
    with cursor:
        cursor.execute(sql("items_part", part=part))
        tallies = sql("tally", key="example", rows=f"counted_{part}")
        by_tag = sql("tally", key="example, tag", rows=f"tagged_{part}")
        _copy(cursor, folder, "examples", name, sql("examples_part", part=part, tallies=tallies))
        _copy(cursor, folder, "items", name, f"SELECT * FROM items_{part}")
        _copy(cursor, folder, "tag_scores", name, by_tag)
        for view in ("tagged", "counted", "items"):
            cursor.execute(f"DROP VIEW {view}_{part}")
        for table in ("examples", "verdicts"):
            cursor.execute(f"DROP TABLE {table}_{part}")


def _copy(
    cursor: duckdb.DuckDBPyConnection, folder: Path, table: str, part: str, query: str
) -> None:
    target = folder / table
    target.mkdir(exist_ok=True)
    cursor.execute(
        f"COPY ({query}) TO {quoted(target / f'{part}.parquet')} "
        f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROW_GROUPS[table]})"
    )


def _storable(value: object) -> object:
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
