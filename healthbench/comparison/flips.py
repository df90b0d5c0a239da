"""A difference between two runs, criterion by criterion: what was fixed, what got worse, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from healthbench.scoring import agreement
from healthbench.scoring.compare import holm, mcnemar_p
from healthbench.store.pairs import UNKNOWN, criterion_pairs, same_replies
from healthbench.taxonomy import display_name, sort_key

if TYPE_CHECKING:
    import numpy.typing as npt

    from healthbench.comparison.pair import Comparison, Side
    from healthbench.scoring.agreement import AgreementInterval, Confusion
    from healthbench.store.library import Library

NO_AXIS = "No axis"


class Flip(StrEnum):
    """What became of a criterion from the first run to the second."""

    FIXED = "fixed"
    REGRESSED = "regressed"
    BOTH_MET = "both met"
    BOTH_NOT_MET = "both not met"
    UNKNOWN = "unknown"


class Sign(StrEnum):
    """Which way a criterion's points go."""

    POSITIVE = "positive"
    PENALTY = "penalty"


def flips(library: Library, comparison: Comparison, first: Side) -> pd.DataFrame:
    """Pair the criteria of the compared examples and say what became of each.

    Args:
        library: Where the runs are.
        comparison: The comparison.
        first: Its first side.

    Returns:
        The columns of ``store.pairs.criterion_pairs``, and flip (``Flip``), sign (``Sign``), moved (points the second
        run gains by it, signed), effect (what that is of the mean over paired examples with a score in both, an
        unclipped fraction; 0 in other examples). The effects sum to the difference of those means.
    """
    one, two = comparison.gate.first.run.id, comparison.gate.second.run.id
    rows = criterion_pairs(library, one, two, comparison.matching.pairs, as_stored=first.as_stored)
    met = rows[["met_first", "met_second"]].to_numpy()
    points = rows["points"].to_numpy()
    unknown = (met == UNKNOWN).any(axis=1)
    moved = np.where(unknown, 0.0, points * (met[:, 1] - met[:, 0]))
    rows["flip"] = np.select(
        [unknown, moved > 0, moved < 0, met[:, 0] == 1],
        [Flip.UNKNOWN.value, Flip.FIXED.value, Flip.REGRESSED.value, Flip.BOTH_MET.value],
        Flip.BOTH_NOT_MET.value,
    )
    rows["sign"] = np.where(points > 0, Sign.POSITIVE.value, Sign.PENALTY.value)
    rows["moved"] = moved
    rows["effect"] = _effects(rows, unknown, moved, first)
    return rows


def _effects(
    rows: pd.DataFrame, unknown: npt.NDArray[np.bool_], moved: npt.NDArray[np.float64], first: Side
) -> npt.NDArray[np.float64]:
    """Turn points into what they are of the mean example score; shape (criteria,)."""
    possible = first.scores.overall.possible[rows["first"].to_numpy()]
    example = rows["first"].to_numpy()
    withheld = np.isin(example, example[unknown]) | (possible == 0)
    n_scored = len(np.unique(example[~withheld]))
    effects = np.zeros(len(rows))
    np.divide(moved, possible * n_scored, out=effects, where=~withheld)
    return effects


def by_axis(rows: pd.DataFrame) -> pd.DataFrame:
    """Count flips by axis, with McNemar's test on fixed against regressed.

    The test takes criteria as independent; those of one conversation are not, so its p is somewhat too small.

    Returns:
        Columns name (of the axis), fixed, regressed, both met, both not met, unknown (numbers of criteria), moved
        (points), effect (fraction), p, p_holm (over the axes). The axes in the reference's order, criteria without one
        last.
    """
    table = _counted(rows, ["axis"])
    p_values = [
        mcnemar_p(int(fixed), int(regressed))
        for fixed, regressed in zip(table[Flip.FIXED], table[Flip.REGRESSED], strict=True)
    ]
    return table.assign(p=p_values, p_holm=holm(p_values))


def by_axis_and_sign(rows: pd.DataFrame) -> pd.DataFrame:
    """Count flips by axis and sign: columns name, sign, the five kinds of flip, moved and effect."""
    return _counted(rows, ["axis", "sign"])


def _counted(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    rows = rows.assign(axis=rows["axis"].fillna(""))
    groups = rows.groupby(keys, observed=True)
    table = pd.crosstab([rows[key] for key in keys], rows["flip"])
    table = table.reindex(columns=[flip.value for flip in Flip], fill_value=0)
    table = table.join(groups[["moved", "effect"]].sum()).reset_index()
    axes = table.pop("axis").tolist()
    table.insert(0, "name", [display_name(axis) if axis else NO_AXIS for axis in axes])
    order = sorted(range(len(axes)), key=lambda place: (not axes[place], sort_key(axes[place])))
    table.columns.name = None
    return table.iloc[order].reset_index(drop=True)


@dataclass(frozen=True, slots=True)
class GraderAgreement:
    """How far two gradings of the same replies agree, criterion by criterion.

    Attributes:
        n_replies: Paired examples with the very same reply.
        n_pairs: Paired examples in all.
        table: Verdicts of the first run against the second's.
        by_sign: The same for positive criteria and penalties.
        kappa, ac1, macro_f1: See ``scoring.agreement``; macro F1 takes the second run's verdicts as labels.
        kappa_interval, ac1_interval: Over prompts.
    """

    n_replies: int
    n_pairs: int
    table: Confusion
    by_sign: dict[str, Confusion] = field(repr=False)
    kappa: float | None
    ac1: float | None
    macro_f1: float | None
    kappa_interval: AgreementInterval | None
    ac1_interval: AgreementInterval | None

    @property
    def same_replies(self) -> bool:
        """True where every paired reply is the same, so that only the grading differs."""
        return self.n_replies == self.n_pairs


def grader_agreement(
    library: Library, comparison: Comparison, rows: pd.DataFrame
) -> GraderAgreement | None:
    """Measure the agreement of two runs' verdicts on the replies that are the same in both.

    Args:
        library: Where the runs are.
        comparison: The comparison.
        rows: As ``flips`` returns them.

    Returns:
        The figures; None where no reply is the same.
    """
    pairs = comparison.matching.pairs
    same = same_replies(library, comparison.gate.first.run.id, comparison.gate.second.run.id, pairs)
    if not same.any():
        return None
    shared = rows[rows["first"].isin(pairs[same, 0]) & (rows["flip"] != Flip.UNKNOWN.value)]
    first, second = (shared[name].to_numpy() == 1 for name in ("met_first", "met_second"))
    prompt = comparison.matching.first[shared["first"].to_numpy()]
    table = agreement.confusion(first, second)
    return GraderAgreement(
        n_replies=int(same.sum()),
        n_pairs=len(pairs),
        table=table,
        by_sign=agreement.confusion_by_sign(shared["points"].to_numpy(), first, second),
        kappa=agreement.cohens_kappa(table),
        ac1=agreement.gwet_ac1(table),
        macro_f1=agreement.pairwise_f1(table).macro,
        kappa_interval=agreement.agreement_interval(agreement.cohens_kappa, first, second, prompt),
        ac1_interval=agreement.agreement_interval(agreement.gwet_ac1, first, second, prompt),
    )
