"""Write one run as an immutable folder of Parquet files.

Layout, version ``SCHEMA_VERSION`` (columns: ``sql/tables.sql``, points: ``sql/tally.sql``)::

    runs/<id>/run.json                       what is known of the run, its headline figures, its import report
    runs/<id>/examples/part-NNNN.parquet     one row an example: texts and points
    runs/<id>/items/part-NNNN.parquet        one row a criterion of an example, with its verdict
    runs/<id>/tag_scores/part-NNNN.parquet   one row an example and criterion tag: points
    runs/<id>/criteria/part-0000.parquet     each criterion of the run once

A run of up to ``PART_EXAMPLES`` examples has one part a table; a larger one is written part by part, so that the
memory an import takes does not grow with its file.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import duckdb

from healthbench.errors import InputRefusedError
from healthbench.scoring.headline import headline
from healthbench.store.folders import publishing
from healthbench.store.records import Progress
from healthbench.store.tables import create_views, quoted, read_run_scores, sql
from healthbench.taxonomy import CLUSTER_PREFIX, inferred_example_tags

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from healthbench.model import Criterion, GradedExample, ImportReport
    from healthbench.readers import RunSource

SCHEMA_VERSION = 1

# A part is closed when it holds this much: it bounds the memory of an import.
PART_EXAMPLES = 5_000
PART_CHARACTERS = 48_000_000
# What is handed to DuckDB at a time.
BATCH_ITEMS = 6_000
BATCH_CHARACTERS = 4_000_000

# Small enough that looking up one example reads little.
_ROW_GROUPS = {"examples": 256, "items": 4_096, "criteria": 16_384, "tag_scores": 65_536}


def run_id(source: RunSource, digests: Sequence[str]) -> str:
    """Name a run by the content it is read from: the same content is the same run, whatever its file is called."""
    identity = json.dumps([SCHEMA_VERSION, sorted(digests), source.part])
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def digest(path: Path) -> str:
    """Return the sha256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_run(
    place: Path,
    source: RunSource,
    digests: dict[str, str],
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Read a run to its end and publish it as the folder ``place``.

    Args:
        place: ``runs/<id>``; must not exist yet.
        source: The run as a reader found it.
        digests: Name of each source file -> sha256.
        progress: Called now and then; whatever it raises stops the import and leaves nothing.

    Raises:
        InputRefusedError: The source holds no example, is broken, or changed while it was read.
        StoreError: The disk is full or the store cannot be written.
    """
    before = _fingerprint(source)
    with publishing(place) as folder:
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": "96MB",
            "threads": 2,
            "temp_directory": str(folder / "spill"),
        }
        with duckdb.connect(":memory:", config=config) as connection:
            writer = _RunWriter(folder, connection)
            for example in source.examples():
                writer.add(example)
                if progress and writer.n_examples % 250 == 0:
                    progress(Progress(source.info.source, writer.n_examples))
            writer.finish()
            if _fingerprint(source) != before:
                raise InputRefusedError(
                    f"{source.info.source} changed while it was read: wait until it is complete and import it again."
                )
            if not writer.n_examples:
                raise InputRefusedError(
                    f"{source.info.source} holds no graded example: choose a run with at least one."
                )
            record = _record(place.name, source, digests, writer, connection)
        (folder / "run.json").write_text(
            json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8"
        )


def _fingerprint(source: RunSource) -> list[tuple[int, int, int]]:
    try:
        return [
            (s.st_size, s.st_mtime_ns, s.st_ino) for s in (path.stat() for path in source.files)
        ]
    except OSError as error:
        raise InputRefusedError(
            f"{source.info.source} cannot be read: check that it is still there."
        ) from error


def _record(
    name: str,
    source: RunSource,
    digests: dict[str, str],
    writer: _RunWriter,
    connection: duckdb.DuckDBPyConnection,
) -> dict[str, object]:
    scores = read_run_scores(connection, with_tags=False)
    return {
        "schema_version": SCHEMA_VERSION,
        "id": name,
        "info": asdict(source.info),
        "report": _plain(source.report),
        "files": digests,
        "imported": datetime.now(UTC).isoformat(timespec="seconds"),
        "n_examples": writer.n_examples,
        "n_prompts": len(writer.replies),
        "n_items": writer.n_items,
        "n_unknown": int(scores.overall.n_unknown.sum()),
        "n_marked": writer.n_marked,
        "mean_characters": float(scores.characters.mean()),
        "headline": asdict(headline(scores)),
    }


def _plain(report: ImportReport) -> dict[str, object]:
    return {
        field.name: dict(value)
        if isinstance(value := getattr(report, field.name), Counter)
        else value
        for field in fields(report)
    }


class _RunWriter:
    """Turns examples into rows, hands them to DuckDB in batches and closes parts."""

    def __init__(self, folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
        self.folder = folder
        self.connection = connection
        self.n_examples = self.n_items = self.n_marked = 0
        self.replies: Counter[str] = Counter()
        self._criteria: dict[Criterion, tuple[int, str | None]] = {}
        self._rows: dict[str, list[tuple[object, ...]]] = {
            "examples": [],
            "items": [],
            "criteria": [],
        }
        self._batch_characters = self._part_characters = self._part_examples = self._parts = 0
        connection.execute(sql("tables"))

    def add(self, example: GradedExample) -> None:
        """Take one example."""
        row = self.n_examples
        items = self._rows["items"]
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
            met = stored
            if failure is not None:
                met = verdict.met
                self.n_marked += stored is False
            if explanation is not None:
                characters += len(explanation)
            items.append(
                (row, position, number, criterion.points, stored, failure, met, explanation)
            )
        messages = [
            {"role": message.role, "content": message.content} for message in example.prompt
        ]
        prompt = json.dumps(messages, ensure_ascii=False)
        self._rows["examples"].append(
            (
                row,
                example.prompt_id,
                self.replies[example.prompt_id],
                example.completion_id,
                prompt,
                len(messages),
                example.reply,
                len(example.reply),
                None if example.example_tags is None else list(example.example_tags),
                list(inferred_example_tags(clusters)),
                example.stated_score,
                example.error,
            )
        )
        self.replies[example.prompt_id] += 1
        self.n_examples += 1
        self.n_items += len(example.criteria)
        self._part_examples += 1
        self._batch_characters += characters + len(prompt)
        if len(items) >= BATCH_ITEMS or self._batch_characters >= BATCH_CHARACTERS:
            self._append()
            if self._part_examples >= PART_EXAMPLES or self._part_characters >= PART_CHARACTERS:
                self._close_part()

    def finish(self) -> None:
        """Write what is left and show the folder's files as views in place of the working tables."""
        self._append()
        if self._part_examples:
            self._close_part()
        self._copy("criteria", "FROM criteria ORDER BY criterion", "part-0000")
        for table in ("examples", "items", "criteria"):
            self.connection.execute(f"DROP TABLE {table}")
        if self._parts:
            create_views(self.connection, self.folder)

    def _new_criterion(self, criterion: Criterion) -> tuple[int, str | None]:
        first = {
            kind: next((t for t in criterion.tags if t.startswith(kind)), None)
            for kind in ("axis:", "level:")
        }
        cluster = next((tag for tag in criterion.tags if tag.startswith(CLUSTER_PREFIX)), None)
        number = len(self._criteria)
        self._criteria[criterion] = (number, cluster)
        self._rows["criteria"].append(
            (
                number,
                criterion.text,
                criterion.points,
                list(criterion.tags),
                first["axis:"],
                first["level:"],
                cluster,
            )
        )
        return number, cluster

    def _append(self) -> None:
        for table, rows in self._rows.items():
            if not rows:
                continue
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
        part = f"part-{self._parts:04d}"
        points = sql("tally", key="example", rows="items_with_marks")
        by_tag = sql("tally", key="example, tag", rows="tagged_items")
        self._copy("examples", sql("examples_part", tallies=points), part)
        self._copy("items", "FROM items ORDER BY example, position", part)
        self._copy("tag_scores", f"FROM ({by_tag}) ORDER BY example, tag", part)
        for table in ("examples", "items"):
            self.connection.execute(f"TRUNCATE {table}")
        self._parts += 1
        self._part_examples = self._part_characters = 0

    def _copy(self, table: str, query: str, part: str) -> None:
        target = self.folder / table
        target.mkdir(exist_ok=True)
        self.connection.execute(
            f"COPY ({query}) TO {quoted(target / f'{part}.parquet')} "
            f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROW_GROUPS[table]})"
        )


def _storable(value: object) -> object:
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
