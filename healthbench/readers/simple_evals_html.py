"""The HTML report of openai/simple-evals: often all that is left of a run.

Source: ``HTML_JINJA`` and ``make_report`` of openai/simple-evals, and its HealthBench addition. Messages are escaped
there; criteria and explanations are not, and were spliced in with ``<br>`` for each line break. They are therefore cut
out of the source text as it stands, never parsed as HTML, and shown by nobody as HTML.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.model import Criterion, GradedExample, ImportReport, Message, RunInfo, Verdict
from healthbench.readers.fields import SIMPLE_EVALS_MARKS, Where, points_of, verdict_of
from healthbench.readers.file_name import parse_file_name
from healthbench.readers.foreign import noted
from healthbench.readers.head import Head, decode_lines, open_binary
from healthbench.readers.join import Join, index_of, prompt_hash
from healthbench.readers.simple_evals import ADJUSTED
from healthbench.readers.source import RunSource
from healthbench.readers.verdict_text import DOUBTFUL, SIMPLE_EVALS, Line, Reading, read_lines
from healthbench.taxonomy import CONVERSATION_TYPES, DIFFICULTIES, USE_CASES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_PROMPT = "<h3>Prompt conversation</h3>"
_REPLY = "<h3>Sampled message</h3>"
_RESULTS = "<h3>Results</h3>"
_GRADES = "<p>Rubrics with grades:"
_END = re.compile(rf"</p>\s*(?:<hr\s*/?>)?\s*(?={re.escape(_PROMPT)}|</body>)")
_MESSAGE = re.compile(
    r'<div class="message ([^"]*)">\s*<div class="role">.*?</div>\s*'
    r'<div class="content">\s*<pre>(.*?)</pre>',
    re.DOTALL,
)
_METRIC = re.compile(r"<td>(.*?)</td>\s*<td>(.*?)</td>", re.DOTALL)
_SCORE = re.compile(r"<p>Score: (.*?)</p>\s*\Z")
_BREAK = re.compile(r"<br\s*/?>")
_PROFESSIONAL = {*USE_CASES, *CONVERSATION_TYPES, *DIFFICULTIES}
_LARGEST = 1 << 29  # bytes; the report of 5,000 examples has about 75 MB
_META_EVALUATION = "pairwise_model_f1"


class _Piece(NamedTuple):
    """The text of one example's parts."""

    where: Where
    prompt: list[Message]
    reply: str
    stated_score: float | None
    grades: str


def recognise(head: Head) -> str | None:
    """Recognise a simple-evals report by its headings.

    Raises:
        NotAGradedRunError: It is a report of another evaluation, or of none.
    """
    if head.kind != "html" or "<h1>Metrics</h1>" not in head.text:
        return None
    if _GRADES in head.text:
        return "the headings of a simple-evals report, with graded rubrics"
    name = head.path.name
    if _META_EVALUATION in head.text:
        raise NotAGradedRunError(
            f"{name} is the report of a HealthBench meta-evaluation (how well graders agree), not of a graded run; "
            "give the report or the _allresults.json of a run."
        )
    if "<p>Correct Answer:" in head.text or _PROMPT not in head.text:
        raise NotAGradedRunError(
            f"{name} is a simple-evals report without graded rubrics (another evaluation, or no examples); give the "
            "report of a HealthBench run."
        )
    return "the headings of a simple-evals report"


def open_run(heads: Sequence[Head], dataset: Path | None) -> list[RunSource]:
    """Open one report. With a data set, examples get their prompt_id, tags and theme from it."""
    path = heads[0].path
    name = parse_file_name(path.name)
    info = RunInfo(
        source=path.name,
        format="simple-evals HTML report",
        model=name.model,
        benchmark=name.benchmark,
        created=name.created,
        clip_level="run",
        settings={"file name suffix": " ".join(name.suffixes)} if name.suffixes else {},
    )
    report = ImportReport(recognised_by=recognise(heads[0]) or "")

    def examples() -> Iterator[GradedExample]:
        text = _text(path)
        info.stated.update(_stated(text[: text.find(_PROMPT)]))
        if _PROFESSIONAL & info.stated.keys():
            info.benchmark = "HealthBench Professional"
        if ADJUSTED in info.stated:
            report.warnings.append(
                "The report states a length-adjusted score for the whole run only: its scores by tag are raw."
            )
        pieces = list(_pieces(text, path.name))
        join = dataset and Join.load(dataset, {prompt_hash(piece.prompt) for piece in pieces})
        yield from _examples(pieces, join or None, report)

    # With its conversations known it is another run than the same report without.
    part = "joined" if dataset and _is_known(path, dataset) else ""
    return [RunSource(info, report, (path,), part, examples)]


