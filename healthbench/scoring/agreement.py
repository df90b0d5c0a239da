"""How far two sets of verdicts on the same criteria agree.

Every figure comes from a two-by-two table, whose cells may be weighted counts: where the verdicts are a sample drawn
with unequal chances, each weighs the inverse of its chance and the figures estimate those of the whole run.

Sources: pairwise macro F1, HealthBench (arXiv 2505.08775), section 8.1, and ``healthbench_meta_eval`` of
openai/simple-evals; kappa, Cohen (1960); AC1, Gwet (2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from healthbench.scoring.uncertainty import PERCENTILES, draw_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from healthbench.scoring.run_scores import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]


class Confusion(NamedTuple):
    """Verdicts of two raters on the same criteria, counted or weighted (>= 0).

    Attributes:
        both_met: Both say met.
        only_first: The first says met, the second not met.
        only_second: The second says met, the first not met.
        neither: Both say not met.
    """

    both_met: float
    only_first: float
    only_second: float
    neither: float

    @property
    def total(self) -> float:
        """All of them."""
        return self.both_met + self.only_first + self.only_second + self.neither

    @property
    def agreement(self) -> float | None:
        """Share on which both say the same; None without any."""
        return (self.both_met + self.neither) / self.total if self.total else None

    @property
    def first_met(self) -> float | None:
        """Share the first calls met."""
        return (self.both_met + self.only_first) / self.total if self.total else None

    @property
    def second_met(self) -> float | None:
        """Share the second calls met."""
        return (self.both_met + self.only_second) / self.total if self.total else None


class AgreementInterval(NamedTuple):
    """95 % interval of an agreement figure.

    ``resamples`` counts those in which the figure was defined, ``n_groups`` the prompts or examples drawn from.
    """

    low: float
    high: float
    resamples: int
    n_groups: int


def confusion(first: BoolArray, second: BoolArray, weights: FloatArray | None = None) -> Confusion:
    """Count two raters' verdicts, criterion by criterion.

    Args:
        first: True for met, shape (n,). Unknown verdicts are the caller's to leave out.
        second: The other rater's verdicts on the same criteria, shape (n,).
        weights: Weight of each criterion, shape (n,); None for 1 each.

    Raises:
        ValueError: The shapes differ, or the verdicts are not booleans.
    """
    if first.dtype != np.bool_ or second.dtype != np.bool_ or first.shape != second.shape:
        raise ValueError(
            "confusion: give two boolean arrays of one shape, unknown verdicts left out"
        )
    weight = np.ones(len(first)) if weights is None else weights
    cells = np.bincount(2 * ~first + ~second, weight, minlength=4)
    return Confusion(*cells.tolist())


def confusion_by_sign(
    points: FloatArray, first: BoolArray, second: BoolArray, weights: FloatArray | None = None
) -> dict[str, Confusion]:
    """Count verdicts on ``positive`` criteria and on ``negative`` ones (penalties) apart."""
    return {
        sign: confusion(first[rows], second[rows], None if weights is None else weights[rows])
        for sign, rows in (("positive", points > 0), ("negative", points < 0))
    }


def inverse_probability_weights(chances: FloatArray) -> FloatArray:
    """Return the weights of a sample from the chance each verdict had to be drawn.

    Raises:
        ValueError: A chance is not in (0, 1].
    """
    if not ((chances > 0) & (chances <= 1)).all():
        raise ValueError("inverse_probability_weights: a chance lies above 0 and not above 1")
    weights: FloatArray = 1.0 / chances
    return weights


def cohens_kappa(table: Confusion) -> float | None:
    """Agreement beyond the chance that each rater's own share of met gives; None where chance alone is certain."""
    first, second, agreement = table.first_met, table.second_met, table.agreement
    if agreement is None or first is None or second is None:
        return None
    return _beyond(agreement, first * second + (1 - first) * (1 - second))


def gwet_ac1(table: Confusion) -> float | None:
    """Agreement beyond chance by Gwet's AC1, which stays meaningful where nearly all verdicts are the same.

    Chance is 2 q (1 - q) with q the mean share of met. None without verdicts.
    """
    first, second, agreement = table.first_met, table.second_met, table.agreement
    if agreement is None or first is None or second is None:
        return None
    met = (first + second) / 2
    return _beyond(agreement, 2 * met * (1 - met))


