"""Grade a file of replies through the provider's Batch API: half the price, and no machine of ours waiting.

Three steps that may be days and processes apart. Submit sends one request for every criterion without a verdict, poll
asks how far they are, collect puts the verdicts that came into the grade cache and writes the run. Afterwards the same
run can be continued live or by another submit, and what has a verdict is not sent again. The steps know of each other
through a small file beside the run. It is written before and after each creation, and a batch carries the run's identity
as metadata, so that a batch whose creation was interrupted is found again instead of being paid for twice.
"""

from __future__ import annotations

import json
from contextlib import closing
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from healthbench.errors import GradingError
from healthbench.grading.batch_ledger import Ledger, Part
from healthbench.grading.bulk import BulkJob, BulkOutcome, check_begun_alike, open_run, written
from healthbench.grading.cache import Charge, Entry, GradeCache
from healthbench.grading.cost import Estimate, budget_for, estimate
from healthbench.grading.grader import ItemGrade, Question, Receipt, no_verdict
from healthbench.grading.provider import NO_JSON, Answer, AttemptFailedError, Usage, read_answer
from healthbench.grading.settings import PATHS
from healthbench.grading.tasks import Task, Tasks
from healthbench.grading.verdicts import BadReplyError, Grade, parse_grade
from healthbench.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from openai.types import Batch
    from pydantic import SecretStr

    from healthbench.grading.batch_api import BatchApi
    from healthbench.grading.run_file import RunFile

MAX_REQUESTS = 50_000
MAX_BYTES = 190_000_000
_ENDED = {"completed", "expired", "cancelled", "failed"}
_KEEP_AT_ONCE = 500


class BatchStatus(NamedTuple):
    """How far one batch is, by the provider's words and counts."""

    part: int
    batch: str
    status: str
    total: int
    completed: int
    failed: int

    @property
    def ended(self) -> bool:
        """Whether it can be collected."""
        return self.status in _ENDED


class Submitted(NamedTuple):
    """What a submit sent: new batches, their requests, and what they are expected to cost."""

    batches: int
    requests: int
    estimate: Estimate


def submit_batch(
    job: BulkJob, key: SecretStr | None, progress: Callable[[int, int], None] | None = None
) -> Submitted:
    """Send every criterion that has no verdict and is in no batch under way.

    Args:
        job: What to grade and how; ``max_cost`` refuses a submit that is expected to cost more.
        key: The provider's API key.
        progress: Called with the batches created so far and their number.

    Raises:
        InputRefusedError: A file cannot be used.
        GradingError: It would cost too much, or the provider does not take it.
    """
    tasks = Tasks(job.replies, job.dataset)
    with closing(GradeCache(job.cache)) as cache, open_run(job, tasks) as run:
        return _Steps(job, tasks, cache, run).submit(key, progress)


def poll_batch(job: BulkJob, key: SecretStr | None) -> list[BatchStatus]:
    """Ask how far the batches of a run are; those already collected are left out.

    Raises:
        GradingError: Nothing was submitted, or the provider does not answer.
    """
    ledger = _submitted(job.out)
    with _connect(job, key) as api:
        return [
            _status(part, api.batch(part.batch))
            for part in ledger.waiting
            if part.batch is not None
        ]


def collect_batch(job: BulkJob, key: SecretStr | None, *, give_up: bool = False) -> BulkOutcome:
    """Take the results of every batch that has ended, and write the run as far as it has verdicts.

    Args:
        job: What was submitted.
        key: The provider's API key.
        give_up: Whether criteria without a verdict are written as unknown instead of being left for another submit
            or for live grading, and the rest of the run with them.

    Raises:
        GradingError: Nothing was submitted, or the provider does not answer.
    """
    _submitted(job.out)
    tasks = Tasks(job.replies, job.dataset)
    with closing(GradeCache(job.cache)) as cache, open_run(job, tasks) as run:
        return _Steps(job, tasks, cache, run).collect(key, give_up=give_up)


def _connect(job: BulkJob, key: SecretStr | None) -> BatchApi:
    from healthbench.grading.batch_api import BatchApi  # noqa: PLC0415 - the SDK takes 0.4 s

    return BatchApi(job.settings, key)


def _submitted(out: Path) -> Ledger:
    ledger = Ledger.of(out)
    if ledger is None:
        raise GradingError(f"No batch was submitted for {out.name}; submit one first.")
    return ledger


