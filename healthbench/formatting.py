"""How numbers are written, on the screen, in the report and on the command line: the one place for it.

Scores come in as fractions of 1 and are shown as points of 100 with one decimal. The minus is a real one (U+2212).
A value that is not there (None or NaN) is a dash, never 0. A value that rounds to 0 carries no sign.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
INFINITE = "\N{INFINITY}"
FEW = 20
"""Below so many examples a mean is marked."""
FEW_MARK = "few"


def score(value: float | None) -> str:
    """Write a score: 0.5104 is ``51.0``, -0.3 is ``-30.0`` with a real minus."""
    return _number(value, decimals=1, scale=100)


def difference(value: float | None) -> str:
    """Write a difference of two scores with its sign: 0.032 is ``+3.2``."""
    return _number(value, decimals=1, scale=100, signed=True)


def move(value: float | None) -> str:
    """Write how far something moves a score, in points of 100: ``2.7``, and two digits below 1: ``0.026``, ``0.0021``."""
    if _missing(value) or not value or math.isinf(value):
        return score(value)
    return _number(value, decimals=max(1, 1 - math.floor(math.log10(abs(100 * value)))), scale=100)


def fraction(value: float | None, decimals: int = 4) -> str:
    """Write a score as the fraction it is: ``0.5104``."""
    return _number(value, decimals)


def percent(value: float | None, decimals: int = 1) -> str:
    """Write a share: 0.249 is ``24.9 %``."""
    text = _number(value, decimals, scale=100)
    return text if text == DASH else f"{text} %"


def points(value: float | None) -> str:
    """Write signed points of a criterion: ``+7``, ``-6`` with a real minus, ``+2.5``."""
    return _trimmed(value, signed=True)


def plain_points(value: float | None) -> str:
    """Write points without a plus, as for a sum of possible points: ``22``."""
    return _trimmed(value, signed=False)


def count(value: float | None) -> str:
    """Write a whole number with thousands separators: ``57,237``."""
    return _number(value, decimals=0)


def characters(value: float | None) -> str:
    """Write a length in characters: ``3,616 characters``."""
    text = count(value)
    return text if text == DASH else f"{text} character{'' if text == '1' else 's'}"


def interval(low: float | None, high: float | None) -> str:
    """Write an interval of scores: ``[58.0, 71.2]``; a dash where either end is missing."""
    if _missing(low) or _missing(high):
        return DASH
    return f"[{score(low)}, {score(high)}]"


def plain_interval(low: float | None, high: float | None, decimals: int = 2) -> str:
    """Write an interval of plain fractions: ``[0.41, 0.62]``; a dash where either end is missing."""
    if _missing(low) or _missing(high):
        return DASH
    return f"[{fraction(low, decimals)}, {fraction(high, decimals)}]"


def difference_interval(low: float | None, high: float | None) -> str:
    """Write an interval of score differences, both ends with their sign."""
    if _missing(low) or _missing(high):
        return DASH
    return f"[{difference(low)}, {difference(high)}]"


def sample_size(n: int | None) -> str:
    """Write the n of a mean: ``n = 1,097``; below 20 it is marked: ``n = 12 (few)``."""
    if n is None:
        return DASH
    return f"n = {count(n)} ({FEW_MARK})" if n < FEW else f"n = {count(n)}"


def graded(n: int, total: int) -> str:
    """Write how many examples a mean stands on: ``498 of 500 examples fully graded``."""
    return f"{count(n)} of {count(total)} example{'' if total == 1 else 's'} fully graded"


def p_value(value: float | None) -> str:
    """Write a p value: ``p = 0.032``; below a thousandth ``p < 0.001``."""
    if value is None or math.isnan(value):
        return DASH
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def equation(met_points: Iterable[float], possible: float, value: float | None) -> str:
    """Write an example score as the sum it is: ``(+7 +10 -6) / 22 = 0.50``, with real minus signs.

    Args:
        met_points: Signed points of the met criteria, in the order of the ledger.
        possible: Sum of the positive points.
        value: The example score, None where there is none.
    """
    terms = " ".join(points(term) for term in met_points) or "0"
    return f"({terms}) / {plain_points(possible)} = {fraction(value, decimals=2)}"


def _missing(value: float | None) -> bool:
    return value is None or math.isnan(value)


def _number(value: float | None, decimals: int, scale: float = 1, *, signed: bool = False) -> str:
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        text = INFINITE
    else:
        text = f"{abs(value) * scale:,.{decimals}f}"
        if not text.strip("0.,"):
            return text
    if value < 0:
        return MINUS + text
    return f"+{text}" if signed else text


def _trimmed(value: float | None, *, signed: bool) -> str:
    """Write points to at most three decimals, without trailing zeros."""
    text = _number(value, decimals=3, signed=signed)
    return text.rstrip("0").rstrip(".") if "." in text else text
