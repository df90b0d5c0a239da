"""evalscope's HealthBench reviews: one JSONL file a theme, in ``reviews/<model>/`` of an output folder.

Source: modelscope/evalscope 1.14 and the rows of 2025. Since 1.14 each verdict stands in ``judge_attempts``; before, only in the
text of ``readable_explanation``. A row with one failed verdict is excluded by evalscope; here it stays, and only what was
not given is unknown. evalscope clips each theme's mean and weighs these by their number of rows; its headline is the
accuracy axis.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.model import Criterion, GradedExample, ImportReport, RunInfo, Verdict
from healthbench.readers.fields import (
    Where,
    canary_of,
    fraction_of,
    id_of,
    kind_name,
    messages_of,
    tags_of,
    text_of,
    verdict_of,
)
from healthbench.readers.foreign import DISAGREEING, first_row, listing, mapping, noted, rubric_of
from healthbench.readers.head import Head, json_document, json_rows, look, open_binary
from healthbench.readers.source import RunSource
from healthbench.readers.verdict_text import SIMPLE_EVALS, UNCLEAR_TAGS, place_lines, read_lines
from healthbench.taxonomy import AXES, THEMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_BENCHMARKS = {
    "All": "HealthBench",
    "Hard": "HealthBench Hard",
    "Consensus": "HealthBench Consensus",
}
_VERSION = re.compile(r"^\s+version: (All|Hard|Consensus)\s*$", re.MULTILINE)
_SETTINGS = re.compile(r"^\s*(evalscope_version|temperature|repeats): (\S+)\s*$", re.MULTILINE)
_CASE = re.compile(r"rubric_(\d+)")
_CONFIG_BYTES = 1 << 20
_EXCLUDED = (
    "excluded by evalscope because a verdict failed; here only what failed is unknown, so evalscope's axis figures are of "
    "fewer examples and are not compared"
)
_AS_WRITTEN = "give the file as evalscope wrote it"


def recognise(head: Head) -> str | None:
    """Recognise a review file by its rows, and an output folder (or its reviews) by such files.

    Raises:
        NotAGradedRunError: It is a report or the predictions of evalscope.
    """
    if head.kind == "folder":
        return (
            "review files with rubric scores, as in evalscope's output" if _reviews(head) else None
        )
    if head.kind not in ("json", "jsonl"):
        return None
    row, name = first_row(head), head.path.name
    if _is_review(row):
        return "sample_score with a rubric in its metadata, as in evalscope's reviews"
    if "model_output" in row and "rubrics" in mapping(row.get("metadata")):
        raise NotAGradedRunError(
            f"{name} holds evalscope's predictions, not yet graded; give the output folder with its reviews."
        )
    if row.get("dataset_name") == "health_bench" and "metrics" in row:
        raise NotAGradedRunError(
            f"{name} is an evalscope report of averages; give the output folder with its reviews."
        )
    return None


def group(heads: Sequence[Head]) -> list[list[Head]]:
    """Put review files of one folder together: they are the themes of one run."""
    groups: dict[Path, list[Head]] = defaultdict(list)
    for head in heads:
        groups[head.path if head.kind == "folder" else head.path.parent].append(head)
    return list(groups.values())


def open_run(heads: Sequence[Head], dataset: Path | None) -> list[RunSource]:
    """Open an output folder, one run a model in it, or the review files of one model."""
    del dataset  # rows carry their rubric
    if heads[0].kind != "folder":
        paths = [head.path for head in heads]
        source = _source(paths, paths[0].parent.name if len(paths) > 1 else paths[0].name, "")
        if absent := len(_reviews(look(paths[0].parent))) - len(paths):
            source.info.stated.clear()
            source.report.warnings.append(
                f"{absent} more review files of this run stand beside the given ones; give the folder to read the whole run "
                "and compare evalscope's own figures, which are of all of them."
            )
        return [source]
    folder = heads[0].path
    models: dict[Path, list[Path]] = defaultdict(list)
    for path in _reviews(heads[0]):
        models[path.parent].append(path)
    several = len(models) > 1
    return [
        _source(paths, folder.name, model.name if several else "")
        for model, paths in models.items()
    ]


def _is_review(row: Mapping[str, Any]) -> bool:
    metadata = mapping(mapping(row.get("sample_score")).get("sample_metadata"))
    return isinstance(metadata.get("rubrics"), list)


def _reviews(head: Head) -> list[Path]:
    """Return the review files of an output folder, of its reviews, or of one model's reviews."""
    depths: dict[int, list[str]] = defaultdict(list)
    for member in head.members:
        parts = member.split("/")
        if member.endswith(".jsonl") and (
            len(parts) < 3 or (len(parts) == 3 and parts[0] == "reviews")
        ):
            depths[len(parts)].append(member)
    for depth in sorted(depths, reverse=True):
        found = [head.path / m for m in depths[depth] if _is_review_file(head.path / m)]
        if found:
            return found
    return []