@dataclass(frozen=True, slots=True)
class PairwiseF1:
    """A grader (first rater) against reference labels (second rater); None where a figure is not defined.

    Attributes:
        precision_met: Of what the grader calls met, the share the labels call met.
        recall_met: Of what the labels call met, the share the grader calls met.
        f1_met: 2 TP / (2 TP + FP + FN): 0 where grader and labels share nothing; None where neither says met.
        precision_not_met, recall_not_met, f1_not_met: The same for not met.
        macro: Mean of the two F1, the paper's figure; None where one is not defined.
        reference_macro: What the reference code reports as ``pairwise_model_f1_balanced``: as ``macro``, but None
            (it writes no such key) where the grader, or the labels, never say one of the two.
    """

    precision_met: float | None
    recall_met: float | None
    f1_met: float | None
    precision_not_met: float | None
    recall_not_met: float | None
    f1_not_met: float | None
    macro: float | None
    reference_macro: float | None


def pairwise_f1(table: Confusion) -> PairwiseF1:
    """Compute precision, recall and F1 of both classes, and their macro mean."""
    wrong = table.only_first + table.only_second
    precision_met = _share(table.both_met, table.only_first)
    recall_met = _share(table.both_met, table.only_second)
    precision_not_met = _share(table.neither, table.only_second)
    recall_not_met = _share(table.neither, table.only_first)
    f1_met = _share(2 * table.both_met, wrong)
    f1_not_met = _share(2 * table.neither, wrong)
    macro = None if f1_met is None or f1_not_met is None else (f1_met + f1_not_met) / 2
    defined = None not in (precision_met, recall_met, precision_not_met, recall_not_met)
    return PairwiseF1(
        precision_met,
        recall_met,
        f1_met,
        precision_not_met,
        recall_not_met,
        f1_not_met,
        macro,
        macro if defined else None,
    )


def pair_with_labels(
    verdicts: Sequence[bool], labels: Sequence[Sequence[bool]], weights: FloatArray | None = None
) -> Confusion:
    """Pair each of a grader's verdicts with every label given to the same criterion; ties are not voted away.

    Args:
        verdicts: The grader's, length n.
        labels: The physicians' labels of each, n lists of any length.
        weights: Weight of each verdict, shape (n,); None for 1 each. Each of its pairs has it.

    Raises:
        ValueError: There are not as many lists of labels as verdicts.
    """
    if len(verdicts) != len(labels):
        raise ValueError(
            f"pair_with_labels: {len(verdicts)} verdicts but labels for {len(labels)}; give one list each"
        )
    times = [len(given) for given in labels]
    first = np.repeat(np.array(verdicts, dtype=np.bool_), times)
    second = np.array([label for given in labels for label in given], dtype=np.bool_)
    return confusion(first, second, None if weights is None else np.repeat(weights, times))


def agreement_interval(
    statistic: Callable[[Confusion], float | None],
    first: BoolArray,
    second: BoolArray,
    groups: IntArray,
    weights: FloatArray | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> AgreementInterval | None:
    """Bootstrap a figure of the two-by-two table over groups, so that the criteria of one prompt move together.

    Args:
        statistic: For example ``cohens_kappa``.
        first: As for ``confusion``, shape (n,).
        second: As for ``confusion``, shape (n,).
        groups: Prompt or example of each criterion, any integers, shape (n,).
        weights: As for ``confusion``.
        resamples: Number of resamples.
        seed: Seed of the draw.

    Returns:
        The 95 % interval; None with fewer than two groups or where no resample defines the figure.
    """
    names, group = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        return None
    weight = np.ones(len(first)) if weights is None else weights
    cells = np.bincount(4 * group + 2 * ~first + ~second, weight, minlength=4 * len(names))
    tables = draw_counts(len(names), resamples, seed) @ cells.reshape(-1, 4)
    figures = [statistic(Confusion(*table)) for table in tables.tolist()]
    defined = [figure for figure in figures if figure is not None]
    if not defined:
        return None
    low, high = np.percentile(defined, PERCENTILES)
    return AgreementInterval(float(low), float(high), len(defined), len(names))


def _beyond(agreement: float, chance: float) -> float | None:
    return None if chance >= 1 else (agreement - chance) / (1 - chance)


def _share(part: float, rest: float) -> float | None:
    return part / (part + rest) if part + rest else None
