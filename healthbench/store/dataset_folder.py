"""Write a benchmark data set as a folder of Parquet files, so that its themes and rubrics can be joined by prompt_id.

Layout: ``datasets/<id>/dataset.json``, ``examples.parquet`` (prompt_id, prompt as JSON, example_tags),
``criteria.parquet`` (prompt_id, position, text, points, tags) and ``rows.jsonl.gz``, the rows in the data sets' own form,
which readers of files without prompt_ids or criteria join.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import duckdb

from healthbench.readers.dataset import ROWS, read_dataset, row_line
from healthbench.store import parts
from healthbench.store.folders import publishing
from healthbench.store.records import DatasetSummary
from healthbench.store.run_folder import SCHEMA_VERSION
from healthbench.store.tables import quoted, sql

if TYPE_CHECKING:
    from pathlib import Path

_BATCH = 2_000


def write_dataset(place: Path, source: Path) -> None:
    """Read a data set to its end and publish it as the folder ``place``.

    Raises:
        InputRefusedError: The file is no data set or is broken.
        StoreError: The disk is full or the store cannot be written.
    """
    with (
        publishing(place.parent) as incoming,
        duckdb.connect(":memory:", config={"memory_limit": "256MB", "threads": 2}) as db,
        gzip.open(incoming.path / ROWS, "wt", compresslevel=1, encoding="utf-8") as lines,
    ):
        incoming.name, folder = place.name, incoming.path
        db.execute(sql("dataset_tables"))
        examples: list[tuple[object, ...]] = []
        criteria: list[tuple[object, ...]] = []
        n_examples = n_criteria = 0
        canary, synthetic = "", False
        for row in read_dataset(source):
            prompt = json.dumps([m._asdict() for m in row.prompt], ensure_ascii=False)
            lines.write(row_line(row) + "\n")
            examples.append((row.prompt_id, prompt, list(row.example_tags)))
            criteria += [
                (
                    row.prompt_id,
                    place_in_rubric,
                    criterion.text,
                    criterion.points,
                    list(criterion.tags),
                )
                for place_in_rubric, criterion in enumerate(row.criteria)
            ]
            canary = canary or row.canary
            synthetic |= row.synthetic
            n_examples += 1
            n_criteria += len(row.criteria)
            if len(examples) >= _BATCH:
                _append(db, examples, criteria)
        _append(db, examples, criteria)
        for table in ("examples", "criteria"):
            db.execute(
                f"COPY {table} TO {quoted(folder / f'{table}.parquet')} (FORMAT parquet, COMPRESSION zstd)"
            )
        summary = DatasetSummary(place.name, source.name, n_examples, n_criteria, canary, synthetic)
        record = {
            "schema_version": SCHEMA_VERSION,
            parts.KEY: parts.digests(folder),
            **asdict(summary),
        }
        (folder / "dataset.json").write_text(
            json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8"
        )


def _append(
    db: duckdb.DuckDBPyConnection,
    examples: list[tuple[object, ...]],
    criteria: list[tuple[object, ...]],
) -> None:
    for table, rows in (("examples", examples), ("criteria", criteria)):
        if rows:
            with db.appender(table) as appender:
                appender.append_rows(rows)
            rows.clear()
