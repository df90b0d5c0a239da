"""Ask a model about each criterion of a rubric: one call a criterion, a bounded number of attempts, no invented verdict."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

from healthbench.grading.cache import Charge, Entry, GradeCache, Recorder
from healthbench.grading.provider import (
    AttemptFailedError,
    GradingStoppedError,
    ItemRefusedError,
    Provider,
    Usage,
)
from healthbench.grading.template import conversation_text, item_text
from healthbench.grading.verdicts import BadReplyError, Grade, parse_grade
from healthbench.model import Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from healthbench.grading.cost import Budget, PriceTable
    from healthbench.grading.settings import GraderSettings
    from healthbench.grading.template import Template
    from healthbench.model import Criterion, Message


# Criteria in a row without a verdict after which a grading is taken for hopeless: a dead server, a model that cannot
# write JSON. Stopping leaves the rest to be asked later instead of writing a run of unknowns.
_HOPELESS = 50


class ItemGrade(NamedTuple):
    """What became of one criterion.

    Attributes:
        item: Place of the criterion in its rubric, from 0.
        sample: Which independent grading of the same reply this is, from 0.
        met: The verdict; None where there is none.
        explanation: The grader's words, None where there are none.
        failure: Why there is no verdict, None where there is one.
        charge: Requests, tokens and cost of all attempts; nothing where the verdict was known already.
        cached: Whether the verdict was known already.
    """

    item: int
    sample: int
    met: bool | None
    explanation: str | None
    failure: str | None
    charge: Charge
    cached: bool

    @classmethod
    def of(
        cls,
        item: int,
        sample: int,
        grade: Grade | None,
        failure: str | None,
        charge: Charge,
        *,
        cached: bool = False,
    ) -> Self:
        """Make the outcome of a verdict, or of its absence for a reason."""
        if grade is None:
            return cls(item, sample, None, None, failure, charge, cached)
        return cls(item, sample, grade.met, grade.explanation, None, charge, cached)

    @property
    def verdict(self) -> Verdict:
        """The outcome as a run stores it."""
        return (
            Verdict(self.met, self.explanation)
            if self.failure is None
            else no_verdict(self.failure)
        )


def no_verdict(reason: str) -> Verdict:
    """Make the unknown verdict of a criterion that was asked in vain; the reason stands where an explanation would."""
    return Verdict(None, f"No verdict: {reason}.")


class Question(NamedTuple):
    """One criterion, ready to be asked.

    Attributes:
        item: Place of the criterion in its rubric, from 0.
        text: The whole message to the grader.
        key: Hash of everything that decides the verdict.
    """

    item: int
    text: str
    key: str


@dataclass(slots=True)
class Receipt:
    """What a grading took.

    Attributes:
        calls: Requests sent, failed ones included.
        retries: Requests beyond the first for a criterion.
        usage: Tokens.
        cost: US dollars; None where the model has no price.
        cache_hits: Verdicts that were known already.
        graded: Criteria with a verdict.
        unknown: Criteria without one.
        failures: Why -> number of criteria.
    """

    calls: int = 0
    retries: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    cache_hits: int = 0
    graded: int = 0
    unknown: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, grade: ItemGrade) -> None:
        """Count one criterion's outcome."""
        calls, usage, cost = grade.charge
        self.calls += calls
        self.retries += max(0, calls - 1)
        self.usage = self.usage.plus(usage)
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
        self.cache_hits += grade.cached
        self.graded += grade.met is not None
        self.unknown += grade.met is None
        if grade.failure is not None:
            self.failures[grade.failure] += 1

    def figures(self) -> dict[str, float | None]:
        """Return the plain figures by name, for exports."""
        return {
            "calls": self.calls,
            "retries": self.retries,
            "input_tokens": self.usage.input,
            "cached_tokens": self.usage.cached,
            "output_tokens": self.usage.output,
            "cost": self.cost,
            "cache_hits": self.cache_hits,
            "graded": self.graded,
            "unknown": self.unknown,
        }


def questions_of(
    prompt: Sequence[Message],
    reply: str,
    criteria: Sequence[Criterion],
    *,
    settings: GraderSettings,
    template: Template,
    sample: int = 0,
) -> list[Question]:
    """Write the question about each criterion, in rubric order.

    Args:
        prompt: The conversation before the reply.
        reply: The reply to grade.
        criteria: The rubric.
        settings: The grader.
        template: Its instructions.
        sample: Which independent grading of this reply it is; each is paid for and kept on its own.
    """
    conversation = conversation_text(prompt, reply)
    decided_by = json.dumps([template.sha256, settings.parameters(), sample], sort_keys=True)
    seen: Counter[str] = Counter()
    questions = []
    for item, criterion in enumerate(criteria):
        text = template.fill(conversation, item_text(criterion, show_points=settings.show_points))
        # The reference asks again where a rubric holds the same criterion twice, and so do we.
        name = f"{decided_by}\0{seen[text]}\0{text}"
        seen[text] += 1
        key = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
        questions.append(Question(item, text, key))
    return questions


