"""The benchmark's own data sets: HealthBench (main, Hard, Consensus) and HealthBench Professional, as JSON lines.

Professional has its own schema; its rows become HealthBench rows as the converters for simple-evals make them: no
criterion tags, and use case, type, difficulty and specialty as example tags without a prefix.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from healthbench.errors import InputRefusedError
from healthbench.model import Criterion, Message
from healthbench.readers.fields import (
    Where,
    canary_of,
    id_of,
    messages_of,
    points_of,
    required_text,
    says_synthetic,
    tags_of,
)
from healthbench.readers.head import json_rows, look

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROFESSIONAL_TAGS = ("use_case", "type", "difficulty", "specialty")
ROWS = "rows.jsonl.gz"
"""Name of the file in which a store keeps the rows of an attached data set."""
_VERDICTS = {"criteria_met", "met", "response_dict", "verdict", "judge_binary"}
_REPLIES = {"prompt_response", "completion", "response", "response_text", "model_response"}


class DatasetRow(NamedTuple):
    """One conversation of a data set with its rubric.

    Attributes:
        prompt_id: The data set's id (Professional: ``id``).
        prompt: The turns to be answered.
        example_tags: Theme and physician category; for Professional the four unprefixed tags.
        criteria: The rubric in file order.
        canary: The benchmark's canary string where the row carries it.
        synthetic: Whether the row says that it was made up for demonstration.
    """

    prompt_id: str
    prompt: list[Message]
    example_tags: tuple[str, ...]
    criteria: list[Criterion]
    canary: str = ""
    synthetic: bool = False


def is_dataset_row(row: dict[str, Any]) -> bool:
    """Tell whether a JSON object is a data-set row: a prompt and a rubric, and neither reply nor verdict."""
    if _is_professional(row):
        return True
    rubric = row.get("rubrics")
    if "prompt" not in row or not isinstance(rubric, list) or _REPLIES & row.keys():
        return False
    return all(isinstance(item, dict) and not _VERDICTS & item.keys() for item in rubric)


def _is_professional(row: dict[str, Any]) -> bool:
    rubric = row.get("rubric_items")
    return (
        "conversation" in row
        and isinstance(rubric, list)
        and all(
            isinstance(i, dict) and "criterion_text" in i and not _VERDICTS & i.keys()
            for i in rubric
        )
    )


def is_dataset(path: Path) -> bool:
    """Tell from its content whether a file is a benchmark data set; False for anything that cannot be read."""
    try:
        return is_dataset_row(look(path).row)
    except InputRefusedError:
        return False


def dataset_files(path: Path) -> list[Path]:
    """Return the files of a data set: itself, or for a folder of several every ``rows.jsonl.gz`` right below its parts."""
    return sorted(path.glob(f"[!.]*/{ROWS}")) if path.is_dir() else [path]


def read_dataset(path: Path) -> Iterator[DatasetRow]:
    """Stream the rows of a data set; gzip is looked through, and a JSON list is read like JSON lines.

    Args:
        path: Its file; or a folder of several (``dataset_files``), of which the first row of a prompt_id counts.

    Raises:
        InputRefusedError: A file cannot be read, is no data set, repeats a prompt_id, or has no row.
    """
    if not path.is_dir():
        yield from _read_file(path)
        return
    seen: set[str] = set()
    for file in dataset_files(path):
        for row in _read_file(file):
            if row.prompt_id not in seen:
                seen.add(row.prompt_id)
                yield row


def row_line(row: DatasetRow) -> str:
    """Return a row in the data sets' own form, as one JSON line without its end."""
    return json.dumps(
        {
            "prompt_id": row.prompt_id,
            "prompt": [turn._asdict() for turn in row.prompt],
            "example_tags": row.example_tags,
            "rubrics": [
                {"criterion": c.text, "points": c.points, "tags": c.tags} for c in row.criteria
            ],
            "canary": row.canary or None,
            "synthetic": row.synthetic,
        },
        ensure_ascii=False,
    )


def _read_file(path: Path) -> Iterator[DatasetRow]:
    head = look(path)
    if not is_dataset_row(head.row):
        raise InputRefusedError(
            f"{path.name} is no HealthBench data set (rows with prompt_id, prompt and rubrics, or Professional's id,"
            " conversation and rubric_items); give the benchmark's JSONL."
        )
    seen: set[str] = set()
    for number, value in json_rows(head):
        row = _row(value, Where(path.name, number))
        if row.prompt_id in seen:
            raise Where(path.name, number).refuse(
                "prompt_id", "stands in an earlier row too", "remove one of the two rows"
            )
        seen.add(row.prompt_id)
        yield row


def _row(value: Any, where: Where) -> DatasetRow:
    if not isinstance(value, dict) or not is_dataset_row(value):
        raise where.refuse(
            "the row", "is no data-set row", "give the benchmark's JSONL as it was published"
        )
    if _is_professional(value):
        names, prompt, rubric = (
            ("id", "criterion_text"),
            value["conversation"],
            value["rubric_items"],
        )
        tags = tuple(
            tag for key in PROFESSIONAL_TAGS if isinstance(tag := value.get(key), str) and tag
        )
    else:
        names, prompt, rubric = ("prompt_id", "criterion"), value["prompt"], value["rubrics"]
        tags = tags_of(value.get("example_tags"), where, "example_tags")
    prompt_id = id_of(value.get(names[0]))
    if prompt_id is None:
        raise where.refuse(names[0], "is missing", "give the benchmark's JSONL as it was published")
    criteria = [
        _criterion(item, names[1], where._replace(criterion=place))
        for place, item in enumerate(rubric, start=1)
    ]
    return DatasetRow(
        prompt_id,
        messages_of(prompt, where),
        tags,
        criteria,
        canary_of(value),
        says_synthetic(value),
    )


def _criterion(item: dict[str, Any], name: str, where: Where) -> Criterion:
    return Criterion(
        required_text(item.get(name), where, name),
        points_of(item.get("points"), where),
        tags_of(item.get("tags"), where),
    )
