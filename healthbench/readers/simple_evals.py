"""The ``_allresults.json`` of openai/simple-evals and its forks.

One JSON object of 100 to 200 MB a full run, two thirds of it HTML and repeated conversations that are skipped. It is
streamed; the benchmark of this reader is Python's own ``json.load`` of the same file. The rows a run has by the ten
thousand take the short way below when every type is the reference's own; anything else takes the long way, which
counts conversions and names the place of what it refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from healthbench.errors import NotAGradedRunError
from healthbench.model import Criterion, GradedExample, ImportReport, RunInfo, Verdict
from healthbench.readers.fields import (
    MAX_POINTS,
    SIMPLE_EVALS_MARKS,
    Where,
    canary_of,
    content_id,
    fraction_of,
    id_of,
    kind_name,
    messages_of,
    points_of,
    required_text,
    stated_figures,
    tags_of,
    text_of,
    verdict_of,
)
from healthbench.readers.file_name import parse_file_name
from healthbench.readers.head import Head, json_items
from healthbench.readers.refusals import is_meta_evaluation
from healthbench.readers.source import RunSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FORMAT = "simple-evals allresults"
ADJUSTED = "overall_score_length_adjusted"
_EXAMPLES = "metadata.example_level_metadata.item"
_PROFESSIONAL_TAGS = frozenset(
    {"consult", "writing", "research", "good_faith", "red_teaming", "typical", "difficult"}
)
_NO_WORDS = "No explanation provided"


def recognise(head: Head) -> str | None:
    """Say why a file is simple-evals' allresults; None where it is not.

    Raises:
        NotAGradedRunError: It is simple-evals' meta-evaluation of a grader.
    """
    value = head.value
    if head.kind != "json" or not isinstance(value, dict):
        return None
    metadata = value.get("metadata")
    own = isinstance(metadata, dict) and "example_level_metadata" in metadata
    bulk = {"htmls", "convos"} & value.keys() or ("metadata" in value and "metrics" in value)
    metrics = value.get("metrics")
    cut_short = (
        isinstance(metrics, dict)
        and "overall_score" in metrics
        and not head.text.rstrip().endswith("}")
    )
    if not (
        own or (bulk and ({"score", "metrics"} & value.keys() or len(value) == 1)) or cut_short
    ):
        return None
    if is_meta_evaluation(value, value):
        raise NotAGradedRunError(
            f"{head.path.name} is simple-evals' meta-evaluation of a grader (its agreement with physicians), not a"
            " graded run; give a run's _allresults.json."
        )
    return "score, metrics and example_level_metadata, as simple-evals writes them"


def open_run(heads: Sequence[Head], dataset: Path | None) -> list[RunSource]:
    """Open one allresults file.

    Raises:
        InputRefusedError: The file ends before its metrics, or is not JSON.
    """
    del dataset  # examples carry their rubric
    head = heads[0]
    name = parse_file_name(head.path.name)
    top = _top_level(head)
    info = RunInfo(
        source=head.path.name,
        format=FORMAT,
        model=name.model,
        benchmark=name.benchmark,
        created=name.created,
        clip_level="run",
        stated=stated_figures(top["metrics"]),
        settings={"file name suffix": " ".join(name.suffixes)} if name.suffixes else {},
        synthetic=top["synthetic"] is True,
    )
    if (score := fraction_of(top["score"])) is not None:
        info.stated["score"] = score
    if any(tag in _PROFESSIONAL_TAGS for tag in info.stated):
        info.benchmark = "HealthBench Professional"
    report = ImportReport(recognised_by=recognise(head) or "")
    if ADJUSTED in info.stated:
        report.warnings.append(
            "The file states a length-adjusted score for the whole run only: its scores by tag are raw."
        )
    return [RunSource(info, report, (head.path,), "", lambda: _read(head.path, info, report))]


def _top_level(head: Head) -> dict[str, Any]:
    """Return score, metrics and synthetic: from the head where they stand there whole, else by a second pass."""
    seen = list(head.value)
    top = {key: head.value.get(key) for key in ("score", "metrics", "synthetic")}
    whole = "metrics" in seen and (seen[-1] != "metrics" or head.text.rstrip().endswith("}"))
    if not (whole and "score" in seen):
        for key in top:
            top[key] = next(iter(json_items(head.path, key)), None)
    if isinstance(metadata := head.value.get("metadata"), dict) and top["synthetic"] is None:
        top["synthetic"] = metadata.get("synthetic")
    return top


def _read(path: Path, info: RunInfo, report: ImportReport) -> Iterator[GradedExample]:
    examples = _Examples(path.name, report)
    number = 0
    for number, row in enumerate(json_items(path, _EXAMPLES, skip=True), start=1):
        yield examples.example(row, number)
    if number == 0 and not any(True for _ in json_items(path, "metadata.example_level_metadata")):
        raise NotAGradedRunError(
            f"{path.name} is a simple-evals result without example_level_metadata: it holds no single verdicts; give"
            " the _allresults.json of a HealthBench run."
        )
    if ADJUSTED in info.stated and not examples.tagged:
        info.benchmark = "HealthBench Professional"
    if examples.wordless:
        report.warnings.append(
            f'{examples.wordless:,} verdicts came with "{_NO_WORDS}"; simple-evals writes that beside valid verdicts'
            " too, so they are kept."
        )


class _Examples:
    """Builds examples from rows; equal criteria are one object, which saves most of a run's memory."""

    def __init__(self, source: str, report: ImportReport) -> None:
        self.source = source
        self.report = report
        self.known: dict[tuple[str, float, tuple[str, ...]], Criterion] = {}
        self.tag_sets: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.tagged = False
        self.wordless = 0

    def example(self, row: Any, number: int) -> GradedExample:
        where = Where(self.source, number)
        if not isinstance(row, dict):
            raise where.refuse(
                "the row", f"is {kind_name(row)}, not an object", "give the file simple-evals wrote"
            )
        items = row.get("rubric_items")
        if not isinstance(items, list):
            what = "is missing" if items is None else f"is {kind_name(items)}, not a list"
            raise where.refuse("rubric_items", what, "give the file simple-evals wrote")
        criteria, verdicts = self.graded(items, where)
        prompt = messages_of(row.get("prompt"), where)
        error = row.get("error")
        self.report.canary = self.report.canary or canary_of(row)
        return GradedExample(
            prompt_id=id_of(row.get("prompt_id")) or content_id(prompt),
            prompt=prompt,
            reply=_reply(row),
            criteria=criteria,
            verdicts=verdicts,
            example_tags=tags_of(row.get("example_tags"), where, "example_tags") or None,
            completion_id=id_of(row.get("completion_id")),
            stated_score=fraction_of(row.get("score")),
            error=text_of(error) if error else None,
        )

    def graded(self, items: list[Any], where: Where) -> tuple[list[Criterion], list[Verdict]]:
        """Read a rubric with its verdicts; this loop runs 57,000 times a run and is written for speed."""
        criteria: list[Criterion] = []
        verdicts: list[Verdict] = []
        known, tag_sets, marked = self.known, self.tag_sets, SIMPLE_EVALS_MARKS.start.match
        make = tuple.__new__  # what a named tuple's own constructor calls, at half the time
        n_fast = 0
        for item in items:
            try:
                text, points, met = item["criterion"], item["points"], item["criteria_met"]
                tags, words = tag_sets[tuple(item["tags"])], item["explanation"]
                # 1 == True and 5 == 5.0 as keys, so a hit would say nothing about the type of the points.
                usual = type(points) is int and type(met) is bool and type(words) is str
                criterion = known.get((text, points, tags)) if usual else None
            except (KeyError, TypeError):
                usual, criterion = False, None
            if (
                usual
                and criterion is None
                and type(text) is str
                and text.strip()
                and 0 < abs(points) <= MAX_POINTS
            ):
                criterion = known[text, points, tags] = make(Criterion, (text, points, tags))
            if criterion is None or (not met and marked(words)):
                criterion, verdict = self.item(item, where._replace(criterion=len(criteria) + 1))
            else:
                n_fast += 1
                if words == _NO_WORDS:
                    self.wordless += 1
                verdict = make(Verdict, (met, words or None, None))
            criteria.append(criterion)
            verdicts.append(verdict)
        if n_fast:
            self.report.verdicts["bool"] += n_fast
        return criteria, verdicts

    def item(self, item: Any, where: Where) -> tuple[Criterion, Verdict]:
        """Read one criterion and its verdict the long way."""
        if not isinstance(item, dict):
            raise where.refuse(
                "the criterion",
                f"is {kind_name(item)}, not an object",
                "give the file simple-evals wrote",
            )
        text = required_text(item.get("criterion"), where, "criterion")
        points = points_of(item.get("points"), where)
        tags = tags_of(item.get("tags"), where)
        self.tagged = self.tagged or bool(tags)
        tags = self.tag_sets.setdefault(tags, tags)
        criterion = self.known.setdefault((text, points, tags), Criterion(text, points, tags))
        words = item.get("explanation")
        self.wordless += words == _NO_WORDS
        return criterion, verdict_of(
            item.get("criteria_met"), words, self.report, SIMPLE_EVALS_MARKS
        )


def _reply(row: dict[str, Any]) -> str:
    completion = row.get("completion")
    if isinstance(completion, list) and completion and isinstance(completion[-1], dict):
        turns = [m for m in completion if isinstance(m, dict) and m.get("role") == "assistant"]
        return text_of((turns or completion)[-1].get("content"))
    return text_of(completion if completion is not None else row.get("response_text"))
