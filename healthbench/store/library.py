"""Many runs, and the questions a page or a command asks of them."""

from __future__ import annotations

import dataclasses
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from healthbench.errors import InputRefusedError, StoreError
from healthbench.model import Message
from healthbench.readers import find_runs
from healthbench.readers.dataset import is_dataset
from healthbench.readers.reading import refusing
from healthbench.readers.tables import table_columns
from healthbench.scoring.example import Tally
from healthbench.store import filters
from healthbench.store.dataset_folder import write_dataset
from healthbench.store.folders import clear_leftovers, remove_folder
from healthbench.store.hub import Hub, stamps
from healthbench.store.mappings import read_mappings, remember_mapping
from healthbench.store.records import (
    DatasetSummary,
    ExampleFilter,
    ExampleView,
    ImportOutcome,
    Progress,
    RunSummary,
    Unreadable,
)
from healthbench.store.run_folder import digest, write_run
from healthbench.store.summaries import (
    DATASET,
    RUN,
    damaged_folder,
    dataset_summary,
    run_summary,
)
from healthbench.store.tables import read_run_scores, sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import duckdb
    import pandas as pd

    from healthbench.readers import RunSource
    from healthbench.readers.aliases import ColumnMapping
    from healthbench.scoring.run_scores import RunScores

_SNIPPET = 160


