"""``results.jsonl`` of verifiers (Prime), as MedARC's HealthBench environment fills it.

Source: verifiers 0.1 and MedARC-AI/medmarks, ``environments/healthbench``. Rubrics stand as parallel arrays in ``info``; verdicts
only where the state column ``performance_by_rubric`` was saved, one list a scoring. Rewards are clipped to [0, 1] for
every example. A grader's reply that could not be read is stored as not met without an explanation.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.model import Criterion, GradedExample, ImportReport, RunInfo, Verdict
from healthbench.readers.fields import (
    VERIFIERS_MARKS,
    Where,
    fraction_of,
    id_of,
    kind_name,
    messages_of,
    points_of,
    required_text,
    text_of,
    verdict_of,
)
from healthbench.readers.foreign import DISAGREEING, first_row, listing, mapping, noted
from healthbench.readers.head import Head, json_document, json_rows, parse_json
from healthbench.readers.source import RunSource
from healthbench.taxonomy import AXES, CATEGORIES, CLUSTER_PREFIX, QUESTIONS, THEMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_VERDICTS = "performance_by_rubric"
_AS_WRITTEN = "give the file as verifiers wrote it"
_BENCHMARKS = {
    "all": "HealthBench",
    "hard": "HealthBench Hard",
    "consensus": "HealthBench Consensus",
    "professional": "HealthBench Professional",
}
_CATEGORY_OF = {name: tag for tag, name in CATEGORIES.items()}
_QUESTION_OF = {name: tag for tag, name in QUESTIONS.items()}
_THEME_OF = {name: tag for tag, name in THEMES.items()}


def recognise(head: Head) -> str | None:
    """Recognise rows with a reward and rubrics as parallel arrays.

    Raises:
        NotAGradedRunError: It is verifiers' metadata, or a trace of verifiers' second generation.
    """
    if head.kind not in ("json", "jsonl"):
        return None
    row, name = first_row(head), head.path.name
    if {"avg_reward", "rollouts_per_example"} <= row.keys():
        raise NotAGradedRunError(
            f"{name} is the metadata of a verifiers run; give the results.jsonl beside it."
        )
    if {"nodes", "rewards", "task"} <= row.keys():
        raise NotAGradedRunError(
            f"{name} holds traces of verifiers' second generation, which keep rewards but no rubric verdicts; give a "
            "results.jsonl saved with the state column performance_by_rubric."
        )
    if "reward" not in row or not {"criteria", "points_list"} <= _info_of(row, name).keys():
        return None
    return "reward and info with criteria and points_list, as verifiers writes MedARC's environment"


def open_run(heads: Sequence[Head], dataset: Path | None) -> list[RunSource]:
    """Open one results file, with the metadata.json beside it where there is one.

    Raises:
        NotAGradedRunError: The rows were saved without verdicts.
    """
    del dataset  # rows carry their rubric
    head = heads[0]
    path = head.path
    if not any(_VERDICTS in row for _, row in json_rows(head) if isinstance(row, dict)):
        raise NotAGradedRunError(
            f"{path.name} holds rewards but no verdicts, as verifiers saves by default; evaluate again with make_dataset and "
            "the state column performance_by_rubric (vf-eval --state-columns performance_by_rubric) and give that results.jsonl."
        )
    beside = path.with_name("metadata.json")
    metadata: Mapping[str, Any] = mapping(json_document(beside)) if beside.is_file() else {}
    report = ImportReport(recognised_by=recognise(head) or "")
    files = (path, beside) if metadata else (path,)
    info = _info(path, metadata)
    return [RunSource(info, report, files, "", lambda: _read(head, info, report))]


def _info(path: Path, metadata: Mapping[str, Any]) -> RunInfo:
    arguments = mapping(metadata.get("env_args"))
    reward = fraction_of(mapping(metadata.get("avg_metrics")).get("reward_healthbench"))
    adjusted = arguments.get("use_length_adjusted_as_reward") is True
    if reward is None or adjusted:
        reward = fraction_of(metadata.get("avg_reward"))
    settings = {
        name: str(value)
        for name, value in (
            *mapping(metadata.get("sampling_args")).items(),
            *((name, arguments.get(name)) for name in arguments if "length_adjust" in name),
            ("rollouts per example", metadata.get("rollouts_per_example")),
        )
        if isinstance(value, str | int | float)
    }
    return RunInfo(
        source=path.name,
        format="verifiers results (MedARC)",
        model=id_of(metadata.get("model")),
        grader=id_of(arguments.get("judge_model")),
        benchmark=_BENCHMARKS.get(str(arguments.get("difficulty"))),
        clip_level="example",
        # Both clip every example; "medarc" adjusts for length first, which the environment does on request only.
        rule="medarc" if adjusted else "openbench",
        stated={} if reward is None else {"overall_score": reward},
        settings=settings,
    )


def _info_of(row: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Return ``info``, which some versions write as JSON text."""
    info = row.get("info")
    if isinstance(info, str) and info.lstrip().startswith("{"):
        try:
            info = parse_json(info, where)
        except InputRefusedError:
            return {}
    return mapping(info)


