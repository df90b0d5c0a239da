"""One run found in what the user gave, before its examples are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from healthbench.model import GradedExample, ImportReport, RunInfo


@dataclass(slots=True)
class RunSource:
    """A run that can be read.

    Attributes:
        info: What is known of the run; complete once ``examples`` is exhausted.
        report: What the import understood; filled while ``examples`` is read.
        files: Every file it is read from.
        part: "" or what tells this run from others in the same files (a model's name in a table, a column mapping).
        examples: Starts reading. Refusals of single values are raised while it is iterated.
    """

    info: RunInfo
    report: ImportReport
    files: tuple[Path, ...]
    part: str
    examples: Callable[[], Iterator[GradedExample]]
