"""A comparison as text for a terminal and as JSON for programs."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from healthbench import formatting
from healthbench.comparison.flips import Flip, by_axis, by_axis_and_sign
from healthbench.scoring.run_scores import OVERALL
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    import pandas as pd

    from healthbench.comparison.fingerprint import Fingerprint
    from healthbench.comparison.flips import GraderAgreement
    from healthbench.comparison.pair import Comparison, OwnScore
    from healthbench.scoring.agreement import Confusion
    from healthbench.scoring.compare import PairedDifference

_KINDS = ("theme", "axis", "category", "tag")


def verdict(difference: PairedDifference) -> str:
    """Say in words whether a difference is decisive, and what the comparison could have shown."""
    if difference.decisive:
        return "decisive"
    if difference.smallest_detectable is None:
        return "not decisive: fewer than 6 prompts cannot be, whatever their difference"
    return (
        "not decisive: this many prompts would show a difference of "
        f"{formatting.score(difference.smallest_detectable)} points in 80 % of comparisons"
    )


def as_json(
    comparison: Comparison, rows: pd.DataFrame, graders: GraderAgreement | None
) -> dict[str, Any]:
    """Return all figures of a comparison, second less first; unclipped fractions of 1, full precision.

    Args:
        comparison: The comparison.
        rows: As ``flips.flips`` returns them.
        graders: The agreement of two gradings of the same replies, None where no reply is the same.
    """
    checked = comparison.gate
    return {
        "first": _side(checked.first, comparison.own[0]),
        "second": _side(checked.second, comparison.own[1]),
        "gate": {
            "n_prompts_compared": len(checked.kept),
            "only_first": checked.only_first,
            "only_second": checked.only_second,
            "other_rubric": checked.other_rubric,
            "other_tags": len(checked.kept) - len(checked.tagged),
            "graders": checked.graders,
            "findings": [
                {"kind": str(finding.kind), "sentence": finding.sentence}
                for finding in checked.findings
            ],
        },
        "overall": _difference(comparison.overall),
        "metrics": {
            name: _difference(difference)
            for name, difference in comparison.differences.items()
            if name != OVERALL
        },
        "flips": _flips(rows),
        "length": _length(comparison),
        "grader_agreement": None if graders is None else _agreement(graders),
    }


def in_words(comparison: Comparison, rows: pd.DataFrame, graders: GraderAgreement | None) -> str:
    """Return a comparison as a short text for a terminal; scores are points of 100."""
    checked, overall = comparison.gate, comparison.overall
    lines = [
        f"{checked.names[1]} less {checked.names[0]}, on {formatting.count(len(checked.kept))} shared prompts ({checked.graders})",
        *(f"  note: {finding.sentence}" for finding in checked.findings),
        f"  score {formatting.score(overall.first)} to {formatting.score(overall.second)}, unclipped: {_in_words(overall)}",
        f"  {formatting.count(overall.wins)} prompts better, {formatting.count(overall.losses)} worse, {formatting.count(overall.ties)} the same",
    ]
    lines += [
        f"  {name}: {formatting.score(own.whole)} over all its examples, {formatting.difference(own.change)} by what is left out"
        for name, own in zip(checked.names, comparison.own, strict=True)
        if checked.dropped or checked.outside_slice
    ]
    if comparison.length:
        part, price = comparison.length, comparison.adjustment
        lines.append(
            f"  at {price.penalty:g} per 500 characters, {formatting.difference(part.length)} of it is length and {formatting.difference(part.adjusted)} is left"
        )
    for name in sorted(comparison.differences, key=sort_key):
        if kind_of(name) in _KINDS:
            lines.append(f"  {display_name(name):42} {_in_words(comparison.differences[name])}")
    lines += [
        f"  {row['name']:42} {formatting.count(row[Flip.FIXED])} criteria fixed, {formatting.count(row[Flip.REGRESSED])} regressed, "
        f"McNemar {formatting.p_value(row['p_holm'])}"
        for row in by_axis(rows).to_dict("records")
    ]
    if graders:
        lines.append(
            f"  {formatting.count(graders.n_replies)} of {formatting.count(graders.n_pairs)} replies are the same: "
            f"the gradings agree on {formatting.percent(graders.table.agreement)} of criteria, kappa {formatting.fraction(graders.kappa, 3)}, "
            f"AC1 {formatting.fraction(graders.ac1, 3)}, macro F1 {formatting.fraction(graders.macro_f1, 3)}"
        )
    return "\n".join(lines)


def _in_words(difference: PairedDifference) -> str:
    decisive = "decisive" if difference.decisive else "not decisive"
    return (
        f"{formatting.difference(difference.difference)} {formatting.difference_interval(difference.low, difference.high)} "
        f"n {formatting.count(difference.n_prompts)}, {formatting.p_value(difference.p_holm)}, {decisive}"
    )


def _side(side: Fingerprint, own: OwnScore) -> dict[str, Any]:
    info = side.run.info
    return {
        "id": side.run.id,
        "source": info.source,
        "model": info.model,
        "grader": info.grader,
        "benchmark": info.benchmark,
        "prompt_set": side.prompt_set,
        "rubric": side.rubric,
        "n_examples": side.run.n_examples,
        "n_prompts": side.run.n_prompts,
        "n_unknown": side.n_unknown,
        "n_as_stored": side.n_as_stored,
        "replies": [side.fewest_replies, side.most_replies],
        "unclipped_mean": own.whole,
        "compared_mean": own.compared,
        "change_by_dropping": own.change,
    }


def _difference(difference: PairedDifference) -> dict[str, Any]:
    values = dataclasses.asdict(difference)
    interval = [values.pop("low"), values.pop("high")]
    del values["name"]
    return {
        **values,
        "ci95": None if difference.low is None else interval,
        "decisive": difference.decisive,
    }


def _flips(rows: pd.DataFrame) -> dict[str, Any]:
    numbers = rows["flip"].value_counts()
    return {
        "n_criteria": len(rows),
        **{flip.replace(" ", "_"): int(numbers.get(flip, 0)) for flip in Flip},
        "points_moved": float(rows["moved"].sum()),
        "by_axis": [_keys(row) for row in by_axis(rows).to_dict("records")],
        "by_axis_and_sign": [_keys(row) for row in by_axis_and_sign(rows).to_dict("records")],
    }


def _keys(row: dict[Any, Any]) -> dict[str, Any]:
    return {str(name).replace(" ", "_"): value for name, value in row.items()}


def _length(comparison: Comparison) -> dict[str, float] | None:
    if comparison.length is None:
        return None
    return {
        "center": comparison.adjustment.center,
        "penalty": comparison.adjustment.penalty,
        **comparison.length._asdict(),
    }


def _agreement(graders: GraderAgreement) -> dict[str, Any]:
    return {
        "n_same_replies": graders.n_replies,
        "n_replies": graders.n_pairs,
        "agreement": graders.table.agreement,
        "kappa": graders.kappa,
        "kappa_ci95": graders.kappa_interval and list(graders.kappa_interval[:2]),
        "ac1": graders.ac1,
        "ac1_ci95": graders.ac1_interval and list(graders.ac1_interval[:2]),
        "macro_f1": graders.macro_f1,
        "confusion": _cells(graders.table),
        "confusion_by_sign": {sign: _cells(table) for sign, table in graders.by_sign.items()},
    }


def _cells(table: Confusion) -> dict[str, float]:
    return table._asdict()
