"""A grading by a model while it runs and after: verdicts one by one, the narrowing band, the receipt, what is missing."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from components.grade_attempts import Attempt, ask_again, attempts
from components.grade_compare import gradings
from components.grade_grader import wording
from components.grade_ledger import ledger_rows, show_band
from components.grade_outcome import beside, save
from components.ledger import Switches, ledger
from components.text import escaped, some
from healthbench.errors import HealthBenchError
from healthbench.formatting import count
from healthbench.grading.choice import standing
from healthbench.grading.in_words import dollars, receipt_in_words
from healthbench.grading.job import JobState
from healthbench.grading.run_file import run_info

if TYPE_CHECKING:
    from components.grade_subject import Subject
    from healthbench.model import RunInfo

_CHOSEN = "grade_attempt"
_SAMPLE = "grade_sample"
_EVERY = 0.5
_A_MOMENT = 0.5


def result(subject: Subject, reply: str, text: str) -> None:
    """Show the gradings of one text: the latest, or the one that is chosen."""
    found = attempts(text)
    attempt = _choose(found)
    watched = attempt.running

    @st.fragment(run_every=_EVERY if watched else None)
    def show() -> None:
        """Redraw the grading alone, again and again while it runs."""
        if watched and not attempt.running:
            st.rerun()
        _show(subject, reply, attempt)

    with st.container(border=True, key="grade_result"):
        show()
    if not watched:
        gradings(subject, reply, found)


def _choose(found: list[Attempt]) -> Attempt:
    if len(found) == 1:
        return found[0]
    by_number = {attempt.number: attempt for attempt in found}
    latest = found[-1].number
    # A key of its own for every number of gradings, so that a new one is shown when it begins.
    number = st.segmented_control(
        "Grading",
        list(by_number),
        default=latest,
        required=True,
        key=f"{_CHOSEN}_{latest}",
        format_func=lambda number: by_number[number].name,
        wrap=True,
    )
    return by_number[number]


def _show(subject: Subject, reply: str, attempt: Attempt) -> None:
    sample = _sample(attempt)
    key = f"grade_job_{attempt.number}_{sample}"
    verdicts = attempt.verdicts(sample)
    met = [verdict.met for verdict in verdicts]
    _progress(attempt)
    show_band(attempt.wish.criteria, met, key)
    if attempt.running:
        ledger(ledger_rows(attempt.wish.criteria, verdicts), key=key, switches=Switches.NONE)
        return
    _missing(attempt, sample, key)
    # What was supposed belongs to the verdicts it was supposed on.
    ledger(
        ledger_rows(attempt.wish.criteria, verdicts), key=f"{key}_{attempt.came}_{hash(tuple(met))}"
    )
    _receipt(attempt)
    beside(subject, reply, met, key)
    if any(verdict is not None for verdict in met):
        save(subject, reply, verdicts, partial(_describe, attempt, sample), key)


def _sample(attempt: Attempt) -> int:
    """Return the sample to show: the one under way, afterwards the one that is chosen."""
    begun = attempt.started
    if attempt.running or len(begun) == 1:
        return begun[-1]
    return st.segmented_control(
        "Of the gradings of this reply",
        begun,
        default=begun[0],
        required=True,
        key=f"{_SAMPLE}_{attempt.number}",
        format_func=lambda sample: f"no. {sample + 1}",
    )


def _progress(attempt: Attempt) -> None:
    receipt, job = attempt.job.receipt, attempt.job
    words = (
        f"{count(attempt.came)} of {count(attempt.total)} criteria decided · {some(receipt.calls, 'call')} ·"
        f" {dollars(receipt.cost) if receipt.calls else dollars(0.0)}"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if attempt.running:
            st.progress(min(1.0, attempt.came / attempt.total), words)
            st.button(
                "Cancel",
                key=f"grade_cancel_{attempt.number}",
                icon=":material/stop:",
                on_click=_cancel,
                args=(attempt,),
            )
        else:
            st.markdown(words)
    if job.state is JobState.CANCELLED:
        st.info("Cancelled. The verdicts that came are kept.", icon=":material/stop_circle:")
    elif job.message:
        st.warning(escaped(job.message), icon=":material/warning:")


def _cancel(attempt: Attempt) -> None:
    attempt.job.cancel()
    attempt.job.wait(_A_MOMENT)


def _missing(attempt: Attempt, sample: int, key: str) -> None:
    """Name the criteria without a verdict and offer to ask about them again, together or alone."""
    missing = attempt.missing(sample)
    if not missing:
        return
    verdicts = attempt.verdicts(sample)
    with st.container(border=True, gap="xsmall", key=f"{key}_missing"):
        st.markdown(
            f"**{some(len(missing), 'criterion', 'criteria')} without a verdict:** unknown, not counted as not met."
        )
        wanted: list[int] | None = None
        for place in missing:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(
                    f"Criterion {place + 1}: {escaped(verdicts[place].explanation or 'Not asked.')}"
                )
                st.space("stretch")
                if st.button(
                    "Ask again", key=f"{key}_again_{place}", help=f"Only criterion {place + 1}"
                ):
                    wanted = [place]
        if len(missing) > 1 and st.button(
            f"Ask about all {count(len(missing))} again",
            key=f"{key}_again_all",
            icon=":material/refresh:",
        ):
            wanted = missing
        if wanted is not None:
            _ask(attempt, sample, wanted)


def _ask(attempt: Attempt, sample: int, places: list[int]) -> None:
    cap = st.session_state.get("grade_cap") if attempt.wish.max_cost is not None else None
    try:
        ask_again(attempt, sample, places, cap)
    except HealthBenchError as error:
        st.error(escaped(str(error)), icon=":material/block:")
    else:
        st.rerun()


def _receipt(attempt: Attempt) -> None:
    wish = attempt.wish
    settings, template = wish.settings, wish.template
    parameters = {
        name: value
        for name, value in settings.parameters().items()
        if name not in {"model", "base_url", "show_points"}
    }
    facts = {
        "Grader": f"{settings.model} at {settings.base_url}, {standing(settings, template)}",
        "Parameters": json.dumps(parameters, ensure_ascii=False),
        "Points shown to it": "yes" if settings.show_points else "no",
        "Instructions": wording(template),
        "sha256 of the instructions": template.sha256,
        **receipt_in_words(attempt.job.receipt),
    }
    if wish.max_cost is not None:
        facts["Cost cap"] = dollars(wish.max_cost)
    facts["Prices of"] = wish.prices.as_of
    st.markdown("**Receipt**")
    st.table(
        {name: escaped(words) for name, words in facts.items()}, border="horizontal", alt="Receipt"
    )


def _describe(attempt: Attempt, sample: int, name: str) -> RunInfo:
    wish = attempt.wish
    more = {"grading": f"{sample + 1} of {len(wish.samples)}"}
    return run_info(name, wish.settings, wish.template, more=more)
