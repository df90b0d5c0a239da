"""The rubric of a graded row: its own, the one beside it, or the data set's by prompt_id."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from healthbench.model import Criterion
from healthbench.readers.fields import Where, kind_name, points_of, required_text
from healthbench.readers.rows import Row, item_fields, structured
from healthbench.taxonomy import AXES, THEMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from healthbench.model import Message
    from healthbench.readers.dataset import DatasetRow

_SEPARATORS = re.compile(r"\s*[,;|]\s*")
_DISPLAYED = {name.lower(): tag for names in (AXES, THEMES) for tag, name in names.items()}


@dataclass(slots=True)
class Rubrics:
    """Conversations of a data set with their rubrics, by prompt_id.

    Attributes:
        rows: The rows that are of use, none where no data set was given.
        tags_joined: Whether a criterion got its tags from the data set.
        unnamed: Criteria whose text is nowhere.
    """

    rows: Mapping[str, DatasetRow]
    tags_joined: bool = False
    unnamed: int = 0

    def of(self, prompt_id: str | None) -> list[Criterion] | None:
        """Return the data set's rubric of a conversation, None where there is none."""
        row = self.rows.get(prompt_id or "")
        return None if row is None else row.criteria

    def prompt_of(self, prompt_id: str | None) -> list[Message]:
        """Return the data set's turns of a conversation, none where it has none."""
        row = self.rows.get(prompt_id or "")
        return [] if row is None else list(row.prompt)

    def criteria(
        self,
        items: Sequence[Row],
        beside: Sequence[Any] | None,
        prompt_id: str | None,
        where: Where,
    ) -> list[Criterion]:
        """Return the criteria that verdicts are about.

        Args:
            items: The graded items, fields named.
            beside: A list of criteria without verdicts in the same row; used by place where it is as long.
            prompt_id: The conversation, for the data set.
            where: The example's place.

        Raises:
            InputRefusedError: Points or the whole rubric are nowhere, or the data set's rubric has another length.
        """
        by_place: Sequence[Criterion | Row] | None = None
        if beside is not None and len(beside) == len(items):
            by_place = [
                item_fields(b, where._replace(criterion=p)) for p, b in enumerate(beside, 1)
            ]
        known = self.of(prompt_id)
        if by_place is None and known is not None and any("criterion" not in i for i in items):
            if len(known) != len(items):
                raise where.refuse(
                    "the list of verdicts",
                    f"has {len(items)} entries, but the data set's rubric has {len(known)}",
                    "give the data set that was graded",
                )
            by_place = known
        return [
            self._criterion(
                item, by_place[p - 1] if by_place else None, known, where._replace(criterion=p)
            )
            for p, item in enumerate(items, start=1)
        ]

    def _criterion(
        self, item: Row, other: Criterion | Row | None, known: list[Criterion] | None, where: Where
    ) -> Criterion:
        if isinstance(other, Criterion):
            return other
        item = {**(other or {}), **item}
        text = item.get("criterion")
        match = next((k for k in known or () if k.text == text), None)
        points = item.get("points", match.points if match else None)
        if points is None and text is None:
            raise where.refuse(
                "the verdict",
                "stands without its criterion and points",
                "attach the data set that was graded, so that verdicts can be matched by their place",
            )
        tags = item_tags(item, where)
        if not tags and match is not None and match.tags:
            tags = match.tags
            self.tags_joined = True
        if text is None:
            self.unnamed += 1
            text = f"Criterion {item.get('index', where.criterion)} (its text is not in the file)"
        return Criterion(
            required_text(text, where, "the criterion's text"), points_of(points, where), tags
        )


def item_tags(item: Mapping[str, Any], where: Where) -> tuple[str, ...]:
    """Return a criterion's tags, with its axis where that is a field of its own.

    Raises:
        InputRefusedError: They are neither texts nor a list of texts.
    """
    tags = tags_from(item.get("tags"), where, "tags")
    axis = item.get("axis")
    if isinstance(axis, str) and axis.strip():
        tag = prefixed(axis, "axis:")
        tags = tags if tag in tags else (*tags, tag)
    return tags


def tags_from(value: Any, where: Where, name: str) -> tuple[str, ...]:
    """Return tags from a list of texts, a list written as text, or text with commas, semicolons or bars.

    Raises:
        InputRefusedError: It is none of these.
    """
    if isinstance(value, str):
        value = structured(value)
    if isinstance(value, str):
        return tuple(tag for tag in _SEPARATORS.split(value.strip()) if tag)
    if value is None:
        return ()
    if isinstance(value, list | tuple) and all(isinstance(tag, str) for tag in value):
        return tuple(value)
    raise where.refuse(
        name, f"is {kind_name(value)}, not a list of texts", "write it as a list of texts"
    )


def prefixed(name: str, prefix: str) -> str:
    """Return the tag of an axis or theme given as a tag, its plain name or its display name."""
    shown = _DISPLAYED.get(name.strip().lower())
    if shown is not None and shown.startswith(prefix):
        return shown
    return prefix + re.sub(r"[\s\-]+", "_", name.strip().removeprefix(prefix)).lower()
