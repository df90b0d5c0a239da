"""What a graded run is made of, whichever tool wrote it.

Readers produce these values, the store keeps them, scoring counts them. The types an import makes by the
ten thousand are named tuples, because building them is most of what an import costs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple


class Message(NamedTuple):
    """One turn of a conversation."""

    role: str
    content: str


class Criterion(NamedTuple):
    """One line of a rubric.

    Attributes:
        text: What the reply must (or must not) do.
        points: Signed, finite and not 0; the benchmark uses integers from -10 to +10.
        tags: As in the data set, for example ``level:example`` and ``axis:accuracy``.
    """

    text: str
    points: float
    tags: tuple[str, ...]


class Verdict(NamedTuple):
    """What a grader said about one criterion.

    Attributes:
        stored: The verdict as the file holds it; None where it holds none that can be read.
        explanation: The grader's words, None where there are none.
        failure: Why a stored ``False`` is no verdict (a producer's known mark of a failed grade), else None.
    """

    stored: bool | None
    explanation: str | None = None
    failure: str | None = None

    @property
    def met(self) -> bool | None:
        """True (met), False (not met) or None (unknown)."""
        return None if self.failure is not None and not self.stored else self.stored


@dataclass(slots=True)
class GradedExample:
    """One conversation with its rubric, one reply and the grader's verdicts.

    Attributes:
        prompt_id: Identity of the conversation; repeats share it.
        prompt: The turns before the reply, a system turn included where the producer sent one.
        reply: The reply's text ("" where the model gave none).
        criteria: The rubric in file order.
        verdicts: One for each criterion, in the same order.
        example_tags: Theme and category tags the run file itself carries, None where it carries none.
        completion_id: The producer's id of this reply, if any. Equal replies share it: not a key.
        stated_score: The score the file states for this example, None where it states none.
        error: What the producer recorded as having failed for this example, None where nothing.
    """

    prompt_id: str
    prompt: list[Message]
    reply: str
    criteria: list[Criterion]
    verdicts: list[Verdict]
    example_tags: tuple[str, ...] | None = None
    completion_id: str | None = None
    stated_score: float | None = None
    error: str | None = None


@dataclass(slots=True)
class RunInfo:
    """What is known of a run beyond its examples.

    Attributes:
        source: Name of the file or folder it was read from (no directory).
        format: The producer's format in words, for example ``simple-evals allresults``.
        model: The model that replied, None where the file does not say.
        grader: The model that gave the verdicts, None where the file does not say.
        benchmark: ``HealthBench``, ``HealthBench Hard``, ``HealthBench Consensus``, ``HealthBench
            Professional`` or the producer's own name; None where the file does not say.
        created: When the run was made, ISO 8601, None where the file does not say.
        clip_level: Where the producer clips: ``run``, ``example`` or ``none``; None where unknown.
        rule: The aggregation rule (scoring.aggregate.RULES) by which the producer states its figures.
        stated: Figures the file states, by metric name: fractions, and counts under ``<name>:n_samples``.
        settings: Anything else worth showing (temperature, subset, package versions), as text.
        synthetic: True for runs made up for demonstration.
    """

    source: str
    format: str
    model: str | None = None
    grader: str | None = None
    benchmark: str | None = None
    created: str | None = None
    clip_level: str | None = None
    rule: str = "simple-evals"
    stated: dict[str, float] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    synthetic: bool = False


@dataclass(slots=True)
class ImportReport:
    """What an import understood, skipped and doubted.

    Attributes:
        recognised_by: What in the content decided the format.
        rows_read: Examples imported.
        rows_skipped: Reason -> number of rows left out for it.
        verdicts: Kind of stored verdict -> count (``bool``, ``0/1``, ``string``, ``null``, ``unreadable``,
            ``failure mark``).
        duplicates: Sentences on repeated rows and what was done with them.
        themes_from: ``file``, ``dataset``, ``inferred`` or ``none``.
        axes_from: ``file``, ``dataset`` or ``none``.
        canary: The benchmark's canary string, where the file carries it; what is derived from the run keeps it.
        warnings: Sentences a careful reader of the score must know.
    """

    recognised_by: str = ""
    rows_read: int = 0
    rows_skipped: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    duplicates: list[str] = field(default_factory=list)
    themes_from: str = "none"
    axes_from: str = "none"
    canary: str = ""
    warnings: list[str] = field(default_factory=list)
