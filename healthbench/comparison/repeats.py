"""The replies of a run to each prompt as repeats, alone or joined with further runs of the same model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from healthbench.comparison.gate import Kind, gate
from healthbench.scoring.matching import match_examples, restrict
from healthbench.scoring.reliability import Repeats, grading_variance, joined_repeats
from healthbench.scoring.run_scores import OVERALL, IntArray
from healthbench.store.pairs import same_replies

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from healthbench.comparison.pair import Side
    from healthbench.store.library import Library


@dataclass(frozen=True, slots=True)
class PromptRepeats:
    """Scores by prompt and repeat, and where each reply is found.

    Attributes:
        prompt_ids: The prompts, length p.
        repeats: Scores of one metric, rows in the order of ``prompt_ids``.
        run: Number of the run (in the order given) that each repeat is from, shape (m,).
        rows: Row of the example in that run, shape (p, m); -1 where there is none.
    """

    prompt_ids: tuple[str, ...]
    repeats: Repeats = field(repr=False)
    run: IntArray = field(repr=False)
    rows: IntArray = field(repr=False)

    @property
    def scored(self) -> Repeats:
        """The repeats of the prompts that have a score: a theme's own prompts, where the metric is a theme."""
        known = ~np.isnan(self.repeats.scores).all(axis=1)
        return Repeats(self.repeats.name, self.repeats.prompts[known], self.repeats.scores[known])


def prompt_repeats(
    sides: Sequence[Side], kept: AbstractSet[str] | None = None, name: str = OVERALL
) -> PromptRepeats:
    """Arrange the replies of one or more runs by prompt and repeat, over the prompts that all of them hold.

    Args:
        sides: At least one run.
        kept: Prompts wanted, None for all.
        name: The metric.
    """
    ids = [side.prompt_ids for side in sides]
    joined = joined_repeats([side.scores for side in sides], ids, name)
    shared = set(ids[0]).intersection(*ids[1:])
    prompts = [prompt_id for prompt_id in dict.fromkeys(ids[0]) if prompt_id in shared]
    places = {prompt_id: place for place, prompt_id in enumerate(prompts)}
    columns = [_rows(one, places) for one in ids]
    numbers = np.repeat(np.arange(len(sides)), [rows.shape[1] for rows in columns])
    inside = np.array([kept is None or prompt_id in kept for prompt_id in prompts], dtype=np.bool_)
    return PromptRepeats(
        tuple(prompt_id for prompt_id, wanted in zip(prompts, inside, strict=True) if wanted),
        Repeats(name, np.arange(int(inside.sum())), joined.scores[inside]),
        numbers,
        np.hstack(columns)[inside],
    )


def _rows(ids: Sequence[str], places: dict[str, int]) -> IntArray:
    """Return the row of the k-th reply to each prompt, shape (p, most replies); -1 where there is none."""
    found: list[list[int]] = [[] for _ in places]
    for row, prompt_id in enumerate(ids):
        if prompt_id in places:
            found[places[prompt_id]].append(row)
    arranged = np.full((len(places), max(map(len, found), default=0)), -1, dtype=np.int64)
    for place, rows in enumerate(found):
        arranged[place, : len(rows)] = rows
    return arranged


@dataclass(frozen=True, slots=True)
class Joint:
    """What joining runs as repeats of one model rests on.

    Attributes:
        kept: Prompts that all runs hold with one rubric; None where there is only one run.
        remarks: Sentences on what differs.
    """

    kept: frozenset[str] | None
    remarks: tuple[str, ...]


def join(sides: Sequence[Side]) -> Joint:
    """Check which prompts of several runs can be joined as repeats.

    Raises:
        InputRefusedError: A run shares no prompt with the first, or none with the same rubric.
    """
    if len(sides) == 1:
        return Joint(None, ())
    first, *others = sides
    kept: frozenset[str] | None = None
    remarks: list[str] = []
    models = {side.fingerprint.run.info.model for side in sides}
    if len(models) > 1:
        remarks.append(
            "These runs name different models: what follows mixes differences between models with those between replies."
        )
    for other in others:
        checked = gate(first.fingerprint, other.fingerprint)
        kept = checked.kept if kept is None else kept & checked.kept
        remarks += [
            finding.sentence for finding in checked.findings if finding.kind is not Kind.REPEATS
        ]
    return Joint(kept, tuple(dict.fromkeys(remarks)))


@dataclass(frozen=True, slots=True)
class Regrade:
    """The same replies graded twice.

    Attributes:
        variance: Variance that grading adds to an example score, a squared fraction; None where no reply has two scores.
        n_replies: Replies that are the same text in both runs.
    """

    variance: float | None
    n_replies: int


def regrade(library: Library, first: Side, second: Side) -> Regrade:
    """Find the replies that two runs share, and how much their gradings differ.

    Raises:
        InputRefusedError: The runs share no prompt, or none with the same rubric.
    """
    checked = gate(first.fingerprint, second.fingerprint)
    pairs = restrict(match_examples(first.prompt_ids, second.prompt_ids), checked.kept).pairs
    same = same_replies(library, first.fingerprint.run.id, second.fingerprint.run.id, pairs)
    one, two = (
        side.scores.overall.scores[pairs[same, place]] for place, side in enumerate((first, second))
    )
    return Regrade(grading_variance(one, two), int(same.sum()))
