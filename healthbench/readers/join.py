"""Find an example's conversation in the data set by its words, for files that carry no prompt_id."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from healthbench.model import Message
from healthbench.readers.dataset import dataset_files, read_dataset
from healthbench.readers.fields import content_id
from healthbench.readers.verdict_text import UNCLEAR_TAGS, Line, place_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from healthbench.model import Criterion
    from healthbench.readers.dataset import DatasetRow

_NOT_ASKED = ("system", "developer")


def prompt_hash(prompt: Sequence[Message]) -> str:
    """Return an identity of a conversation that depends on its words only.

    System turns are left out, because tools add them to the same conversation or not.
    """
    return content_id(
        [
            Message(turn.role, " ".join(turn.content.split()))
            for turn in prompt
            if turn.role not in _NOT_ASKED
        ]
    )


class Index(NamedTuple):
    """What a data set holds, without its texts: prompt_ids, and hashes of conversations."""

    prompt_ids: frozenset[str]
    conversations: frozenset[str]


def index_of(dataset: Path) -> Index:
    """Return what a data set holds; kept until another one is asked for, as many files are held against the same.

    Raises:
        InputRefusedError: It cannot be read.
    """
    files = dataset_files(dataset)
    stamp = tuple(
        (path, path.stat().st_mtime_ns, path.stat().st_size) for path in files if path.exists()
    )
    return _index(dataset, stamp)


@lru_cache(maxsize=2)
def _index(dataset: Path, stamp: tuple[tuple[Path, int, int], ...]) -> Index:
    del stamp  # part of the key
    ids, conversations = [], []
    for row in read_dataset(dataset):
        ids.append(row.prompt_id)
        conversations.append(prompt_hash(row.prompt))
    return Index(frozenset(ids), frozenset(conversations))


class Joined(NamedTuple):
    """An example's row in the data set and its items in the order of that row's rubric."""

    row: DatasetRow
    lines: list[Line]


@dataclass(slots=True)
class Join:
    """Rows of a data set by the hash of their conversation, and what became of the examples looked up.

    Attributes:
        matched: Examples with exactly one row of the same conversation and criteria.
        ambiguous: Examples with several such rows under different prompt_ids; none is chosen.
        other_rubric: Examples whose conversation is known, with other criteria.
        unknown: Examples whose conversation is not in the data set.
        unclear_tags: Matched examples where equal criteria have different tags and different verdicts.
    """

    rows: dict[str, list[DatasetRow]]
    matched: int = 0
    ambiguous: int = 0
    other_rubric: int = 0
    unknown: int = 0
    unclear_tags: int = 0

    @classmethod
    def load(cls, dataset: Path, wanted: Collection[str]) -> Join:
        """Read the rows with the wanted conversations."""
        rows: dict[str, list[DatasetRow]] = defaultdict(list)
        for row in read_dataset(dataset):
            key = prompt_hash(row.prompt)
            if key in wanted:
                rows[key].append(row)
        return cls(rows)

    def find(
        self, key: str, lines_for: Callable[[Sequence[Criterion]], Sequence[Line]]
    ) -> Joined | None:
        """Find the row of one example.

        Args:
            key: Hash of the example's conversation.
            lines_for: Reads the example's items, given the rubric they may be about.
        """
        candidates = self.rows.get(key, [])
        fitting: dict[str, tuple[Joined, bool]] = {}
        for row in candidates:
            placed = place_lines(lines_for(row.criteria), row.criteria)
            lines = [line for line in placed.lines if line is not None]
            if len(lines) == len(row.criteria) and not placed.left_over:
                fitting.setdefault(row.prompt_id, (Joined(row, lines), placed.unclear))
        if len(fitting) == 1:
            (joined, unclear), *_ = fitting.values()
            self.matched += 1
            self.unclear_tags += unclear
            return joined
        if fitting:
            self.ambiguous += 1
        elif candidates:
            self.other_rubric += 1
        else:
            self.unknown += 1
        return None

    def notes(self) -> Counter[str]:
        """Count what could not be joined, by reason."""
        return Counter(
            {
                "the data set does not hold the conversation; no tags or theme": self.unknown,
                "the data set has the conversation with other criteria; no tags or theme": self.other_rubric,
                "several rows of the data set fit equally and none was guessed; no tags or theme": self.ambiguous,
                UNCLEAR_TAGS: self.unclear_tags,
            }
        )
