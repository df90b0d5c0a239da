"""Hold the figures a file states against our own from the same verdicts.

The comparison uses the producer's rule and counts failed grades as the producer does, because the question is whether
the file's arithmetic is understood, not whether it is right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from healthbench.scoring.aggregate import RULES
from healthbench.scoring.length import PRESETS, LengthAdjustment, mean_adjusted
from healthbench.scoring.run_scores import OVERALL
from healthbench.taxonomy import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from healthbench.scoring.run_scores import RunScores

TOLERANCE = 1e-12

COUNT_SUFFIX = ":n_samples"
SPREAD_SUFFIX = ":bootstrap_std"
ADJUSTED = "overall_score_length_adjusted"
UNCLIPPED = "unclipped_mean"

# Tags that stand on an example, and are known only where its file or a data set gives them.
_EXAMPLE_KINDS = ("theme", "category", "tag")
# Tags that stand on a criterion; an HTML report has none at all.
_CRITERION_KINDS = ("axis", "level", "cluster")


class Comparison(NamedTuple):
    """One stated figure and ours; ``ours`` is None where we have no such figure."""

    name: str
    stated: float
    ours: float | None

    @property
    def matches(self) -> bool:
        """True where the two are equal to 1e-12."""
        return self.ours is not None and abs(self.stated - self.ours) <= TOLERANCE


@dataclass(frozen=True, slots=True)
class Verification:
    """What a file states against what we compute.

    Attributes:
        score: The headline the file states, None where it states none.
        comparisons: Every figure that could be compared, in the file's order.
        left_out: Name of a figure -> one sentence why it was not compared.
    """

    score: float | None
    comparisons: list[Comparison] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def matching(self) -> int:
        """Number of figures equal to ours."""
        return sum(comparison.matches for comparison in self.comparisons)

    @property
    def differences(self) -> list[Comparison]:
        """The figures that differ, largest difference first."""
        different = [comparison for comparison in self.comparisons if not comparison.matches]
        return sorted(
            different,
            key=lambda c: -abs(c.stated - c.ours) if c.ours is not None else float("-inf"),
        )


def verify(
    stated: Mapping[str, float],
    run: RunScores,
    rule: str,
    adjustment: LengthAdjustment | None = None,
) -> Verification | None:
    """Compare the figures a file states with ours.

    Args:
        stated: Figures by metric name, counts under ``<name>:n_samples``.
        run: The run with failed grades counted as the file counts them, without inferred themes.
        rule: Name of the aggregation rule the file's figures follow.
        adjustment: The length adjustment the file used, where the user knows it; else the published presets are
            tried, because no file says which it used.

    Returns:
        None where the file states nothing.
    """
    if not stated:
        return None
    result = Verification(stated.get("score", stated.get(OVERALL)))
    untagged = not any(run.named(kind) for kind in _CRITERION_KINDS)
    for name, value in stated.items():
        if name.endswith(SPREAD_SUFFIX):
            continue
        # The top-level score repeats the overall score; a file's metrics count it once.
        if name == "score" and OVERALL in stated and stated[OVERALL] == value:
            continue
        subject = name.removesuffix(COUNT_SUFFIX)
        subject = OVERALL if subject == "score" else subject
        if subject.startswith(ADJUSTED):
            _compare_adjusted(result, name, value, run, adjustment)
        elif (
            subject not in run.metrics
            and subject != UNCLIPPED
            and kind_of(subject) in _EXAMPLE_KINDS
        ):
            result.left_out[name] = (
                "the run file does not say which examples carry this tag: attach the data set"
            )
        elif untagged and kind_of(subject) in _CRITERION_KINDS:
            result.left_out[name] = (
                "the run file does not say which criteria carry this tag: attach the data set"
            )
        else:
            result.comparisons.append(Comparison(name, value, _ours(name, subject, run, rule)))
    return result


def _ours(name: str, subject: str, run: RunScores, rule: str) -> float | None:
    if subject == UNCLIPPED:
        return RULES["unclipped"](run, OVERALL)
    if subject not in run.metrics:
        return None
    if name.endswith(COUNT_SUFFIX):
        scores = run.metrics[subject].scores
        return float((scores == scores).sum())  # noqa: PLR0124 - NaN marks an example without a score
    return RULES[rule](run, subject)


def _compare_adjusted(
    result: Verification,
    name: str,
    value: float,
    run: RunScores,
    adjustment: LengthAdjustment | None,
) -> None:
    if name.endswith(COUNT_SUFFIX):
        result.comparisons.append(
            Comparison(name, value, _ours(name, OVERALL, run, "simple-evals"))
        )
        return
    for candidate in [adjustment] if adjustment else PRESETS.values():
        mean = mean_adjusted(run, candidate)
        for ours in (mean.score, mean.unclipped) if mean else ():
            if Comparison(name, value, ours).matches:
                result.comparisons.append(Comparison(name, value, ours))
                return
    if adjustment:
        mean = mean_adjusted(run, adjustment)
        result.comparisons.append(Comparison(name, value, mean.score if mean else None))
    else:
        result.left_out[name] = (
            "the file does not say its length adjustment and no published one gives this figure"
        )