class Grader:
    """Grades with one model; use it as an async context manager.

    Args:
        settings: The grader.
        template: Its instructions.
        provider: The connection, entered and left with the grader.
        cache: Where verdicts are looked up and kept; None keeps none.
        prices: Gives the cost of what was charged.
        budget: Keeps the cost below a cap; None has no cap.
        concurrency: Most requests at a time.
        run: Name under which the cache keeps what this grading is charged, "" for none.
    """

    def __init__(
        self,
        settings: GraderSettings,
        template: Template,
        provider: Provider,
        *,
        cache: GradeCache | None,
        prices: PriceTable,
        budget: Budget | None = None,
        concurrency: int = 32,
        run: str = "",
    ) -> None:
        self._settings = settings
        self._template = template
        self._provider = provider
        self._cache = cache
        self._recorder = Recorder(cache) if cache is not None else None
        self._price = prices.price(settings.model)
        self._budget = budget
        self._run = run
        self._slots = asyncio.Semaphore(concurrency)
        self._quiet_until = 0.0
        self._in_vain = 0
        self._stopped: GradingStoppedError | None = None
        self._stop = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._provider.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._recorder is not None:
            await self._recorder.close()
        await self._provider.__aexit__(*error)

    async def grade_items(
        self,
        prompt: Sequence[Message],
        reply: str,
        criteria: Sequence[Criterion],
        *,
        only: Sequence[int] | None = None,
        sample: int = 0,
    ) -> AsyncIterator[ItemGrade]:
        """Grade a reply and yield each criterion's outcome when it is there and kept.

        Args:
            prompt: The conversation before the reply.
            reply: The reply to grade.
            criteria: The rubric.
            only: Places of the criteria to grade; None grades all.
            sample: Which independent grading of this reply it is.

        Raises:
            GradingStoppedError: The grading cannot go on. What was yielded before stays true.
        """
        questions = questions_of(
            prompt, reply, criteria, settings=self._settings, template=self._template, sample=sample
        )
        if only is not None:
            questions = [questions[item] for item in only]
        known = self._cache.find([q.key for q in questions]) if self._cache is not None else {}
        for question in questions:
            if grade := known.get(question.key):
                yield ItemGrade.of(
                    question.item, sample, grade, None, Charge(0, Usage(), None), cached=True
                )
        tasks = [
            asyncio.create_task(self._grade(question, sample))
            for question in questions
            if question.key not in known
        ]
        stopped: GradingStoppedError | None = None
        try:
            for finished in asyncio.as_completed(tasks):
                try:
                    outcome = await finished
                except GradingStoppedError as stop:
                    # What is under way is paid for, so it is waited for.
                    stopped = stop
                else:
                    yield outcome
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if stopped is not None:
            raise stopped

    async def _grade(self, question: Question, sample: int) -> ItemGrade:
        async with self._slots:
            usage = Usage()
            grade, failure = None, None
            for attempt in range(1, self._settings.attempts + 1):
                try:
                    grade, usage = await self._attempt(question, usage)
                except AttemptFailedError as problem:
                    failure = str(problem)
                    usage = usage.plus(problem.usage)
                    if attempt < self._settings.attempts:
                        await self._pause(question.key, attempt, problem.wait)
                        continue
                except ItemRefusedError as problem:
                    failure = str(problem)
                break
            cost = self._price.of(usage) if self._price is not None else None
            charge = Charge(attempt, usage, cost)
            if self._recorder is not None:
                await self._recorder.keep(Entry(self._run, question.key, grade, charge))
            self._notice(failure if grade is None else None)
        return ItemGrade.of(question.item, sample, grade, failure, charge)

    def _notice(self, failure: str | None) -> None:
        """Stop the grading where many criteria in a row got no verdict."""
        self._in_vain = 0 if failure is None else self._in_vain + 1
        if self._in_vain == _HOPELESS:
            self._halt(
                GradingStoppedError(
                    f"{_HOPELESS} criteria in a row got no verdict (the last: {failure}); check the grader, then"
                    " continue."
                )
            )

    async def _attempt(self, question: Question, so_far: Usage) -> tuple[Grade, Usage]:
        """Send one request and read the verdict in its answer."""
        await self._wait_for_provider()
        if self._stopped is not None:
            raise self._stopped
        reserved = await self._reserve(question)
        used = Usage()
        try:
            answer = await self._provider.ask(self._settings.body(question.text))
            used = answer.usage
            return parse_grade(answer.text), so_far.plus(used)
        except BadReplyError as problem:
            raise AttemptFailedError(str(problem), usage=used) from None
        except AttemptFailedError as problem:
            used = problem.usage
            raise
        except GradingStoppedError as stop:
            self._halt(stop)
            raise
        finally:
            if self._budget is not None:
                self._budget.settle(reserved, used)

    async def _reserve(self, question: Question) -> float:
        if self._budget is None:
            return 0.0
        try:
            return await self._budget.reserve(question.text, self._settings)
        except GradingStoppedError as stop:
            self._halt(stop)
            raise

    def _halt(self, stop: GradingStoppedError) -> None:
        self._stopped = stop
        self._stop.set()

    async def _wait_for_provider(self) -> None:
        """Stay quiet while the provider has asked for it, whichever question it answered so."""
        loop = asyncio.get_running_loop()
        while self._stopped is None and (left := self._quiet_until - loop.time()) > 0:
            await self._sleep(left)

    async def _pause(self, key: str, attempt: int, asked: float | None) -> None:
        """Wait before the next attempt: as long as the provider asks, else twice as long each time."""
        if asked is not None:
            until = asyncio.get_running_loop().time() + asked
            self._quiet_until = max(self._quiet_until, until)
            return
        wait = min(self._settings.longest_wait, self._settings.first_wait * 2 ** (attempt - 1))
        # Spread over [half, whole] by the question's hash, so that failures at one moment do not return at one moment.
        await self._sleep(wait * (0.5 + int(key[:8], 16) / 2**33))

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but wake at once when the grading is stopped."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)


async def grade_all(
    grader: Grader, prompt: Sequence[Message], reply: str, criteria: Sequence[Criterion]
) -> list[ItemGrade]:
    """Grade a reply whole and return the outcomes in rubric order.

    Raises:
        GradingStoppedError: The grading cannot go on.
    """
    outcomes = [outcome async for outcome in grader.grade_items(prompt, reply, criteria)]
    return sorted(outcomes, key=lambda outcome: outcome.item)
