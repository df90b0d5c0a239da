"""Write a stored run to one file: our JSON lines, simple-evals' allresults, or a table with a row a criterion.

A file is written beside its place and put there whole. Texts are left out by default where the benchmark's canary was
seen, because its authors ask that examples are not published; every format carries the mark.
"""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import duckdb

from healthbench.errors import InputRefusedError, StoreError
from healthbench.model import Criterion, GradedExample, Message, Verdict
from healthbench.readers.own_jsonl import example_line, header_line, plain_number, without_texts
from healthbench.scoring.aggregate import summarize
from healthbench.scoring.run_scores import OVERALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from healthbench.store.library import Library
    from healthbench.store.records import RunSummary

SUFFIXES = {
    "jsonl": ".jsonl",
    "allresults": "_allresults.json",
    "csv": ".csv",
    "parquet": ".parquet",
}

_BATCH = 200
_FORMULA = re.compile(r"[=+\-@]")
_COLUMNS = {
    "model": "VARCHAR",
    "grader": "VARCHAR",
    "prompt_id": "VARCHAR",
    "repeat": "INTEGER",
    "completion_id": "VARCHAR",
    "example_tags": "VARCHAR[]",
    "rubric_index": "INTEGER",
    "criterion": "VARCHAR",
    "points": "DOUBLE",
    "tags": "VARCHAR[]",
    "criteria_met": "BOOLEAN",
    "failure_mark": "VARCHAR",
    "explanation": "VARCHAR",
    "prompt": "VARCHAR",
    "reply": "VARCHAR",
    "score": "DOUBLE",
    "error": "VARCHAR",
    "canary": "VARCHAR",
}


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote.

    Attributes:
        path: The file.
        n_examples: Examples in it.
        texts: Whether prompts, replies, criteria and explanations are in it.
        canary: The benchmark's canary, kept in the file; "" where none was seen for the run.
    """

    path: Path
    n_examples: int
    texts: bool
    canary: str


def export_run(
    library: Library,
    run_id: str,
    path: Path,
    form: str = "jsonl",
    *,
    texts: bool | None = None,
    source: Path | None = None,
) -> Exported:
    """Write a run to a file, replacing what was there.

    Args:
        library: Where the run is.
        run_id: The run.
        path: The file to write; a folder means a file of ``suggested_name`` in it.
        form: ``jsonl`` (lossless), ``allresults``, ``csv`` or ``parquet``.
        texts: Whether to write texts; None leaves them out where the benchmark's canary was seen.
        source: The file the run was read from, where it is at hand; it is never replaced.

    Raises:
        InputRefusedError: There is no such format, or the file to write is the run's own.
        StoreError: There is no such run, or the file cannot be written.
    """
    if form not in _WRITERS:
        raise InputRefusedError(f"{form} is no export format: choose one of {', '.join(_WRITERS)}.")
    summary = library.summary(run_id)
    canary = canary_of_run(library, run_id)
    keep = (not canary) if texts is None else texts
    target = path / suggested_name(summary, form) if path.is_dir() else path
    if source is not None and target.exists() and target.samefile(source):
        raise InputRefusedError(
            f"{target.name} is the run's own file, which is never changed: name another file with --out."
        )
    job = _Job(library, summary, texts=keep, canary=canary)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(descriptor)
        try:
            _WRITERS[form](job, Path(name))
            Path(name).chmod(0o644)
            Path(name).replace(target)
        finally:
            Path(name).unlink(missing_ok=True)
    except (OSError, duckdb.IOException) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(
            f"{target.name} could not be written ({reason}): check the folder and the room on its disk."
        ) from error
    return Exported(target, summary.n_examples, keep, canary)


def suggested_name(summary: RunSummary, form: str) -> str:
    """Return a file name that says benchmark, model and time as simple-evals' names do."""
    info = summary.info
    benchmark = (info.benchmark or "healthbench").lower().replace(" ", "_")
    created = re.sub(r"\D", "", info.created or "")[:14]
    time = f"_{created[:8]}_{created[8:]}" if len(created) == 14 else ""
    stem = "_".join(part for part in (benchmark, info.model or summary.id) if part)
    return re.sub(r"[^\w.\-]+", "-", stem) + time + SUFFIXES[form]


