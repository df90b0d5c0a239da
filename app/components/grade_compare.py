"""All gradings of one reply side by side: which verdicts flicker, and which change with the grader or hidden points."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import streamlit as st

from components.chart import show_table
from components.grade_hand import BY_HAND, hand_verdicts
from components.text import escaped
from healthbench.formatting import fraction, points
from healthbench.scoring.example import tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from components.grade_attempts import Attempt
    from components.grade_subject import Subject

_WORDS = {True: "met", False: "not met", None: "unknown"}


class _Grading(NamedTuple):
    name: str
    met: list[bool | None]


def gradings(subject: Subject, reply: str, found: Sequence[Attempt]) -> None:
    """Show the verdicts of two and more gradings of this reply; nothing for a single one."""
    columns = _columns(subject, reply, found)
    if len(columns) < 2:
        st.caption(
            "To see which verdicts flicker, set Times to 3 and grade again; to see what the points do, hide them."
        )
        return
    differing = [
        len({grading.met[place] for grading in columns} - {None}) > 1
        for place in range(len(subject.criteria))
    ]
    scores = [
        tally([criterion.points for criterion in subject.criteria], grading.met).score
        for grading in columns
    ]
    st.markdown(f"**{_sentence(differing, scores, len(columns))}**")
    table = pd.DataFrame(
        {
            "criterion": [place + 1 for place in range(len(differing))],
            "points": [criterion.points for criterion in subject.criteria],
            "differs": ["differs" if differs else "" for differs in differing],
            **{grading.name: [_WORDS[met] for met in grading.met] for grading in columns},
            "text": [criterion.text for criterion in subject.criteria],
        }
    ).sort_values("differs", ascending=False, kind="stable")
    show_table(
        table,
        key="grade_gradings",
        alt="Verdicts of every grading of this reply, one criterion a row",
        formats={"points": points},
        height="content",
    )
    in_words = "; ".join(
        f"{escaped(grading.name)} **{fraction(score, 2)}**"
        for grading, score in zip(columns, scores, strict=True)
    )
    st.markdown(f"Scores: {in_words}")


def _columns(subject: Subject, reply: str, found: Sequence[Attempt]) -> list[_Grading]:
    columns = []
    for attempt in found:
        for sample in attempt.started:
            number = f", no. {sample + 1}" if len(attempt.started) > 1 else ""
            met = [verdict.met for verdict in attempt.verdicts(sample)]
            columns.append(_Grading(attempt.name + number, met))
    given = hand_verdicts(subject, reply)
    if any(verdict is not None for verdict in given):
        columns.append(_Grading(BY_HAND, given))
    return columns


def _sentence(differing: Sequence[bool], scores: Sequence[float | None], n: int) -> str:
    known = [score for score in scores if score is not None]
    differ = sum(differing)
    verdicts = (
        f"{differ} of {len(differing)} verdicts not the same in all {n} gradings"
        if differ
        else f"No verdict differs between the {n} gradings"
    )
    if len(known) < 2:
        return f"{verdicts}."
    return f"{verdicts}; scores from {fraction(min(known), 2)} to {fraction(max(known), 2)}."
