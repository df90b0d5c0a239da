"""Which examples of two runs belong together, and what each run scores on a shared prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from healthbench.errors import InputRefusedError
from healthbench.scoring.length import LengthAdjustment, adjust
from healthbench.scoring.run_scores import OVERALL, FloatArray, IntArray, RunScores

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet


@dataclass(frozen=True, slots=True)
class Matching:
    """Which examples of two runs belong together.

    Attributes:
        prompt_ids: Shared prompts, in the first run's order, length p.
        first: Place of each example's prompt in ``prompt_ids``, -1 for a prompt the other run lacks; shape (n_first,).
        second: The same for the second run, shape (n_second,).
        pairs: Rows of the k-th repeats of each shared prompt in both runs, shape (pairs, 2).
        only_first: Prompts that only the first run has.
        only_second: Prompts that only the second run has.
        unpaired_first: Examples of shared prompts that have no k-th partner in the second run.
        unpaired_second: The same for the second run.
    """

    prompt_ids: tuple[str, ...]
    first: IntArray
    second: IntArray
    pairs: IntArray
    only_first: int
    only_second: int
    unpaired_first: int
    unpaired_second: int


def match_examples(first_ids: Sequence[str], second_ids: Sequence[str]) -> Matching:
    """Match the examples of two runs by prompt_id, and the k-th repeat with the k-th.

    Args:
        first_ids: The prompt_id of each example of the first run, in its order.
        second_ids: The same for the second run.

    Raises:
        InputRefusedError: They share no prompt.
    """
    rows = [_rows_by_prompt(ids) for ids in (first_ids, second_ids)]
    shared = {
        prompt_id: place for place, prompt_id in enumerate(i for i in rows[0] if i in rows[1])
    }
    if not shared:
        raise InputRefusedError(
            "The two runs share no prompt, so there is nothing to compare; choose two runs over the same data set."
        )
    pairs = [
        pair
        for prompt_id in shared
        for pair in zip(rows[0][prompt_id], rows[1][prompt_id], strict=False)
    ]
    first, second = (
        np.array([shared.get(prompt_id, -1) for prompt_id in ids], dtype=np.int64)
        for ids in (first_ids, second_ids)
    )
    return Matching(
        tuple(shared),
        first,
        second,
        np.array(pairs, dtype=np.int64),
        len(rows[0]) - len(shared),
        len(rows[1]) - len(shared),
        int((first >= 0).sum()) - len(pairs),
        int((second >= 0).sum()) - len(pairs),
    )


def restrict(matching: Matching, kept: AbstractSet[str]) -> Matching:
    """Return the matching of some of its prompts; the others' places become -1, ``only_first`` and so on stay."""
    inside = np.array([prompt_id in kept for prompt_id in matching.prompt_ids], dtype=np.bool_)
    # One place more, so that -1 stays -1.
    places = np.append(np.where(inside, np.cumsum(inside) - 1, -1), -1)
    first, second = places[matching.first], places[matching.second]
    pairs = matching.pairs[first[matching.pairs[:, 0]] >= 0]
    return Matching(
        tuple(prompt_id for prompt_id in matching.prompt_ids if prompt_id in kept),
        first,
        second,
        pairs,
        matching.only_first,
        matching.only_second,
        int((first >= 0).sum()) - len(pairs),
        int((second >= 0).sum()) - len(pairs),
    )


def prompt_means(
    run: RunScores,
    place: IntArray,
    n_prompts: int,
    name: str = OVERALL,
    adjustment: LengthAdjustment | None = None,
) -> FloatArray:
    """Average a metric's example scores by prompt.

    Args:
        run: The run.
        place: Place of each example's prompt, shape (n,); -1 leaves it out.
        n_prompts: Number of places.
        name: The metric.
        adjustment: Adjust each example score for length first.

    Returns:
        Unclipped means, shape (n_prompts,); NaN where no example of the prompt has a score.
    """
    metric = run.metrics[name]
    scores = metric.scores
    if adjustment is not None:
        scores = adjust(scores, run.characters[metric.example], adjustment)
    places = place[metric.example]
    kept = ~np.isnan(scores) & (places >= 0)
    sums = np.bincount(places[kept], scores[kept], n_prompts)
    numbers = np.bincount(places[kept], minlength=n_prompts)
    means = np.full(n_prompts, np.nan)
    np.divide(sums, numbers, out=means, where=numbers > 0)
    return means


def _rows_by_prompt(ids: Sequence[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, prompt_id in enumerate(ids):
        rows.setdefault(prompt_id, []).append(row)
    return rows