def canary_of_run(library: Library, run_id: str) -> str:
    """Return the canary that the run's file, or an attached data set with one of its conversations, carries, else ""."""
    if canary := library.summary(run_id).report.canary:
        return canary
    marked = [dataset for dataset in library.datasets() if dataset.canary]
    with library.cursor(run_id) as cursor:
        for dataset in marked:
            shared = cursor.execute(
                "SELECT count(*) FROM examples WHERE prompt_id IN (SELECT prompt_id FROM read_parquet(?))",
                [str(library.home / "datasets" / dataset.id / "examples.parquet")],
            ).fetchall()
            if shared != [(0,)]:
                return dataset.canary
    return ""


def stored_examples(library: Library, run_id: str) -> Iterator[GradedExample]:
    """Yield a stored run's examples in their order; themes of an attached data set are in their tags."""
    summary = library.summary(run_id)
    for first in range(0, summary.n_examples, _BATCH):
        rows = [first, first + _BATCH]
        with library.cursor(run_id) as cursor:
            examples = cursor.execute(
                "SELECT example, prompt_id, completion_id, prompt, reply, stated_score, error, example_tags"
                " FROM examples WHERE example >= ? AND example < ? ORDER BY example",
                rows,
            ).fetchall()
            items = cursor.execute(
                "SELECT example, criteria.text, criteria.points, tags, stored, explanation, failure"
                " FROM items JOIN criteria USING (criterion) WHERE example >= ? AND example < ?"
                " ORDER BY example, position",
                rows,
            ).fetchall()
            joined = cursor.execute(
                "SELECT example, list(tag ORDER BY tag) FROM example_tags"
                " WHERE source = 'dataset' AND example >= ? AND example < ? GROUP BY example",
                rows,
            ).fetchall()
        yield from _assembled(examples, items, dict(joined))


def _assembled(
    examples: list[tuple[Any, ...]], items: list[tuple[Any, ...]], joined: dict[int, list[str]]
) -> Iterator[GradedExample]:
    criteria: dict[int, list[Criterion]] = {}
    verdicts: dict[int, list[Verdict]] = {}
    for number, text, points, tags, stored, explanation, failure in items:
        criteria.setdefault(number, []).append(Criterion(text, plain_number(points), tuple(tags)))
        verdicts.setdefault(number, []).append(Verdict(stored, explanation, failure))
    for number, prompt_id, completion_id, prompt, reply, stated, error, own_tags in examples:
        tags = own_tags if own_tags is not None else joined.get(number)
        yield GradedExample(
            prompt_id=prompt_id,
            prompt=[Message(turn["role"], turn["content"]) for turn in json.loads(prompt)],
            reply=reply,
            criteria=criteria.get(number, []),
            verdicts=verdicts.get(number, []),
            example_tags=None if tags is None else tuple(tags),
            completion_id=completion_id,
            stated_score=stated,
            error=error,
        )


class _Job:
    """One export: the run and what of it is written."""

    def __init__(self, library: Library, summary: RunSummary, *, texts: bool, canary: str) -> None:
        self.library = library
        self.summary = summary
        self.texts = texts
        self.canary = canary

    def examples(self) -> Iterator[GradedExample]:
        for example in stored_examples(self.library, self.summary.id):
            yield example if self.texts else without_texts(example)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield a row a criterion in the order of _COLUMNS; prompt and reply stand in an example's first row only."""
        info = self.summary.info
        repeats: dict[str, int] = {}
        for example in self.examples():
            repeat = repeats[example.prompt_id] = repeats.get(example.prompt_id, -1) + 1
            tags = list(example.example_tags) if example.example_tags is not None else None
            prompt = json.dumps([turn._asdict() for turn in example.prompt], ensure_ascii=False)
            canary = self.canary or None
            once: tuple[Any, ...] = (
                prompt,
                example.reply,
                example.stated_score,
                example.error,
                canary,
            )
            pairs = zip(example.criteria, example.verdicts, strict=True)
            for place, (criterion, verdict) in enumerate(pairs):
                yield (
                    info.model,
                    info.grader,
                    example.prompt_id,
                    repeat,
                    example.completion_id,
                    tags,
                    place,
                    criterion.text,
                    plain_number(criterion.points),
                    list(criterion.tags),
                    verdict.stored,
                    verdict.failure,
                    verdict.explanation,
                    *(once if place == 0 else (None,) * len(once)),
                )


