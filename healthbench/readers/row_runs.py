"""Runs from rows: which rows are which run, and how they are read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import NotAGradedRunError
from healthbench.model import ImportReport
from healthbench.readers.dataset import read_dataset
from healthbench.readers.fields import Where, canary_of, id_of
from healthbench.readers.join import index_of
from healthbench.readers.row_examples import long_examples, nested_examples
from healthbench.readers.rows import Row, is_criterion, is_example, item_fields
from healthbench.readers.rubrics import Rubrics
from healthbench.readers.source import RunSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from healthbench.model import GradedExample, RunInfo
    from healthbench.readers.dataset import DatasetRow

_MANY = 100


class Part(NamedTuple):
    """The model that replied and the one that graded, as a row names them."""

    model: str | None
    grader: str | None

    def __str__(self) -> str:
        """Name the pair for a reader."""
        grader = f"graded by {self.grader}" if self.grader else ""
        return ", ".join(part for part in (self.model, grader) if part)


class RowFile(NamedTuple):
    """Files that hold rows of the same kind.

    Attributes:
        files: All files they are read from.
        rows: Starts reading: each row with its place.
        info: What is known of the run before its rows are read.
        recognised_by: What in the content decided the format.
    """

    files: tuple[Path, ...]
    rows: Callable[[], Iterator[tuple[Where, Row]]]
    info: RunInfo
    recognised_by: str


def runs_of(file: RowFile, dataset: Path | None) -> list[RunSource]:
    """Open the runs in rows: one for each pair of model and grader that the rows name.

    The rows are read once here to find the pairs, and again when examples are asked for.

    Raises:
        InputRefusedError: A row cannot be read.
        NotAGradedRunError: No row has a verdict, or the rows name more than 100 pairs.
    """
    parts: dict[Part, bool] = {}
    wanting: set[str] = set()
    for where, row in file.rows():
        if is_example(row):
            parts.setdefault(_part(row), True)
        elif is_criterion(row):
            parts.setdefault(_part(row), False)
        if dataset is not None and (key := id_of(row.get("prompt_id"))) and _lacks(row, where):
            wanting.add(key)
    name = file.info.source
    if not parts:
        raise NotAGradedRunError(
            f"{name} has no row with a verdict, so it is no graded run; give the file with the single verdicts."
        )
    if len(parts) > _MANY:
        raise NotAGradedRunError(
            f"{name} names {len(parts)} pairs of model and grader, more than the {_MANY} a file may hold; map the right"
            " column to the model."
        )
    rows = {} if dataset is None else _rows_of(dataset, wanting)
    return [
        _run(file, rows, part, nested=nested, alone=len(parts) == 1)
        for part, nested in parts.items()
    ]


def _lacks(row: Row, where: Where) -> bool:
    """Tell whether a row leaves out what a data set could say: the conversation, or a criterion's text or tags."""
    if "prompt" not in row:
        return True
    items = [item_fields(item, where) for item in row["items"]] if is_example(row) else [row]
    return any("criterion" not in item or not {"tags", "axis"} & item.keys() for item in items)


def _rows_of(dataset: Path, prompt_ids: set[str]) -> dict[str, DatasetRow]:
    """Return the rows of some conversations, read only where there are any."""
    if not index_of(dataset).prompt_ids & prompt_ids:
        return {}
    return {row.prompt_id: row for row in read_dataset(dataset) if row.prompt_id in prompt_ids}


def _part(row: Row) -> Part:
    return Part(id_of(row.get("model")), id_of(row.get("grader")))


def _run(
    file: RowFile, rows: Mapping[str, DatasetRow], part: Part, *, nested: bool, alone: bool
) -> RunSource:
    info = replace(
        file.info,
        model=part.model or file.info.model,
        grader=part.grader or file.info.grader,
        stated=dict(file.info.stated) if alone else {},
        settings=dict(file.info.settings),
    )
    report = ImportReport(recognised_by=file.recognised_by)

    def own_rows() -> Iterator[tuple[Where, Row]]:
        for where, row in file.rows():
            if alone or _part(row) == part:
                report.canary = report.canary or canary_of(row)
                yield where, row

    def read() -> Iterator[GradedExample]:
        rubrics = Rubrics(rows)
        yield from (nested_examples if nested else long_examples)(own_rows(), rubrics, report)
        if rubrics.unnamed:
            report.warnings.append(
                f"The texts of {rubrics.unnamed:,} criteria are not in the file; attach the data set to see them."
            )

    # With a data set's words it is another run than the same rows without.
    told = ["" if alone else str(part), "joined" if rows else ""]
    return RunSource(info, report, file.files, " ".join(filter(None, told)), read)
