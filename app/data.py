"""What every page asks of the store. The cached functions of the app are here and in the other ``*_data`` modules.

A run's content never changes, so its id is the key; what depends on attached data sets (themes) has their ids in the
key too. Arrays are shared between sessions and must not be written to.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from healthbench import export
from healthbench import report as html_report
from healthbench.config import Settings, bundled
from healthbench.errors import StoreError
from healthbench.scoring import aggregate, compare, uncertainty, which_rule
from healthbench.scoring.headline import headline as compute_headline
from healthbench.scoring.matching import match_examples
from healthbench.scoring.run_scores import OVERALL
from healthbench.scoring.verification import verify
from healthbench.store import coverage as coverage_counts
from healthbench.store import leverage as verdict_leverage
from healthbench.store import pairs, point_sums
from healthbench.store import slices as slice_store
from healthbench.store.library import Library
from healthbench.store.records import ImportOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from healthbench.scoring.aggregate import MetricResult
    from healthbench.scoring.compare import LengthPart
    from healthbench.scoring.headline import Headline
    from healthbench.scoring.length import LengthAdjustment
    from healthbench.scoring.levers import Lost
    from healthbench.scoring.run_scores import RunScores
    from healthbench.scoring.uncertainty import Interval
    from healthbench.scoring.verification import Verification
    from healthbench.scoring.which_rule import Figure
    from healthbench.store.coverage import BlindSpot, Cell, Coverage
    from healthbench.store.journal import Event
    from healthbench.store.leverage import Leverage
    from healthbench.store.records import (
        DatasetSummary,
        ExampleFilter,
        ExampleView,
        Progress,
        RunSummary,
        Unreadable,
    )
    from healthbench.store.slices import Slice

GIVEN = "HEALTHBENCH_OPEN"
"""Environment variable in which the command line hands over the paths to open, as a JSON list."""


@st.cache_resource(show_spinner=False)
def library() -> Library:
    """Return the store of this process."""
    return Library(Settings().home)


@st.cache_resource(show_spinner="Opening the runs …")
def open_given() -> list[ImportOutcome]:
    """Import what the command line named; without it, and without runs of one's own, the sample runs.

    Returns:
        What became of each path; done once a process.
    """
    given = [Path(path) for path in json.loads(os.environ.get(GIVEN) or "[]")]
    if not given and all(run.info.synthetic for run in library().runs()):
        given = [bundled("sample_runs")]
    found: list[ImportOutcome] = []
    try:
        for outcome in library().import_each(given):
            found.append(outcome)  # noqa: PERF402 - a store that fails midway leaves what it had
    except StoreError as error:
        found.append(ImportOutcome(given[0], refusal=str(error)))
    return found


def runs() -> list[RunSummary]:
    """Return the runs in the store: those the command line named first, then by time of import."""
    opened = [outcome.run.id for outcome in open_given() if outcome.run]
    found = _runs(library().folders())
    return sorted(found, key=lambda run: opened.index(run.id) if run.id in opened else len(opened))


@st.cache_data(show_spinner=False, max_entries=4)
def _runs(folders: tuple[tuple[str, int], ...]) -> list[RunSummary]:
    """Read the runs again whenever a folder came or went."""
    return library().runs() if folders else []


def label(run_id: str) -> str:
    """Return what a run is called in a picker, where no two may be called the same."""
    return _labels(library().folders()).get(run_id, run_id)


@st.cache_data(show_spinner=False, max_entries=4)
def _labels(folders: tuple[tuple[str, int], ...]) -> dict[str, str]:
    """Tell runs of one name apart by their time or file, else by their id."""
    found = _runs(folders)
    names = Counter(run.name for run in found)
    longer = {run.id: _longer(run) for run in found}
    same = Counter(longer.values())
    return {
        run.id: run.name
        if names[run.name] == 1
        else longer[run.id]
        if same[longer[run.id]] == 1
        else f"{longer[run.id]} {run.id[:6]}"
        for run in found
    }


def _longer(run: RunSummary) -> str:
    made = (run.info.created or "").replace("T", " ").removesuffix(":00")
    return f"{run.name} ({made or run.info.source})"


def datasets() -> list[DatasetSummary]:
    """Return the attached data sets."""
    return library().datasets()


def import_paths(
    paths: Sequence[Path], progress: Callable[[Progress], None] | None = None
) -> list[ImportOutcome]:
    """Import files and folders; every outcome has a run, a data set or a sentence."""
    return library().import_paths(paths, progress=progress)


def remove(run_id: str) -> None:
    """Remove a run from the store."""
    library().remove(run_id)


def themes_key() -> tuple[str, ...]:
    """Return what the themes of every run depend on beside its file: part of the key of what they are in."""
    return tuple(dataset.id for dataset in datasets())


def run_scores(run_id: str, *, as_stored: bool = False) -> RunScores:
    """Return the run as arrays, inferred themes included (``themes_from`` says so)."""
    return _run_scores(run_id, as_stored, themes_key())


@st.cache_resource(show_spinner=False, max_entries=24)
def _run_scores(run_id: str, as_stored: bool, key: tuple[str, ...]) -> RunScores:
    return library().run_scores(run_id, as_stored=as_stored, inferred=True)


def themes_from(run_id: str) -> str:
    """Return where a run's themes are from: ``file``, ``dataset``, ``inferred`` or ``none``."""
    return _themes_from(run_id, themes_key())