def _is_known(path: Path, dataset: Path) -> bool:
    known = index_of(dataset).conversations
    return any(prompt_hash(piece.prompt) in known for piece in _pieces(_text(path), path.name))


def _text(path: Path) -> str:
    with open_binary(path) as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise InputRefusedError(
            f"{path.name} is larger than 512 MB, more than any report of a run; give the run's _allresults.json."
        )
    return decode_lines(data)


def _stated(text: str) -> dict[str, float]:
    """Return the figures of the metrics table by name; its headline is named ``score``."""
    figures = {}
    for name, value in _METRIC.findall(text):
        number = _number(html.unescape(value))
        if number is not None:
            plain = html.unescape(re.sub(r"</?b>", "", name)).strip()
            figures["score" if plain == "Score" else plain] = number
    return figures


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _pieces(text: str, source: str) -> Iterator[_Piece]:
    """Cut the report into its examples.

    Raises:
        InputRefusedError: The report ends within an example, or an example lacks a part.
    """
    begin = text.find(_PROMPT)
    number = 0
    while begin >= 0:
        number += 1
        where = Where(source, number)
        reply = _find(text, _REPLY, begin, where)
        results = _find(text, _RESULTS, reply, where)
        grades = _find(text, _GRADES, results, where)
        end = _END.search(text, grades)
        if end is None:
            raise InputRefusedError(f"{where} is cut off; copy the whole report again.")
        prompt = _messages(text[begin:reply])
        answer = _messages(text[reply:results])
        if not prompt or len(answer) != 1:
            raise where.refuse(
                "conversation",
                "does not have the form of the report",
                "give the file as it was written",
            )
        stated = _SCORE.search(text, results, grades)
        yield _Piece(
            where,
            prompt,
            answer[0].content,
            _number(html.unescape(stated[1])) if stated else None,
            _BREAK.sub("\n", text[grades + len(_GRADES) : end.start()]).strip(" "),
        )
        begin = text.find(_PROMPT, end.end())
    if "</body>" not in text[-400:]:
        raise InputRefusedError(
            f"{source} is cut off after example {number}; copy the whole report again."
        )


def _find(text: str, heading: str, begin: int, where: Where) -> int:
    place = text.find(heading, begin)
    following = text.find(_PROMPT, begin + 1)
    if place < 0 or 0 <= following < place:
        raise where.refuse(
            re.sub(r"<.*?>", "", heading).rstrip(":"),
            "is missing",
            "give the whole report as it was written",
        )
    return place


def _messages(text: str) -> list[Message]:
    return [
        Message(html.unescape(role).strip() or "user", html.unescape(content))
        for role, content in _MESSAGE.findall(text)
    ]


def _examples(
    pieces: list[_Piece], join: Join | None, report: ImportReport
) -> Iterator[GradedExample]:
    doubtful = 0
    while pieces:
        piece = pieces.pop(0)
        if not piece.grades.strip():
            report.rows_skipped["no graded criteria"] += 1
            continue
        example, reading = _example(piece, join, report)
        doubtful += reading.doubtful
        yield example
    notes = Counter({DOUBTFUL: doubtful})
    report.warnings += noted(notes if join is None else join.notes() + notes)
    if join is None or not join.matched:
        report.warnings.append(
            "The report names neither prompt_ids nor tags: prompts are told apart by a hash of their words, and there "
            "are no themes or axes; attach the data set to have them."
        )


def _example(
    piece: _Piece, join: Join | None, report: ImportReport
) -> tuple[GradedExample, Reading]:
    def reading_for(rubric: Sequence[Criterion]) -> Reading:
        return read_lines(piece.grades, SIMPLE_EVALS, rubric, piece.stated_score)

    key = prompt_hash(piece.prompt)
    joined = None if join is None else join.find(key, lambda rubric: reading_for(rubric).lines)
    if joined is not None:
        report.themes_from = report.axes_from = "dataset"
        report.canary = report.canary or joined.row.canary
        reading = Reading(joined.lines)
        criteria = joined.row.criteria
    else:
        reading = reading_for(())
        if not reading.lines:
            raise piece.where.refuse(
                "graded criteria", "cannot be read", "give the report as simple-evals wrote it"
            )
        criteria = [
            Criterion(line.text, points_of(line.points, piece.where), ()) for line in reading.lines
        ]
    return (
        GradedExample(
            joined.row.prompt_id if joined else key,
            piece.prompt,
            piece.reply,
            list(criteria),
            [_verdict(line, report) for line in reading.lines],
            example_tags=joined.row.example_tags if joined else None,
            stated_score=piece.stated_score,
        ),
        reading,
    )


def _verdict(line: Line, report: ImportReport) -> Verdict:
    return verdict_of(line.met, line.explanation, report, SIMPLE_EVALS_MARKS)
