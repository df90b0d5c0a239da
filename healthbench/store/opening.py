"""Open runs that the command line names, by path or by their id in the store, without keeping anything."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from healthbench.errors import InputRefusedError, StoreError
from healthbench.readers.reading import refusing
from healthbench.store.library import Library
from healthbench.store.mappings import lend_mappings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@contextmanager
def passing_library(home: Path) -> Iterator[Library]:
    """Give a store that is gone afterwards; it reads tables as the user's store at ``home`` does.

    Raises:
        StoreError: There is no room for it.
    """
    try:
        place = tempfile.TemporaryDirectory(prefix="healthbench-")
    except OSError as error:
        raise StoreError(
            f"No passing folder could be made ({error.strerror}): free some space on the disk, or set TMPDIR to a folder "
            "on another."
        ) from error
    with place as folder, closing(Library(Path(folder))) as library:
        lend_mappings(home, library.home)
        yield library


@contextmanager
def opened(
    names: Sequence[str], home: Path, dataset: Path | None = None
) -> Iterator[tuple[Library, list[str]]]:
    """Give a store that is gone afterwards, with one run for each name.

    Args:
        names: Each a path to a file or folder with one run, or the id of a run in the store at ``home``.
        home: The user's store; read only. Its data sets are attached.
        dataset: A further data set, for producers whose files mean nothing without one and for themes.

    Raises:
        InputRefusedError: A name is neither, or its file is refused or holds more than one run.
    """
    with passing_library(home) as library:
        for place in (home / "datasets").glob("[!.]*/dataset.json"):
            _show(place.parent, library.home / "datasets")
        if dataset:
            library.attach_dataset(dataset)
        yield library, [_run(library, name, home, dataset) for name in names]


def _run(library: Library, name: str, home: Path, dataset: Path | None) -> str:
    path = Path(name)
    with refusing(path.name):
        exists = path.exists()
    if not exists:
        stored = home / "runs" / name
        if path.name != name or not (stored / "run.json").exists():
            raise InputRefusedError(
                f"{name} is neither a file nor the id of a run in the store at {home}: check the spelling."
            )
        _show(stored, library.home / "runs")
        return library.summary(name).id
    outcomes = library.import_paths([path], dataset)
    runs = [outcome.run.id for outcome in outcomes if outcome.run]
    if len(runs) == 1:
        return runs[0]
    if runs:
        raise InputRefusedError(
            f"{path.name} holds {len(runs)} runs: name the file of one of them, or import it and give the id of a run."
        )
    refusals = [outcome.refusal for outcome in outcomes if outcome.refusal]
    raise InputRefusedError(
        refusals[0] if refusals else f"{path.name} holds no graded run: give the file of a run."
    )


def _show(place: Path, shelf: Path) -> None:
    """Make a folder of the user's store appear in the passing one."""
    shelf.mkdir(parents=True, exist_ok=True)
    if (shelf / place.name).exists():
        return
    try:
        (shelf / place.name).symlink_to(place, target_is_directory=True)
    except OSError:  # a system that does not let everyone link
        shutil.copytree(place, shelf / place.name)