@st.cache_data(show_spinner=False, max_entries=200)
def _themes_from(run_id: str, key: tuple[str, ...]) -> str:
    return library().themes_from(run_id)


def metrics(run_id: str, *, as_stored: bool = False) -> dict[str, MetricResult]:
    """Return every figure of a run by the official rule."""
    return _metrics(run_id, as_stored, themes_key())


@st.cache_data(show_spinner=False, max_entries=200)
def _metrics(run_id: str, as_stored: bool, key: tuple[str, ...]) -> dict[str, MetricResult]:
    return aggregate.summarize(_run_scores(run_id, as_stored, key))


def intervals(run_id: str, *, as_stored: bool = False) -> dict[str, Interval]:
    """Return the 95 % interval of every figure, 1,000 seeded resamples over prompts."""
    return _intervals(run_id, as_stored, themes_key())


@st.cache_data(show_spinner=False, max_entries=200)
def _intervals(run_id: str, as_stored: bool, key: tuple[str, ...]) -> dict[str, Interval]:
    return uncertainty.bootstrap(_run_scores(run_id, as_stored, key))


def verification(run_id: str) -> Verification | None:
    """Return what a run's file states against ours."""
    return _verification(run_id, themes_key())


@st.cache_data(show_spinner=False, max_entries=200)
def _verification(run_id: str, key: tuple[str, ...]) -> Verification | None:
    info = library().summary(run_id).info
    return verify(info.stated, library().run_scores(run_id, as_stored=True), info.rule)


def example_rows(run_id: str, wanted: ExampleFilter, order: str) -> list[int]:
    """Return the rows of the examples a filter lists, in order."""
    return _example_rows(run_id, wanted, order, themes_key())


@st.cache_data(show_spinner=False, max_entries=50)
def _example_rows(
    run_id: str, wanted: ExampleFilter, order: str, key: tuple[str, ...]
) -> list[int]:
    return library().example_rows(run_id, wanted, order)


def examples(
    run_id: str, wanted: ExampleFilter, order: str, limit: int, offset: int
) -> tuple[pd.DataFrame, int]:
    """Return one page of examples and how many there are; asked anew each time, a page is quick."""
    return library().examples(run_id, wanted, order, limit, offset)


def example(run_id: str, row: int) -> ExampleView:
    """Return one example with its ledger; asked anew each time.

    Raises:
        StoreError: The run has no such example.
    """
    return library().example(run_id, row)


