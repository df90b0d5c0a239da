"""Graded JSON and JSON lines of any tool whose names are in the table of aliases.

An example a row with its criteria in a list (llm-eval-framework, healthbench-runner, m42's Python literals, SumonKantiDey's
lists, whispey's one document a conversation), a criterion a row (append-only logs), or bare verdicts by place, which
need the data set (healthbench-psych). Files of shards are one run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from healthbench.model import RunInfo
from healthbench.readers.aliases import ROW, ROW_LISTS, look_up, plain, plain_keys
from healthbench.readers.companions import Companions, companions_of
from healthbench.readers.dataset import is_dataset_row
from healthbench.readers.fields import Where, fraction_of, id_of
from healthbench.readers.file_name import parse_file_name
from healthbench.readers.head import Head, json_document, json_items, json_rows, json_scalars
from healthbench.readers.refusals import is_meta_evaluation
from healthbench.readers.row_runs import RowFile, runs_of
from healthbench.readers.rows import Row, is_criterion, is_example, row_from_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from healthbench.readers.source import RunSource

_SHARD = re.compile(
    r"[-_.]?(?:shard|part|chunk|split|rank)[-_.]?\d+(?:[-_]?of[-_]?\d+)?", re.IGNORECASE
)
_CREATED = ("timestamp", "created", "created_at", "date", "run_date")
_BENCHMARK = ("benchmark", "dataset", "dataset_name", "eval_name")
_STATED = ("overall_score", "score")
_LOOKED_AT = 20
_PRODUCERS = (
    ("response_dict", "m42 judge responses"),
    ("rubric_results", "healthbench-runner results"),
    ("rubric_grades", "llm-eval-framework scores"),
    ("evaluation_results", "whispey results"),
    ("evaluations", "yoda evaluations"),
)


@dataclass(frozen=True, slots=True)
class _Shape:
    """Where a file keeps its rows.

    Attributes:
        prefix: ijson prefix of the rows, "" for JSON lines and for a document that is one row.
        nested: Whether a row is an example (else it is one criterion of one).
    """

    prefix: str
    nested: bool


def recognise(head: Head) -> str | None:
    """Say what graded rows a file holds, None where it holds none that can be recognised."""
    shape = _shape(head)
    if shape is None:
        return None
    where = f"under {shape.prefix.removesuffix('.item')}" if "." in shape.prefix else "a row"
    return f"{'an example' if shape.nested else 'a graded criterion'} {where}, its fields known by their names"


def group(heads: Sequence[Head]) -> list[list[Head]]:
    """Put together what is one run: numbered shards, and documents of one conversation each, of the same folder."""
    groups: dict[tuple[Any, ...], list[Head]] = defaultdict(list)
    for head in heads:
        shape = _shape(head)
        key: tuple[Any, ...] = (head.path,)
        if _SHARD.search(head.path.name):
            key = (head.path.parent, _SHARD.sub("", head.path.name))
        elif shape is not None and not shape.prefix and head.kind == "json" and shape.nested:
            key = (head.path.parent, tuple(head.row))
        groups[key].append(head)
    return list(groups.values())


def open_run(heads: Sequence[Head], dataset: Path | None) -> list[RunSource]:
    """Open the runs in files that are one run's, one for each pair of model and grader the rows name.

    Raises:
        InputRefusedError: A row cannot be read, or no row has a verdict.
    """
    first = heads[0]
    companions = companions_of(first.path)
    source = first.path.name if len(heads) == 1 else first.path.parent.name or first.path.name
    info = _info(first, source, companions)
    file = RowFile(
        (*(head.path for head in heads), *companions.files),
        lambda: _rows(heads, companions),
        info,
        recognise(first) or "",
    )
    return runs_of(file, dataset)


def _shape(head: Head) -> _Shape | None:
    if head.kind not in ("json", "jsonl") or is_dataset_row(head.row):
        return None
    if head.rows:
        return _shape_of(head.rows, "item" if head.kind == "json" else "")
    if not isinstance(head.value, dict) or is_meta_evaluation(head.value, head.value):
        return None
    for key, value in head.value.items():
        if plain(key) in ROW_LISTS and isinstance(value, list) and "." not in key:
            found = _shape_of(value, f"{key}.item")
            if found is not None:
                return found
    return _shape_of([head.value], "")


def _shape_of(rows: list[Any], prefix: str) -> _Shape | None:
    for value in rows[:_LOOKED_AT]:
        row = row_from_json(value)
        if is_example(row):
            return _Shape(prefix, nested=True)
        if is_criterion(row) and not is_meta_evaluation(value, value):
            return _Shape(prefix, nested=False)
    return None


def _rows(heads: Sequence[Head], companions: Companions) -> Iterator[tuple[Where, Row]]:
    """Yield the rows of a run's files, with what stands in the files beside them."""
    for head in heads:
        for number, value in _values(head):
            yield Where(head.path.name, number), companions.complete(row_from_json(value))


def _values(head: Head) -> Iterator[tuple[int, Any]]:
    shape = _shape(head)
    if head.kind == "jsonl" or shape is None:
        yield from json_rows(head)
    elif shape.prefix:
        yield from enumerate(json_items(head.path, shape.prefix), start=1)
    else:
        yield 1, json_document(head.path)


def _info(head: Head, source: str, companions: Companions) -> RunInfo:
    name = parse_file_name(head.path.name)
    rows = isinstance(head.value, dict) and head.kind == "json" and _shape(head)
    document = plain_keys(json_scalars(head)) if rows and rows.prefix else {}
    row = head.row if isinstance(head.row, dict) else {}
    stated = {
        key: number for key in _STATED if (number := fraction_of(document.get(key))) is not None
    }
    created = look_up(document, _CREATED)
    return RunInfo(
        source=source,
        format=_format(head, row),
        model=id_of(look_up(document, ROW["model"])) or companions.model or name.model,
        grader=id_of(look_up(document, ROW["grader"])) or companions.grader,
        benchmark=id_of(look_up(document, _BENCHMARK)) or name.benchmark,
        created=created if isinstance(created, str) else name.created,
        stated={**companions.stated, **stated},
        synthetic=document.get("synthetic") is True,
    )


def _format(head: Head, row: dict[str, Any]) -> str:
    beginning = head.text[:20_000]
    for mark, producer in _PRODUCERS:
        if mark in row or f'"{mark}"' in beginning or f"'{mark}'" in beginning:
            return producer
    return "graded JSON lines" if head.kind == "jsonl" else "graded JSON"
