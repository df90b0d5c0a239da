"""Inspect logs of a HealthBench task, graded by the scorers of inspect_evals or of openbench.

Source: logs of inspect_ai 0.3, read without inspect_ai. The header says model, grader and the producer's figures. Any text of
a sample may stand as ``attachment://<hash>`` in the sample's own attachments. Epochs are repeats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from healthbench.errors import NotAGradedRunError
from healthbench.model import Criterion, GradedExample, ImportReport, RunInfo, Verdict
from healthbench.readers.fields import (
    Where,
    canary_of,
    id_of,
    kind_name,
    messages_of,
    tags_of,
    text_of,
    verdict_of,
)
from healthbench.readers.foreign import listing, mapping, noted, rubric_of
from healthbench.readers.inspect_file import Log, open_log, recognise
from healthbench.readers.inspect_scorer import INSPECT_EVALS, Graded, Scorer
from healthbench.readers.openbench import OPENBENCH
from healthbench.readers.source import RunSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from healthbench.readers.head import Head

__all__ = ["open_run", "recognise"]

_SCORERS = (INSPECT_EVALS, OPENBENCH)
_ATTACHMENT = "attachment://"
_BENCHMARKS = {
    "full": "HealthBench",
    "healthbench": "HealthBench",
    "hard": "HealthBench Hard",
    "healthbench_hard": "HealthBench Hard",
    "consensus": "HealthBench Consensus",
    "healthbench_consensus": "HealthBench Consensus",
}
_SHOWN_ARGUMENTS = (
    "subset",
    "judge_temperature",
    "judge_max_tokens",
    "length_adjustment_center",
    "length_adjustment_penalty_per_500_chars",
)
_SHOWN_GENERATION = ("temperature", "top_p", "max_tokens", "reasoning_effort", "seed")
_NOT_GRADED = "the log gives a score without having graded it"
_AS_WRITTEN = "give the log as Inspect wrote it"


def open_run(heads: Sequence[Head], dataset: Path | None) -> list[RunSource]:
    """Open one log.

    Raises:
        NotAGradedRunError: No sample was graded, or not by a rubric scorer this reader knows.
        InputRefusedError: The log is damaged or unsafe.
    """
    del dataset  # samples carry their rubric
    log = open_log(heads[0])
    scorer = _scorer(log)
    info, report = _info(log, scorer), ImportReport(recognised_by=recognise(heads[0]) or "")
    if log.repeated:
        report.duplicates.append(
            f"{log.repeated} members of the log stand there more than once; the last of each is read."
        )
    return [RunSource(info, report, log.files, "", lambda: _read(log, scorer, report))]


def _scorer(log: Log) -> Scorer:
    """Find who graded, from the first graded sample."""
    others: set[str] = set()
    count: Counter[str] = Counter()
    for stored in log.samples():
        count["samples"] += 1
        sample = mapping(_resolved(stored))
        for name, score in mapping(sample.get("scores")).items():
            metadata = mapping(sample.get("metadata"))
            for scorer in _SCORERS:
                if scorer.has_graded(mapping(score), metadata):
                    return scorer
            others.add(str(name))
    samples = "1 sample" if count["samples"] == 1 else f"{count['samples']:,} samples"
    if others:
        raise NotAGradedRunError(
            f"{log.name} is an Inspect log of {log.evaluation.get('task', 'a task')} with {samples} scored by "
            f"{', '.join(sorted(others)[:3])}, without rubric verdicts; give a log of inspect_evals' or openbench's HealthBench."
        )
    raise NotAGradedRunError(
        f"{log.name} is an Inspect log with status {log.status}: {samples}, none graded; finish it with inspect eval-retry "
        "and give the new log."
    )


def _info(log: Log, scorer: Scorer) -> RunInfo:
    evaluation = log.evaluation
    arguments = mapping(evaluation.get("task_args"))
    task = str(evaluation.get("task", "")).rpartition("/")[2]
    info = RunInfo(
        source=log.name,
        format=scorer.format,
        model=id_of(evaluation.get("model")),
        grader=_grader(evaluation),
        benchmark=None
        if arguments.get("local_path")
        else _BENCHMARKS.get(str(arguments.get("subset", task))),
        created=id_of(evaluation.get("created")),
        clip_level=scorer.clip_level,
        rule=scorer.rule,
        stated=scorer.stated(listing(mapping(log.header.get("results")).get("scores"))),
        settings=_settings(log),
    )
    if log.epochs > 1:
        info.stated = {
            name: value
            for name, value in info.stated.items()
            if name in ("overall_score", "unclipped_mean", "overall_score_length_adjusted")
        }
    return info


def _grader(evaluation: Mapping[str, Any]) -> str | None:
    roles = mapping(evaluation.get("model_roles"))
    candidates = [
        mapping(evaluation.get("task_args")).get("judge_model"),
        mapping(evaluation.get("task_args")).get("grader_model"),
        roles.get("grader"),
    ]
    for scorer in listing(evaluation.get("scorers")):
        options = mapping(mapping(scorer).get("options"))
        candidates += [options.get("grader_model"), options.get("judge_model")]
    names = (
        id_of(mapping(c).get("model")) if isinstance(c, Mapping) else id_of(c) for c in candidates
    )
    return next((name for name in names if name), None)


def _settings(log: Log) -> dict[str, str]:
    evaluation = log.evaluation
    settings = {"task": text_of(evaluation.get("task")), "status": log.status}
    if log.epochs > 1:
        settings["epochs"] = str(log.epochs)
    for source, names in (
        (mapping(evaluation.get("task_args")), _SHOWN_ARGUMENTS),
        (mapping(evaluation.get("model_generate_config")), _SHOWN_GENERATION),
        (mapping(evaluation.get("packages")), ("inspect_ai", "inspect_evals", "openbench")),
    ):
        settings |= {name: str(source[name]) for name in names if source.get(name) is not None}
    return settings


def _read(log: Log, scorer: Scorer, report: ImportReport) -> Iterator[GradedExample]:
    notes: Counter[str] = Counter()
    n_samples = n_graded = 0
    for n_samples, stored in enumerate(log.samples(), start=1):
        where = Where(log.name, n_samples)
        if not isinstance(stored, Mapping):
            raise where.refuse("the sample", f"is {kind_name(stored)}, not an object", _AS_WRITTEN)
        sample = _resolved(stored, notes)
        score = _score_of(sample, scorer)
        n_graded += score is not None
        graded = _graded(sample, score, scorer, where, report)
        notes.update(graded.notes)
        example = _example(sample, score, graded, where, report)
        if example is not None:
            yield example
    report.warnings += noted(notes)
    report.warnings += _log_warnings(log, n_samples, n_graded)


def _log_warnings(log: Log, n_samples: int, n_graded: int) -> list[str]:
    warnings = []
    planned = mapping(log.evaluation.get("dataset")).get("samples")
    planned = planned * log.epochs if isinstance(planned, int) else n_samples
    if log.status != "success" or n_graded < n_samples or n_samples < planned:
        warnings.append(
            f"The log's status is {log.status}: {planned} samples were planned, {n_samples} are in the log and "
            f"{n_graded} of these were graded."
        )
    if log.header.get("invalidated") is True:
        warnings.append("The log is marked as invalidated.")
    if log.epochs > 1:
        warnings.append(
            "The log's own theme and axis figures are those of its first epoch only, so they are not compared with ours, "
            "which are over all epochs."
        )
    return warnings


def _score_of(sample: Mapping[str, Any], scorer: Scorer) -> Mapping[str, Any] | None:
    metadata = mapping(sample.get("metadata"))
    for score in mapping(sample.get("scores")).values():
        if scorer.has_graded(mapping(score), metadata):
            return mapping(score)
    return None


def _graded(
    sample: Mapping[str, Any],
    score: Mapping[str, Any] | None,
    scorer: Scorer,
    where: Where,
    report: ImportReport,
) -> Graded:
    metadata = mapping(sample.get("metadata"))
    if score is None:
        return _ungraded(sample, rubric_of(metadata, where), report)
    return scorer.graded(score, metadata, where, report)


def _example(
    sample: Mapping[str, Any],
    score: Mapping[str, Any] | None,
    graded: Graded,
    where: Where,
    report: ImportReport,
) -> GradedExample | None:
    metadata = mapping(sample.get("metadata"))
    if not graded.criteria:
        report.rows_skipped["neither verdicts nor a rubric"] += 1
        return None
    prompt_id = id_of(metadata.get("prompt_id")) or id_of(sample.get("id"))
    if prompt_id is None:
        raise where.refuse("prompt_id", "is missing", _AS_WRITTEN)
    report.canary = report.canary or canary_of(metadata)
    return GradedExample(
        prompt_id,
        messages_of(sample.get("input"), where, "input"),
        _reply(sample),
        graded.criteria,
        graded.verdicts,
        example_tags=_example_tags(score, metadata, where),
        completion_id=id_of(sample.get("uuid")),
        stated_score=graded.stated_score,
        error=_error(sample) if score is None else None,
    )


def _ungraded(sample: Mapping[str, Any], rubric: list[Criterion], report: ImportReport) -> Graded:
    """Make the verdicts of a sample that was not graded unknown.

    A reply that inspect_evals scores 0 without grading (an empty one) counts in its mean: its verdicts are stored
    as "not met", which gives that 0, and marked as failed.
    """
    scored = bool(mapping(sample.get("scores")))
    if not scored:
        return Graded(rubric, [verdict_of(None, None, report) for _ in rubric], None)
    report.verdicts["failure mark"] += len(rubric)
    return Graded(rubric, [Verdict(False, None, _NOT_GRADED) for _ in rubric], 0.0)


def _reply(sample: Mapping[str, Any]) -> str:
    output = mapping(sample.get("output"))
    if isinstance(output.get("completion"), str):
        return str(output["completion"])
    choices = listing(output.get("choices")) or [None]
    return text_of(mapping(mapping(choices[0]).get("message")).get("content"))


def _example_tags(
    score: Mapping[str, Any] | None, metadata: Mapping[str, Any], where: Where
) -> tuple[str, ...] | None:
    """Return the example's tags: its own, else the themes that the scorer copied into its items."""
    if metadata.get("example_tags") is not None:
        return tags_of(metadata["example_tags"], where, "example_tags")
    found = (
        tag
        for item in listing(mapping(mapping(score).get("metadata")).get("detailed_results"))
        for tag in tags_of(mapping(item).get("tags"), where)
        if tag.startswith("theme:")
    )
    return tuple(dict.fromkeys(found)) or None


