"""What differs between two runs before any score is compared, and which prompts may be compared.

Scores can be compared where both runs answered the same prompt and were graded on the same rubric (criterion texts and
points). All else that differs is said, not hidden: graders, settings, repeats, unknown verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from healthbench.comparison.fingerprint import Fingerprint, names_of
from healthbench.errors import InputRefusedError
from healthbench.formatting import count

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


class Kind(StrEnum):
    """What a finding is about."""

    PROMPTS = "prompts"
    RUBRIC = "rubric"
    TAGS = "tags"
    CONVERSATION = "conversation"
    GRADER = "grader"
    BENCHMARK = "benchmark"
    REPEATS = "repeats"
    UNKNOWN = "unknown verdicts"
    SETTINGS = "settings"
    SLICE = "slice"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in which the runs differ, or that is not known of them.

    Attributes:
        kind: What it is about.
        sentence: What differs, and what the comparison does about it.
    """

    kind: Kind
    sentence: str


@dataclass(frozen=True, slots=True)
class Gate:
    """The result of the check.

    Attributes:
        first, second: The two fingerprints.
        kept: Prompts that are compared: shared, with one rubric, within the slice.
        tagged: Those of them whose criteria carry the same tags too; axes, levels and clusters are compared on these.
        only_first, only_second: Prompts that one run has alone.
        other_rubric: Shared prompts left out because their rubrics differ.
        outside_slice: Shared prompts with one rubric that the slice leaves out.
        findings: What differs, what changes the numbers first.
    """

    first: Fingerprint
    second: Fingerprint
    kept: frozenset[str]
    tagged: frozenset[str]
    only_first: int
    only_second: int
    other_rubric: int
    outside_slice: int
    findings: tuple[Finding, ...]

    @property
    def dropped(self) -> int:
        """Prompts of either run that are not compared, the slice aside."""
        return self.only_first + self.only_second + self.other_rubric

    @property
    def names(self) -> tuple[str, str]:
        """Names that tell the two runs apart."""
        return names_of(self.first, self.second)

    @property
    def graders(self) -> str:
        """Who gave the verdicts, short enough to stand beside a number."""
        graders = [side.run.info.grader for side in (self.first, self.second)]
        if None in graders:
            return "grader not recorded" if graders == [None, None] else "one grader not recorded"
        return f"both graded by {graders[0]}" if graders[0] == graders[1] else "different graders"


def gate(first: Fingerprint, second: Fingerprint, within: AbstractSet[str] | None = None) -> Gate:
    """Find what two runs share and in what they differ.

    Args:
        first: The run that is subtracted.
        second: The run that is asked to be better.
        within: Prompts of the chosen slice; None for all.

    Raises:
        InputRefusedError: It is one run twice, or no prompt can be compared.
    """
    if first.run.id == second.run.id:
        raise InputRefusedError("Both runs are the same one: choose two different runs.")
    places = _places(first), _places(second)
    shared = [prompt_id for prompt_id in places[0] if prompt_id in places[1]]
    if not shared:
        raise InputRefusedError(
            f"{_named(first, second)} share no prompt, so there is nothing to compare: choose two runs over the same data set."
        )
    rows = np.array([[side[prompt_id] for prompt_id in shared] for side in places])
    same = {
        field: getattr(first.prompts, field)[rows[0]] == getattr(second.prompts, field)[rows[1]]
        for field in ("scored", "tagged", "conversation")
    }
    comparable = {i for i, equal in zip(shared, same["scored"].tolist(), strict=True) if equal}
    if not comparable:
        raise InputRefusedError(
            f"{_named(first, second)} share {_prompts(len(shared))}, but each was graded on another rubric: choose two runs graded on the same rubrics."
        )
    kept = comparable if within is None else comparable & within
    if not kept:
        raise InputRefusedError(
            f"No prompt that {_named(first, second)} share lies in this slice: widen it."
        )
    tagged = {i for i, equal in zip(shared, same["tagged"].tolist(), strict=True) if equal} & kept
    other_conversation = sum(
        not equal and prompt_id in kept
        for prompt_id, equal in zip(shared, same["conversation"].tolist(), strict=True)
    )
    only = len(places[0]) - len(shared), len(places[1]) - len(shared)
    findings = [
        *_about_prompts(first, second, only, len(shared)),
        *_about_rubrics(len(shared) - len(comparable), len(kept) - len(tagged), other_conversation),
        *_about_conditions(first, second),
    ]
    return Gate(
        first,
        second,
        frozenset(kept),
        frozenset(tagged),
        *only,
        other_rubric=len(shared) - len(comparable),
        outside_slice=len(comparable) - len(kept),
        findings=tuple(findings),
    )