def _is_review_file(path: Path) -> bool:
    try:
        return _is_review(first_row(look(path)))
    except InputRefusedError:
        return False


@dataclass(frozen=True, slots=True)
class _Beside:
    """What evalscope wrote beside the reviews of one model.

    Attributes:
        report: Its report, {} where there is none.
        config: Text of its task configuration, "" where there is none.
        files: The files these were read from.
        created: Time in the output folder's name, None where it has none.
    """

    report: Mapping[str, Any]
    config: str
    files: tuple[Path, ...]
    created: str | None


def _source(paths: list[Path], source: str, part: str) -> RunSource:
    beside = _beside(paths[0].parent)
    report = ImportReport(
        recognised_by="sample_score with a rubric in its metadata, as in evalscope's reviews"
    )
    version = _VERSION.search(beside.config)
    info = RunInfo(
        source=source,
        format="evalscope reviews",
        model=id_of(beside.report.get("model_name")) or paths[0].parent.name or None,
        benchmark=_BENCHMARKS[version[1]] if version else None,
        created=beside.created,
        clip_level="run",
        stated=_stated(beside.report),
        settings=dict(_SETTINGS.findall(beside.config)),
    )
    report.warnings += _report_warnings(beside.report, info.stated)
    files = (*paths, *beside.files)
    return RunSource(info, report, files, part, lambda: _read(paths, info, report))


def _beside(model: Path) -> _Beside:
    if model.parent.name != "reviews":
        return _Beside({}, "", (), None)
    root = model.parent.parent
    report: Mapping[str, Any] = {}
    config = ""
    files = []
    report_file = root / "reports" / model.name / "health_bench.json"
    if report_file.is_file():
        report = mapping(json_document(report_file))
        files.append(report_file)
    for config_file in sorted((root / "configs").glob("task_config*.yaml"))[:1]:
        with open_binary(config_file) as file:
            config = file.read(_CONFIG_BYTES).decode("utf-8", errors="replace")
        files.append(config_file)
    try:
        moment = datetime.strptime(root.name, "%Y%m%d_%H%M%S")  # noqa: DTZ007 - the name gives local time
    except ValueError:
        return _Beside(report, config, tuple(files), None)
    return _Beside(report, config, tuple(files), moment.isoformat())


def _stated(report: Mapping[str, Any]) -> dict[str, float]:
    """Return the report's figures: overall, by theme (its subsets) and by axis, with their numbers of rows."""
    stated: dict[str, float] = {}
    for metric in listing(mapping(report).get("metrics")):
        name = str(
            mapping(mapping(metric).get("identity")).get("name") or mapping(metric).get("name")
        )
        if name == "overall_score":
            _state(stated, name, metric)
            for category in listing(mapping(metric).get("categories")):
                for subset in listing(mapping(category).get("subsets")):
                    if (tag := f"theme:{mapping(subset).get('name')}") in THEMES:
                        _state(stated, tag, subset)
        elif (tag := f"axis:{name}") in AXES:
            _state(stated, tag, metric)
    return stated


def _state(stated: dict[str, float], name: str, figures: Any) -> None:
    score, count = (fraction_of(mapping(figures).get(key)) for key in ("score", "num"))
    if score is not None:
        stated[name] = score
    if count is not None:
        stated[f"{name}:n_samples"] = count


def _report_warnings(report: Mapping[str, Any], stated: Mapping[str, float]) -> list[str]:
    warnings = []
    first = next(iter(listing(mapping(report).get("metrics"))), None)
    headline = mapping(report.get("primary_metric_identity")).get("name") or mapping(first).get(
        "name"
    )
    if f"axis:{headline}" in AXES:
        warnings.append(
            f"evalscope's headline is the axis {AXES[f'axis:{headline}'].lower()}, not the overall score; the overall score is "
            "compared here."
        )
    if any(value == 0 for name, value in stated.items() if name.startswith("theme:")):
        warnings.append(
            "evalscope clips the mean of each theme before it averages the themes: where a theme's mean is below 0, its overall "
            "and axis figures are higher than those of the official rule."
        )
    return warnings


