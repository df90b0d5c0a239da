"""Examples from rows: one row an example with its list of criteria, or one row a criterion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from healthbench.model import GradedExample, Message, Verdict
from healthbench.readers.aliases import ITEM, ROW
from healthbench.readers.fields import (
    Where,
    content_id,
    fraction_of,
    id_of,
    messages_of,
    text_of,
    verdict_of,
)
from healthbench.readers.rows import Row, is_example, item_fields, structured
from healthbench.readers.rubrics import prefixed, tags_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from healthbench.model import ImportReport
    from healthbench.readers.rubrics import Rubrics

NOT_GRADED = "the row has no verdicts"


def nested_examples(
    rows: Iterable[tuple[Where, Row]], rubrics: Rubrics, report: ImportReport
) -> Iterator[GradedExample]:
    """Build an example from each row with a list of graded criteria; rows without are counted as skipped.

    Raises:
        InputRefusedError: A value in a row is refused.
    """
    for where, row in rows:
        if not is_example(row):
            report.rows_skipped[NOT_GRADED] += 1
            continue
        places = [where._replace(criterion=place) for place in range(1, len(row["items"]) + 1)]
        items = [item_fields(item, place) for item, place in zip(row["items"], places, strict=True)]
        yield _example(row, items, rubrics, report, where)


@dataclass(slots=True)
class _Group:
    """The rows of one reply, by criterion."""

    where: Where
    row: Row
    items: list[Row] = field(default_factory=list)


def long_examples(
    rows: Iterable[tuple[Where, Row]], rubrics: Rubrics, report: ImportReport
) -> Iterator[GradedExample]:
    """Build examples from rows of one criterion each, in the order in which each reply first appears.

    Rows belong to one reply by conversation, repeat and reply. Where rows number their criteria, a number that comes
    again replaces the earlier row, as in a log that was taken up again. Where they do not, criteria that all come
    equally often are repeats. Only the fields that count are held, not the file.

    Raises:
        InputRefusedError: A row names no conversation, or a value is refused.
    """
    groups: dict[tuple[Any, ...], _Group] = {}
    for where, row in rows:
        if "verdict" not in row:
            report.rows_skipped[NOT_GRADED] += 1
            continue
        prompt_id = id_of(row.get("prompt_id"))
        if prompt_id is None:
            if "prompt" not in row:
                raise where.refuse(
                    "the row",
                    "has neither a prompt_id nor a prompt",
                    "add a column that says which example it is",
                )
            prompt_id = content_id(_prompt(row["prompt"], where))
        repeat = id_of(row.get("repeat"))
        reply = row.get("reply") if repeat is None else None
        group = groups.setdefault(
            (prompt_id, repeat, hash(text_of(reply))), _Group(where, {"prompt_id": prompt_id})
        )
        for name in ROW.keys() & row.keys():
            group.row.setdefault(name, row[name])
        group.items.append({name: row[name] for name in ITEM.keys() & row.keys()})
    first = 0 if any(i.get("index") == 0 for g in groups.values() for i in g.items) else 1
    replaced = 0
    for group in groups.values():
        for items in _repeats(group.items, report):
            kept, n_replaced = _numbered(items)
            replaced += n_replaced
            placed = _in_place(kept, group, rubrics, first)
            yield _example(group.row, placed, rubrics, report, group.where)
    if replaced:
        report.duplicates.append(
            f"{replaced:,} rows repeat a criterion of the same reply; the last of each is kept, as in a log taken up again."
        )


def _numbered(items: list[Row]) -> tuple[list[Row], int]:
    """Keep the last row of each criterion's number, in the order of the numbers."""
    if not all("index" in item for item in items):
        return items, 0
    kept = {str(item["index"]): item for item in items}
    rows = list(kept.values())
    if all(isinstance(item["index"], int | float) for item in rows):
        rows.sort(key=lambda item: item["index"])
    return rows, len(items) - len(rows)


