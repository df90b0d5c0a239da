"""Read graded runs, whichever tool wrote them.

A file's producer is told from its content, never from its name. Each producer has one module with
``recognise(head)`` (why it is this producer's, in words, or None) and ``open_run(heads, dataset)``; READERS lists
them in the order they are asked, the most particular first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.readers import (
    evalscope,
    generic,
    inspect_log,
    refusals,
    simple_evals,
    simple_evals_html,
    verifiers,
)
from healthbench.readers.checks import checked
from healthbench.readers.head import Head, look
from healthbench.readers.source import RunSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["Found", "Reader", "RunSource", "find_runs", "open_runs"]


def each_alone(heads: Sequence[Head]) -> list[list[Head]]:
    """Group files of a producer that writes one file (or folder) a run."""
    return [[head] for head in heads]


class Reader(NamedTuple):
    """How one producer's files are recognised and opened.

    Attributes:
        recognise: Says in words why a file or folder is this producer's, None where it is not. It raises
            NotAGradedRunError for what it knows to be the producer's but no run.
        open_run: Opens the files of one group: mostly one run, several where a table holds several models.
            The second argument is a data set that gives positional grades and HTML reports their meaning.
        group: Puts the recognised files that are one run together.
    """

    recognise: Callable[[Head], str | None]
    open_run: Callable[[Sequence[Head], Path | None], list[RunSource]]
    group: Callable[[Sequence[Head]], list[list[Head]]] = each_alone


READERS: tuple[Reader, ...] = (
    Reader(simple_evals.recognise, simple_evals.open_run),
    Reader(simple_evals_html.recognise, simple_evals_html.open_run),
    Reader(inspect_log.recognise, inspect_log.open_run),
    Reader(verifiers.recognise, verifiers.open_run),
    Reader(evalscope.recognise, evalscope.open_run, evalscope.group),
    Reader(generic.recognise, generic.open_run, generic.group),
)


class Found(NamedTuple):
    """What became of files that belong together: their runs, or why they were refused."""

    paths: tuple[Path, ...]
    runs: list[RunSource]
    refused: InputRefusedError | None = None


def find_runs(paths: Sequence[Path], dataset: Path | None = None) -> list[Found]:
    """Find every run in files and folders; one broken file does not hide the others.

    Args:
        paths: Files and folders. What lies beside runs in a folder (metrics, a README, a report of the same
            run) is passed over in silence; a file that was named is always answered for.
        dataset: A benchmark data set, for producers whose files mean nothing without one.
    """
    found: list[Found] = []
    claimed: dict[int, list[Head]] = {}
    for path in paths:
        _claim(path, found, claimed)
    for place, heads in claimed.items():
        reader = READERS[place]
        found += [_open(reader, group, dataset) for group in reader.group(heads)]
    return found


def open_runs(paths: Sequence[Path], dataset: Path | None = None) -> list[RunSource]:
    """Open every run in files and folders that are all expected to be good.

    Raises:
        InputRefusedError: The first file that cannot be used; NotAGradedRunError where it is no graded run.
    """
    runs = []
    for found in find_runs(paths, dataset):
        if found.refused is not None:
            raise found.refused
        runs += found.runs
    return runs


def _open(reader: Reader, group: Sequence[Head], dataset: Path | None) -> Found:
    paths = tuple(head.path for head in group)
    try:
        return Found(paths, [checked(run) for run in reader.open_run(group, dataset)])
    except InputRefusedError as error:
        return Found(paths, [], error)


def _claim(path: Path, found: list[Found], claimed: dict[int, list[Head]]) -> None:
    """Give a file or folder to the reader that recognises it, or record why none does."""
    try:
        head = look(path)
        place = _reader_of(head)
    except InputRefusedError as error:
        found.append(Found((path,), [], error))
        return
    if place is not None:
        claimed.setdefault(place, []).append(head)
    elif head.kind == "folder":
        _claim_folder(path, found, claimed)
    else:
        found.append(Found((path,), [], refusals.refusal(head)))


def _claim_folder(folder: Path, found: list[Found], claimed: dict[int, list[Head]]) -> None:
    inside: list[Found] = []
    inside_claimed: dict[int, list[Head]] = {}
    for child in refusals.without_twins(sorted(folder.iterdir())):
        _claim(child, inside, inside_claimed)
    failures = [f for f in inside if not isinstance(f.refused, NotAGradedRunError)]
    if not inside_claimed and not failures:
        failures = [Found((folder,), [], refusals.empty_folder(folder, inside))]
    found += failures
    for place, heads in inside_claimed.items():
        claimed.setdefault(place, []).extend(heads)


def _reader_of(head: Head) -> int | None:
    for place, reader in enumerate(READERS):
        if reader.recognise(head) is not None:
            return place
    return None
