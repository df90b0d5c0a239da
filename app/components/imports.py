"""Importing runs and data sets, what became of each file, and the report of a run's import."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import data
import state
import streamlit as st

from components.text import escaped, some
from healthbench.errors import HealthBenchError
from healthbench.formatting import count
from healthbench.store.records import ImportOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.delta_generator import DeltaGenerator
    from streamlit.typing import UploadedFile

    from healthbench.store.records import Progress, RunSummary

_THEMES_FROM = {
    "file": "from the run file",
    "dataset": "from the attached data set, by prompt",
    "inferred": "inferred from consensus clusters, only where an example has one",
    "none": "not known; attach the benchmark's data set to get them",
}


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
        with tempfile.TemporaryDirectory(prefix="healthbench-upload-") as folder:
            _import([_kept(file, Path(folder) / str(place)) for place, file in enumerate(files)])
    elif path.strip():
        _import([Path(path.strip()).expanduser()])


def _kept(file: UploadedFile, folder: Path) -> Path:
    """Write an upload to a folder of its own: two files of one name stay two, and names keep their meaning."""
    folder.mkdir()
    place = folder / Path(file.name).name
    place.write_bytes(file.getbuffer())
    return place


def _import(paths: Sequence[Path]) -> None:
    status = st.status("Reading …")
    st.button("Stop the import", key="stop_import", icon=":material/stop:", on_click=_done)

    def show(progress: Progress) -> None:
        # Drawing is also where Streamlit ends this run of the script when the reader stops the import.
        status.update(label=f"{progress.source}: {count(progress.examples)} examples read")

    try:
        found = data.import_paths(paths, show)
    except HealthBenchError as error:
        found = [ImportOutcome(paths[0], refusal=str(error))]
    st.session_state[state.OUTCOMES] = found
    imported = [outcome.run.id for outcome in found if outcome.run]
    _done()
    if imported:
        state.choose_run(imported[-1])
    st.rerun()


def _done() -> None:
    """Take an empty uploader next time; what was uploaded is let go."""
    st.session_state[state.UPLOADS] = st.session_state.get(state.UPLOADS, 0) + 1


def outcomes() -> None:
    """Say what became of the files of the last import, and of those given at the start that were refused."""
    refused_at_start = [outcome for outcome in data.open_given() if outcome.refusal]
    for outcome in [*st.session_state.get(state.OUTCOMES, []), *refused_at_start]:
        if outcome.refusal:
            st.error(escaped(outcome.refusal), icon=":material/block:")
        elif outcome.dataset:
            st.success(
                f"Data set {escaped(outcome.dataset.source)} attached: {count(outcome.dataset.n_examples)} examples.",
                icon=":material/dataset:",
            )
        elif outcome.run:
            what = "was imported before" if outcome.already_there else "imported"
            st.success(
                f"{escaped(outcome.path.name)} {what}: {escaped(outcome.run.name)}, "
                f"{count(outcome.run.n_examples)} examples.",
                icon=":material/check:",
            )


def report(run: RunSummary) -> None:
    """Show what the import of a run understood, skipped and doubted, and offer to remove the run."""
    warnings = len(run.report.warnings)
    label = f"Import report of {escaped(run.name)}"
    if warnings:
        label += f" · {some(warnings, 'warning')}"
    with st.expander(label, icon=":material/description:", expanded=bool(warnings)):
        for sentence in [*run.report.warnings, *run.report.duplicates]:
            st.markdown(f":material/warning: {escaped(sentence)}")
        st.table(_facts(run), border="horizontal", width="content")
        if run.report.canary:
            st.caption(
                "The file carries the benchmark's canary: its authors ask that examples not be published."
            )
        with st.popover("Remove this run", icon=":material/delete:"):
            st.markdown("It leaves the store; the file it came from is not touched.")
            st.button("Remove", key="remove_run", type="primary", on_click=_remove, args=(run.id,))
    _datasets()


def _facts(run: RunSummary) -> dict[str, str]:
    report = run.report
    verdicts = ", ".join(
        f"{count(number)} {escaped(kind)}" for kind, number in report.verdicts.items()
    )
    skipped = ", ".join(
        f"{count(number)} {escaped(why)}" for why, number in report.rows_skipped.items()
    )
    facts = {
        "Understood as": f"{escaped(run.info.format)} (by {escaped(report.recognised_by)})",
        "Files": ", ".join(
            f"{escaped(name)} (sha256 {digest[:12]})" for name, digest in run.files.items()
        ),
        "Examples": f"{count(run.n_examples)} of {count(run.n_prompts)} prompts",
        "Skipped": skipped or "none",
        "Verdicts": f"{verdicts}; {count(run.n_unknown)} unknown",
        "Themes": _THEMES_FROM[data.themes_from(run.id)],
        "Axes": "from the run file" if report.axes_from == "file" else escaped(report.axes_from),
        "Made": escaped(run.info.created or "not recorded"),
        "Grader": escaped(run.info.grader or "not recorded"),
    }
    return facts | {escaped(name): escaped(value) for name, value in run.info.settings.items()}


def _remove(run_id: str) -> None:
    data.remove(run_id)
    st.session_state[state.OUTCOMES] = []
    state.choose_run(None)


def _datasets() -> None:
    attached = data.datasets()
    if not attached:
        return
    with st.expander(f"Attached data sets: {len(attached)}", icon=":material/dataset:"):
        for dataset in attached:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(
                    f"{escaped(dataset.source)}: {count(dataset.n_examples)} examples, {count(dataset.n_criteria)} criteria"
                )
                st.button(
                    "Detach",
                    key=f"detach_{dataset.id}",
                    on_click=data.detach_dataset,
                    args=(dataset.id,),
                )