def headline(run_id: str, *, as_stored: bool = False) -> Headline:
    """Return the overall figures of a run."""
    if not as_stored:
        return library().summary(run_id).headline
    return _headline_as_stored(run_id)


@st.cache_data(show_spinner=False, max_entries=50)
def _headline_as_stored(run_id: str) -> Headline:
    return compute_headline(library().run_scores(run_id, as_stored=True))


@st.cache_data(show_spinner=False, max_entries=100)
def points_by_axis(run_id: str, *, as_stored: bool = False) -> pd.DataFrame:
    """Return the sums of points by axis and state."""
    return point_sums.points_by_axis(library(), run_id, as_stored=as_stored)


@st.cache_data(show_spinner=False, max_entries=50)
def incurred_penalties(run_id: str, worst: float, *, as_stored: bool = False) -> pd.DataFrame:
    """Return the incurred penalties of ``worst`` points or fewer."""
    return point_sums.incurred_penalties(library(), run_id, worst, as_stored=as_stored)


def detach_dataset(dataset_id: str) -> None:
    """Remove an attached data set from the store."""
    library().detach_dataset(dataset_id)


def remove_unreadable(folder_id: str) -> None:
    """Remove a run or data set that cannot be used."""
    if any(run.id == folder_id for run in runs()):
        library().remove(folder_id)
    else:
        library().remove_unreadable(folder_id)


def damage(run_id: str) -> str | None:
    """Return why a run cannot be opened, None where it can."""
    return library().damage(run_id)


def unreadable() -> list[Unreadable]:
    """Return the run folders that this version cannot use, with the reason."""
    return library().unreadable()


def coverage(run_id: str) -> Coverage:
    """Return what a run contains: conversations, criteria and the grid of both."""
    return _coverage(run_id, themes_key())


@st.cache_data(show_spinner=False, max_entries=50)
def _coverage(run_id: str, key: tuple[str, ...]) -> Coverage:
    return coverage_counts.coverage(library(), run_id)


@st.cache_data(show_spinner=False, max_entries=50)
def blind_spot(run_id: str, *, as_stored: bool = False) -> BlindSpot:
    """Return the penalty points that no axis score contains."""
    return coverage_counts.blind_spot(library(), run_id, as_stored=as_stored)


def criteria_of(run_id: str, cell: Cell, limit: int, offset: int) -> tuple[pd.DataFrame, int]:
    """Return one page of the criteria in a cell of the grid and how many there are; asked anew each time."""
    return coverage_counts.criteria_of(library(), run_id, cell, limit, offset)


@st.cache_data(show_spinner=False, max_entries=50)
def lost_by_axis(run_id: str, *, as_stored: bool = False) -> list[Lost]:
    """Return what each axis takes from the mean, with the number of criteria."""
    return verdict_leverage.lost_by_axis(library(), run_id, as_stored=as_stored)


@st.cache_data(show_spinner=False, max_entries=50)
def leverage(run_id: str, *, as_stored: bool = False) -> Leverage:
    """Return the verdicts that can move the run most."""
    return verdict_leverage.leverage(library(), run_id, as_stored=as_stored)


def figures(run_id: str) -> list[Figure]:
    """Return every figure a run's verdicts can give, failed grades unknown and as the file counts them."""
    return _figures(run_id, themes_key())


@st.cache_data(show_spinner=False, max_entries=20)
def _figures(run_id: str, key: tuple[str, ...]) -> list[Figure]:
    policies = {"unknown": _run_scores(run_id, False, key)}
    if library().summary(run_id).n_marked:
        policies["as stored"] = _run_scores(run_id, True, key)
    return which_rule.figures(policies)


@st.cache_data(show_spinner=False, max_entries=100)
def adjusted_interval(
    run_id: str, adjustment: LengthAdjustment, *, as_stored: bool = False
) -> Interval | None:
    """Return the interval of the overall score after a length adjustment."""
    scores = run_scores(run_id, as_stored=as_stored)
    return uncertainty.bootstrap(scores, [OVERALL], adjustment=adjustment).get(OVERALL)