def _read(head: Head, info: RunInfo, report: ImportReport) -> Iterator[GradedExample]:
    notes: Counter[str] = Counter()
    graders: set[str] = set()
    for number, row in json_rows(head):
        where = Where(head.path.name, number)
        if not isinstance(row, dict):
            raise where.refuse("the row", f"is {kind_name(row)}, not an object", _AS_WRITTEN)
        of_example: set[str] = set()
        yield _example(row, where, report, of_example, graders)
        notes.update(of_example)
    info.grader = info.grader or ", ".join(sorted(graders)) or None
    report.warnings += noted(notes)


def _example(
    row: dict[str, Any],
    where: Where,
    report: ImportReport,
    notes: set[str],
    graders: set[str],
) -> GradedExample:
    info = _info_of(row, str(where))
    criteria = _criteria(info, where)
    graded = _graded(row, info, str(where))
    if len(graded) != len(criteria):
        notes.add("there is not one verdict for each criterion, so all are unknown")
        graded = [{}] * len(criteria)
    verdicts = [_verdict(item, report, notes, graders) for item in graded]
    prompt_id = id_of(info.get("prompt_id")) or id_of(row.get("example_id"))
    if prompt_id is None:
        raise where.refuse("info.prompt_id", "is missing", _AS_WRITTEN)
    theme = info.get("theme")
    theme_tag = f"theme:{theme.removeprefix('theme:')}" if isinstance(theme, str) else ""
    score = fraction_of(row.get("reward_healthbench"))
    error = row.get("error")
    return GradedExample(
        prompt_id,
        messages_of(row.get("prompt"), where),
        _reply(row.get("completion")),
        criteria,
        verdicts,
        example_tags=(theme_tag,) if theme_tag in THEMES else None,
        stated_score=fraction_of(row.get("reward")) if score is None else score,
        error=text_of(error) if error else None,
    )


def _criteria(info: Mapping[str, Any], where: Where) -> list[Criterion]:
    texts, points = info.get("criteria"), info.get("points_list")
    if not isinstance(texts, list) or not isinstance(points, list) or len(texts) != len(points):
        raise where.refuse(
            "info", "does not hold criteria and points_list of one length", _AS_WRITTEN
        )
    axes, consensus = info.get("axes"), info.get("consensus_criteria")
    tags: list[tuple[str, ...]] = [()] * len(texts)
    if isinstance(consensus, list) and len(consensus) == len(texts):
        tags = [_level_tags(item) for item in consensus]
    if isinstance(axes, list) and len(axes) == len(texts):
        tags = [own + _axis_tag(axis) for own, axis in zip(tags, axes, strict=True)]
    criteria = []
    for place, text in enumerate(texts):
        here = where._replace(criterion=place + 1)
        criteria.append(
            Criterion(
                required_text(text, here, "info.criteria"),
                points_of(points[place], here, "info.points_list"),
                tags[place],
            )
        )
    return criteria


def _axis_tag(axis: Any) -> tuple[str, ...]:
    tag = f"axis:{axis.removeprefix('axis:')}" if isinstance(axis, str) else ""
    return (tag,) if tag in AXES else ()


def _level_tags(consensus: Any) -> tuple[str, ...]:
    """Return the level, and the cluster that the environment names by theme, category and question."""
    if not isinstance(consensus, dict) or not consensus:
        return ("level:example",) if consensus is None else ()
    theme = _THEME_OF.get(str(consensus.get("theme")))
    category = _CATEGORY_OF.get(str(consensus.get("behavior_category")))
    question = _QUESTION_OF.get(str(consensus.get("criterion")))
    if theme and category and question:
        cluster = f"{CLUSTER_PREFIX}{theme.removeprefix('theme:')}_{category}_{question}"
        return ("level:cluster", cluster)
    return ("level:cluster",)


def _graded(row: dict[str, Any], info: Mapping[str, Any], where: str) -> list[Any]:
    """Return the verdicts of the last scoring, [] where there are none; nested once or twice, or as JSON text."""
    graded = row.get(_VERDICTS, info.get(_VERDICTS))
    if isinstance(graded, str):
        graded = parse_json(graded, where)
    if isinstance(graded, list) and graded and isinstance(graded[-1], list):
        graded = graded[-1]
    return graded if isinstance(graded, list) else []


def _verdict(item: Any, report: ImportReport, notes: set[str], graders: set[str]) -> Verdict:
    graded = mapping(item)
    explanation = graded.get("judge_explanation", graded.get("explanation"))
    judges = [mapping(judge) for judge in listing(graded.get("judges"))]
    graders.update(name for judge in judges if (name := id_of(judge.get("model"))))
    if len({str(judge.get("criteria_met")) for judge in judges}) > 1:
        notes.add(DISAGREEING)
        return verdict_of(None, explanation, report)
    return verdict_of(graded.get("criteria_met"), explanation, report, VERIFIERS_MARKS)


def _reply(completion: Any) -> str:
    if isinstance(completion, list):
        turns = [m for m in completion if isinstance(m, dict) and m.get("role") == "assistant"]
        return text_of(turns[-1].get("content")) if turns else text_of(completion)
    return text_of(completion)
