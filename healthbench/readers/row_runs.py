"""Runs from rows: which rows are which run, and how they are read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import NotAGradedRunError
from healthbench.model import ImportReport
from healthbench.readers.fields import Where, canary_of, id_of
from healthbench.readers.row_examples import long_examples, nested_examples
from healthbench.readers.rows import Row, is_criterion, is_example
from healthbench.readers.rubrics import Rubrics
from healthbench.readers.source import RunSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from healthbench.model import GradedExample, RunInfo

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
    for _, row in file.rows():
        if is_example(row):
            parts.setdefault(_part(row), True)
        elif is_criterion(row):
            parts.setdefault(_part(row), False)
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
    return [
        _run(file, dataset, part, nested=nested, alone=len(parts) == 1)
        for part, nested in parts.items()
    ]


def _part(row: Row) -> Part:
    return Part(id_of(row.get("model")), id_of(row.get("grader")))


def _run(
    file: RowFile, dataset: Path | None, part: Part, *, nested: bool, alone: bool
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
        rubrics = Rubrics(dataset)
        yield from (nested_examples if nested else long_examples)(own_rows(), rubrics, report)
        if rubrics.unnamed:
            report.warnings.append(
                f"The texts of {rubrics.unnamed:,} criteria are not in the file; attach the data set to see them."
            )

    return RunSource(info, report, file.files, "" if alone else str(part), read)
