"""The length adjustment of a score, and what it trades against what.

Source: HealthBench Professional (arXiv 2604.27470), section 4.1, and openai/simple-evals pull request 108:
``adjusted = score - penalty * (characters - center) / 500``. Scores are fractions of 1 here, characters are
Unicode code points of the reply (Python's ``len``). An adjusted example score is never clipped: a short reply can
exceed 1. Only the mean over a run is clipped, once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from healthbench.errors import InputRefusedError
from healthbench.scoring.example import clip
from healthbench.scoring.run_scores import OVERALL, FloatArray, IntArray, RunScores
from healthbench.taxonomy import USE_CASES

if TYPE_CHECKING:
    from collections.abc import Collection

CHARACTERS_PER_PENALTY = 500
POINTS = 100
FITTED_UP_TO = 4_000
"""Longest mean reply, in characters, among the settings from which the published penalties were fitted."""


@dataclass(frozen=True, slots=True)
class LengthAdjustment:
    """How much length costs.

    Attributes:
        center: Characters at which nothing changes, >= 0.
        penalty: Fraction of 1 (not points of 100) taken off for each 500 characters above the center, and added
            for each 500 below it, >= 0.

    Raises:
        InputRefusedError: One of them is negative or not finite.
    """

    center: float
    penalty: float

    def __post_init__(self) -> None:
        for name, value in (("center", self.center), ("penalty", self.penalty)):
            if not (math.isfinite(value) and value >= 0):
                raise InputRefusedError(
                    f"The {name} of the length adjustment is {value}; give a finite number of 0 or more."
                )


PRESETS: dict[str, LengthAdjustment] = {
    "professional": LengthAdjustment(2000, 0.0147),
    "healthbench": LengthAdjustment(2000, 0.0299),
    "hard": LengthAdjustment(2000, 0.0392),
    "consensus": LengthAdjustment(2000, 0.0020),
}
"""Published center and penalty by benchmark (GPT-5.5 system card, Table 7)."""

_BY_BENCHMARK = {
    "HealthBench": "healthbench",
    "HealthBench Hard": "hard",
    "HealthBench Consensus": "consensus",
    "HealthBench Professional": "professional",
}


def preset_for(benchmark: str | None, tags: Collection[str]) -> str:
    """Return the name of the preset published for a run's benchmark; Professional's where there is none.

    Args:
        benchmark: As the file names it, None where it does not.
        tags: Names of the run's metrics: a file does not say that it is a Professional run, but its tags do.
    """
    if any(tag in tags for tag in USE_CASES):
        return "professional"
    return _BY_BENCHMARK.get(benchmark or "", "professional")


@overload
def adjust(score: float, characters: float, adjustment: LengthAdjustment) -> float: ...
@overload
def adjust(
    score: FloatArray, characters: IntArray | FloatArray, adjustment: LengthAdjustment
) -> FloatArray: ...
def adjust(
    score: float | FloatArray,
    characters: float | IntArray | FloatArray,
    adjustment: LengthAdjustment,
) -> float | FloatArray:
    """Adjust example scores, or a mean score by the mean length.

    Args:
        score: Fraction of 1, or an array of them; NaN stays NaN.
        characters: Length in code points, or an array of the same shape.
        adjustment: Center and penalty.

    Returns:
        The adjusted fractions, not clipped.
    """
    adjusted: float | FloatArray = score - adjustment.penalty * (
        (characters - adjustment.center) / CHARACTERS_PER_PENALTY
    )
    return adjusted


def adjust_points(points: float, characters: float, adjustment: LengthAdjustment) -> float:
    """Adjust a score given as points of 100 and return points of 100; 60 at 3,000 characters becomes 57.06."""
    return adjust(points / POINTS, characters, adjustment) * POINTS


class AdjustedMean(NamedTuple):
    """A run's length-adjusted score.

    Attributes:
        unclipped: Mean of the adjusted example scores.
        score: The same, clipped once to [0, 1].
        raw: Mean of the example scores before the adjustment, not clipped.
        mean_characters: Mean length of the same replies, in code points.
        n: Number of examples with a score.
    """

    unclipped: float
    score: float
    raw: float
    mean_characters: float
    n: int


def mean_adjusted(
    run: RunScores, adjustment: LengthAdjustment, name: str = OVERALL
) -> AdjustedMean | None:
    """Adjust every example, average, then clip once.

    Returns:
        The means over the examples that have a score; None where none has.
    """
    metric = run.metrics.get(name)
    if metric is None:
        return None
    scored = ~np.isnan(metric.scores)
    if not scored.any():
        return None
    scores = metric.scores[scored]
    characters = run.characters[metric.example[scored]]
    unclipped = float(np.mean(adjust(scores, characters, adjustment)))
    return AdjustedMean(
        unclipped,
        clip(unclipped),
        float(np.mean(scores)),
        float(np.mean(characters)),
        int(scored.sum()),
    )


def score_for_characters(extra_characters: float, adjustment: LengthAdjustment) -> float:
    """Return the gain in raw score (a fraction of 1) that pays for so many extra characters."""
    return extra_characters / CHARACTERS_PER_PENALTY * adjustment.penalty


def characters_for_score(gain: float, adjustment: LengthAdjustment) -> float:
    """Return the extra characters that cost a gain in raw score (a fraction of 1); infinite at penalty 0."""
    if adjustment.penalty == 0:
        return math.copysign(math.inf, gain) if gain else 0.0
    return gain / adjustment.penalty * CHARACTERS_PER_PENALTY


def characters_bought(item_points: float, possible: float, adjustment: LengthAdjustment) -> float:
    """Return the extra characters that meeting one more criterion pays for.

    Args:
        item_points: Points of the criterion.
        possible: Sum of the positive points of its example, > 0.
        adjustment: Center and penalty.

    Raises:
        ValueError: The example has no positive points, hence no score.
    """
    if possible <= 0:
        raise ValueError("characters_bought: an example without positive points has no score")
    return characters_for_score(item_points / possible, adjustment)


def parse_adjustment(text: str) -> LengthAdjustment:
    """Read a preset's name (``professional``) or ``CENTER,PENALTY`` (``2000,0.0147``).

    Raises:
        InputRefusedError: It is neither, or the penalty is plainly in points of 100.
    """
    name = text.strip().lower()
    if name in PRESETS:
        return PRESETS[name]
    try:
        center, penalty = (float(part) for part in name.split(","))
    except ValueError:
        raise InputRefusedError(
            f"The length adjustment {text!r} is not understood; give {', '.join(PRESETS)} or CENTER,PENALTY such as 2000,0.0147."
        ) from None
    if penalty >= 1:
        raise InputRefusedError(
            f"The penalty {penalty:g} per {CHARACTERS_PER_PENALTY} characters is in points of 100; give it as a fraction, {penalty / POINTS:g}."
        )
    return LengthAdjustment(center, penalty)
