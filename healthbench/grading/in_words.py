"""What a grading is expected to take and what it took, in words for the screen and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthbench.formatting import DASH, count
from healthbench.grading.choice import standing

if TYPE_CHECKING:
    from healthbench.grading.bulk import BulkJob, BulkOutcome
    from healthbench.grading.cost import Estimate, PriceTable
    from healthbench.grading.grader import Receipt
    from healthbench.grading.settings import GraderSettings

_CENT = 0.01


def dollars(value: float | None) -> str:
    """Write a price: ``$1.25``, below a cent with four decimals; a dash where there is none."""
    if value is None:
        return DASH
    return f"${value:,.2f}" if value >= _CENT or value == 0 else f"${value:.4f}"


def estimate_in_words(expected: Estimate, settings: GraderSettings, prices: PriceTable) -> str:
    """Say what a grading is expected to take, failed attempts not counted."""
    low, high = expected.input_tokens
    few, many = expected.output_tokens
    tokens = f"{count(low)} to {count(high)} tokens in, {count(few)} to {count(many)} out"
    if expected.cost is None:
        price = f"{settings.model} has no price in the table of {prices.as_of}"
    else:
        price = (
            f"{dollars(expected.cost.low)} to {dollars(expected.cost.high)} by the prices of"
            f" {prices.as_of}"
        )
    return f"{count(expected.calls)} calls, {tokens}; {price}."


def receipt_in_words(receipt: Receipt) -> dict[str, str]:
    """List what a grading took, name by name."""
    words = {
        "Criteria": f"{count(receipt.graded)} with a verdict, {count(receipt.unknown)} without",
        "Calls": f"{count(receipt.calls)}, {count(receipt.retries)} of them retries",
        "Tokens": (
            f"{count(receipt.usage.input)} in ({count(receipt.usage.cached)} at the lower price),"
            f" {count(receipt.usage.output)} out"
        ),
        "Cost": dollars(receipt.cost) if receipt.calls else dollars(0.0),
        "From the cache": f"{count(receipt.cache_hits)} verdicts, at no cost",
    }
    if receipt.failures:
        words["Without a verdict"] = "; ".join(
            f"{count(number)}: {why}" for why, number in receipt.failures.most_common()
        )
    return words


def outcome_in_words(outcome: BulkOutcome, job: BulkJob) -> str:
    """Describe how a bulk grading ended, one line a fact."""
    facts = {
        "Run": f"{outcome.path}, {count(outcome.written)} of {count(outcome.examples)} replies",
        "Grader": f"{job.settings.model} at {job.settings.host}, {standing(job.settings, job.template)}",
        "Instructions": f"{job.template.origin}, sha256 {job.template.sha256}",
        **receipt_in_words(outcome.receipt),
        "Unknown in the run": f"{count(outcome.unknown)} criteria",
        "Cost of all starts": dollars(outcome.charged.cost),
    }
    return "\n".join(f"{name + ':':<20} {words}" for name, words in facts.items())
