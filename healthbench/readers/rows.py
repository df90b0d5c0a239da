"""One row of a foreign file, its fields under our names, whichever names the tool used."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Mapping
from typing import Any

from healthbench.readers.aliases import (
    ITEM,
    ITEM_LISTS,
    ROW,
    WRAPPERS,
    look_up,
    plain_keys,
)
from healthbench.readers.fields import Where, kind_name

Row = dict[str, Any]  # field of ROW or ITEM, or "items" or "rubric" -> value as stored

_LITERAL_LIMIT = 1 << 24  # characters; Python's parser takes some hundred bytes a character
_RUBRICS = ("rubrics", "rubric_items", "rubric", "criteria")


def row_from_json(value: Any) -> Row:
    """Name the fields of a JSON row: an example with a list of graded criteria, or one criterion of an example.

    Returns:
        Only the fields that are there: ``items`` (and ``rubric``, criteria without verdicts beside them) in the first
        case, fields of ITEM in the second; {} where it is no object.
    """
    if not isinstance(value, Mapping):
        return {}
    merged = plain_keys(value)
    for name in WRAPPERS:
        if isinstance(inner := merged.get(name), Mapping):
            for key, inside in plain_keys(inner).items():
                merged.setdefault(key, inside)
    row = {name: look_up(merged, names) for name, names in ROW.items()}
    lists = {name: items for name in ITEM_LISTS if (items := as_list(merged.get(name))) is not None}
    graded = next((name for name, items in lists.items() if _is_graded(items)), None)
    if graded is not None:  # the places of lists are told by names, what they are by their content
        row["items"] = lists[graded]
        first = lists[graded][0]
        if "prompt_id" not in merged and isinstance(first, Mapping) and "prompt_id" in first:
            row["prompt_id"] = first["prompt_id"]
        row["rubric"] = next(
            (lists[name] for name in _RUBRICS if name in lists and name != graded and lists[name]),
            None,
        )
    elif any(name in merged for name in ITEM["verdict"]):
        row |= {name: look_up(merged, names) for name, names in ITEM.items()}
    elif lists:
        row["items"] = []
    return {name: found for name, found in row.items() if found is not None or name == "verdict"}


def item_fields(item: Any, where: Where) -> Row:
    """Name the fields of one criterion in a list; a bare verdict is a criterion that only has a place.

    Raises:
        InputRefusedError: It is neither an object nor a verdict.
    """
    if item is None or isinstance(item, bool):
        return {"verdict": item}
    if not isinstance(item, Mapping):
        raise where.refuse(
            "the criterion",
            f"is {kind_name(item)}, not an object",
            "give the file its producer wrote",
        )
    merged = plain_keys(item)
    for name in ("rubric", "rubric_item", "criterion", "criteria"):
        if isinstance(inner := merged.get(name), Mapping):
            del merged[name]
            for key, inside in plain_keys(inner).items():
                merged.setdefault(key, inside)
    return {
        name: found for name, names in ITEM.items() if (found := look_up(merged, names)) is not None
    }


def is_example(row: Row) -> bool:
    """Tell whether a row is an example with graded criteria."""
    return bool(row.get("items"))


def is_criterion(row: Row) -> bool:
    """Tell whether a row is one graded criterion of an example."""
    return "verdict" in row and bool({"criterion", "points", "index"} & row.keys())


def as_list(value: Any) -> list[Any] | None:
    """Return a list, also one written as JSON or as a Python literal, and the inner one of a list in a list."""
    if isinstance(value, str):
        value = structured(value)
    if not isinstance(value, list):
        return None
    return value[0] if len(value) == 1 and isinstance(value[0], list) else value


def structured(text: str) -> Any:
    """Return what a text holds as JSON or as a Python literal (never evaluated); the text itself where neither."""
    stripped = text.strip()
    if not stripped.startswith(("[", "{", "(")) or len(stripped) > _LITERAL_LIMIT:
        return text
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # a text's odd escapes are none of the reader's business
            return ast.literal_eval(stripped)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text


def _is_graded(items: list[Any]) -> bool:
    """Tell whether a list is of graded criteria: one carries a verdict, or all are bare verdicts."""
    if items and all(item is None or isinstance(item, bool) for item in items):
        return any(item is not None for item in items)
    for item in items:
        if isinstance(item, Mapping):
            named = plain_keys(item)
            if any(
                name in named
                or ("." in name and isinstance(named.get(name.partition(".")[0]), Mapping))
                for name in ITEM["verdict"]
            ):
                return True
    return False
