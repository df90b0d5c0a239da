"""Grade a file of replies: in file order, resumable after any interruption, never paying twice for a verdict."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import deque
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import GradingError, InputRefusedError
from healthbench.grading.batch_ledger import Ledger
from healthbench.grading.cache import Charge, GradeCache
from healthbench.grading.cost import Estimate, budget_for, estimate, load_prices
from healthbench.grading.grader import Grader, Receipt
from healthbench.grading.provider import GradingStoppedError, Provider
from healthbench.grading.run_file import (
    RunFile,
    grader_identity,
    run_info,
    verdicts_of,
)
from healthbench.grading.tasks import Task, Tasks
from healthbench.model import Verdict
from healthbench.readers.own_jsonl import header_line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pydantic import SecretStr

    from healthbench.grading.cost import PriceTable
    from healthbench.grading.settings import GraderSettings
    from healthbench.grading.template import Template
    from healthbench.model import GradedExample


RUN_NAME = "grading run"


class Progress(NamedTuple):
    """How far a bulk grading is.

    Attributes:
        examples_done: Replies whose line is on the disk, those of earlier starts included.
        examples: Replies in all.
        criteria_done: Criteria decided or given up, those of earlier starts included.
        criteria: Criteria in all.
        receipt: What this start took so far.
        seconds: Since this start.
    """

    examples_done: int
    examples: int
    criteria_done: int
    criteria: int
    receipt: Receipt
    seconds: float

    @property
    def rate(self) -> float:
        """Criteria a second that the grader was asked about since this start."""
        asked = self.receipt.graded + self.receipt.unknown - self.receipt.cache_hits
        return asked / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Expected from the rate so far; None before there is one."""
        return (self.criteria - self.criteria_done) / self.rate if self.rate > 0 else None


@dataclass(slots=True)
class BulkOutcome:
    """How a bulk grading ended.

    Attributes:
        path: The run.
        examples: Replies in all.
        written: Replies whose line is in the run.
        receipt: What this start took.
        charged: What all starts of this run were charged, as far as they were counted.
        stopped: Why it ended early, one sentence; None where it is complete.
        unknown: Criteria in the run without a verdict.
    """

    path: Path
    examples: int
    written: int
    receipt: Receipt
    charged: Charge
    stopped: str | None = None
    unknown: int = 0

    @property
    def complete(self) -> bool:
        """Whether every reply has its line."""
        return self.written == self.examples


@dataclass(frozen=True, kw_only=True, slots=True)
class BulkJob:
    """Everything a bulk grading needs to know.

    Attributes:
        replies: JSON lines with prompt_id, reply and, if wanted, repeat.
        dataset: The data set the replies are for.
        out: The run to write or to continue.
        settings: The grader.
        template: Its instructions.
        cache: The grade cache's file.
        prices: The price table.
        model: The model that replied, where it is known.
        max_cost: US dollars all starts of this run may cost; None has no cap.
        concurrency: Most requests at a time.
        resume: Whether a run that is there already is continued; else it is refused.
        retry_unknown: Whether criteria that stayed unknown in earlier starts are asked again.
    """

    replies: Path
    dataset: Path
    out: Path
    settings: GraderSettings
    template: Template
    cache: Path
    prices: PriceTable = field(default_factory=load_prices)
    model: str | None = None
    max_cost: float | None = None
    concurrency: int = 32
    resume: bool = True
    retry_unknown: bool = False


def estimate_file(job: BulkJob, *, batch: bool = False) -> Estimate:
    """Foresee calls, tokens and price range of what a job has left to grade, as if nothing were in the cache.

    Raises:
        InputRefusedError: A file cannot be used.
    """
    tasks = iter(Tasks(job.replies, job.dataset))
    if job.out.exists():
        with job.out.open("rb") as file:
            done = max(0, sum(line.endswith(b"\n") for line in file) - 1)
        tasks = islice(tasks, done, None)
    questions = (
        question.text for task in tasks for question in task.questions(job.settings, job.template)
    )
    return estimate(questions, job.settings, job.prices, batch=batch)


def grade_file(
    job: BulkJob, key: SecretStr | None, progress: Callable[[Progress], None] | None = None
) -> BulkOutcome:
    """Grade a file of replies and write them as a run.

    It may be interrupted by Ctrl-C (KeyboardInterrupt is passed on) or by a kill at any moment; the same call
    continues it. A line counts once it is on the disk, a verdict once it is in the cache.

    Args:
        job: What to grade, how, and where to.
        key: The provider's API key, None for a server that needs none.
        progress: Called after each criterion and each line.

    Raises:
        InputRefusedError: A file cannot be used, or the run was begun with other files.
        GradingError: The grading cannot start, or the run was begun with another grader.
    """
    ledger = Ledger.of(job.out)
    if ledger is not None and ledger.waiting:
        raise GradingError(
            f"{job.out.name} has batches that were not collected, and grading it live would pay for them again;"
            f" collect them first, or remove {ledger.path.name} to give them up."
        )
    tasks = Tasks(job.replies, job.dataset)
    with closing(GradeCache(job.cache)) as cache, open_run(job, tasks) as run:
        return asyncio.run(_Bulk(job, tasks, cache, run, progress).run(key))


def open_run(job: BulkJob, tasks: Tasks) -> RunFile:
    """Begin or continue a job's run file.

    Raises:
        InputRefusedError: The file is there and is not to be continued.
    """
    if job.out.exists() and not job.resume:
        raise InputRefusedError(
            f"{job.out.name} is there already; choose another file, or let the grading continue it."
        )
    more = {RUN_NAME: uuid.uuid4().hex}
    info = run_info(job.out.name, job.settings, job.template, model=job.model, more=more)
    return RunFile(job.out, header_line(info, tasks.examples, texts=True, canary=tasks.canary))


