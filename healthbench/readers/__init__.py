"""Read graded runs, whichever tool wrote them.

A file's producer is told from its content, never from its name. Each producer has one module with
``recognise(head)`` (why it is this producer's, in words, or None) and ``open_run(heads, dataset)``; READERS lists
them in the order they are asked, the most particular first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import ColumnsUnknownError, InputRefusedError, NotAGradedRunError
from healthbench.readers import (
    evalscope,
    generic,
    inspect_log,
    own_jsonl,
    refusals,
    simple_evals,
    simple_evals_html,
    tables,
    verifiers,
)
from healthbench.readers.checks import checked
from healthbench.readers.head import Head, look
from healthbench.readers.reading import refusing
from healthbench.readers.source import RunSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from healthbench.readers.aliases import ColumnMapping

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
    Reader(own_jsonl.recognise, own_jsonl.open_run),
    Reader(simple_evals_html.recognise, simple_evals_html.open_run),
    Reader(inspect_log.recognise, inspect_log.open_run),
    Reader(verifiers.recognise, verifiers.open_run),
    Reader(evalscope.recognise, evalscope.open_run, evalscope.group),
    Reader(generic.recognise, generic.open_run, generic.group),
    Reader(tables.recognise, tables.open_run, generic.group),
)


class Found(NamedTuple):
    """What became of files that belong together: their runs, or why they were refused."""

    paths: tuple[Path, ...]
    runs: list[RunSource]
    refused: InputRefusedError | None = None


def find_runs(
    paths: Sequence[Path],
    dataset: Path | None = None,
    mappings: Sequence[ColumnMapping] = (),
    looking: Callable[[Path], None] | None = None,
) -> list[Found]:
    """Find every run in files and folders; one broken file does not hide the others.

    Args:
        paths: Files and folders. What lies beside runs in a folder (metrics, a README, a report of the same
            run) is passed over in silence; a file that was named is always answered for.
        dataset: A benchmark data set, for producers whose files mean nothing without one.
        mappings: What columns hold, for tables whose names do not say it; a mapping counts for every table that has
            all its columns.
        looking: Called with each file before it is looked at; whatever it raises ends the search.
    """
    search = _Search(tuple(mappings), [], {}, looking)
    for path in paths:
        search.claim(path)
    found = search.found
    for place, heads in search.claimed.items():
        reader = READERS[place]
        found += [_open(reader, group, dataset) for group in reader.group(heads)]
    return found


def open_runs(
    paths: Sequence[Path], dataset: Path | None = None, mappings: Sequence[ColumnMapping] = ()
) -> list[RunSource]:
    """Open every run in files and folders that are all expected to be good; the arguments are those of find_runs.

    Raises:
        InputRefusedError: The first file that cannot be used; NotAGradedRunError where it is no graded run.
    """
    runs = []
    for found in find_runs(paths, dataset, mappings):
        if found.refused is not None:
            raise found.refused
        runs += found.runs
    return runs


def _open(reader: Reader, group: Sequence[Head], dataset: Path | None) -> Found:
    paths = tuple(head.path for head in group)
    try:
        with refusing(paths[0].name):
            return Found(paths, [checked(run) for run in reader.open_run(group, dataset)])
    except InputRefusedError as error:
        return Found(paths, [], error)


class _Search(NamedTuple):
    """A walk over files and folders.

    Attributes:
        mappings: Column mappings for tables.
        found: What was refused.
        claimed: Files (or whole folders) by the place of the reader that recognised them.
        looking: Told of each file before it is looked at.
    """

    mappings: tuple[ColumnMapping, ...]
    found: list[Found]
    claimed: dict[int, list[Head]]
    looking: Callable[[Path], None] | None = None

    def claim(self, path: Path) -> None:
        """Give a file or folder to the reader that recognises it, or record why none does."""
        if self.looking:
            self.looking(path)
        try:
            with refusing(path.name):
                head = replace(look(path), mappings=self.mappings)
                place = _reader_of(head)
                inside = sorted(path.iterdir()) if head.kind == "folder" and place is None else []
        except InputRefusedError as error:
            self.found.append(Found((path,), [], error))
            return
        if place is not None:
            self.claimed.setdefault(place, []).append(head)
        elif head.kind == "folder":
            self._claim_folder(path, inside)
        else:
            self.found.append(Found((path,), [], refusals.refusal(head)))

    def _claim_folder(self, folder: Path, children: Sequence[Path]) -> None:
        inside = _Search(self.mappings, [], {}, self.looking)
        for child in refusals.without_twins(children):
            inside.claim(child)
        failures = [f for f in inside.found if not isinstance(f.refused, NotAGradedRunError)]
        if not inside.claimed and not failures:
            failures = [f for f in inside.found if isinstance(f.refused, ColumnsUnknownError)]
        if not inside.claimed and not failures:
            failures = [Found((folder,), [], refusals.empty_folder(folder, inside.found))]
        self.found.extend(failures)
        for place, heads in inside.claimed.items():
            self.claimed.setdefault(place, []).extend(heads)


def _reader_of(head: Head) -> int | None:
    for place, reader in enumerate(READERS):
        if reader.recognise(head) is not None:
            return place
    return None
