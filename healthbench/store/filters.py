"""An ``ExampleFilter`` as an SQL condition over the tables of one run; values are bound, never spliced."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import InputRefusedError

if TYPE_CHECKING:
    from healthbench.store.records import ExampleFilter

SCORE = "achieved / nullif(CASE WHEN n_unknown = 0 THEN possible END, 0)"

ORDERS: dict[str, str] = {
    "example": "example",
    "score": f"{SCORE} NULLS LAST, example",
    "score descending": f"{SCORE} DESC NULLS LAST, example",
    "characters": "characters, example",
    "characters descending": "characters DESC, example",
    "possible descending": "possible DESC, example",
    "unknown descending": "n_unknown DESC, example",
}

TEXT_PLACES = ("criterion", "explanation", "reply", "conversation")


def condition(wanted: ExampleFilter) -> tuple[str, list[object]]:
    """Return a WHERE condition on ``examples`` and the values to bind to it.

    Raises:
        InputRefusedError: ``text_in`` names no place that can be searched.
    """
    if wanted.text_in not in TEXT_PLACES:
        raise InputRefusedError(
            f"Text is sought in {', '.join(TEXT_PLACES)}, not in {wanted.text_in!r}: choose one."
        )
    parts, values = _asked(_example_conditions(wanted))
    item_parts, item_values = _asked(_item_conditions(wanted))
    if item_parts:
        rows = "SELECT items.example FROM items JOIN criteria USING (criterion)"
        parts.append(f"example IN ({rows} WHERE {' AND '.join(item_parts)})")
    return " AND ".join(parts) or "true", values + item_values


def item_condition(wanted: ExampleFilter) -> tuple[str, list[object]]:
    """Return a WHERE condition on ``items JOIN criteria`` and its values: the criteria themselves that a filter means."""
    parts, values = _asked(_item_conditions(wanted))
    example_parts, example_values = _asked(_example_conditions(wanted))
    if example_parts:
        rows = f"SELECT example FROM examples WHERE {' AND '.join(example_parts)}"
        parts.append(f"items.example IN ({rows})")
    return " AND ".join(parts) or "true", values + example_values


class _Condition(NamedTuple):
    asked: bool
    sql: str
    value: object


def _asked(conditions: list[_Condition]) -> tuple[list[str], list[object]]:
    asked = [condition for condition in conditions if condition.asked]
    return [condition.sql for condition in asked], [condition.value for condition in asked]


def _example_conditions(wanted: ExampleFilter) -> list[_Condition]:
    tagged = (
        "example IN (SELECT example_tags.example FROM example_tags WHERE list_contains(?, tag))"
    )
    any_turn = (
        'len(list_filter(from_json(prompt, \'[{"content": "VARCHAR"}]\'), '
        "lambda m: m.content ILIKE ? ESCAPE '\\')) > 0"
    )
    text = _pattern(wanted.text)
    return [
        *(
            _Condition(bool(tags), tagged, list(tags))
            for tags in (wanted.themes, wanted.categories, wanted.tags)
        ),
        _Condition(wanted.min_score is not None, f"{SCORE} >= ?", wanted.min_score),
        _Condition(wanted.max_score is not None, f"{SCORE} <= ?", wanted.max_score),
        _Condition(wanted.min_characters is not None, "characters >= ?", wanted.min_characters),
        _Condition(wanted.max_characters is not None, "characters <= ?", wanted.max_characters),
        _Condition(wanted.min_messages is not None, "n_messages >= ?", wanted.min_messages),
        _Condition(wanted.max_messages is not None, "n_messages <= ?", wanted.max_messages),
        _Condition(_sought(wanted, "reply"), "reply ILIKE ? ESCAPE '\\'", text),
        _Condition(_sought(wanted, "conversation"), any_turn, text),
        _Condition(bool(wanted.prompt_ids), "list_contains(?, prompt_id)", list(wanted.prompt_ids)),
        _Condition(wanted.withheld, "(n_unknown > 0 OR possible = 0) = ?", True),
    ]


def _item_conditions(wanted: ExampleFilter) -> list[_Condition]:
    """Return what one criterion of the example must meet."""
    state = "memory.main.state_of(items.points, items.met)"
    text = _pattern(wanted.text)
    return [
        _Condition(bool(wanted.axes), "list_contains(?, criteria.axis)", list(wanted.axes)),
        _Condition(bool(wanted.states), f"list_contains(?, {state})", list(wanted.states)),
        _Condition(wanted.min_points is not None, "items.points >= ?", wanted.min_points),
        _Condition(wanted.max_points is not None, "items.points <= ?", wanted.max_points),
        _Condition(wanted.criterion is not None, "items.criterion = ?", wanted.criterion),
        _Condition(_sought(wanted, "criterion"), "criteria.text ILIKE ? ESCAPE '\\'", text),
        _Condition(_sought(wanted, "explanation"), "items.explanation ILIKE ? ESCAPE '\\'", text),
    ]


def _sought(wanted: ExampleFilter, place: str) -> bool:
    return bool(wanted.text) and wanted.text_in == place


def _pattern(text: str) -> str:
    """Return an ILIKE pattern that finds the text as it is written."""
    for special in ("\\", "%", "_"):
        text = text.replace(special, "\\" + special)
    return f"%{text}%"