def check_begun_alike(job: BulkJob, tasks: Tasks, run: RunFile) -> str:
    """Check that a run was begun with the job's grader and replies, and return the run's identity.

    Raises:
        GradingError: It was begun with others.
    """
    settings = run.header.get("settings") or {}
    for name, value in grader_identity(job.settings, job.template).items():
        if settings.get(name) != value:
            raise GradingError(
                f"{run.path.name} was begun with another {name}; use the same one, or choose another file."
            )
    if run.header.get("n_examples") != tasks.examples:
        raise GradingError(
            f"{run.path.name} was begun for {run.header.get('n_examples')} replies and there are {tasks.examples} now;"
            " give the file it was begun with, or choose another file."
        )
    return str(settings.get(RUN_NAME))


def written(run: RunFile, tasks: Iterator[Task]) -> Iterator[tuple[Task, list[Verdict]]]:
    """Go through a run's lines with the replies they answer, leaving ``tasks`` at the first reply without a line.

    Raises:
        InputRefusedError: A line is for another reply than the file of replies has in its place.
    """
    for row in run.rows():
        task = next(tasks, None)
        verdicts = verdicts_of(row)
        if (
            task is None
            or (row.get("prompt_id"), row.get("reply")) != (task.row.prompt_id, task.reply)
            or len(verdicts) != len(task.row.criteria)
        ):
            raise InputRefusedError(
                f"{run.path.name} holds other replies than the file of replies, or in another order; give the files it"
                " was begun with, or choose another file."
            )
        yield task, verdicts


class _Bulk:
    """One start of a bulk grading."""

    def __init__(
        self,
        job: BulkJob,
        tasks: Tasks,
        cache: GradeCache,
        run: RunFile,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._job = job
        self._tasks = tasks
        self._cache = cache
        self._run = run
        self._progress = progress
        self._name = check_begun_alike(job, tasks, run)
        self._receipt = Receipt()
        self._began = time.monotonic()
        self._written = self._decided = self._unknown = 0

    async def run(self, key: SecretStr | None) -> BulkOutcome:
        job = self._job
        spent = self._cache.charged(self._name).cost or 0.0
        grader = Grader(
            job.settings,
            job.template,
            Provider(job.settings, key, job.concurrency),
            cache=self._cache,
            prices=job.prices,
            budget=budget_for(job.max_cost, job.settings, job.prices, spent),
            concurrency=job.concurrency,
            run=self._name,
        )
        stopped = None
        async with grader:
            try:
                if job.retry_unknown:
                    await self._ask_unknown_again(grader)
                await self._continue(grader)
            except GradingStoppedError as stop:
                stopped = str(stop)
        return BulkOutcome(
            path=self._run.path,
            examples=self._tasks.examples,
            written=self._written,
            receipt=self._receipt,
            charged=self._cache.charged(self._name),
            stopped=stopped,
            unknown=self._unknown,
        )

    async def _continue(self, grader: Grader) -> None:
        """Grade the replies that have no line yet."""
        self._written = self._decided = self._unknown = 0
        tasks = iter(self._tasks)
        for _, verdicts in written(self._run, tasks):
            self._decided += len(verdicts)
            self._count(verdicts)
        self._report()
        fresh: Iterator[tuple[Task, list[Verdict] | None]] = ((task, None) for task in tasks)
        async for example in self._graded(grader, fresh):
            self._run.append(example)
            self._count(example.verdicts)
            self._report()

    async def _ask_unknown_again(self, grader: Grader) -> None:
        """Write the lines anew with what stayed unknown asked again, and put them in place by one rename."""
        path = self._run.path.with_name(f"{self._run.path.name}.retry")
        path.unlink(missing_ok=True)
        try:
            with RunFile(path, self._run.first_line, shared=False) as fresh:
                rows = written(self._run, iter(self._tasks))
                async for example in self._graded(grader, rows):
                    fresh.append(example)
                    self._count(example.verdicts)
                    self._report()
            self._run.replace_by(path)
        finally:
            path.unlink(missing_ok=True)

    async def _graded(
        self, grader: Grader, tasks: Iterable[tuple[Task, list[Verdict] | None]]
    ) -> AsyncIterator[GradedExample]:
        """Grade replies side by side and yield them in their order."""
        under_way: deque[asyncio.Task[GradedExample]] = deque()
        try:
            for task, known in tasks:
                under_way.append(asyncio.create_task(self._example(grader, task, known)))
                if len(under_way) >= 2 * self._job.concurrency:
                    yield await under_way.popleft()
            while under_way:
                yield await under_way.popleft()
        except GradingStoppedError:
            # What is under way is paid for; each ends by itself with the same stop.
            await asyncio.gather(*under_way, return_exceptions=True)
            raise
        finally:
            for example in under_way:
                example.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _example(
        self, grader: Grader, task: Task, known: list[Verdict] | None
    ) -> GradedExample:
        row, reply, sample = task
        verdicts = list(known) if known is not None else [Verdict(None)] * len(row.criteria)
        only = [place for place, verdict in enumerate(verdicts) if verdict.met is None]
        self._decided += len(verdicts) - len(only)
        async for grade in grader.grade_items(
            row.prompt, reply, row.criteria, only=only, sample=sample
        ):
            verdicts[grade.item] = grade.verdict
            self._receipt.add(grade)
            self._decided += 1
            self._report()
        return task.graded(verdicts)

    def _count(self, verdicts: Sequence[Verdict]) -> None:
        self._written += 1
        self._unknown += sum(verdict.met is None for verdict in verdicts)

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(
                Progress(
                    self._written,
                    self._tasks.examples,
                    self._decided,
                    self._tasks.criteria,
                    self._receipt,
                    time.monotonic() - self._began,
                )
            )
