"""What the records of stored folders (``run.json``, ``dataset.json``) say, or one sentence where they cannot be used."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from healthbench.errors import StoreError
from healthbench.model import ImportReport, RunInfo
from healthbench.scoring.headline import Headline
from healthbench.store.records import DatasetSummary, RunSummary
from healthbench.store.run_folder import SCHEMA_VERSION

if TYPE_CHECKING:
    from pathlib import Path

RUN = "run.json"
DATASET = "dataset.json"


def run_summary(folder: Path) -> RunSummary:
    """Return what is known of a stored run.

    Raises:
        StoreError: The record is damaged, or another version wrote it.
    """
    record = _of_this_version(folder / RUN)
    try:
        known: dict[str, Any] = {
            field.name: record[field.name] for field in dataclasses.fields(RunSummary)
        }
        report = known["report"]
        counted = {key: Counter(report[key]) for key in ("rows_skipped", "verdicts")}
        return RunSummary(
            **{
                **known,
                "info": RunInfo(**known["info"]),
                "report": ImportReport(**{**report, **counted}),
                "headline": Headline(**known["headline"]),
            }
        )
    except (KeyError, TypeError) as error:
        raise StoreError(damaged_folder(folder)) from error


def dataset_summary(folder: Path) -> DatasetSummary:
    """Return what is known of a stored data set; its errors are those of run_summary."""
    record = _of_this_version(folder / DATASET)
    try:
        return DatasetSummary(
            **{field.name: record[field.name] for field in dataclasses.fields(DatasetSummary)}
        )
    except KeyError as error:
        raise StoreError(damaged_folder(folder)) from error


def read_record(path: Path) -> dict[str, Any]:
    """Read a record.

    Raises:
        StoreError: The file is missing or damaged.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(damaged_folder(path.parent)) from error
    if not isinstance(record, dict):
        raise StoreError(damaged_folder(path.parent))
    return record


def damaged_folder(folder: Path) -> str:
    """Return the sentence about a folder of the store that is damaged."""
    return (
        f"{folder.name} in the store at {folder.parent.parent} is damaged: import its file again."
    )


def _of_this_version(path: Path) -> dict[str, Any]:
    record = read_record(path)
    if record.get("schema_version") != SCHEMA_VERSION:
        raise StoreError(
            f"{path.parent.name} was stored by another version (layout {record.get('schema_version')}, this one "
            f"reads {SCHEMA_VERSION}): import its file again."
        )
    return record
