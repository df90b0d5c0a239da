"""The one definition of an example score, its points and its bounds.

Source: HealthBench (arXiv 2505.08775), section 2 and appendix D; ``calculate_score`` of openai/simple-evals.
A score is the signed points of the met criteria over the sum of the positive points. It can be negative and is
never above 1. It is never clipped here. Without a positive criterion there is no score.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class State(StrEnum):
    """What a verdict means for a criterion's points."""

    EARNED = "earned"
    MISSED = "missed"
    INCURRED = "incurred"
    AVOIDED = "avoided"
    UNKNOWN = "unknown"


def state_of(points: float, met: bool | None) -> State:
    """Name the state of a criterion from the sign of its points and its verdict."""
    if met is None:
        return State.UNKNOWN
    if points > 0:
        return State.EARNED if met else State.MISSED
    return State.INCURRED if met else State.AVOIDED


class Bounds(NamedTuple):
    """The lowest and highest score that the unknown verdicts leave open; both are unclipped fractions."""

    low: float
    high: float


def clip(value: float) -> float:
    """Clip to [0, 1]; NaN stays NaN. The official rule applies it once, to a mean."""
    if value < 0:
        return 0.0
    return 1.0 if value > 1 else value


class Tally(NamedTuple):
    """Points of one example (or of its criteria with one tag), enough for its score and bounds.

    Attributes:
        possible: Sum of the positive points, 0 where there are none.
        achieved: Signed sum of the points of criteria known to be met.
        unknown_positive: Sum of the positive points whose verdict is unknown (>= 0).
        unknown_negative: Sum of the negative points whose verdict is unknown (<= 0).
        negative: Sum of all negative points (<= 0), whatever the verdict.
        n_items: Number of criteria.
        n_unknown: Number of criteria whose verdict is unknown.
    """

    possible: float
    achieved: float
    unknown_positive: float
    unknown_negative: float
    negative: float
    n_items: int
    n_unknown: int

    @property
    def score(self) -> float | None:
        """Achieved over possible; None without a positive criterion or with an unknown verdict."""
        if self.possible == 0 or self.n_unknown:
            return None
        return self.achieved / self.possible

    @property
    def bounds(self) -> Bounds | None:
        """Lowest and highest possible score; None without a positive criterion."""
        if self.possible == 0:
            return None
        return Bounds(
            (self.achieved + self.unknown_negative) / self.possible,
            (self.achieved + self.unknown_positive) / self.possible,
        )


def tally(points: Sequence[float], met: Sequence[bool | None]) -> Tally:
    """Count the points of one example.

    Args:
        points: Signed points of each criterion, length n.
        met: Verdict on each criterion, length n; None is unknown.

    Raises:
        ValueError: The two do not have the same length.
        TypeError: A verdict is neither a bool nor None; truthiness never decides a verdict.
    """
    if len(points) != len(met):
        raise ValueError(
            f"tally: {len(points)} points but {len(met)} verdicts; give one verdict a criterion"
        )
    possible = achieved = unknown_positive = unknown_negative = negative = 0.0
    n_unknown = 0
    for value, verdict in zip(points, met, strict=True):
        if value > 0:
            possible += value
        else:
            negative += value
        if verdict is True:
            achieved += value
        elif verdict is None:
            n_unknown += 1
            if value > 0:
                unknown_positive += value
            else:
                unknown_negative += value
        elif verdict is not False:
            raise TypeError(
                f"tally: a verdict is True, False or None, not {type(verdict).__name__}"
            )
    return Tally(
        possible, achieved, unknown_positive, unknown_negative, negative, len(points), n_unknown
    )


def example_score(points: Sequence[float], met: Sequence[bool | None]) -> float | None:
    """Score one example: signed points of met criteria over the sum of positive points.

    Returns:
        An unclipped fraction, at most 1; None without a positive criterion or where a verdict is unknown.
    """
    return tally(points, met).score