def _status(part: Part, batch: Batch) -> BatchStatus:
    counts = batch.request_counts
    # Not every compatible server counts.
    completed, failed = (counts.completed or 0, counts.failed or 0) if counts else (0, 0)
    return BatchStatus(part.number, batch.id, batch.status, len(part.keys), completed, failed)


class _Steps:
    """Submit and collect for one run that is open."""

    def __init__(self, job: BulkJob, tasks: Tasks, cache: GradeCache, run: RunFile) -> None:
        self._job = job
        self._tasks = tasks
        self._cache = cache
        self._run = run
        self._name = check_begun_alike(job, tasks, run)
        self._ledger = Ledger.of(job.out) or Ledger(Ledger.path_for(job.out), self._name)
        if self._ledger.run != self._name:
            raise GradingError(
                f"{self._ledger.path.name} belongs to another run of that name; move it away, or choose another file."
            )

    def _questions(self) -> Iterator[tuple[Task, list[Question]]]:
        """Yield the replies that have no line yet, with their questions."""
        tasks = iter(self._tasks)
        for _ in written(self._run, tasks):
            pass
        for task in tasks:
            yield task, task.questions(self._job.settings, self._job.template)

    def _missing(self) -> Iterator[Question]:
        """Yield the questions that have no verdict and are in no batch under way, each once."""
        sent = {key for part in self._ledger.waiting for key in part.keys}
        for _, questions in self._questions():
            known = self._cache.find([question.key for question in questions])
            for question in questions:
                if question.key not in known and question.key not in sent:
                    sent.add(question.key)
                    yield question

    def submit(
        self, key: SecretStr | None, progress: Callable[[int, int], None] | None
    ) -> Submitted:
        job = self._job
        expected = estimate(
            (question.text for question in self._missing()), job.settings, job.prices, batch=True
        )
        self._check_cost(expected)
        for keys in self._parts():
            self._ledger.parts.append(Part(len(self._ledger.parts) + 1, keys))
        self._ledger.save()
        open_parts = [part for part in self._ledger.waiting if part.batch is None]
        with _connect(job, key) as api:
            for done, part in enumerate(open_parts, start=1):
                self._send(api, part)
                if progress is not None:
                    progress(done, len(open_parts))
        return Submitted(len(open_parts), sum(len(part.keys) for part in open_parts), expected)

    def _check_cost(self, expected: Estimate) -> None:
        cap = self._job.max_cost
        # Refuses a cap that cannot be kept, because the model has no price.
        budget_for(cap, self._job.settings, self._job.prices)
        if cap is None or expected.cost is None:
            return
        spent = self._cache.charged(self._name).cost or 0.0
        if spent + expected.cost.high > cap:
            raise GradingError(
                f"The batches may cost up to ${spent + expected.cost.high:.2f} with what was charged before, more than"
                f" the cap of ${cap:g}; nothing was sent. Raise the cap or grade fewer replies."
            )

    def _parts(self) -> Iterator[list[str]]:
        """Divide the missing questions into files the provider accepts."""
        keys: list[str] = []
        size = 0
        for question in self._missing():
            length = len(self._line(question))
            if keys and (len(keys) == MAX_REQUESTS or size + length > MAX_BYTES):
                yield keys
                keys, size = [], 0
            keys.append(question.key)
            size += length
        if keys:
            yield keys

    def _line(self, question: Question) -> bytes:
        settings = self._job.settings
        request = {
            "custom_id": question.key,
            "method": "POST",
            "url": f"/v1{PATHS[settings.api]}",
            "body": settings.body(question.text),
        }
        return json.dumps(request).encode() + b"\n"

    def _send(self, api: BatchApi, part: Part) -> None:
        """Create one part's batch, or find it where an interrupted submit had created it."""
        marks = {"healthbench_run": self._name, "healthbench_part": str(part.number)}
        found = api.find(marks)
        if found is None:
            with self._folder() as folder:
                requests = Path(folder) / "requests.jsonl"
                self._write_requests(requests, set(part.keys))
                file_id = api.upload(requests)
            endpoint = f"/v1{PATHS[self._job.settings.api]}"
            part.batch = api.create(file_id, endpoint, marks)
        else:
            part.batch = found.id
        self._ledger.save()

    def _write_requests(self, path: Path, wanted: set[str]) -> None:
        with path.open("wb") as file:
            for _, questions in self._questions():
                for question in questions:
                    if question.key in wanted:
                        wanted.discard(question.key)
                        file.write(self._line(question))

    def collect(self, key: SecretStr | None, *, give_up: bool) -> BulkOutcome:
        receipt = Receipt()
        under_way = 0
        with _connect(self._job, key) as api:
            for part in self._ledger.waiting:
                batch = api.batch(part.batch) if part.batch is not None else None
                if batch is None or batch.status not in _ENDED:
                    under_way += 1
                    continue
                for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
                    self._take(api, file_id, set(part.keys), receipt)
                part.collected = True
                self._ledger.save()
        outcome = self._write(receipt, give_up=give_up and not under_way)
        if under_way:
            outcome.stopped = f"{under_way} of {len(self._ledger.parts)} batches are still under way; collect again later."
        return outcome

    def _take(self, api: BatchApi, file_id: str, wanted: set[str], receipt: Receipt) -> None:
        """Put the verdicts of a result file into the cache and note why others are missing."""
        with self._folder() as folder:
            path = Path(folder) / "results.jsonl"
            api.download(file_id, path)
            with path.open("rb") as file:
                entries = (self._entry(line, wanted, receipt) for line in file)
                known = (entry for entry in entries if entry is not None)
                while some := list(islice(known, _KEEP_AT_ONCE)):
                    self._keep(some)

    def _folder(self) -> TemporaryDirectory[str]:
        """Make a folder beside the run for a file on its way: these files can be larger than memory or /tmp."""
        return TemporaryDirectory(dir=self._job.out.parent, prefix=".batch-")

    def _keep(self, entries: list[Entry]) -> None:
        """Keep results, but count no charge twice where an interrupted collect is repeated."""
        known = self._cache.find([entry.key for entry in entries])
        self._cache.keep([entry for entry in entries if entry.key not in known])

    def _entry(self, line: bytes, wanted: set[str], receipt: Receipt) -> Entry | None:
        """Read one line of a result file; None where it answers no question of this batch."""
        try:
            result = json.loads(line)
            key, response = str(result["custom_id"]), dict(result["response"] or {})
        except (ValueError, KeyError, TypeError):
            return None
        if key not in wanted:
            return None
        grade, failure, usage = None, None, Usage()
        try:
            answer = _answer(response)
            usage = answer.usage
            grade = parse_grade(answer.text)
        except AttemptFailedError as problem:
            failure, usage = str(problem), problem.usage
        except BadReplyError as problem:
            failure = str(problem)
        if failure is None:
            self._ledger.failures.pop(key, None)
        else:
            self._ledger.failures[key] = failure
        price = self._job.prices.price(self._job.settings.model)
        cost = None if price is None else self._job.prices.batch_factor * price.of(usage)
        charge = Charge(1, usage, cost)
        receipt.add(ItemGrade.of(0, 0, grade, failure, charge))
        return Entry(self._name, key, grade, charge)

    def _write(self, receipt: Receipt, *, give_up: bool) -> BulkOutcome:
        """Append every reply up to the first that lacks a verdict; all of them where that is given up."""
        done = unknown = missing = 0
        blocked = False
        for _, verdicts in written(self._run, iter(self._tasks)):
            done += 1
            unknown += sum(verdict.met is None for verdict in verdicts)
        for task, questions in self._questions():
            known = self._cache.find([question.key for question in questions])
            lacking = sum(question.key not in known for question in questions)
            blocked = blocked or (lacking > 0 and not give_up)
            missing += lacking
            if blocked:
                continue
            verdicts = [self._verdict(question.key, known) for question in questions]
            self._run.append(task.graded(verdicts))
            done += 1
            unknown += lacking
        stopped = (
            f"{missing} criteria got no verdict from the batches; submit again, grade the rest live, or give them up."
            if blocked
            else None
        )
        charged = self._cache.charged(self._name)
        return BulkOutcome(
            self._run.path, self._tasks.examples, done, receipt, charged, stopped, unknown
        )

    def _verdict(self, key: str, known: dict[str, Grade]) -> Verdict:
        if (grade := known.get(key)) is not None:
            return Verdict(grade.met, grade.explanation)
        return no_verdict(self._ledger.failures.get(key, "its batch brought none"))


def _answer(response: dict[str, Any]) -> Answer:
    status, body = response.get("status_code"), response.get("body")
    if status != 200:
        raise AttemptFailedError(f"the provider answered with status {status}")
    if not isinstance(body, dict):
        raise AttemptFailedError(NO_JSON)
    return read_answer(body)
