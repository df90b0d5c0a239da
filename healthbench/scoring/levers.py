"""What would move a run's score: counterfactuals over the same replies, and what single verdicts weigh.

The unclipped mean is 1 minus what missed points and incurred penalties take from it, each point as its share of its
example's positive points. So every counterfactual is a sum of what it would give back. They say what the arithmetic
would do, not what a model could do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from healthbench.scoring.example import clip

if TYPE_CHECKING:
    from collections.abc import Sequence

MORE_MET = 0.01
"""Share of the positive criteria that the smallest lever supposes to be met in addition."""


class Lost(NamedTuple):
    """What one axis takes from the unclipped mean, over the examples that have a score; fractions of 1, >= 0.

    Attributes:
        axis: Tag of the axis, None for criteria without one.
        missed: Taken by positive points not met.
        incurred: Taken by penalties met.
        n_positive, n_missed, n_incurred: Criteria with positive points, those of them missed, penalties incurred.
    """

    axis: str | None
    missed: float
    incurred: float
    n_positive: int
    n_missed: int
    n_incurred: int


@dataclass(frozen=True, slots=True)
class Lever:
    """One counterfactual.

    Attributes:
        name: ``penalties``, ``axis`` or ``more met``.
        axis: The axis it is about, None for all (and for criteria without an axis under ``axis``).
        gain: What it adds to the unclipped mean, a fraction of 1, >= 0.
        unclipped: The mean it would give.
        n_verdicts: Verdicts that would change; for ``more met`` an expectation, hence not whole.
    """

    name: str
    axis: str | None
    gain: float
    unclipped: float
    n_verdicts: float

    @property
    def score(self) -> float:
        """The mean it would give, clipped once."""
        return clip(self.unclipped)


def levers(mean: float, lost: Sequence[Lost]) -> list[Lever]:
    """Return what would be added by avoiding all penalties, meeting 1 % more criteria, and perfecting each axis.

    Args:
        mean: The unclipped mean of the run.
        lost: What each axis takes from it; criteria without an axis as one of them.

    Returns:
        ``penalties``, ``more met`` (criteria drawn at random among the missed, in expectation), then one ``axis``
        lever an axis (every positive criterion met, every penalty avoided), the largest gain first.
    """
    missed = sum(axis.missed for axis in lost)
    n_missed = sum(axis.n_missed for axis in lost)
    more = min(MORE_MET * sum(axis.n_positive for axis in lost), float(n_missed))
    all_penalties = sum(axis.incurred for axis in lost)
    more_met = missed * more / n_missed if n_missed else 0.0
    perfected = [
        _lever(
            "axis", axis.axis, axis.missed + axis.incurred, mean, axis.n_missed + axis.n_incurred
        )
        for axis in lost
    ]
    return [
        _lever("penalties", None, all_penalties, mean, sum(axis.n_incurred for axis in lost)),
        _lever("more met", None, more_met, mean, more),
        *sorted(perfected, key=lambda lever: -lever.gain),
    ]


def _lever(name: str, axis: str | None, gain: float, mean: float, n_verdicts: float) -> Lever:
    return Lever(name, axis, gain, mean + gain, n_verdicts)
