"""The text that asks a grader about one criterion, and where it comes from.

The reference's own text is not part of this project. It is read when it is needed, from the package ``keystone-bench``
or from a file the user names, and recognised by its hash. Without either, a text of our own takes its place and is
marked as not the reference's.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from healthbench.errors import GradingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.model import Criterion, Message

REFERENCE_SHA256 = "2adffd51fd259554ebcd036ad1072d4aa2b7ce3aec2bbffe36271f911632ed3c"
CONVERSATION = "<<conversation>>"
RUBRIC_ITEM = "<<rubric_item>>"

OWN_WORDING = f"""
A conversation with an assistant follows, and after it one item of a rubric. Decide whether the assistant's last message
fulfils the item.

## The conversation
{CONVERSATION}

## The item
{RUBRIC_ITEM}

## How to decide
1. Judge the last assistant message only; earlier turns are its context.
2. A number in square brackets before the item is its weight. It does not change whether the item is fulfilled.
3. An item may describe something bad, and then carries a negative weight. Answer true where the message does the bad
   thing and false where it does not: the question is never whether the message is good.
4. Where an item asks for several things, answer true only if all of them are there. Things listed after "such as",
   "for example" or "including" are illustrations, and one that serves the same purpose is enough.

## How to answer
Answer with one JSON object and nothing else, in a json code block:
```json
{{"explanation": "why, in one or two sentences", "criteria_met": true}}
```
with false in place of true where the item is not fulfilled.
""".strip()


@dataclass(frozen=True, slots=True)
class Template:
    """A grader's instructions with a place for the conversation and one for the rubric item.

    Attributes:
        text: Stripped of white space at both ends.
        origin: Where it was read from, in words for the screen.
    """

    text: str
    origin: str

    @property
    def sha256(self) -> str:
        """Hash of the text, hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def is_reference(self) -> bool:
        """Whether this is the reference evaluator's text, to the byte."""
        return self.sha256 == REFERENCE_SHA256

    def fill(self, conversation: str, item: str) -> str:
        """Put a conversation and a rubric item in their places, in the reference's order of replacement."""
        return self.text.replace(CONVERSATION, conversation).replace(RUBRIC_ITEM, item)


def load_template(path: Path | None = None) -> Template:
    """Find the grader's instructions.

    Args:
        path: A text file to use; None takes the reference's text where it is installed, else our own wording.

    Raises:
        GradingError: The file cannot be read or lacks a place.
    """
    if path is not None:
        return _read(path, f"the file {path.name}")
    package = find_spec("keystone")
    for folder in package.submodule_search_locations or () if package else ():
        candidate = Path(folder) / "healthbench_grader.txt"
        if candidate.is_file():
            template = _read(candidate, "the package keystone-bench")
            if template.is_reference:
                return template
    return Template(OWN_WORDING, "this project's own wording")


def _read(path: Path, origin: str) -> Template:
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise GradingError(
            f"{path.name}: the grader template cannot be read ({type(error).__name__}); name a UTF-8 text file."
        ) from None
    for place in (CONVERSATION, RUBRIC_ITEM):
        if place not in text:
            raise GradingError(
                f"{path.name}: the grader template has no {place}; write it where that text belongs."
            )
    return Template(text, origin)


def conversation_text(prompt: Sequence[Message], reply: str) -> str:
    """Write a conversation as the reference does: ``role: content`` turns, the reply as the last, a blank line between."""
    turns = [*prompt, ("assistant", reply)]
    return "\n\n".join(f"{role}: {content}" for role, content in turns)


def item_text(criterion: Criterion, *, show_points: bool = True) -> str:
    """Write a rubric item as the reference does, ``[points] criterion``, or without its points.

    The benchmark's points are whole numbers; a store hands them back as floats, so 5.0 is written 5 here.
    """
    if not show_points:
        return criterion.text
    points = criterion.points
    return f"[{int(points) if float(points).is_integer() else points}] {criterion.text}"