def _read(paths: list[Path], info: RunInfo, report: ImportReport) -> Iterator[GradedExample]:
    notes: Counter[str] = Counter()
    graders: set[str] = set()
    for path in paths:
        for number, row in json_rows(look(path)):
            where = Where(path.name, number)
            if not isinstance(row, dict):
                raise where.refuse("the row", f"is {kind_name(row)}, not an object", _AS_WRITTEN)
            if not _is_review(row):
                raise where.refuse("sample_score.sample_metadata", "holds no rubric", _AS_WRITTEN)
            of_example: set[str] = set()
            yield _example(row, where, report, of_example, graders)
            notes.update(of_example)
    info.grader = ", ".join(sorted(graders)) or None
    if notes[_EXCLUDED]:
        # evalscope drops such a row from every figure; here its axes that were graded still count.
        info.stated = {n: v for n, v in info.stated.items() if not n.startswith("axis:")}
    report.warnings += noted(notes)


def _example(
    row: dict[str, Any],
    where: Where,
    report: ImportReport,
    notes: set[str],
    graders: set[str],
) -> GradedExample:
    sample = mapping(row["sample_score"])
    score, metadata = mapping(sample.get("score")), mapping(sample.get("sample_metadata"))
    summary = mapping(score.get("judge_summary"))
    criteria = rubric_of(metadata, where)
    prompt_id = id_of(metadata.get("prompt_id"))
    if prompt_id is None:
        raise where.refuse("sample_metadata.prompt_id", "is missing", _AS_WRITTEN)
    details = mapping(score.get("metadata"))
    for model in [*listing(summary.get("judge_models")), details.get("model")]:
        graders.update({name} if (name := id_of(model)) else ())
    if score.get("status") == "excluded":
        notes.add(_EXCLUDED)
    report.canary = report.canary or canary_of(metadata)
    error = summary.get("error")
    return GradedExample(
        prompt_id,
        messages_of(metadata.get("prompt"), where),
        _reply(score, row),
        criteria,
        _verdicts(details, criteria, report, notes),
        example_tags=tags_of(metadata.get("example_tags"), where, "example_tags") or None,
        stated_score=fraction_of(mapping(score.get("value")).get("overall_score")),
        error=text_of(error) if error else None,
    )


def _verdicts(
    details: Mapping[str, Any],
    criteria: Sequence[Criterion],
    report: ImportReport,
    notes: set[str],
) -> list[Verdict]:
    attempts = details.get("judge_attempts")
    if isinstance(attempts, list):
        return _of_attempts(attempts, len(criteria), report, notes)
    text = text_of(details.get("readable_explanation"))
    placed = place_lines(read_lines(text, SIMPLE_EVALS, criteria).lines, criteria)
    if placed.unclear:
        notes.add(UNCLEAR_TAGS)
    return [
        verdict_of(None, None, report)
        if line is None
        else verdict_of(line.met, line.explanation, report)
        for line in placed.lines
    ]


def _of_attempts(
    attempts: list[Any], n_criteria: int, report: ImportReport, notes: set[str]
) -> list[Verdict]:
    """Return the verdict on each criterion; unknown where no attempt succeeded, or where judges disagree."""
    given: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for attempt in attempts:
        case = _CASE.fullmatch(text_of(mapping(attempt).get("case_id")))
        parsed = mapping(mapping(attempt).get("parsed_value"))
        if case and "criteria_met" in parsed and mapping(attempt).get("status") == "success":
            given[int(case[1])].append(parsed)
    verdicts = []
    for place in range(n_criteria):
        values = given[place] or [{}]
        if len({str(value.get("criteria_met")) for value in values}) > 1:
            notes.add(DISAGREEING)
            values = [{}]
        verdicts.append(
            verdict_of(values[0].get("criteria_met"), values[0].get("explanation"), report)
        )
    return verdicts


def _reply(score: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    if isinstance(score.get("prediction"), str):
        return str(score["prediction"])
    turns = [
        m for m in listing(mapping(row).get("messages")) if mapping(m).get("role") == "assistant"
    ]
    return text_of(turns[-1].get("content")) if turns else ""
