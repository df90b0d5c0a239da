"""Our own graded-run JSON lines: everything the model holds, one line for the run and one an example.

The format is documented by ``schema/graded-run-1.schema.json``. Lines are written here too, so that writing and reading are
one definition. A higher version is refused; unknown fields are ignored.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING, Any

from healthbench.errors import InputRefusedError
from healthbench.model import Criterion, GradedExample, ImportReport, RunInfo, Verdict
from healthbench.readers.fields import (
    Where,
    fraction_of,
    id_of,
    kind_name,
    messages_of,
    points_of,
    required_text,
    stated_figures,
    tags_of,
    verdict_of,
)
from healthbench.readers.head import Head, json_rows
from healthbench.readers.source import RunSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

VERSION = 1
KEY = "graded_run_version"
LEFT_OUT = "left out"
_TEXTS = ("source", "format", "model", "grader", "benchmark", "created", "clip_level", "rule")
_AS_EXPORTED = "export the run again"
_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def recognise(head: Head) -> str | None:
    """Say that a file is our own format; None where it is not.

    Raises:
        InputRefusedError: It is of a version that this program does not read.
    """
    if head.kind not in ("json", "jsonl") or KEY not in head.row:
        return None
    version = head.row[KEY]
    if version != VERSION:
        raise InputRefusedError(
            f"{head.path.name} is a graded run of version {version}, and this program reads version {VERSION}: export it"
            " again with this program, or update it."
        )
    return f"{KEY} in the first line"


def open_run(heads: Sequence[Head], dataset: Path | None) -> list[RunSource]:
    """Open one file of our own format.

    Raises:
        InputRefusedError: The first line lacks what it must say.
    """
    del dataset  # examples carry all there is
    head = heads[0]
    header = head.row
    where = Where(head.path.name)
    n_examples = header.get("n_examples")
    if type(n_examples) is not int:
        raise where.refuse("n_examples", f"is {kind_name(n_examples)}, not a number", _AS_EXPORTED)
    settings = header.get("settings")
    info = RunInfo(source=head.path.name, format="graded-run JSON lines")
    for name in _TEXTS:
        if isinstance(header.get(name), str):
            setattr(info, name, header[name])
    info.stated = stated_figures(header.get("stated"))
    info.settings = (
        {str(k): str(v) for k, v in settings.items()} if isinstance(settings, dict) else {}
    )
    info.synthetic = header.get("synthetic") is True
    report = ImportReport(
        recognised_by=recognise(head) or "", canary=str(header.get("canary") or "")
    )
    if header.get("texts") == LEFT_OUT:
        report.warnings.append(
            "Texts were left out when this run was exported: replies are dots of the same length, criteria are named by a"
            " hash of their text."
        )
    return [RunSource(info, report, (head.path,), "", lambda: _read(head, n_examples, report))]


def _read(head: Head, n_examples: int, report: ImportReport) -> Iterator[GradedExample]:
    number = 0
    rows = json_rows(head)
    next(rows, None)
    for number, (_, row) in enumerate(rows, start=1):
        yield _example(row, Where(head.path.name, number), report)
    if number != n_examples:
        raise InputRefusedError(
            f"{head.path.name} holds {number:,} of {n_examples:,} examples, so it was cut off or edited, or its grading is"
            " not finished; copy it again, or continue the grading."
        )


def _example(row: Any, where: Where, report: ImportReport) -> GradedExample:
    if not isinstance(row, dict):
        raise where.refuse("the line", f"is {kind_name(row)}, not an object", _AS_EXPORTED)
    prompt_id, reply, items = id_of(row.get("prompt_id")), row.get("reply"), row.get("criteria")
    if prompt_id is None:
        raise where.refuse("prompt_id", "is missing", _AS_EXPORTED)
    if not isinstance(reply, str):
        raise where.refuse("reply", f"is {kind_name(reply)}, not text", _AS_EXPORTED)
    if not isinstance(items, list):
        raise where.refuse("criteria", f"is {kind_name(items)}, not a list", _AS_EXPORTED)
    graded = [
        _item(item, where._replace(criterion=p), report) for p, item in enumerate(items, start=1)
    ]
    tags = row.get("example_tags")
    error = row.get("error")
    return GradedExample(
        prompt_id=prompt_id,
        prompt=messages_of(row.get("prompt"), where),
        reply=reply,
        criteria=[criterion for criterion, _ in graded],
        verdicts=[verdict for _, verdict in graded],
        example_tags=None if tags is None else tags_of(tags, where, "example_tags"),
        completion_id=id_of(row.get("completion_id")),
        stated_score=fraction_of(row.get("stated_score")),
        error=error if isinstance(error, str) else None,
    )


def _item(item: Any, where: Where, report: ImportReport) -> tuple[Criterion, Verdict]:
    if not isinstance(item, dict):
        raise where.refuse("the criterion", f"is {kind_name(item)}, not an object", _AS_EXPORTED)
    criterion = Criterion(
        required_text(item.get("criterion"), where, "criterion"),
        points_of(item.get("points"), where),
        tags_of(item.get("tags"), where),
    )
    failure = item.get("failure")
    verdict = verdict_of(
        item.get("criteria_met"),
        item.get("explanation"),
        report,
        marks=None,
        failure=failure if isinstance(failure, str) else None,
    )
    return criterion, verdict


def header_line(info: RunInfo, n_examples: int, *, texts: bool, canary: str | None) -> str:
    """Return the first line of a file, without its end."""
    header = {
        KEY: VERSION,
        "n_examples": n_examples,
        "texts": "all" if texts else LEFT_OUT,
        "canary": canary,
        **dataclasses.asdict(info),
    }
    return _to_json(header)


def example_line(example: GradedExample) -> str:
    """Return the line of one example, without its end."""
    return _to_json(
        {
            "prompt_id": example.prompt_id,
            "prompt": [message._asdict() for message in example.prompt],
            "reply": example.reply,
            "criteria": [
                {
                    "criterion": criterion.text,
                    "points": plain_number(criterion.points),
                    "tags": criterion.tags,
                    "criteria_met": verdict.stored,
                    "explanation": verdict.explanation,
                    "failure": verdict.failure,
                }
                for criterion, verdict in zip(example.criteria, example.verdicts, strict=True)
            ],
            "example_tags": example.example_tags,
            "completion_id": example.completion_id,
            "stated_score": example.stated_score,
            "error": example.error,
        }
    )


def plain_number(points: float) -> float:
    """Return whole points as an integer, as the benchmark writes them."""
    return int(points) if points == int(points) else points


def without_texts(example: GradedExample) -> GradedExample:
    """Return an example that can be scored, adjusted for length and matched, but not read."""
    return dataclasses.replace(
        example,
        prompt=[],
        reply="\u00b7" * len(example.reply),
        criteria=[c._replace(text=f"[{LEFT_OUT}: {_digest(c.text)}]") for c in example.criteria],
        verdicts=[verdict._replace(explanation=None) for verdict in example.verdicts],
        error=None if example.error is None else f"[{LEFT_OUT}]",
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()[:16]