def _places(side: Fingerprint) -> dict[str, int]:
    return {prompt_id: place for place, prompt_id in enumerate(side.prompts.prompt_ids)}


def _named(first: Fingerprint, second: Fingerprint) -> str:
    return " and ".join(names_of(first, second))


def _about_prompts(
    first: Fingerprint, second: Fingerprint, only: tuple[int, int], n_shared: int
) -> list[Finding]:
    if only == (0, 0):
        return []
    alone = " and ".join(
        f"{_prompts(n)} only in {name}"
        for n, name in zip(only, names_of(first, second), strict=True)
        if n
    )
    return [
        Finding(
            Kind.PROMPTS, f"{alone}: left out, so that the {_prompts(n_shared)} of both remain."
        )
    ]


def _about_rubrics(other_rubric: int, other_tags: int, other_conversation: int) -> list[Finding]:
    findings = []
    if other_rubric:
        findings.append(
            Finding(
                Kind.RUBRIC,
                f"{_prompts(other_rubric)} with another rubric (criteria or points) in the other run: left out.",
            )
        )
    if other_tags:
        findings.append(
            Finding(
                Kind.TAGS,
                f"{_prompts(other_tags)} whose criteria carry other tags in the other run: left out of axes, levels and clusters.",
            )
        )
    if other_conversation:
        findings.append(
            Finding(
                Kind.CONVERSATION,
                f"{_prompts(other_conversation)} with other turns before the reply, such as a system message: compared all the same.",
            )
        )
    return findings


def _about_conditions(first: Fingerprint, second: Fingerprint) -> list[Finding]:
    names = names_of(first, second)
    findings = [*_about_graders(first, second)]
    benchmarks = [side.run.info.benchmark for side in (first, second)]
    if benchmarks[0] != benchmarks[1]:
        findings.append(
            Finding(
                Kind.BENCHMARK,
                f"The files name different benchmarks: {_or_unknown(benchmarks[0])} and {_or_unknown(benchmarks[1])}.",
            )
        )
    if first.replies_in_words != second.replies_in_words:
        findings.append(
            Finding(
                Kind.REPEATS,
                f"Replies a prompt: {first.replies_in_words} in {names[0]}, {second.replies_in_words} in {names[1]}. "
                "Each side's replies to a prompt are averaged; criteria are compared between the k-th replies.",
            )
        )
    unknown = [side.n_unknown for side in (first, second)]
    if any(unknown):
        findings.append(
            Finding(
                Kind.UNKNOWN,
                f"Unknown verdicts: {count(unknown[0])} in {names[0]}, {count(unknown[1])} in {names[1]}. "
                "A reply with one has no score and is left out.",
            )
        )
    as_stored = [side.n_as_stored for side in (first, second)]
    if any(as_stored):
        findings.append(
            Finding(
                Kind.UNKNOWN,
                f"Failed gradings counted as the files do, as not met: {count(as_stored[0])} in {names[0]}, {count(as_stored[1])} in {names[1]}.",
            )
        )
    findings += _about_settings(first, second)
    return findings


def _about_graders(first: Fingerprint, second: Fingerprint) -> list[Finding]:
    graders = [side.run.info.grader for side in (first, second)]
    if graders[0] == graders[1] and graders[0] is not None:
        return []
    if graders == [None, None]:
        text = "Neither file records its grader"
    else:
        text = f"Graded by {_or_unknown(graders[0])} and by {_or_unknown(graders[1])}"
    return [Finding(Kind.GRADER, f"{text}: a difference may come from the grader.")]


def _about_settings(first: Fingerprint, second: Fingerprint) -> list[Finding]:
    known = first.run.info.settings, second.run.info.settings
    different = [
        f"{name} {known[0][name]} and {known[1][name]}"
        for name in known[0]
        if name in known[1] and known[0][name] != known[1][name]
    ]
    if not different:
        return []
    return [Finding(Kind.SETTINGS, f"Settings differ: {'; '.join(different)}.")]


def _or_unknown(name: str | None) -> str:
    return name or "an unrecorded one"


def _prompts(n: int) -> str:
    return f"{count(n)} prompt{'' if n == 1 else 's'}"