def _repeats(items: list[Row], report: ImportReport) -> list[list[Row]]:
    """Split rows whose criteria all come equally often, more than once, into that many replies."""
    if any("index" in item for item in items) or not all("criterion" in item for item in items):
        return [items]
    seen: Counter[tuple[str, str]] = Counter()
    split: dict[int, list[Row]] = {}
    for item in items:
        key = (str(item["criterion"]), str(item.get("points")))
        split.setdefault(seen[key], []).append(item)
        seen[key] += 1
    if len(set(seen.values())) > 1:
        report.warnings.append(
            "The same criterion stands more than once in one reply: every row is kept."
        )
        return [items]
    return list(split.values())


def _in_place(items: list[Row], group: _Group, rubrics: Rubrics, first: int) -> list[Row]:
    """Give numbered rows without text their criterion from the data set, by number."""
    known = rubrics.of(id_of(group.row.get("prompt_id")))
    if known is None:
        return items
    placed = []
    for item in items:
        index = item.get("index")
        if "criterion" not in item and isinstance(index, int) and 0 <= index - first < len(known):
            criterion = known[index - first]
            rubrics.tags_joined |= bool(criterion.tags)
            own = {"criterion": criterion.text, "points": criterion.points, "tags": criterion.tags}
            placed.append({**own, **item})
        else:
            placed.append(item)
    return placed


def _example(
    row: Row,
    items: Sequence[Row],
    rubrics: Rubrics,
    report: ImportReport,
    where: Where,
) -> GradedExample:
    prompt = _prompt(row.get("prompt"), where)
    reply = _reply(row.get("reply"))
    if reply is None:
        # Some tools keep the answer as the last turn of the conversation only.
        reply = prompt.pop().content if prompt and prompt[-1].role == "assistant" else ""
    prompt_id = id_of(row.get("prompt_id"))
    prompt = prompt or rubrics.prompt_of(prompt_id)
    criteria = rubrics.criteria(items, row.get("rubric"), prompt_id, where)
    if rubrics.tags_joined:
        report.axes_from = "dataset"
    return GradedExample(
        prompt_id=prompt_id or content_id(prompt),
        prompt=prompt,
        reply=reply,
        criteria=criteria,
        verdicts=[_verdict(item, report) for item in items],
        example_tags=_example_tags(row, where),
        completion_id=id_of(row.get("completion_id")),
        stated_score=_stated(row.get("score")),
        error=text_of(row["error"]) if row.get("error") else None,
    )


def _verdict(item: Row, report: ImportReport) -> Verdict:
    failure = item.get("failure")
    return verdict_of(
        item.get("verdict"),
        item.get("explanation"),
        report,
        failure=failure if isinstance(failure, str) else None,
    )


def _prompt(value: Any, where: Where) -> list[Message]:
    if isinstance(value, str):
        value = structured(value)
        if isinstance(value, tuple):
            value = list(value)
    return [] if value is None else messages_of(value, where)


def _reply(value: Any) -> str | None:
    if isinstance(value, str) and value.lstrip().startswith(("[{", "{'", '{"')):
        value = structured(value)
    if isinstance(value, list) and value:
        turns = [m for m in value if isinstance(m, Mapping) and m.get("role") == "assistant"]
        return text_of(turns[-1].get("content")) if turns else text_of(value)
    return None if value is None else text_of(value)


def _example_tags(row: Row, where: Where) -> tuple[str, ...] | None:
    tags = tags_from(row.get("example_tags"), where, "example_tags")
    theme = row.get("theme")
    if isinstance(theme, str) and theme.strip():
        tag = prefixed(theme, "theme:")
        tags = tags if tag in tags else (tag, *tags)
    return tags or None


def _stated(value: Any) -> float | None:
    if isinstance(value, str):
        text = value.strip()
        try:
            return (
                float(text.removesuffix("%")) / 100
                if text.endswith("%")
                else fraction_of(float(text))
            )
        except ValueError:
            return None
    return fraction_of(value)
