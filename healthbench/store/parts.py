"""Know whether the Parquet files of a folder are still those that were written.

A folder never changes once it is published, so its record holds the sha256 of every file. DuckDB would read some damage
as other numbers; compared before it opens a file, damage is a sentence.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KEY = "parts"
"""Where a record holds the digests."""


def digests(folder: Path) -> dict[str, str]:
    """Return the sha256 of every Parquet file below a folder, by its path in the folder.

    Raises:
        OSError: A file cannot be read.
    """
    found = {}
    for path in sorted(folder.rglob("*.parquet")):
        with path.open("rb") as file:
            name = path.relative_to(folder).as_posix()
            found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def are_intact(folder: Path, record: Mapping[str, object]) -> bool:
    """Tell whether the files are those that were written; where an older record does not say, they are taken to be."""
    if KEY not in record:
        return True
    try:
        return record[KEY] == digests(folder)
    except OSError:
        return False
