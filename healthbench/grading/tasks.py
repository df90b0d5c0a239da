"""What is to be graded: replies from a JSON-lines file, each with the conversation and rubric of its prompt_id."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import InputRefusedError
from healthbench.grading.grader import Question, questions_of
from healthbench.model import GradedExample
from healthbench.readers.dataset import DatasetRow, read_dataset
from healthbench.readers.fields import Where, id_of, kind_name
from healthbench.readers.head import lines, look

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from healthbench.grading.settings import GraderSettings
    from healthbench.grading.template import Template
    from healthbench.model import Verdict


class Task(NamedTuple):
    """One reply to grade.

    Attributes:
        row: Its conversation and rubric.
        reply: The reply's text.
        sample: The how-manieth reply to this conversation it is, from 0; equal replies are graded apart, as the
            reference grades them.
    """

    row: DatasetRow
    reply: str
    sample: int

    def questions(self, settings: GraderSettings, template: Template) -> list[Question]:
        """Write the question about each of its criteria, in rubric order."""
        return questions_of(
            self.row.prompt,
            self.reply,
            self.row.criteria,
            settings=settings,
            template=template,
            sample=self.sample,
        )

    def graded(self, verdicts: list[Verdict]) -> GradedExample:
        """Put the verdicts, one a criterion, to the reply."""
        return GradedExample(
            prompt_id=self.row.prompt_id,
            prompt=self.row.prompt,
            reply=self.reply,
            criteria=self.row.criteria,
            verdicts=verdicts,
            example_tags=self.row.example_tags,
        )


class Tasks:
    """The replies of a file, checked once and then streamed as often as they are needed.

    Args:
        replies: JSON lines with ``prompt_id``, ``reply`` and, if wanted, ``repeat``. Gzip is looked through.
        dataset: A HealthBench or HealthBench Professional data set.

    Attributes:
        examples: Number of replies.
        criteria: Number of criteria over all of them.
        canary: The benchmark's canary, where the data set carries it.

    Raises:
        InputRefusedError: A line cannot be used, names an unknown conversation, or repeats an earlier line.
    """

    def __init__(self, replies: Path, dataset: Path) -> None:
        self._path = replies
        self._dataset = dataset.name
        self._rows = {row.prompt_id: row for row in read_dataset(dataset)}
        first = look(dataset).row
        mark = first.get("canary") or first.get("canary_string")
        self.canary = mark if isinstance(mark, str) else None
        self.examples = 0
        self.criteria = 0
        for task in self:
            self.examples += 1
            self.criteria += len(task.row.criteria)
        if not self.examples:
            raise InputRefusedError(
                f"{replies.name} holds no reply; write lines with prompt_id and reply."
            )

    def __iter__(self) -> Iterator[Task]:
        """Yield the replies in file order."""
        seen: Counter[str] = Counter()
        repeats: set[tuple[str, str]] = set()
        for number, line in lines(self._path):
            where = Where(self._path.name, number)
            row, reply, repeat = self._read(line, where)
            if repeat is not None and (row.prompt_id, repeat) in repeats:
                raise where.refuse(
                    "repeat",
                    "stands beside this prompt_id in an earlier line too",
                    "number the replies of a prompt",
                )
            if repeat is not None:
                repeats.add((row.prompt_id, repeat))
            yield Task(row, reply, seen[row.prompt_id])
            seen[row.prompt_id] += 1

    def _read(self, line: str, where: Where) -> tuple[DatasetRow, str, str | None]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise where.refuse(
                "the line", "is no JSON object", "write one object with prompt_id and reply a line"
            )
        prompt_id, reply = id_of(value.get("prompt_id")), value.get("reply")
        if prompt_id is None:
            raise where.refuse("prompt_id", "is missing", "write it as in the data set")
        if not isinstance(reply, str):
            what = "is missing" if reply is None else f"is {kind_name(reply)}, not text"
            raise where.refuse("reply", what, "write the model's reply as text")
        row = self._rows.get(prompt_id)
        if row is None:
            raise where.refuse(
                "prompt_id", f"is not in {self._dataset}", "give the data set the replies are for"
            )
        # JSON can escape half a surrogate pair, which the run's file could not hold.
        reply = reply.encode(errors="replace").decode()
        return row, reply, id_of(value.get("repeat"))
