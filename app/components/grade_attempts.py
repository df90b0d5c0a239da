"""The gradings by a model in this session: begun, continued, cancelled; each stays with the text it was begun for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import grade_data
import streamlit as st

from components.grade_key import key_for
from healthbench.errors import GradingError
from healthbench.grading.in_words import dollars
from healthbench.grading.job import GradingJob, JobState, Wish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.model import Verdict

_ATTEMPTS = "grade_attempts"
CAP = "grade_cap"
"""Session key of the cost cap."""


@dataclass(slots=True)
class Attempt:
    """One grading, over all its starts.

    Attributes:
        number: From 1, in this session.
        text: Digest of conversation, rubric and reply.
        wish: What was asked for at first.
        job: Its latest start, which holds the outcomes of the earlier ones.
    """

    number: int
    text: str
    wish: Wish
    job: GradingJob

    @property
    def running(self) -> bool:
        """Whether verdicts are still to come."""
        return self.job.state is JobState.RUNNING

    @property
    def name(self) -> str:
        """What tells it from the other gradings of the same text."""
        hidden = "" if self.wish.settings.show_points else ", points hidden"
        return f"{self.number}: {self.wish.settings.model}{hidden}"

    @property
    def total(self) -> int:
        """Verdicts asked for."""
        return len(self.wish.criteria) * len(self.wish.samples)

    @property
    def came(self) -> int:
        """Verdicts and failures so far."""
        return len(self.job.latest())

    @property
    def started(self) -> list[int]:
        """The samples of which something came; the first where nothing did."""
        return sorted({sample for sample, _ in self.job.latest()}) or [self.wish.samples[0]]

    def verdicts(self, sample: int) -> list[Verdict]:
        """Return one verdict a criterion of one sample."""
        return self.job.verdicts(sample)

    def missing(self, sample: int) -> list[int]:
        """Return the places of the criteria without a verdict, asked in vain or not asked."""
        return [n for n, verdict in enumerate(self.verdicts(sample)) if verdict.met is None]


def attempts(text: str | None = None) -> list[Attempt]:
    """Return the session's gradings, those of one text where it is named."""
    found: list[Attempt] = st.session_state.setdefault(_ATTEMPTS, [])
    return [attempt for attempt in found if text is None or attempt.text == text]


def running() -> Attempt | None:
    """Return the grading under way; there is never more than one."""
    return next((attempt for attempt in attempts() if attempt.running), None)


def start(wish: Wish, text: str) -> None:
    """Begin a grading.

    Raises:
        HealthBenchError: It cannot begin.
    """
    job = GradingJob(wish, key_for(wish.settings), grade_data.cache())
    found = attempts()
    st.session_state[_ATTEMPTS].append(Attempt(len(found) + 1, text, wish, job))


def ask_again(attempt: Attempt, sample: int, places: Sequence[int], cap: float | None) -> None:
    """Ask about some criteria of a grading again, within what its cost cap leaves.

    Raises:
        HealthBenchError: It cannot go on.
    """
    spent = attempt.job.receipt.cost or 0.0
    if cap is not None and cap <= spent:
        raise GradingError(
            f"The cost cap of {dollars(cap)} is used up ({dollars(spent)} were spent): raise it, then ask again."
        )
    wish = replace(
        attempt.wish,
        only=list(places),
        samples=(sample,),
        max_cost=None if cap is None else cap - spent,
    )
    attempt.job = GradingJob(
        wish, key_for(wish.settings), grade_data.cache(), attempt.job.outcomes()
    )
