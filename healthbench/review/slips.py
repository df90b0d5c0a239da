"""Verdicts that their own explanation contradicts: worth a look before any other.

A rule of thumb over English explanations. It finds what a careful reader of the explanation alone would find, and
nothing else: a grader that is wrong and sure of it leaves no such trace.
"""

from __future__ import annotations

import re

_LONG_ENOUGH = 4
_STEM = 5
"""Letters by which two words are taken for the same ("asks", "asking" differ in their ends)."""
_RESTATED = 0.55
"""Share of a criterion's words from which on an explanation repeats it rather than talks of something near it."""

_STATED = re.compile(
    r"\bcriteri(?:on|a)\b[^.]{0,40}?\b(?P<negated>not|un)?[ -]?(?P<verb>met|satisfied|fulfilled)\b"
    r"|\b(?P<fails>fails? to|does not|doesn't) (?:meet|satisfy|fulfil+)\b"
    r"|\b(?:meets|satisfies|fulfil+s) (?:the|this) criteri",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|no|none|nothing|never|neither|nor|without|cannot|lacks?|lacking|missing|absent|omits?|omitted|fails?"
    r"|avoids?|rejects?|ignores?|misses|against|instead|rather than|only)\b|n't\b|\bleaves? out\b|\bun[a-z]+ed\b",
    re.IGNORECASE,
)
_REPLY_DOES_NOT = re.compile(
    r"\b(?:response|reply|answer|assistant|model|it|text|plan|message|there|he|she|they)\b[^.,;]{0,30}?"
    r"(?:\b(?:does|do|did|is|are|was|were|has|have|had|can|could) (?:not|never|no|nothing)\b|n't\b|\bnever\b"
    r"|\bfails? to\b|\bomits?\b|\blacks?\b|\bleaves? out\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")


def suspicion(criterion: str, explanation: str, *, met: bool) -> float:
    """Return how much an explanation speaks against its own verdict, from 0 (not at all) to 1 (says the opposite).

    Args:
        criterion: Text of the criterion.
        explanation: The grader's words.
        met: The grader's verdict.
    """
    said = _says_outright(explanation)
    if said is not None:
        return 0.0 if said == met else 1.0
    restated = _restated(criterion, explanation)
    if restated < _RESTATED:
        return 0.0
    said_of_it, asked = _negations(explanation), _negations(criterion)
    if met:
        denied = not asked and _REPLY_DOES_NOT.search(explanation)
        return 0.5 + restated / 2 if denied else 0.0
    return restated / 2 if said_of_it == asked else 0.0


def _negations(text: str) -> set[str]:
    return {found.group().lower() for found in _NEGATED.finditer(text)}


def _says_outright(explanation: str) -> bool | None:
    """Return the last verdict the explanation states in so many words, None where it states none."""
    stated = list(_STATED.finditer(explanation))
    if not stated:
        return None
    last = stated[-1]
    return not (last["negated"] or last["fails"])


def _restated(criterion: str, explanation: str) -> float:
    wanted = _stems(criterion)
    return len(wanted & _stems(explanation)) / len(wanted) if wanted else 0.0


def _stems(text: str) -> set[str]:
    return {word.lower()[:_STEM] for word in _WORD.findall(text) if len(word) >= _LONG_ENOUGH}
