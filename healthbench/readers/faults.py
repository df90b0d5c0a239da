"""Known producer faults that a run's own content gives away."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.model import GradedExample

_EXAMPLES_CHECKED = 100
_WORD = re.compile(r"[^\W\d_]{4,}")
_FEWEST_WORDS = 3
_NAMED = 0.5  # share of a criterion's own words from which an explanation is said to be about it
_FEWEST_MISPLACED = 3


@dataclass(slots=True)
class AttachmentCheck:
    """Whether explanations are about the criteria they are attached to.

    NVIDIA's build of simple-evals (26.3) collects verdicts in the order the grader answered and attaches them to
    the criteria in file order. Its explanations then name another criterion of the same example. An explanation
    counts where it holds at least half (and at least three) of the words that only one criterion of the example
    has: as well placed where that criterion is its own, as misplaced where it is another.
    """

    examples: int = 0
    well_placed: int = 0
    misplaced: int = 0

    def add(self, example: GradedExample) -> None:
        """Look at one example; after the first 100 the run is known well enough."""
        if self.examples >= _EXAMPLES_CHECKED:
            return
        self.examples += 1
        own_words = _distinguishing_words([criterion.text for criterion in example.criteria])
        for place, verdict in enumerate(example.verdicts):
            named = _criterion_named(verdict.explanation, place, own_words)
            if named == place:
                self.well_placed += 1
            elif named is not None:
                self.misplaced += 1

    @property
    def warning(self) -> str | None:
        """The sentence for the import report, None where nothing speaks for the fault."""
        if self.misplaced < _FEWEST_MISPLACED or self.misplaced <= self.well_placed:
            return None
        return (
            f"{self.misplaced} of {self.misplaced + self.well_placed} explanations that can be placed speak of another "
            "criterion of the same example: verdicts seem to be attached to the wrong criteria (a known fault of "
            "nvidia-simple-evals 26.3), so no score of this run can be trusted."
        )


def _distinguishing_words(texts: Sequence[str]) -> list[frozenset[str]]:
    """Return, for each text, its words that none of the other texts has."""
    words = [frozenset(_WORD.findall(text.lower())) for text in texts]
    uses = Counter(word for those in words for word in those)
    return [frozenset(word for word in those if uses[word] == 1) for those in words]


def _criterion_named(
    explanation: str | None, place: int, own_words: Sequence[frozenset[str]]
) -> int | None:
    """Return the place of the one criterion an explanation is about; its own wins a tie."""
    if not explanation:
        return None
    said = set(_WORD.findall(explanation.lower()))
    best, best_share = None, 0.0
    for other, words in enumerate(own_words):
        hits = len(words & said)
        share = hits / len(words) if words else 0.0
        if (
            hits >= _FEWEST_WORDS
            and share >= _NAMED
            and (share, other == place) > (best_share, False)
        ):
            best, best_share = other, share
    return best