class Library:
    """The store at one place.

    Any number of processes may use the same place at once. Opening it clears what killed imports left.

    Args:
        home: Folder of the store; made when something is first written.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self._hub = Hub(home)
        for kind in ("runs", "datasets", "uploads"):
            clear_leftovers(home / kind)

    def close(self) -> None:
        """Release the database connection."""
        self._hub.close()

    # Importing

    def import_paths(
        self,
        paths: Sequence[Path],
        dataset: Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> list[ImportOutcome]:
        """Import every run (and attach every data set) in files and folders; one refusal stops none.

        Args:
            paths: Files and folders.
            dataset: A data set for producers whose files lack prompt_ids or criteria; else the attached ones are asked.
            progress: Called now and then; whatever it raises stops the import and leaves nothing of that run.

        Raises:
            StoreError: The store cannot be written.
        """
        return list(self.import_each(paths, dataset, progress))

    def import_each(
        self,
        paths: Sequence[Path],
        dataset: Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Iterator[ImportOutcome]:
        """Import as ``import_paths`` does, and say what became of each thing as soon as it is known.

        Tables are read by the column mappings that are remembered for their column names.
        """
        show = progress or _silent

        def looking(path: Path) -> None:
            show(Progress(path.name))

        datasets, runs = _sorted_out(paths, looking)
        for path in datasets:
            looking(path)
            yield self._attach(path)
        joined = dataset or (self.home / "datasets" if self.datasets() else None)
        everything = find_runs(runs, joined, read_mappings(self.home), looking)
        total = len(datasets) + len(everything)
        for place, found in enumerate(everything, start=len(datasets)):
            path = found.paths[0] if len(found.paths) == 1 else found.paths[0].parent
            if found.refused is not None:
                yield _refused(path, found.paths[0], found.refused)
            for source in found.runs:
                start = Progress(source.info.source, done=place, total=total)
                show(start)
                yield self._import(path, source, _counted(show, start))

    def remember_mapping(self, mapping: ColumnMapping) -> None:
        """Read every table with the mapping's column names by it from now on.

        Raises:
            StoreError: The store cannot be written.
        """
        remember_mapping(self.home, mapping)

    def attach_dataset(self, path: Path) -> DatasetSummary:
        """Keep a benchmark data set, so that every run gets its themes by prompt_id.

        Raises:
            InputRefusedError: The file is no data set.
            StoreError: The store cannot be written.
        """
        with refusing(path.name):
            if not path.is_file():
                raise InputRefusedError(
                    f"{path.name} is not a file: give the data set's JSONL file."
                )
        name = digest(path)[:16]
        place = self.home / "datasets" / name
        if any(unusable.path == place for unusable in self._datasets()[1]):
            remove_folder(place)
        if not place.exists():
            write_dataset(place, path)
        return dataset_summary(place)

    def _attach(self, path: Path) -> ImportOutcome:
        try:
            return ImportOutcome(path, dataset=self.attach_dataset(path))
        except InputRefusedError as error:
            return ImportOutcome(path, refusal=str(error))

    def _import(
        self, path: Path, source: RunSource, progress: Callable[[Progress], None]
    ) -> ImportOutcome:
        try:
            written = write_run(self.home / "runs", source, progress)
            if written.already_there and self.damage(written.id):
                self.remove(written.id)
                written = write_run(self.home / "runs", source, progress)
            return ImportOutcome(
                path, self.summary(written.id), already_there=written.already_there
            )
        except InputRefusedError as error:
            return _refused(path, source.files[0], error)

    # Runs and data sets

    def runs(self) -> list[RunSummary]:
        """Return the runs of this version's layout, oldest import first."""
        found = []
        for place in self._places("runs", RUN):
            try:
                found.append(self.summary(place.name))
            except StoreError:
                continue
        return sorted(found, key=lambda run: (run.imported, run.name, run.id))

    def folders(self) -> tuple[tuple[str, int], ...]:
        """Return name and time of every run's folder: what changes when runs come or go, in any process."""
        return stamps(self._places("runs", RUN))

    def unreadable(self) -> list[Unreadable]:
        """Return the folders of runs and data sets that this version cannot use, with the reason."""
        found = []
        for place in self._places("runs", RUN):
            try:
                self.summary(place.name)
            except StoreError as error:
                found.append(Unreadable(place.name, place, str(error)))
        return found + self._datasets()[1]

    def summary(self, run_id: str) -> RunSummary:
        """Return what is known of a run.

        Raises:
            StoreError: There is no such run, it is damaged, or another version wrote it.
        """
        place = self.home / "runs" / run_id
        if not (place / RUN).exists():
            raise StoreError(
                f"Run {run_id} is not in the store at {self.home}: import its file again."
            )
        return run_summary(place)

    def damage(self, run_id: str) -> str | None:
        """Return why a run in the store cannot be opened, None where it can."""
        try:
            self.summary(run_id)
            self.ready(run_id)
        except StoreError as error:
            return str(error)
        return None

    def remove(self, run_id: str) -> None:
        """Remove a run from the store; the file it came from is not touched."""
        self._hub.forget(run_id)
        remove_folder(self.home / "runs" / run_id)

    def datasets(self) -> list[DatasetSummary]:
        """Return the attached data sets that can be used."""
        return self._datasets()[0]

    def _datasets(self) -> tuple[list[DatasetSummary], list[Unreadable]]:
        found: list[DatasetSummary] = []
        unusable: list[Unreadable] = []
        damaged = self._hub.damaged_datasets()
        for place in self._places("datasets", DATASET):
            try:
                summary = dataset_summary(place)
            except StoreError as error:
                unusable.append(Unreadable(place.name, place, str(error)))
                continue
            if place.name in damaged:
                unusable.append(Unreadable(place.name, place, damaged_folder(place)))
            else:
                found.append(summary)
        return found, unusable

    def remove_unreadable(self, folder_id: str) -> None:
        """Remove a run or data set that cannot be used from the store."""
        for unusable in self.unreadable():
            if unusable.id == folder_id:
                remove_folder(unusable.path)

    def detach_dataset(self, dataset_id: str) -> None:
        """Remove an attached data set from the store."""
        remove_folder(self.home / "datasets" / dataset_id)

    def themes_from(self, run_id: str) -> str:
        """Return where the run's themes are from: ``file``, ``dataset``, ``inferred`` or ``none``."""
        with self.cursor(run_id) as cursor:
            found = {
                source
                for (source,) in cursor.execute(
                    "SELECT DISTINCT source FROM example_tags"
                ).fetchall()
            }
        if "file" in found and self.summary(run_id).report.themes_from == "dataset":
            return "dataset"  # the reader itself joined a data set, as for HTML reports
        return next(
            (source for source in ("file", "dataset", "inferred") if source in found), "none"
        )

    # Questions

    @contextmanager
    def cursor(self, run_id: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a cursor for one thread, with the tables of a run in its current schema."""
        with self._hub.cursor(run_id) as cursor:
            yield cursor

    def ready(self, run_id: str) -> None:
        """Make a run's tables reachable as ``run_<id>.<table>`` from any cursor."""
        self._hub.ready(run_id)

    def run_scores(
        self, run_id: str, *, as_stored: bool = False, inferred: bool = False
    ) -> RunScores:
        """Return the run as arrays.

        Args:
            run_id: The run.
            as_stored: Count verdicts with a producer's mark of failure as the file does, as not met.
            inferred: Count themes and categories that are only inferred from consensus clusters too.
        """
        with self.cursor(run_id) as cursor:
            return read_run_scores(cursor, as_stored=as_stored, inferred=inferred)

    def examples(
        self,
        run_id: str,
        wanted: ExampleFilter | None = None,
        order: str = "example",
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[pd.DataFrame, int]:
        """Return one page of examples and how many there are in all.

        Args:
            run_id: The run.
            wanted: Which examples; None for all.
            order: A key of ``filters.ORDERS``.
            limit: Length of the page.
            offset: Examples before the page.

        Returns:
            Columns example, prompt_id, repeat, theme, score (unclipped, NaN where withheld), low, high, possible,
            achieved, n_items, n_unknown, characters, n_messages, snippet (start of the last user turn).
        """
        where, values = filters.condition(wanted or ExampleFilter())
        with self.cursor(run_id) as cursor:
            counted = cursor.execute(
                f"SELECT count(*) FROM examples WHERE {where}", values
            ).fetchall()
            query = sql("examples_page", where=where, order=filters.ORDERS[order])
            page = cursor.execute(query, [*values, limit, offset]).df()
        page["snippet"] = [_snippet(prompt) for prompt in page.pop("prompt")]
        return page, int(counted[0][0])

    def example_rows(
        self, run_id: str, wanted: ExampleFilter | None = None, order: str = "example"
    ) -> list[int]:
        """Return the rows of all examples a filter lists, in order; what next and previous step through."""
        where, values = filters.condition(wanted or ExampleFilter())
        with self.cursor(run_id) as cursor:
            query = f"SELECT example FROM examples WHERE {where} ORDER BY {filters.ORDERS[order]}"
            return [row for (row,) in cursor.execute(query, values).fetchall()]

    def example(self, run_id: str, example: int) -> ExampleView:
        """Return one example with its ledger.

        Raises:
            StoreError: The run has no such example.
        """
        with self.cursor(run_id) as cursor:
            found = cursor.execute(sql("example"), [example]).df()
            if found.empty:
                raise StoreError(
                    f"Run {run_id} has no example {example}: choose one from its list."
                )
            ledger = cursor.execute(sql("ledger"), [example]).df()
            tags = cursor.execute(
                "SELECT tag, source FROM example_tags WHERE example = ?", [example]
            ).fetchall()
        row = found.iloc[0]
        return ExampleView(
            run_id=run_id,
            example=int(row["example"]),
            prompt_id=str(row["prompt_id"]),
            repeat=int(row["repeat"]),
            n_repeats=int(row["n_repeats"]),
            completion_id=_optional(row["completion_id"], str),
            prompt=[Message(turn["role"], turn["content"]) for turn in json.loads(row["prompt"])],
            reply=str(row["reply"]),
            characters=int(row["characters"]),
            tags=dict(tags),
            stated_score=_optional(row["stated_score"], float),
            error=_optional(row["error"], str),
            tally=Tally(
                float(row["possible"]),
                float(row["achieved"]),
                float(row["unknown_positive"]),
                float(row["unknown_negative"]),
                float(row["negative"]),
                int(row["n_items"]),
                int(row["n_unknown"]),
            ),
            ledger=ledger,
        )

    def _places(self, kind: str, record: str) -> list[Path]:
        return sorted(path.parent for path in (self.home / kind).glob(f"[!.]*/{record}"))


def _sorted_out(
    paths: Sequence[Path], looking: Callable[[Path], None]
) -> tuple[list[Path], list[Path]]:
    """Tell data sets, also those that lie in a given folder, from what may be runs."""
    datasets = []
    for path in paths:
        try:
            with refusing(path.name):
                inside = sorted(path.iterdir()) if path.is_dir() else [path]
                files = [file for file in inside if file.is_file()]
        except InputRefusedError:  # said where runs are looked for
            continue
        for file in files:
            looking(file)
            if is_dataset(file):
                datasets.append(file)
    return datasets, [path for path in paths if path not in datasets]


def _silent(_: Progress) -> None:
    pass


def _counted(show: Callable[[Progress], None], start: Progress) -> Callable[[Progress], None]:
    """Add to one run's progress how many of all the things are done."""
    return lambda now: show(dataclasses.replace(start, examples=now.examples))


def _refused(path: Path, file: Path, error: InputRefusedError) -> ImportOutcome:
    """Say why something was refused and, where it is a table, which columns a person could map."""
    try:
        columns = table_columns(file)
    except InputRefusedError:
        columns = None
    return ImportOutcome(path, refusal=str(error), columns=columns)


def _snippet(prompt: str) -> str:
    turns = [turn["content"] for turn in json.loads(prompt) if turn["role"] == "user"]
    return " ".join((turns[-1] if turns else "").split())[:_SNIPPET]


def _optional(value: Any, kind: Callable[[Any], Any]) -> Any:
    return None if value is None or value != value else kind(value)  # noqa: PLR0124 - NaN
