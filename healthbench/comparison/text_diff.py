"""What differs between two texts, word by word, whatever their length."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["same", "removed", "added"]

_SENTENCES = re.compile(r"[^.!?\n؟。]*(?:[.!?\n؟。]+\s*|$)")
# A word with the space after it: spaces of their own would match everywhere.
_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")
_WORD_PAIRS = 250_000
"""Above so many pairs of words a changed passage is shown as removed and added whole: its words would take too long."""
_SHARED = 0.4
"""Below so large a share of common words a passage is another one, and pointing at its "the" and "a" helps nobody."""


class Segment(NamedTuple):
    """A stretch of text that is in both, only in the first (``removed``) or only in the second (``added``)."""

    kind: Kind
    text: str


def text_difference(first: str, second: str) -> list[Segment]:
    """Compare two texts: sentence by sentence, and word by word within sentences that changed.

    Returns:
        Segments in reading order. Those that are not ``added`` make the first text, those that are not ``removed``
        the second.
    """
    segments = _compared(_SENTENCES.findall(first), _SENTENCES.findall(second), by_words=True)
    return _joined(segments)


def _compared(first: Sequence[str], second: Sequence[str], *, by_words: bool) -> Iterator[Segment]:
    # Common sentences of long texts are passed over by the matcher's own heuristic, which keeps it near linear;
    # common words are not, because passages compared by words are short.
    matcher = SequenceMatcher(None, first, second, autojunk=by_words)
    if not by_words and matcher.ratio() < _SHARED:
        yield from (Segment("removed", "".join(first)), Segment("added", "".join(second)))
        return
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        before, after = "".join(first[start:end]), "".join(second[other_start:other_end])
        if kind == "equal":
            yield Segment("same", before)
            continue
        words, others = _WORDS.findall(before), _WORDS.findall(after)
        if by_words and kind == "replace" and len(words) * len(others) <= _WORD_PAIRS:
            yield from _compared(words, others, by_words=False)
        else:
            yield from (Segment("removed", before), Segment("added", after))


def _joined(segments: Iterator[Segment]) -> list[Segment]:
    """Join neighbours of one kind and drop empty ones."""
    joined: list[Segment] = []
    for segment in segments:
        if not segment.text:
            continue
        if joined and joined[-1].kind == segment.kind:
            joined[-1] = Segment(segment.kind, joined[-1].text + segment.text)
        else:
            joined.append(segment)
    return joined
