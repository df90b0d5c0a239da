"""A grading by a model while it runs and after: verdicts one by one, the narrowing band, the receipt, what is missing."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from components.grade_attempts import CAP, Attempt, ask_again, attempts
from components.grade_compare import gradings
from components.grade_grader import wording
from components.grade_ledger import judged, show_band
from components.grade_outcome import beside, save
from components.ledger import Switches
from components.text import escaped, some
from healthbench.errors import HealthBenchError
from healthbench.formatting import count
from healthbench.grading.choice import standing
from healthbench.grading.in_words import dollars, receipt_in_words
from healthbench.grading.job import JobState
from healthbench.grading.run_file import run_info

if TYPE_CHECKING:
    from collections.abc import Sequence

    from components.grade_subject import Subject
    from healthbench.model import RunInfo

_CHOSEN = "grade_attempt"
_SAMPLE = "grade_sample"
_EVERY = 0.5
_DRAWN_A_SECOND = 30
"""Criteria that a slow machine draws in a second: a long ledger is drawn less often, so that the page stays at rest."""
_A_MOMENT = 0.5


def result(subject: Subject, reply: str, text: str) -> None:
    """Show the gradings of one text: the latest, or the one that is chosen."""
    found = attempts(text)
    attempt = _choose(found)
    watched = attempt.running
    every = max(_EVERY, len(attempt.wish.criteria) / _DRAWN_A_SECOND)

    @st.fragment(run_every=every if watched else None)
    def show() -> None:
        """Redraw the grading alone, again and again while it runs."""
        ended = watched and not attempt.running
        _show(subject, reply, attempt)
        if ended:
            # What came is on the screen already; the page's own run stops the clock.
            st.rerun()

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
        format_func=lambda number: escaped(by_number[number].name),
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
    wish = attempt.wish
    if attempt.running:
        switches, ledger_key = Switches.NONE, key
    else:
        _missing(attempt, sample, key)
        # What is supposed belongs to the verdicts it was supposed on.
        switches, ledger_key = Switches.WHAT_IF, f"{key}_{_digits(met)}"
    judged(wish.prompt, wish.reply, wish.criteria, verdicts, key=ledger_key, switches=switches)
    if attempt.running:
        return
    _receipt(attempt)
    beside(subject, reply, met, key)
    if any(verdict is not None for verdict in met):
        save(subject, reply, verdicts, partial(_describe, attempt, sample), key)


def _digits(met: Sequence[bool | None]) -> str:
    return "".join("?" if verdict is None else str(int(verdict)) for verdict in met)


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
    words = escaped(
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
    cap = st.session_state.get(CAP) if attempt.wish.max_cost is not None else None
    try:
        ask_again(attempt, sample, places, cap)
    except HealthBenchError as error:
        st.error(escaped(str(error)), icon=":material/block:")
    else:
        st.rerun()


def _receipt(attempt: Attempt) -> None:
    wish, receipt = attempt.wish, attempt.job.receipt
    settings, template = wish.settings, wish.template
    address = settings.base_url.partition("://")[2]
    parameters = {
        name: value
        for name, value in settings.parameters().items()
        if name not in {"model", "base_url", "show_points"} and value is not None
    }
    facts = {
        "Grader": f"{settings.model} at {address}, {standing(settings, template)}",
        "Parameters": "; ".join(f"{name} {value}" for name, value in parameters.items()),
        "Points shown to it": "yes" if settings.show_points else "no",
        "Instructions": f"{wording(template)}, sha256 {template.sha256[:12]}…",
        **receipt_in_words(receipt),
        "Cost cap": "none" if wish.max_cost is None else dollars(wish.max_cost),
        "Prices of": wish.prices.as_of,
    }
    st.markdown("**Receipt**")
    st.table(
        {name: escaped(words) for name, words in facts.items()},
        border="horizontal",
        width="content",
        alt="Receipt",
    )
    with st.expander("Receipt as JSON"):
        whole = {
            "grader": settings.parameters(),
            "instructions_sha256": template.sha256,
            "instructions_are_the_reference": template.is_reference,
            "samples": len(wish.samples),
            **receipt.figures(),
        }
        st.code(json.dumps(whole, indent=1, ensure_ascii=False), language=None, wrap_lines=True)


def _describe(attempt: Attempt, sample: int, name: str) -> RunInfo:
    wish = attempt.wish
    more = {"grading": f"{sample + 1} of {len(wish.samples)}"}
    return run_info(name, wish.settings, wish.template, more=more)
