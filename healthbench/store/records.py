"""What the store answers with, and the filter it is asked with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from healthbench.model import ImportReport, Message, RunInfo
    from healthbench.readers.tables import TableColumns
    from healthbench.scoring.example import Tally
    from healthbench.scoring.headline import Headline


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of the table of runs; read from ``run.json`` alone.

    Attributes:
        id: Name of the run's folder.
        info, report: As the import left them.
        files: Name of each source file -> sha256 of its content.
        imported: When it was imported, ISO 8601 in UTC.
        n_examples, n_prompts, n_items, n_unknown: Counts over the run.
        n_marked: Verdicts stored as "not met" that carry a producer's mark of a failed grade (part of n_unknown).
        mean_characters: Mean reply length in code points.
        headline: The overall score.
    """

    id: str
    info: RunInfo
    report: ImportReport
    files: dict[str, str]
    imported: str
    n_examples: int
    n_prompts: int
    n_items: int
    n_unknown: int
    n_marked: int
    mean_characters: float
    headline: Headline

    @property
    def name(self) -> str:
        """The name a person knows the run by: its model, else its file."""
        return self.info.model or self.info.source


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """One attached data set."""

    id: str
    source: str
    n_examples: int
    n_criteria: int
    canary: str
    synthetic: bool


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """What became of one thing the user gave: a run, a data set, or a sentence that says why not.

    Attributes:
        path: The file, or the folder that holds the files of one run.
        run: The imported run, None where it was refused.
        already_there: True where the same content had been imported before.
        refusal: One sentence, None where it was imported.
        dataset: The data set it turned out to be, None otherwise.
        columns: What a refused table offers, for a person to map its columns; None for what is no table.
    """

    path: Path
    run: RunSummary | None = None
    already_there: bool = False
    refusal: str | None = None
    dataset: DatasetSummary | None = None
    columns: TableColumns | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an import is.

    Attributes:
        source: The file being looked at or read.
        examples: Examples read from it so far.
        done: Things (runs, data sets, refused files) that are done with.
        total: How many there are; None while the files are only looked at.
    """

    source: str
    examples: int = 0
    done: int = 0
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleFilter:
    """Which examples to list. Empty means no condition; all conditions hold together.

    The conditions on criteria (axes, states, points, criterion, and text sought in criteria or explanations) must be
    met by one and the same criterion of the example.

    Attributes:
        themes, categories, tags: Example tags, any of them.
        axes: Axis tags of a criterion.
        states: States of a criterion (see ``scoring.example.State``).
        min_points, max_points: Signed points of a criterion, inclusive.
        criterion: Id of one criterion of this run.
        min_score, max_score: Unclipped example score, inclusive; examples without a score match neither.
        min_characters, max_characters: Reply length in code points, inclusive.
        min_messages, max_messages: Number of turns before the reply, inclusive.
        text: Sought as written, ignoring case.
        text_in: Where ``text`` is sought: ``criterion``, ``explanation``, ``reply`` or ``conversation``.
        prompt_ids: These prompts only.
        withheld: True: only examples whose score is withheld or undefined.
    """

    themes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    min_points: float | None = None
    max_points: float | None = None
    criterion: int | None = None
    min_score: float | None = None
    max_score: float | None = None
    min_characters: int | None = None
    max_characters: int | None = None
    min_messages: int | None = None
    max_messages: int | None = None
    text: str = ""
    text_in: str = "criterion"
    prompt_ids: tuple[str, ...] = ()
    withheld: bool = False


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One example with all that a page shows of it.

    Attributes:
        example: Row in the run, 0-based, file order.
        repeat: 0-based number of this reply among the replies to the same prompt.
        n_repeats: Number of replies to this prompt in the run.
        tags: Example tag -> where it is from (``file``, ``dataset`` or ``inferred``).
        ledger: One row a criterion in file order: position, criterion_id, points, stored, failure, met (nullable),
            state, criterion, tags, axis, level, cluster, explanation.
    """

    run_id: str
    example: int
    prompt_id: str
    repeat: int
    n_repeats: int
    completion_id: str | None
    prompt: list[Message]
    reply: str
    characters: int
    tags: dict[str, str]
    stated_score: float | None
    error: str | None
    tally: Tally
    ledger: pd.DataFrame = field(repr=False)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A run or data set in the store that this version cannot use, its folder, and the sentence that says why."""

    id: str
    path: Path
    reason: str
