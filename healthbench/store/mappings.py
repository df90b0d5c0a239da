"""The column mappings a person made, remembered for tables with the same column names.

They are one small file, ``mappings.json`` in the store's home. It is written beside its place and put there whole; where
it cannot be read, nothing is remembered, and mapping a table's columns again writes it anew.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from healthbench.errors import StoreError
from healthbench.readers.aliases import ITEM, ROW, ColumnMapping

FILE_NAME = "mappings.json"
_VERSION = 1
_FIELDS = ROW.keys() | ITEM.keys() | {"items"}


def read_mappings(home: Path) -> tuple[ColumnMapping, ...]:
    """Return the remembered mappings, the newest first."""
    try:
        record = json.loads((home / FILE_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ()
    if not isinstance(record, dict) or record.get("version") != _VERSION:
        return ()
    entries = record.get("mappings")
    if not isinstance(entries, list):
        return ()
    return tuple(mapping for entry in entries if (mapping := _mapping(entry)) is not None)


def remember_mapping(home: Path, mapping: ColumnMapping) -> None:
    """Remember a mapping; it replaces the one for the same column names.

    Raises:
        StoreError: The file cannot be written.
    """
    kept = [other for other in read_mappings(home) if other.names != mapping.names]
    _write(home, [mapping, *kept])


def forget_mapping(home: Path, names: frozenset[str]) -> None:
    """Forget the mapping for tables with these column names.

    Raises:
        StoreError: The file cannot be written.
    """
    _write(home, [mapping for mapping in read_mappings(home) if mapping.names != names])


def lend_mappings(home: Path, other: Path) -> None:
    """Let another store know the mappings of this one, for a command that keeps nothing."""
    if (home / FILE_NAME).is_file():
        shutil.copyfile(home / FILE_NAME, other / FILE_NAME)


def _mapping(entry: Any) -> ColumnMapping | None:
    if not isinstance(entry, dict):
        return None
    names, columns = entry.get("names"), entry.get("columns")
    if not isinstance(names, list) or not isinstance(columns, dict):
        return None
    known = columns.keys() <= _FIELDS and all(isinstance(c, str) for c in columns.values())
    if not known or not all(isinstance(name, str) for name in names):
        return None
    return ColumnMapping(columns, frozenset(names))


def _write(home: Path, mappings: list[ColumnMapping]) -> None:
    record = {
        "version": _VERSION,
        "mappings": [{"names": sorted(m.names), "columns": dict(m.columns)} for m in mappings],
    }
    try:
        home.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{FILE_NAME}.", dir=home)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(record, file, indent=1, ensure_ascii=False)
            Path(name).replace(home / FILE_NAME)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"The column mapping could not be kept in {home} ({error.strerror}): check the folder and the room on its disk."
        ) from error
