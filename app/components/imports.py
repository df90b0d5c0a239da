"""Importing runs and data sets, and what became of each file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import data
import import_data
import state
import streamlit as st

from components.text import escaped, some
from healthbench.errors import HealthBenchError, StoreError
from healthbench.formatting import count
from healthbench.store.records import ImportOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.delta_generator import DeltaGenerator

    from healthbench.store.records import Progress

_FEW = 5
"""Outcomes with a line of their own; of more only their number is said, and the rest is folded."""


def importer(where: DeltaGenerator) -> None:
    """Offer to drop files or to name a path; import what is given, with progress and a way to stop.

    Args:
        where: Container for the button; progress is shown where the page is.
    """
    round_of_uploads = st.session_state.get(state.UPLOADS, 0)
    with where, st.popover("Import", icon=":material/upload_file:", type="primary", width=150):
        files = st.file_uploader(
            "Drop files here: graded runs, or the benchmark's data set",
            accept_multiple_files=True,
            key=f"upload_{round_of_uploads}",
            help="What a file is, is told by its content. The data set gives the themes.",
        )
        path = st.text_input(
            "or name a file or folder on this computer",
            key=f"path_{round_of_uploads}",
            placeholder="better for files of hundreds of megabytes",
        )
    if files:
        try:
            kept = st.session_state[state.KEPT_UPLOADS] = import_data.KeptUploads()
            paths = [kept.add(file.name, file.getbuffer()) for file in files]
        except StoreError as error:
            st.session_state[state.OUTCOMES] = [
                ImportOutcome(Path(files[0].name), refusal=str(error))
            ]
            _done()
            st.rerun()
        import_files(paths)
    elif path.strip():
        import_files([Path(path.strip()).expanduser()])


def import_files(paths: Sequence[Path], before: Sequence[ImportOutcome] = ()) -> None:
    """Import files under one progress bar with a button to stop, then show the page anew.

    Args:
        paths: Files and folders.
        before: Outcomes of an earlier import that still stand.
    """
    bar = st.progress(0.0, "Looking at the files …")
    st.button("Stop the import", key="stop_import", icon=":material/stop:", on_click=_stop)

    def show(progress: Progress) -> None:
        # Drawing is also where Streamlit ends this run of the script when the reader stops the import.
        bar.progress(progress.done / progress.total if progress.total else 0.0, _so_far(progress))

    # Held by the session from the start: what was imported before a stop is imported, and is said.
    found = st.session_state[state.OUTCOMES] = list(before)
    st.session_state[state.STOPPED] = False
    try:
        for outcome in import_data.import_each(paths, show):
            found.append(outcome)  # noqa: PERF402 - an import that is stopped leaves what it had
    except HealthBenchError as error:
        found.append(ImportOutcome(paths[0], refusal=str(error)))
    _done()
    imported = [outcome.run.id for outcome in found if outcome.run]
    if imported:
        state.choose_run(imported[-1])
    st.rerun()


def _so_far(progress: Progress) -> str:
    if progress.total is None:
        return f"Looking at {escaped(progress.source)} …"
    read = f": {some(progress.examples, 'example')} read" if progress.examples else ""
    return (
        f"{count(progress.done)} of {count(progress.total)} done · {escaped(progress.source)}{read}"
    )


def _stop() -> None:
    st.session_state[state.STOPPED] = True
    _done()


def _done() -> None:
    """Take an empty uploader next time; what was uploaded is let go unless its columns wait to be mapped."""
    st.session_state[state.UPLOADS] = st.session_state.get(state.UPLOADS, 0) + 1
    waiting = any(outcome.columns for outcome in st.session_state.get(state.OUTCOMES, []))
    if not waiting and (kept := st.session_state.pop(state.KEPT_UPLOADS, None)):
        kept.remove()


def last_outcomes() -> list[ImportOutcome]:
    """Return what became of the files of the last import, and of those given at the start that were refused."""
    found = list(st.session_state.get(state.OUTCOMES, []))
    again = {outcome.path for outcome in found}
    at_start = (outcome for outcome in data.open_given() if outcome.refusal)
    return found + [outcome for outcome in at_start if outcome.path not in again]


def outcomes() -> None:
    """Say what became of what was given; many of a kind in one line."""
    found = last_outcomes()
    if st.session_state.get(state.STOPPED):
        st.info(
            "The import was stopped: what is not named here was not imported.",
            icon=":material/stop_circle:",
        )
    _refusals(list(dict.fromkeys(outcome.refusal for outcome in found if outcome.refusal)))
    for outcome in found:
        if outcome.dataset:
            st.success(
                f"Data set {escaped(outcome.dataset.source)} attached: {count(outcome.dataset.n_examples)} examples.",
                icon=":material/dataset:",
            )
    imported = [outcome for outcome in found if outcome.run]
    if len(imported) > _FEW:
        there = sum(outcome.already_there for outcome in imported)
        before = f", {count(there)} of them imported before" if there else ""
        st.success(f"{some(len(imported), 'run')} imported{before}.", icon=":material/check:")
        return
    for outcome in imported:
        st.success(_imported(outcome), icon=":material/check:")


def _imported(outcome: ImportOutcome) -> str:
    what = "was imported before" if outcome.already_there else "imported"
    run = outcome.run
    named = f"{escaped(run.name)}, {some(run.n_examples, 'example')}" if run else ""
    return f"{escaped(outcome.path.name)} {what}: {named}."


def _refusals(sentences: Sequence[str]) -> None:
    for sentence in sentences[:_FEW]:
        st.error(escaped(sentence), icon=":material/block:")
    rest = sentences[_FEW:]
    if rest:
        with st.expander(f"{some(len(rest), 'more refusal')}", icon=":material/block:"):
            for sentence in rest:
                st.markdown(escaped(sentence))
