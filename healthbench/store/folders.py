"""Publish a folder whole or not at all, and clear what killed writers left."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import uuid
import weakref
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from filelock import FileLock, Timeout

from healthbench.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filelock import BaseFileLock

_INCOMING = ".incoming-"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(slots=True)
class Incoming:
    """A folder being filled. ``name``, set before the end, is what it is published as."""

    path: Path
    name: str = ""


@contextmanager
def publishing(parent: Path) -> Iterator[Incoming]:
    """Give a new folder to fill; rename it to the name it was given at the end, or remove it where filling failed.

    Where another process published the same name meanwhile, that one stays and ours is dropped.

    Raises:
        StoreError: The disk is full or the store cannot be written.
    """
    incoming = Incoming(parent / f"{_INCOMING}{uuid.uuid4().hex}")
    lock = FileLock(f"{incoming.path}.lock")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with lock:
            incoming.path.mkdir()
            try:
                yield incoming
                _rename(incoming.path, parent / incoming.name)
            finally:
                shutil.rmtree(incoming.path, ignore_errors=True)
    except (OSError, duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise StoreError(_sentence(parent, error)) from error
    finally:
        with suppress(OSError):
            Path(f"{incoming.path}.lock").unlink()


class PassingFolder:
    """A folder for files that are only passing through the store.

    It goes with ``remove``, when nobody holds this object any more, or, after a kill, with the next start.

    Args:
        parent: Where it is made.

    Raises:
        StoreError: The disk is full or the store cannot be written.
    """

    def __init__(self, parent: Path) -> None:
        self.path = parent / f"{_INCOMING}{uuid.uuid4().hex}"
        # Whichever thread drops the last reference must be able to let go of the lock.
        lock = FileLock(f"{self.path}.lock", thread_local=False)
        try:
            parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
            self.path.mkdir()
        except OSError as error:
            _drop(self.path, lock)
            raise StoreError(_sentence(parent, error)) from error
        self._end = weakref.finalize(self, _drop, self.path, lock)

    def remove(self) -> None:
        """Remove the folder with all in it."""
        self._end()


def _drop(path: Path, lock: BaseFileLock) -> None:
    shutil.rmtree(path, ignore_errors=True)
    lock.release()
    with suppress(OSError):
        Path(lock.lock_file).unlink()


def clear_leftovers(parent: Path) -> int:
    """Remove folders whose writer was killed; return how many. Folders being written now are locked and stay."""
    cleared = 0
    for lock_file in parent.glob(f"{_INCOMING}*.lock"):
        lock = FileLock(lock_file, timeout=0)
        try:
            with lock:
                shutil.rmtree(lock_file.with_suffix(""), ignore_errors=True)
                cleared += 1
        except Timeout:
            continue
        lock_file.unlink(missing_ok=True)
    return cleared


def remove_folder(place: Path) -> None:
    """Remove a published folder; it disappears under its name at once, its files right after.

    Raises:
        StoreError: It may not be removed; one that another process removed meanwhile is no error.
    """
    going = place.parent / f"{_INCOMING}{uuid.uuid4().hex}"
    try:
        with FileLock(f"{going}.lock"):
            place.rename(going)
            shutil.rmtree(going, ignore_errors=True)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StoreError(
            f"{place.name} could not be removed from {place.parent}: check its permissions."
        ) from error
    finally:
        with suppress(OSError):
            Path(f"{going}.lock").unlink()


def _rename(incoming: Path, place: Path) -> None:
    _make_durable(incoming)
    try:
        incoming.rename(place)
    except OSError:
        if not place.exists():
            raise


def _make_durable(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb+") as file:
                os.fsync(file.fileno())


def _sentence(store: Path, error: Exception) -> str:
    text = str(error)
    full = (isinstance(error, OSError) and error.errno in _NO_ROOM) or any(
        sign in text
        for sign in (
            "No space left",
            "File too large",
            "Disk quota",
            "failed to offload",
            "max_temp_directory_size",
        )
    )
    # A command that keeps nothing has its store among the passing files.
    passing = store.parent.parent == Path(tempfile.gettempdir())
    variable = "TMPDIR" if passing else "HEALTHBENCH_HOME"
    if full:
        return f"There is no room on the disk for {store}: free some space or set {variable}, then import again."
    return f"The store at {store} could not be written: check its permissions, or set {variable} to another folder."
