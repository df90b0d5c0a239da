"""Named filters, kept as one small file each in the store, so that several processes can save at once."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from healthbench import formatting
from healthbench.errors import InputRefusedError, StoreError
from healthbench.store.records import ExampleFilter
from healthbench.taxonomy import display_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONGEST_NAME = 80
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Slice:
    """A named filter.

    Attributes:
        name: As the user gave it.
        wanted: The conditions; never a criterion of one run.
    """

    name: str
    wanted: ExampleFilter


def save_slice(home: Path, name: str, wanted: ExampleFilter) -> Slice:
    """Keep a filter under a name, in place of any of that name.

    Raises:
        InputRefusedError: The name is empty or too long, or the filter has no condition that holds in every run.
        StoreError: The store cannot be written.
    """
    name = " ".join(name.split())
    wanted = dataclasses.replace(wanted, criterion=None)
    if not name or len(name) > LONGEST_NAME:
        raise InputRefusedError(f"A slice needs a name of 1 to {LONGEST_NAME} characters.")
    if not any(_conditions(wanted)):
        raise InputRefusedError(
            "A slice needs a condition that holds in every run: set one on the page Examples."
        )
    record = {"version": _VERSION, "name": name, "filter": dataclasses.asdict(wanted)}
    place = _place(home, name)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_name(f".{place.name}.part")
        beside.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
        beside.replace(place)
    except OSError as error:
        raise StoreError(
            f"The slice could not be written to {place.parent} ({error.strerror}): check the folder and the room on its disk."
        ) from error
    return Slice(name, wanted)


def slices(home: Path) -> list[Slice]:
    """Return the kept slices by name; a file that cannot be understood is passed over."""
    found = []
    for place in (home / "slices").glob("[!.]*.json"):
        try:
            record = json.loads(place.read_text(encoding="utf-8"))
            found.append(Slice(str(record["name"]), _read(record["filter"])))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return sorted(found, key=lambda one: one.name.casefold())


def remove_slice(home: Path, name: str) -> None:
    """Forget a slice; nothing happens where there is none of that name."""
    _place(home, name).unlink(missing_ok=True)


def in_words(wanted: ExampleFilter) -> str:
    """Say what a filter asks of an example; ``all examples`` where it asks nothing."""
    return "; ".join(text for text in _conditions(wanted) if text) or "all examples"


def by_outcome(wanted: ExampleFilter) -> bool:
    """Tell whether a filter looks at what a run did (scores, verdicts, replies), not only at the prompts."""
    return bool(
        wanted.states
        or wanted.withheld
        or (wanted.text and wanted.text_in in ("reply", "explanation"))
        or any(
            value is not None
            for value in (
                wanted.min_score,
                wanted.max_score,
                wanted.min_characters,
                wanted.max_characters,
            )
        )
    )


def _place(home: Path, name: str) -> Path:
    return home / "slices" / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.json"


def _read(given: dict[str, Any]) -> ExampleFilter:
    """Return the filter of a file.

    Raises:
        TypeError: A value is of another kind than the condition's.
    """
    values: dict[str, Any] = {}
    for condition in dataclasses.fields(ExampleFilter):
        if condition.name not in given:
            continue
        value = given[condition.name]
        if isinstance(condition.default, tuple):
            value = tuple(map(str, value))
        elif condition.default is None:
            if value is not None and not isinstance(value, int | float):
                raise TypeError(condition.name)
        elif not isinstance(value, type(condition.default)):
            raise TypeError(condition.name)
        values[condition.name] = value
    return ExampleFilter(**values)


def _conditions(wanted: ExampleFilter) -> list[str]:
    named = [
        (label, [display_name(tag) for tag in tags])
        for label, tags in (
            ("theme", wanted.themes),
            ("category", wanted.categories),
            ("tag", wanted.tags),
            ("axis", wanted.axes),
            ("state", wanted.states),
        )
    ]
    texts = [f"{label} {' or '.join(names)}" for label, names in named if names]
    texts += [
        _between("score", wanted.min_score, wanted.max_score, lambda v: formatting.fraction(v, 2)),
        _between("points of a criterion", wanted.min_points, wanted.max_points, formatting.points),
        _between(
            "reply characters", wanted.min_characters, wanted.max_characters, formatting.count
        ),
        _between("messages", wanted.min_messages, wanted.max_messages, formatting.count),
        f"“{wanted.text}” in the {wanted.text_in}" if wanted.text else "",
        f"{formatting.count(len(wanted.prompt_ids))} named prompts" if wanted.prompt_ids else "",
        "without a score" if wanted.withheld else "",
    ]
    return texts


def _between(
    what: str, low: float | None, high: float | None, written: Callable[[float | None], str]
) -> str:
    if low is None and high is None:
        return ""
    if high is None:
        return f"{what} from {written(low)}"
    if low is None:
        return f"{what} up to {written(high)}"
    return f"{what} {written(low)} to {written(high)}"