def _write_jsonl(job: _Job, path: Path) -> None:
    canary = job.canary or None
    with _text_file(path) as file:
        first = header_line(
            job.summary.info, job.summary.n_examples, texts=job.texts, canary=canary
        )
        file.write(first + "\n")
        for example in job.examples():
            file.write(example_line(example) + "\n")


def _write_allresults(job: _Job, path: Path) -> None:
    metrics = summarize(job.library.run_scores(job.summary.id))
    figures: dict[str, float | None] = {}
    for name, result in metrics.items():
        figures |= {name: result.score, f"{name}:n_samples": result.n}
    figures["score:n_samples"] = metrics[OVERALL].n
    top: dict[str, Any] = {"score": metrics[OVERALL].score, "metrics": figures}
    if job.summary.info.synthetic:
        top["synthetic"] = True
    with _text_file(path) as file:
        head = json.dumps({**top, "htmls": [], "convos": []}, indent=2)
        file.write(head[: head.rindex("}")].rstrip())
        file.write(',\n  "metadata": {"example_level_metadata": [')
        for place, example in enumerate(job.examples()):
            file.write(",\n" if place else "\n")
            file.write(json.dumps(_allresults_row(example, canary=job.canary)))
        file.write("\n]}}\n")


def _allresults_row(example: GradedExample, *, canary: str) -> dict[str, Any]:
    known = {
        "example_tags": example.example_tags,
        "error": example.error,
        "canary": canary or None,
    }
    return {
        "score": example.stated_score,
        "usage": None,
        "rubric_items": [
            {
                "criterion": criterion.text,
                "points": plain_number(criterion.points),
                "tags": criterion.tags,
                # simple-evals knows no failed grade: null is what keeps it unknown.
                "criteria_met": verdict.met,
                "explanation": verdict.explanation or "",
            }
            for criterion, verdict in zip(example.criteria, example.verdicts, strict=True)
        ],
        "prompt": [message._asdict() for message in example.prompt],
        "completion": [{"content": example.reply, "role": "assistant"}],
        "prompt_id": example.prompt_id,
        "completion_id": example.completion_id,
        **{name: value for name, value in known.items() if value is not None},
    }


def _write_csv(job: _Job, path: Path) -> None:
    with _text_file(path, newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for row in job.rows():
            writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> Any:
    """Write a value as text; a text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return value


def _write_parquet(job: _Job, path: Path) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE rows ({columns})")
        batch: list[tuple[Any, ...]] = []
        for row in job.rows():
            batch.append(row)
            if len(batch) >= _BATCH:
                _append(connection, batch)
        _append(connection, batch)
        place = str(path).replace("'", "''")
        connection.execute(f"COPY rows TO '{place}' (FORMAT parquet, COMPRESSION zstd)")


def _append(connection: duckdb.DuckDBPyConnection, batch: list[tuple[Any, ...]]) -> None:
    if batch:
        with connection.appender("rows") as appender:
            appender.append_rows(batch)
        batch.clear()


def _text_file(path: Path, newline: str = "\n") -> TextIO:
    return path.open("w", encoding="utf-8", newline=newline)


_WRITERS: dict[str, Callable[[_Job, Path], None]] = {
    "jsonl": _write_jsonl,
    "allresults": _write_allresults,
    "csv": _write_csv,
    "parquet": _write_parquet,
}
