"""What a run's score was measured with: its prompts, rubrics, grader, repeats and how complete its verdicts are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from healthbench.store.pairs import PromptHashes, prompt_hashes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from healthbench.store.library import Library
    from healthbench.store.records import RunSummary

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The conditions of a run.

    Attributes:
        run: What is known of the run.
        prompts: What each prompt was graded on.
        prompt_set: Short hash of the prompt ids; equal for runs over the same prompts.
        rubric: Short hash of prompt ids, criteria, points and tags; equal for runs graded on the same rubrics.
        fewest_replies, most_replies: Replies a prompt.
        n_unknown: Verdicts that count as unknown.
        n_as_stored: Verdicts of failed gradings that count as the file has them, as not met.
    """

    run: RunSummary
    prompts: PromptHashes
    prompt_set: str
    rubric: str
    fewest_replies: int
    most_replies: int
    n_unknown: int
    n_as_stored: int = 0

    @property
    def name(self) -> str:
        """The run's name."""
        return self.run.name

    @property
    def replies_in_words(self) -> str:
        """How many replies a prompt has: ``1``, or ``1 to 4`` where prompts differ."""
        if self.fewest_replies == self.most_replies:
            return str(self.most_replies)
        return f"{self.fewest_replies} to {self.most_replies}"


def fingerprint(library: Library, run_id: str, *, as_stored: bool = False) -> Fingerprint:
    """Take the fingerprint of a stored run; ``as_stored`` counts failed gradings as the file does.

    Raises:
        StoreError: The run is not in the store.
    """
    hashes = prompt_hashes(library, run_id)
    run = library.summary(run_id)
    n_as_stored = run.n_marked if as_stored else 0
    return Fingerprint(
        run=run,
        prompts=hashes,
        prompt_set=_short(prompt_id.encode() for prompt_id in hashes.prompt_ids),
        rubric=_short(
            prompt_id.encode() + tagged.to_bytes(8, "big")
            for prompt_id, tagged in zip(hashes.prompt_ids, hashes.tagged.tolist(), strict=True)
        ),
        fewest_replies=int(hashes.replies.min()),
        most_replies=int(hashes.replies.max()),
        n_unknown=run.n_unknown - n_as_stored,
        n_as_stored=n_as_stored,
    )


def names_of(first: Fingerprint, second: Fingerprint) -> tuple[str, str]:
    """Return names that tell two runs apart: their models, else their files, else their ids."""
    for names in ((first.name, second.name), (first.run.info.source, second.run.info.source)):
        if names[0] != names[1]:
            return names
    return first.run.id, second.run.id


def _short(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        # The length keeps two ids from being taken for one.
        digest.update(len(part).to_bytes(4, "big") + part)
    return digest.hexdigest()[:_SHOWN]
