"""What every import is checked for, whichever reader gives the examples."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from healthbench.errors import NotAGradedRunError
from healthbench.readers.faults import AttachmentCheck
from healthbench.readers.fields import Where
from healthbench.readers.reading import refusing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from healthbench.model import GradedExample, ImportReport, RunInfo
    from healthbench.readers.source import RunSource

MAX_CRITERIA = 5000

_NAMED = 5


def checked(source: RunSource) -> RunSource:
    """Return the source with its examples counted and doubted while they are read.

    This fills ``rows_read``, ``duplicates``, ``axes_from``, ``themes_from`` and the warnings that follow from the
    examples themselves, so that no reader has to.
    """
    return replace(source, examples=lambda: _watch(source))


def _watch(source: RunSource) -> Iterator[GradedExample]:
    report = source.report
    seen: Counter[str] = Counter()
    unscored: list[int] = []
    n_errors = n_empty = n_items = 0
    attachment = AttachmentCheck()
    for example in _reading(source):
        report.rows_read += 1
        seen[example.prompt_id] += 1
        n_items += len(example.criteria)
        n_errors += example.error is not None
        n_empty += not example.reply
        attachment.add(example)
        for criterion in example.criteria:
            if criterion.points > 0:
                break
        else:
            unscored.append(report.rows_read)
        if report.axes_from == "none" or report.themes_from == "none":
            _tag_sources(example, report)
        yield example
    if report.rows_read == 0:
        raise NotAGradedRunError(_no_example(source))
    report.duplicates += _repeats(seen)
    report.warnings += _verdict_warnings(report, n_items)
    if attachment.warning:
        report.warnings.append(attachment.warning)
    if unscored:
        report.warnings.append(
            f"{_count(len(unscored), 'example')} without a criterion of positive points: no score is defined there"
            f" ({_places(unscored)})."
        )
    if n_errors:
        report.warnings.append(f"The producer recorded an error for {_count(n_errors, 'example')}.")
    report.warnings += _reply_warnings(n_empty, report.rows_read)


def _reply_warnings(n_empty: int, n: int) -> list[str]:
    if n_empty == n > 1:
        return ["The file holds no replies, so their length is not known."]
    if n_empty:
        was = "is empty and was" if n_empty == 1 else "are empty and were"
        return [f"{_count(n_empty, 'reply', 'replies')} {was} graded as an answer."]
    return []


def _reading(source: RunSource) -> Iterator[GradedExample]:
    """Read the examples, refusing what no reader can take: a file that fails under it, or a rubric beyond any use."""
    with refusing(source.info.source):
        for number, example in enumerate(source.examples(), start=1):
            if len(example.criteria) > MAX_CRITERIA:
                raise Where(source.info.source, number).refuse(
                    "its rubric",
                    f"has {len(example.criteria):,} criteria, beyond the {MAX_CRITERIA:,} that can be shown (HealthBench "
                    "has up to 48)",
                    "check that the file holds one rubric an example",
                )
            yield example


def _tag_sources(example: GradedExample, report: ImportReport) -> None:
    themes = example.example_tags or ()
    if report.themes_from == "none" and any(tag.startswith("theme:") for tag in themes):
        report.themes_from = "file"
    if report.axes_from == "none":
        axes = (tag for criterion in example.criteria for tag in criterion.tags)
        if any(tag.startswith("axis:") for tag in axes):
            report.axes_from = "file"


def _no_example(source: RunSource) -> str:
    info: RunInfo = source.info
    skipped = "; ".join(f"{n} left out: {why}" for why, n in source.report.rows_skipped.items())
    reason = f" ({skipped})" if skipped else ""
    return f"{info.source} is {info.format} without a graded example{reason}; give a run that was graded."


def _repeats(seen: Counter[str]) -> list[str]:
    often = [n for n in seen.values() if n > 1]
    if not often:
        return []
    times = f"{min(often)}" if min(often) == max(often) else f"{min(often)} to {max(often)}"
    return [
        f"{_count(len(often), 'conversation')} answered {times} times: each row is kept as a repeat of its prompt."
    ]


def _verdict_warnings(report: ImportReport, n_items: int) -> list[str]:
    warnings = []
    missing = report.verdicts["null"] + report.verdicts["unreadable"]
    if missing:
        warnings.append(
            f"{missing:,} of {n_items:,} verdicts are missing or unreadable: they are unknown, and the scores of their"
            " examples are withheld."
        )
    if marked := report.verdicts["failure mark"]:
        warnings.append(
            f"{marked:,} of {n_items:,} verdicts are stored as not met although the grade failed: they are unknown."
        )
    return warnings


def _places(numbers: list[int]) -> str:
    named = ", ".join(str(n) for n in numbers[:_NAMED])
    more = len(numbers) - _NAMED
    return f"example {named}" + (f" and {more} more" if more > 0 else "")


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"
