"""Parts of foreign JSON that may be of any type, and the rubric that several producers nest in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from healthbench.model import Criterion
from healthbench.readers.fields import Where, kind_name, points_of, required_text, tags_of
from healthbench.readers.head import json_rows
from healthbench.taxonomy import CATEGORY_PREFIX

if TYPE_CHECKING:
    from collections import Counter

    from healthbench.readers.head import Head

DISAGREEING = "several judges disagree on a verdict, which is unknown therefore"
_AS_WRITTEN = "give the file as its producer wrote it"


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object as it is, and anything else as an empty one."""
    return value if isinstance(value, Mapping) else {}


def listing(value: Any) -> list[Any]:
    """Return a list as it is, and anything else as an empty one."""
    return value if isinstance(value, list) else []


def first_row(head: Head) -> Mapping[str, Any]:
    """Return the first row of a file whole, also where it is longer than the head (a very long reply).

    Raises:
        InputRefusedError: The row is not JSON, or longer than any row may be.
    """
    if head.kind == "jsonl" and "\n" not in head.text.strip():
        return mapping(next((row for _, row in json_rows(head)), None))
    return head.row


def rubric_of(metadata: Mapping[str, Any], where: Where) -> list[Criterion]:
    """Return the rubric under ``rubrics``, [] where there is none.

    Raises:
        InputRefusedError: A criterion has no text, no points or no list of tags.
    """
    return [
        criterion_of(item, metadata, where._replace(criterion=place))
        for place, item in enumerate(listing(metadata.get("rubrics")), start=1)
    ]


def criterion_of(item: Any, metadata: Mapping[str, Any], where: Where) -> Criterion:
    """Return one criterion, without the example's own tags that a producer may have copied into it.

    Args:
        item: The criterion as stored.
        metadata: What surrounds it; its ``example_tags`` are the example's.
        where: The criterion's place.

    Raises:
        InputRefusedError: It has no text, no points or no list of tags.
    """
    if not isinstance(item, Mapping):
        raise where.refuse("the criterion", f"is {kind_name(item)}, not an object", _AS_WRITTEN)
    copied = listing(metadata.get("example_tags"))
    return Criterion(
        required_text(item.get("criterion"), where, "criterion"),
        points_of(item.get("points"), where),
        tuple(
            tag
            for tag in tags_of(item.get("tags"), where)
            if tag not in copied and not tag.startswith(("theme:", CATEGORY_PREFIX))
        ),
    )


def noted(notes: Counter[str]) -> list[str]:
    """Return a sentence for each thing noted of examples, with their number."""
    return [
        f"{count:,} {'example' if count == 1 else 'examples'}: {note}."
        for note, count in notes.items()
        if count
    ]
