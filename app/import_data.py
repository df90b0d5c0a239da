"""All that importing and exporting ask of the store."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import data

from healthbench.errors import StoreError
from healthbench.export import export_run, suggested_name
from healthbench.readers.mapping_check import problem_of
from healthbench.store import mappings
from healthbench.store.folders import PassingFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from healthbench.readers.aliases import ColumnMapping
    from healthbench.readers.tables import TableColumns
    from healthbench.store.records import ImportOutcome, Progress


class KeptUploads:
    """Uploaded files on disk, until they are imported or the session that holds them ends."""

    def __init__(self) -> None:
        self._folder = PassingFolder(data.library().home / "uploads")

    def add(self, name: str, content: bytes | memoryview) -> Path:
        """Write one file to a folder of its own: two of one name stay two, and names keep their meaning.

        Raises:
            StoreError: It cannot be kept.
        """
        try:
            place = Path(tempfile.mkdtemp(dir=self._folder.path)) / Path(name).name
            place.write_bytes(content)
        except OSError as error:
            raise StoreError(
                f"{Path(name).name} could not be kept in {data.library().home} ({error.strerror}): free some space there, "
                "or name its path instead of dropping it."
            ) from error
        return place

    def remove(self) -> None:
        """Remove the files."""
        self._folder.remove()


def import_each(
    paths: Sequence[Path], progress: Callable[[Progress], None]
) -> Iterator[ImportOutcome]:
    """Import files and folders; each outcome, with a run, a data set or a sentence, comes as soon as it is known."""
    return data.library().import_each(paths, progress=progress)


def remember_mapping(mapping: ColumnMapping, table: TableColumns) -> str | None:
    """Keep a column mapping for tables with the same column names, or say in one sentence why it cannot be right.

    Raises:
        StoreError: The store cannot be written.
    """
    problem = problem_of(mapping, table)
    if problem is None:
        data.library().remember_mapping(mapping)
    return problem


def remembered_mappings() -> tuple[ColumnMapping, ...]:
    """Return the remembered column mappings, the newest first."""
    return mappings.read_mappings(data.library().home)


def forget_mapping(names: frozenset[str]) -> None:
    """Forget the column mapping for tables with these column names.

    Raises:
        StoreError: The store cannot be written.
    """
    mappings.forget_mapping(data.library().home, names)


def export_name(run_id: str, form: str) -> str:
    """Return a file name for an export."""
    return suggested_name(data.library().summary(run_id), form)


def exporter(run_id: str, form: str, *, texts: bool) -> Callable[[], bytes]:
    """Return what writes a run in a form; it is called in a thread of its own, when a reader asks for the file."""
    store = data.library()

    def write() -> bytes:
        with tempfile.TemporaryDirectory(prefix="healthbench-export-") as folder:
            return export_run(store, run_id, Path(folder), form, texts=texts).path.read_bytes()

    return write
