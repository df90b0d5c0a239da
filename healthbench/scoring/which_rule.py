"""Which rule gives this number? A figure seen elsewhere, held against everything the same verdicts can give.

Every named rule is applied to the overall score and to every theme, axis and other tag, under each way of counting
failed grades and each published length adjustment. What lies within the rounding of the number as it was printed is
a match; a match is evidence for a rule, not proof, because rules often agree.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import InputRefusedError
from healthbench.scoring.aggregate import RULES
from healthbench.scoring.length import POINTS, PRESETS, mean_adjusted
from healthbench.scoring.run_scores import OVERALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from healthbench.scoring.run_scores import RunScores

LENGTH_LATE = "length-adjusted"
"""Adjust every example, average, clip the mean once: the paper's rule."""
LENGTH_UNCLIPPED = "length-adjusted, unclipped"

LOWEST, HIGHEST = -10.0, 1.5
"""Fractions outside cannot be a figure: no example of the benchmark can score below -8.67, and a length adjustment
adds at most 0.16 to a score of 1."""

_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?")
_ROUNDING_SLACK = 1e-12


class Reading(NamedTuple):
    """One way to read a printed number.

    Attributes:
        value: A fraction of 1.
        half_width: Half of the last printed decimal, as a fraction of 1.
        in_points: True where the number was read as points of 100.
    """

    value: float
    half_width: float
    in_points: bool


class Figure(NamedTuple):
    """One figure that the verdicts give.

    Attributes:
        value: A fraction of 1.
        rule: A key of ``RULES``, ``LENGTH_LATE`` or ``LENGTH_UNCLIPPED``.
        metric: ``overall_score`` or a tag.
        policy: How failed grades were counted, a key of what was given to ``figures``.
        preset: A key of ``length.PRESETS``, None without a length adjustment.
        n: Examples that carry the metric.
    """

    value: float
    rule: str
    metric: str
    policy: str
    preset: str | None
    n: int


@dataclass(frozen=True, slots=True)
class Match:
    """A figure and how it compares with the number.

    Attributes:
        figure: What the verdicts give.
        reading: How the number was read.
        exact: True where the figure is within the rounding of the number as printed.
    """

    figure: Figure
    reading: Reading
    exact: bool

    @property
    def off(self) -> float:
        """The figure minus the number, a fraction of 1."""
        return self.figure.value - self.reading.value


def read_number(text: str) -> list[Reading]:
    """Read a printed number as a fraction and as points of 100, whichever of the two can be.

    A percent sign, or a size no fraction can have, leaves only points. A decimal comma and a real minus are read.

    Raises:
        InputRefusedError: It is no number, or neither a possible fraction nor possible points.
    """
    cleaned = text.strip().replace("\N{MINUS SIGN}", "-").replace(" ", "").replace(",", ".")
    percent = cleaned.endswith("%")
    found = _NUMBER.fullmatch(cleaned.removesuffix("%").lower())
    if not found or not (found[2] or found[3]):
        raise InputRefusedError(
            f"{text.strip()[:40]!r} is not a number: type one such as 50.0 or 0.5."
        )
    exponent = int(found[4] or 0)
    value = float(cleaned.removesuffix("%"))
    half_width = 0.5 * 10.0 ** (exponent - len(found[3] or ""))
    readings = [
        Reading(value / scale, half_width / scale, in_points)
        for scale, in_points in ((1, False), (POINTS, True))
        if LOWEST <= value / scale <= HIGHEST and not (percent and not in_points)
    ]
    if not readings:
        raise InputRefusedError(
            f"{text.strip()[:40]} cannot be a score: give a fraction up to 1 or points up to 100."
        )
    return readings


def figures(run_scores_by_policy: Mapping[str, RunScores]) -> list[Figure]:
    """Compute every figure the verdicts can give.

    Args:
        run_scores_by_policy: The run under each way of counting failed grades, the one that counts first. A figure
            that a later policy does not change is listed once.

    Returns:
        The more usual before the less usual: overall before tags, the first policy before others, the raw score before
        the length-adjusted one, rules in the order of ``RULES``.
    """
    found: dict[tuple[str, str, str | None], Figure] = {}
    listed = []
    for policy, run in run_scores_by_policy.items():
        for figure in _figures_of(run, policy):
            key = (figure.rule, figure.metric, figure.preset)
            if key in found and found[key].value == figure.value:
                continue
            found.setdefault(key, figure)
            listed.append(figure)
    policies = list(run_scores_by_policy)
    return sorted(
        listed,
        key=lambda figure: (
            figure.metric != OVERALL,
            policies.index(figure.policy),
            figure.preset is not None,
        ),
    )


def closest(
    candidates: Iterable[Figure], readings: Iterable[Reading], nearest: int = 8
) -> list[Match]:
    """Hold figures against the readings of a number.

    Returns:
        Every figure within the rounding, in the order of ``candidates``; then the ``nearest`` others by distance.
    """
    exact: list[Match] = []
    others: list[Match] = []
    readings = list(readings)
    for figure in candidates:
        reading = min(readings, key=lambda reading: abs(figure.value - reading.value))
        is_exact = abs(figure.value - reading.value) <= reading.half_width + _ROUNDING_SLACK
        (exact if is_exact else others).append(Match(figure, reading, is_exact))
    others.sort(key=lambda match: abs(match.off))
    return exact + others[:nearest]


def find_rules(run_scores_by_policy: Mapping[str, RunScores], number: str) -> list[Match]:
    """Find what gives a number: ``closest`` over ``figures`` for the readings of ``read_number``.

    Raises:
        InputRefusedError: ``number`` cannot be read.
    """
    return closest(figures(run_scores_by_policy), read_number(number))


def _figures_of(run: RunScores, policy: str) -> Iterator[Figure]:
    for name, metric in run.metrics.items():
        n = len(metric.example)
        for rule in RULES.values():
            for preset in PRESETS if rule.name == "medarc" else (None,):
                value = rule(run, name, PRESETS[preset] if preset else None)
                if value is not None and math.isfinite(value):
                    yield Figure(value, rule.name, name, policy, preset, n)
        for preset, adjustment in PRESETS.items():
            adjusted = mean_adjusted(run, adjustment, name)
            if adjusted is not None:
                yield Figure(adjusted.score, LENGTH_LATE, name, policy, preset, n)
                yield Figure(adjusted.unclipped, LENGTH_UNCLIPPED, name, policy, preset, n)
