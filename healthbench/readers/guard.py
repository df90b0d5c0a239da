"""Keep the memory that streaming a JSON document takes bounded, whatever the document holds.

ijson keeps the path of every open level, which grows with the square of the depth, and every text whole. Neither
matters for graded runs, which nest some ten levels deep; a document made to do harm is refused before it is parsed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from healthbench.errors import InputRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

DEEPEST = 100
LONGEST_TEXT = 1 << 28  # bytes; a million-character reply is a few megabytes
PIECE = 1 << 16

# Levels opened times bytes read since the last value: no path of ijson's can have cost more memory than half of it.
_SUSPICIOUS = 500_000_000
_QUOTE = re.compile(rb'(?<!\\)"')
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))


class Source(Protocol):
    """What can be read like a file of bytes."""

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` bytes."""


class GuardedSource:
    """A document on its way into ijson; reading it refuses nesting and texts that no graded run has.

    Args:
        source: The document, from wherever parsing begins.
        name: Its file's name, for the refusal.
        reopen: Opens the document again from its start, to measure its depth where that is in doubt.
    """

    def __init__(self, source: Source, name: str, reopen: Callable[[], BinaryIO]) -> None:
        self._source = source
        self._name = name
        self._reopen = reopen
        self._opened = self._read = self._unquoted = 0
        self._measured = False

    def yielded(self) -> None:
        """Tell that a value came out, so that what was read before it is closed."""
        self._opened = self._read = 0

    def read(self, size: int = -1) -> bytes:
        """Read as a file does.

        Raises:
            InputRefusedError: The document nests deeper than 100 levels, or holds a text of more than 256 MB.
        """
        data = self._source.read(size)
        self._unquoted = 0 if _QUOTE.search(data) else self._unquoted + len(data)
        if self._unquoted > LONGEST_TEXT:
            raise InputRefusedError(
                f"{self._name} holds a single text of more than 256 MB, more than any reply; give the file its producer wrote."
            )
        if not self._measured:
            self._opened += data.count(b"{") + data.count(b"[")
            self._read += len(data)
            if self._opened * self._read > _SUSPICIOUS:
                self._measure()
        return data

    def _measure(self) -> None:
        with self._reopen() as file:
            if is_too_deep(file):
                raise InputRefusedError(
                    f"{self._name} is nested too deeply to be a graded run; give the file its producer wrote."
                )
        self._measured = True


def is_too_deep(source: Source) -> bool:
    """Tell whether JSON nests deeper than 100 levels, holding a piece of it at a time and building nothing."""
    rest, in_text, open_levels = b"", False, b""
    while data := source.read(PIECE):
        text = rest + data
        rest = b""
        if text.endswith(b"\\"):
            n_slashes = len(text) - len(text.rstrip(b"\\"))
            if n_slashes % 2:
                text, rest = text[:-1], b"\\"
        parts = text.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        brackets = b"".join(parts[in_text::2]).translate(None, _NO_BRACKETS)
        in_text ^= len(parts) % 2 == 0
        closed = _closed(open_levels + brackets)
        if closed is None or len(closed) > DEEPEST:
            return True
        open_levels = closed
    return False


def _closed(brackets: bytes) -> bytes | None:
    """Take pairs away level by level; None where there are more than 100 levels of them."""
    for _ in range(DEEPEST + 1):
        fewer = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(fewer) == len(brackets):
            return fewer
        brackets = fewer
    return None