@st.cache_data(show_spinner=False, max_entries=100)
def length_part(
    first: str, second: str, adjustment: LengthAdjustment, *, as_stored: bool = False
) -> LengthPart | None:
    """Return how much of the difference between two runs is length, on the prompts they share.

    Raises:
        InputRefusedError: They share no prompt.
    """
    matching = match_examples(*(pairs.prompt_ids(library(), run_id) for run_id in (first, second)))
    runs_scores = [run_scores(run_id, as_stored=as_stored) for run_id in (first, second)]
    return compare.length_part(*runs_scores, matching, adjustment)


@st.cache_data(show_spinner=False, max_entries=100)
def reference_error(run_id: str, *, as_stored: bool = False) -> float:
    """Return the spread of the score as the reference evaluator computes it."""
    return uncertainty.reference_bootstrap_std(
        run_scores(run_id, as_stored=as_stored).overall.scores
    )


@st.cache_data(show_spinner=False, max_entries=50)
def canary(run_id: str) -> str:
    """Return the canary that a run, or an attached data set with one of its conversations, carries, else ""."""
    return export.canary_of_run(library(), run_id)


def report_maker(
    run_id: str, against: str | None, events: Sequence[Event], *, texts: bool
) -> Callable[[], str]:
    """Return what writes the report on a run; it is called in a thread of its own, when a reader asks for the file."""
    store = library()
    return lambda: html_report.report(store, run_id, against, texts=texts, events=events)


def report_name(run_id: str) -> str:
    """Return a file name for the report on a run."""
    return html_report.suggested_name(library().summary(run_id))


@st.cache_data(show_spinner=False, max_entries=100)
def reference_errors(run_id: str, *, as_stored: bool = False) -> tuple[float, float]:
    """Return the reference's bootstrap_std of the example scores, and of the same scores each clipped first."""
    scores = run_scores(run_id, as_stored=as_stored).overall.scores
    clipped = np.clip(scores, 0.0, 1.0)
    return uncertainty.reference_bootstrap_std(scores), uncertainty.reference_bootstrap_std(clipped)


def slices() -> list[Slice]:
    """Return the named slices; read anew each time, another process may have added one."""
    return slice_store.slices(library().home)


def save_slice(name: str, wanted: ExampleFilter) -> Slice:
    """Keep a filter under a name.

    Raises:
        InputRefusedError: The name or the filter is empty.
    """
    return slice_store.save_slice(library().home, name, wanted)


def remove_slice(name: str) -> None:
    """Forget a named slice."""
    slice_store.remove_slice(library().home, name)


def slice_scores(run_id: str, wanted: ExampleFilter, *, as_stored: bool = False) -> RunScores:
    """Return the examples of a slice as a run of their own."""
    return _slice_scores(run_id, wanted, as_stored, themes_key())


@st.cache_resource(show_spinner=False, max_entries=12)
def _slice_scores(
    run_id: str, wanted: ExampleFilter, as_stored: bool, key: tuple[str, ...]
) -> RunScores:
    rows = np.array(_example_rows(run_id, wanted, "example", key), dtype=np.int64)
    return _run_scores(run_id, as_stored, key).only(rows)


def slice_figures(
    run_id: str, wanted: ExampleFilter, *, as_stored: bool = False
) -> tuple[dict[str, MetricResult], dict[str, Interval]]:
    """Return every figure of a slice by the official rule, and their intervals."""
    return _slice_figures(run_id, wanted, as_stored, themes_key())


@st.cache_data(show_spinner=False, max_entries=50)
def _slice_figures(
    run_id: str, wanted: ExampleFilter, as_stored: bool, key: tuple[str, ...]
) -> tuple[dict[str, MetricResult], dict[str, Interval]]:
    scores = _slice_scores(run_id, wanted, as_stored, key)
    return aggregate.summarize(scores), uncertainty.bootstrap(scores)
