"""What the import of a run understood, skipped and doubted; its export and removal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import data
import import_data
import state
import streamlit as st

from components.text import escaped, some
from healthbench.errors import StoreError
from healthbench.formatting import count, score
from healthbench.store.records import ImportOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from healthbench.store.records import RunSummary

_THEMES_FROM = {
    "file": "from the run file",
    "dataset": "from the attached data set, by prompt",
    "inferred": "inferred from consensus clusters, only where an example has one",
    "none": "not known; attach the benchmark's data set to get them",
}
_AXES_FROM = {
    "file": "from the run file",
    "dataset": "from the data set",
    "none": "not known",
}
_CLIPPED = {
    "run": "once, the mean of the run",
    "example": "every example's score before the mean",
    "none": "nothing",
    None: "not known",
}
_FORMS = {
    "jsonl": "JSON lines",
    "allresults": "simple-evals JSON",
    "csv": "CSV",
    "parquet": "Parquet",
}


def report(run: RunSummary) -> None:
    """Show what the import of a run understood, skipped and doubted, and offer to export or remove the run."""
    if damage := data.damage(run.id):
        unusable(run.id, damage)
        return
    warnings = len(run.report.warnings)
    label = f"Import report of {escaped(data.label(run.id))}"
    if warnings:
        label += f" · {some(warnings, 'warning')}"
    with st.expander(label, icon=":material/description:", expanded=bool(warnings)):
        for sentence in run.report.warnings:
            st.markdown(f":material/warning: {escaped(sentence)}")
        st.table(_facts(run), border="horizontal", width="content")
        if run.report.canary:
            st.caption(
                "The file carries the benchmark's canary: its authors ask that examples not be published."
            )
        with st.container(horizontal=True):
            _export(run)
            with st.popover("Remove this run", icon=":material/delete:"):
                st.markdown("It leaves the store; the file it came from is not touched.")
                st.button(
                    "Remove", key="remove_run", type="primary", on_click=_remove, args=(run.id,)
                )


def unusable(run_id: str, reason: str) -> None:
    """Say why something in the store cannot be used, with a button to remove it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(escaped(reason), icon=":material/folder_off:")
        st.button(
            "Remove it",
            key=f"remove_{run_id}",
            icon=":material/delete:",
            on_click=_told,
            args=(data.remove_unreadable, run_id),
        )


def _facts(run: RunSummary) -> dict[str, str]:
    report = run.report
    verdicts = ", ".join(
        f"{count(number)} {escaped(kind)}" for kind, number in report.verdicts.items()
    )
    skipped = ", ".join(
        f"{count(number)} because {escaped(why)}" for why, number in report.rows_skipped.items()
    )
    facts = {
        "Understood as": f"{escaped(run.info.format)} (by {escaped(report.recognised_by)})",
        "Files": ", ".join(
            f"{escaped(name)} (sha256 {digest[:12]})" for name, digest in run.files.items()
        ),
        "Rows read": count(report.rows_read),
        "Examples": f"{count(run.n_examples)} of {count(run.n_prompts)} prompts",
        "Skipped": skipped or "none",
        "Verdicts": f"{verdicts}; {count(run.n_unknown)} unknown",
        "Duplicates": " ".join(map(escaped, report.duplicates)) or "none",
        "Themes": _THEMES_FROM[data.themes_from(run.id)],
        "Axes": _AXES_FROM[report.axes_from],
        "The producer clips": _CLIPPED[run.info.clip_level],
        "Figures of the file": _stated(run),
        "Made": escaped(run.info.created or "not recorded"),
        "Grader": escaped(run.info.grader or "not recorded"),
    }
    return facts | {escaped(name): escaped(value) for name, value in run.info.settings.items()}


def _stated(run: RunSummary) -> str:
    found = data.verification(run.id)
    if found is None:
        return "none stated"
    said = f"{count(found.matching)} of {count(len(found.comparisons))} equal ours"
    if found.left_out:
        said += f", {count(len(found.left_out))} not compared"
    if found.score is not None:
        said += f"; the file's score is {score(found.score)}, ours {score(run.headline.score)}"
    return f"{said} (see *Score*)"


def _export(run: RunSummary) -> None:
    canary = data.canary(run.id)
    with st.popover("Export this run", icon=":material/download:"):
        texts = st.toggle("With texts", value=not canary, key=f"export_texts_{run.id}")
        with st.container(horizontal=True):
            for form, name in _FORMS.items():
                st.download_button(
                    name,
                    data=import_data.exporter(run.id, form, texts=texts),
                    file_name=import_data.export_name(run.id, form),
                    key=f"export_{form}",
                    on_click="ignore",
                )
        st.caption(_about_texts(canary, texts=texts))
        st.caption("JSON lines keep all that is known of the run and can be imported again.")


def _about_texts(canary: str, *, texts: bool) -> str:
    if canary and texts:
        return (
            "The benchmark's canary was seen: its authors ask that examples not be published. The texts and the canary go "
            "into the file."
        )
    if canary:
        return (
            "Prompts, replies, criteria and explanations are left out, because the benchmark's canary was seen; its authors "
            "ask that examples not be published."
        )
    return "Prompts, replies, criteria and explanations are " + (
        "in the file." if texts else "left out."
    )


def _remove(run_id: str) -> None:
    if _told(data.remove, run_id):
        state.choose_run(None)


def _told(change: Callable[[str], None], of: str) -> bool:
    """Change the store in a callback; where that fails, its sentence stands where an import's would."""
    try:
        change(of)
    except StoreError as error:
        st.session_state[state.OUTCOMES] = [ImportOutcome(Path(of), refusal=str(error))]
        return False
    st.session_state[state.OUTCOMES] = []
    return True


def datasets() -> None:
    """List the attached data sets, each with a button to detach it."""
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
                    on_click=_told,
                    args=(data.detach_dataset, dataset.id),
                )
