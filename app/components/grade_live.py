"""Grading with a model: what it will take, the cost cap and the notice before the start, then the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grade_data
import streamlit as st

from components.grade_attempts import CAP, attempts, running, start
from components.grade_grader import grader, price_table
from components.grade_key import key_field, key_for, needs_key
from components.grade_result import result
from components.text import escaped, some
from healthbench.errors import HealthBenchError
from healthbench.formatting import count
from healthbench.grading.in_words import estimate_in_words
from healthbench.grading.job import Wish

if TYPE_CHECKING:
    from components.grade_subject import Subject
    from healthbench.grading.settings import GraderSettings

_TIMES = "grade_times"
_MOST_TIMES = 10


def with_a_model(subject: Subject, reply: str) -> None:
    """Show everything about grading this reply with a model."""
    text = subject.digest(reply)
    under_way = running()
    if not reply.strip():
        st.info("Write or paste the reply in step 2 first.", icon=":material/info:")
    else:
        try:
            _before(subject, reply, text)
        except HealthBenchError as error:
            st.error(escaped(str(error)), icon=":material/block:")
    if under_way is not None and under_way.text != text:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"A grading of another text is under way: {count(under_way.came)} of {count(under_way.total)}."
            )
            st.button("Cancel it", key="grade_cancel_other", on_click=under_way.job.cancel)
    if attempts(text):
        result(subject, reply, text)


def _before(subject: Subject, reply: str, text: str) -> None:
    settings, template = grader()
    prices = grade_data.prices()
    key_field(settings)
    has_price = prices.price(settings.model) is not None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        times = _times()
        cap = _cap(has_price=has_price)
    wish = Wish(
        prompt=list(subject.prompt),
        reply=reply,
        criteria=list(subject.criteria),
        settings=settings,
        template=template,
        prices=prices,
        max_cost=cap if has_price else None,
        samples=range(times),
    )
    st.markdown(escaped(estimate_in_words(wish.estimate(), settings, prices)))
    with st.container(horizontal=True, vertical_alignment="center", key="grade_start_line"):
        pressed = st.button(
            f"Grade {some(len(subject.criteria), 'criterion', 'criteria')}",
            key="grade_start",
            type="primary",
            icon=":material/play_arrow:",
            disabled=running() is not None or _lacks_key(settings),
        )
        st.markdown(
            f"Conversation, reply and rubric are sent to **{escaped(settings.host)}**. No patient data."
        )
    if _lacks_key(settings):
        st.caption("Without a key, grade by hand: it needs neither key nor network.")
    price_table(prices)
    if pressed:
        start(wish, text)
        st.rerun()


def _lacks_key(settings: GraderSettings) -> bool:
    return needs_key(settings) and key_for(settings) is None


def _times() -> int:
    st.session_state.setdefault(_TIMES, 1)
    return int(
        st.number_input(
            "Times",
            min_value=1,
            max_value=_MOST_TIMES,
            step=1,
            key=_TIMES,
            persist_state="session",
            width=140,
            help="Grading the same reply several times shows which verdicts flicker. Verdicts given before are not"
            " paid for again.",
        )
        or 1
    )


def _cap(*, has_price: bool) -> float:
    st.session_state.setdefault(CAP, 1.0)
    return float(
        st.number_input(
            "Cost cap, US dollars",
            min_value=0.01,
            step=0.5,
            format="%.2f",
            key=CAP,
            persist_state="session",
            disabled=not has_price,
            width=220,
            help="What one grading may cost with everything asked again. A request whose most would exceed it is not"
            " sent."
            if has_price
            else "This model has no price, so no cap can be kept; add its price below.",
        )
        or 0.01
    )