def _error(sample: Mapping[str, Any]) -> str | None:
    error, limit = mapping(sample.get("error")), mapping(sample.get("limit"))
    if error:
        return text_of(error.get("message")) or "not told"
    return f"stopped by a limit ({limit.get('type', 'not told')})" if limit else "not graded"


def _resolved(sample: Any, notes: Counter[str] | None = None) -> Any:
    """Put the attachments of a sample where its texts refer to them."""
    attachments = mapping(mapping(sample).get("attachments"))
    lost = False

    def put(value: Any) -> Any:
        nonlocal lost
        if isinstance(value, str):
            if not value.startswith(_ATTACHMENT):
                return value
            text = attachments.get(value.removeprefix(_ATTACHMENT))
            lost = lost or not isinstance(text, str)
            return text if isinstance(text, str) else value
        if isinstance(value, list):
            return [put(part) for part in value]
        if isinstance(value, dict):
            return {key: put(part) for key, part in value.items()}
        return value

    if not isinstance(sample, Mapping):
        return sample
    used = ("id", "input", "output", "scores", "metadata", "error", "limit", "uuid")
    resolved = {key: put(sample[key]) for key in used if key in sample}
    if lost and notes is not None:
        notes["texts are kept as attachments that the log does not hold"] += 1
    return resolved
