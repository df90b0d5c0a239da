"""Verdicts that a producer wrote as text: ``[True] [5] criterion``, then its explanation, failures first.

The simple-evals report, older evalscope reviews and openbench's explanations hold verdicts in this form only. Neither
criteria nor explanations are escaped, so either may contain what looks like the beginning of another item. The
rubric settles it where it is known; else the order (failures first) and the score stated for the example do; what
stays open is said to be doubtful.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from healthbench.scoring.example import example_score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from healthbench.model import Criterion

UNCLEAR_TAGS = (
    "one criterion stands there twice with different verdicts, and which of its tags goes with which verdict cannot be "
    "told (the score does not depend on it)"
)
DOUBTFUL = (
    "text there looks like another graded criterion, and where one ends cannot be told for certain"
)
_MOST_READINGS = 256
_SAME_SCORE = 1e-9
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_MET = {"true": True, "✓": True, "false": False, "✗": False}


class Grammar(NamedTuple):
    """How a producer writes an item.

    Attributes:
        start: Matches the verdict and the points, at the start of the text or after an empty line.
        marker: Stands between the criterion and its explanation.
    """

    start: re.Pattern[str]
    marker: str


SIMPLE_EVALS = Grammar(
    re.compile(rf"(?:\A\n*|\n\n)\[(True|False|None|true|false|null)\] \[({_NUMBER})\] "),
    "\n\tExplanation: ",
)
OPENBENCH = Grammar(re.compile(rf"(?:\A\n*|\n\n)\[(✓|✗)\] \[({_NUMBER})\] "), "\n  ")


class Line(NamedTuple):
    """One item: the verdict (None where it is neither true nor false), signed points, criterion and explanation."""

    met: bool | None
    points: float
    text: str
    explanation: str | None


class Reading(NamedTuple):
    """The items of a text in their order there, and whether the text can be read in another way as well."""

    lines: list[Line]
    doubtful: bool = False


def read_lines(
    text: str,
    grammar: Grammar,
    rubric: Sequence[Criterion] = (),
    stated_score: float | None = None,
) -> Reading:
    """Split a text into its items.

    Args:
        text: The items, separated by empty lines.
        grammar: The producer's form.
        rubric: The criteria the items are known to be about, in any order; () where they are not known.
        stated_score: The example's unclipped score in the producer's words, which tells readings apart.
    """
    starts = list(grammar.start.finditer(text))
    exact = _of_rubric(text, grammar, starts, rubric)
    if exact is not None:
        return Reading(exact)
    groups = list(_groups(text, grammar, starts))
    readings = [_cut(text, grammar, chosen) for chosen in _choices(groups)]
    agreeing = [lines for lines in readings if _agrees(lines, stated_score)]
    if not agreeing and stated_score is not None:
        shorter = ([g[0] for g in groups if g is not quoted] for quoted in groups[1:])
        cuts = [_cut(text, grammar, chosen) for chosen in shorter]
        agreeing = [lines for lines in cuts if _agrees(lines, stated_score)]
    if not agreeing:
        return Reading(readings[0], doubtful=len(groups) < len(starts))
    return Reading(agreeing[0], doubtful=any(lines != agreeing[0] for lines in agreeing))


class Placed(NamedTuple):
    """Items in the order of a rubric.

    Attributes:
        lines: One for each criterion; None where no item is about it.
        left_over: Items about no criterion of the rubric.
        unclear: Whether equal criteria with different tags got different verdicts: which got which cannot be told.
    """

    lines: list[Line | None]
    left_over: int
    unclear: bool


def place_lines(lines: Iterable[Line], rubric: Sequence[Criterion]) -> Placed:
    """Put items into the order of the rubric they are about, by points and text."""
    waiting: dict[tuple[float, str], list[Line]] = defaultdict(list)
    for line in lines:
        waiting[_key(line)].append(line)
    tags: dict[tuple[float, str], set[tuple[str, ...]]] = defaultdict(set)
    for criterion in rubric:
        tags[_key(criterion)].add(criterion.tags)
    unclear = any(
        len(tags[key]) > 1 and len({line.met for line in same}) > 1 for key, same in waiting.items()
    )
    placed = [same.pop(0) if (same := waiting[_key(c)]) else None for c in rubric]
    return Placed(placed, sum(map(len, waiting.values())), unclear)


def _key(item: Line | Criterion) -> tuple[float, str]:
    return item.points, " ".join(item.text.split())


def _of_rubric(
    text: str, grammar: Grammar, starts: list[re.Match[str]], rubric: Sequence[Criterion]
) -> list[Line] | None:
    """Cut at the starts that are followed by a criterion of the rubric, if these are the whole rubric."""
    texts: dict[float, Counter[str]] = defaultdict(Counter)
    for criterion in rubric:
        texts[criterion.points][criterion.text.replace("\r\n", "\n")] += 1
    real: list[tuple[re.Match[str], str]] = []
    for start in starts:
        # The longest first: one criterion may be the beginning of another.
        for wanted in sorted(texts.get(float(start[2]), ()), key=len, reverse=True):
            if text.startswith(wanted + grammar.marker, start.end()):
                real.append((start, wanted))
                break
    found: dict[float, Counter[str]] = defaultdict(Counter)
    for start, wanted in real:
        found[float(start[2])][wanted] += 1
    if not real or found != texts:
        return None
    ends = [start.start() for start, _ in real[1:]] + [len(text)]
    return [
        Line(
            _MET.get(start[1].lower()),
            float(start[2]),
            wanted,
            text[start.end() + len(wanted) + len(grammar.marker) : end],
        )
        for (start, wanted), end in zip(real, ends, strict=True)
    ]


def _groups(
    text: str, grammar: Grammar, starts: list[re.Match[str]]
) -> Iterator[list[re.Match[str]]]:
    """Yield the starts between two explanations: one of each group is real, the others are quoted text."""
    if grammar.marker not in text:
        yield from ([start] for start in starts)
        return
    group: list[re.Match[str]] = []
    for place, start in enumerate(starts):
        group.append(start)
        end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
        if text.find(grammar.marker, start.end(), end) >= 0:
            yield group
            group = []


def _choices(groups: list[list[re.Match[str]]]) -> Iterator[list[re.Match[str]]]:
    """Yield the choices of one start a group, the first of each group first; the text's own start is certain."""
    options = [group[:1] if place == 0 else group for place, group in enumerate(groups)]
    for number, chosen in enumerate(product(*options)):
        if number == _MOST_READINGS:
            return
        yield list(chosen)


def _cut(text: str, grammar: Grammar, starts: Sequence[re.Match[str]]) -> list[Line]:
    lines = []
    for place, start in enumerate(starts):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
        criterion, marker, explanation = text[start.end() : end].partition(grammar.marker)
        met = _MET.get(start[1].lower())
        lines.append(Line(met, float(start[2]), criterion, explanation if marker else None))
    return lines


def _agrees(lines: list[Line], stated_score: float | None) -> bool:
    """Tell whether failures come first and the items give the stated score."""
    failed = [line.met is False for line in lines]
    if failed != sorted(failed, reverse=True):
        return False
    if stated_score is None:
        return True
    score = example_score([line.points for line in lines], [line.met for line in lines])
    return score is not None and abs(score - stated_score) < _SAME_SCORE
