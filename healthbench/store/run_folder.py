"""Write one run as an immutable folder of Parquet files.

Layout, version ``SCHEMA_VERSION`` (columns: ``sql/part_tables.sql``, points: ``sql/tally.sql``)::

    runs/<id>/run.json                       what is known of the run, its headline figures, its import report, and
                                             the sha256 of every file below
    runs/<id>/examples/part-NNNN.parquet     one row an example: texts and points
    runs/<id>/items/part-NNNN.parquet        one row a criterion of an example, with its verdict
    runs/<id>/tag_scores/part-NNNN.parquet   one row an example and criterion tag: points
    runs/<id>/criteria/part-0000.parquet     each criterion of the run once

The folder is built beside its place and published by one rename; it is never changed after.
"""

from __future__ import annotations

import gc
import hashlib
import json
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from healthbench.errors import InputRefusedError
from healthbench.readers.reading import refusing
from healthbench.scoring.headline import headline
from healthbench.store import parts
from healthbench.store.folders import publishing
from healthbench.store.records import Progress
from healthbench.store.run_writer import RunWriter
from healthbench.store.tables import create_views, read_run_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from healthbench.model import ImportReport
    from healthbench.readers import RunSource

SCHEMA_VERSION = 1

# For the working tables of an import; what does not fit is spilled to the store's disk.
_MEMORY = "96MB"
_LOOK_EVERY = 250
_HASHED_AT_ONCE = 16_777_216


class Written(NamedTuple):
    """Id of a run in the store, and whether it had been there before."""

    id: str
    already_there: bool


def write_run(
    parent: Path, source: RunSource, progress: Callable[[Progress], None] | None = None
) -> Written:
    """Read a run to its end and publish it as a folder of ``parent``.

    The same content is the same run, whatever its file is called: it is named by the hash of its files, computed by
    a second thread, and reading stops as soon as the name turns out to be taken.

    Args:
        parent: ``runs`` in the store.
        source: The run as a reader found it.
        progress: Called now and then; whatever it raises stops the import and leaves nothing.

    Raises:
        InputRefusedError: The source holds no example, is broken, or changed while it was read.
        StoreError: The disk is full or the store cannot be written.
    """
    before = _fingerprint(source)
    with ThreadPoolExecutor(1, thread_name_prefix="run-digest") as second_thread:
        hashing = second_thread.submit(_digests, source.files)
        try:
            with publishing(parent) as folder:
                record = _read(folder.path, source, _Watch(parent, source, hashing, progress))
                if _fingerprint(source) != before:
                    raise InputRefusedError(
                        f"{source.info.source} changed while it was read: wait until it is complete and import it "
                        "again."
                    )
                folder.name = _name(source, hashing.result())
                record = {
                    "schema_version": SCHEMA_VERSION,
                    "id": folder.name,
                    "files": hashing.result(),
                    parts.KEY: parts.digests(folder.path),
                    **record,
                }
                text = json.dumps(record, indent=1, ensure_ascii=False)
                (folder.path / "run.json").write_text(text, encoding="utf-8", errors="replace")
        except _AlreadyThereError:
            return Written(_name(source, hashing.result()), already_there=True)
    return Written(folder.name, already_there=False)


class _AlreadyThereError(Exception):
    """The run being read is in the store."""


@dataclass(frozen=True, slots=True)
class _Watch:
    """Looks up from reading now and then: is the run known already, and who wants to hear how far it is?"""

    parent: Path
    source: RunSource
    hashing: Future[dict[str, str]]
    progress: Callable[[Progress], None] | None

    def look(self, n_examples: int) -> None:
        if (
            self.hashing.done()
            and (self.parent / _name(self.source, self.hashing.result())).exists()
        ):
            raise _AlreadyThereError
        if self.progress:
            self.progress(Progress(self.source.info.source, n_examples))


def _read(folder: Path, source: RunSource, watch: _Watch) -> dict[str, object]:
    spill = folder / "spill"
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY,
        "threads": 2,
        "temp_directory": str(spill),
    }
    with (
        duckdb.connect(":memory:", config=config) as connection,
        RunWriter(folder, connection) as writer,
    ):
        with _no_garbage_collection():
            for example in source.examples():
                writer.add(example)
                if writer.n_examples % _LOOK_EVERY == 0:
                    watch.look(writer.n_examples)
        watch.look(writer.n_examples)
        if not writer.n_examples:
            raise InputRefusedError(
                f"{source.info.source} holds no graded example: choose a run with at least one."
            )
        writer.finish()
        record = _record(source, writer)
    shutil.rmtree(spill, ignore_errors=True)
    return record


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keep the collector from walking every criterion of the run again and again: none of them is in a cycle."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _name(source: RunSource, digests: dict[str, str]) -> str:
    identity = json.dumps([SCHEMA_VERSION, sorted(digests.values()), source.part])
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def _digests(paths: Sequence[Path]) -> dict[str, str]:
    return {path.name: digest(path) for path in paths}


def digest(path: Path) -> str:
    """Return the sha256 of a file's content.

    Read in large pieces: a thread that hashes small ones would wait for the interpreter at every one of them.

    Raises:
        InputRefusedError: The file cannot be read.
    """
    sha256 = hashlib.sha256()
    with refusing(path.name), path.open("rb", buffering=0) as file:
        while piece := file.read(_HASHED_AT_ONCE):
            sha256.update(piece)
    return sha256.hexdigest()


def _fingerprint(source: RunSource) -> list[tuple[int, int, int]]:
    try:
        return [
            (s.st_size, s.st_mtime_ns, s.st_ino) for s in (path.stat() for path in source.files)
        ]
    except OSError as error:
        raise InputRefusedError(
            f"{source.info.source} cannot be read: check that it is still there."
        ) from error


def _record(source: RunSource, writer: RunWriter) -> dict[str, object]:
    connection = writer.connection
    connection.execute("CREATE SCHEMA run; USE memory.run")
    create_views(connection, writer.folder)
    scores = read_run_scores(connection, with_tags=False)
    marked = connection.execute("SELECT sum(n_marked) FROM examples").fetchall()
    return {
        "info": asdict(source.info),
        "report": _plain(source.report),
        "imported": datetime.now(UTC).isoformat(timespec="seconds"),
        "n_examples": writer.n_examples,
        "n_prompts": len(writer.replies),
        "n_items": writer.n_items,
        "n_unknown": int(scores.overall.n_unknown.sum()),
        "n_marked": int(marked[0][0]),
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
