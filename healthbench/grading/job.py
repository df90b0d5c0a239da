"""Grade one reply in a thread of its own, so that a page can draw each verdict as it arrives and stop at any moment."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from healthbench.errors import HealthBenchError
from healthbench.grading.cost import Estimate, PriceTable, budget_for, estimate, load_prices
from healthbench.grading.grader import Grader, ItemGrade, Receipt, questions_of
from healthbench.grading.provider import Provider
from healthbench.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import SecretStr

    from healthbench.grading.cache import GradeCache
    from healthbench.grading.settings import GraderSettings
    from healthbench.grading.template import Template
    from healthbench.model import Criterion, Message

_LOG = logging.getLogger(__name__)


class JobState(StrEnum):
    """Where a grading stands; ``stopped`` means it could not go on, and the job's message says why."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What a live grading is asked to do.

    Attributes:
        prompt: The conversation before the reply.
        reply: The reply.
        criteria: The rubric.
        settings: The grader.
        template: Its instructions.
        prices: The price table.
        max_cost: US dollars; None has no cap.
        samples: Independent gradings of the reply, by number; ``range(k)`` grades it k times.
        only: Places of the criteria to grade; None grades all.
        concurrency: Most requests at a time.
    """

    prompt: Sequence[Message]
    reply: str
    criteria: Sequence[Criterion]
    settings: GraderSettings
    template: Template
    prices: PriceTable = field(default_factory=load_prices)
    max_cost: float | None = None
    samples: Sequence[int] = (0,)
    only: Sequence[int] | None = None
    concurrency: int = 8

    def estimate(self) -> Estimate:
        """Foresee calls, tokens and price range, as if nothing were in the cache."""
        questions = [
            question.text
            for sample in self.samples
            for question in questions_of(
                self.prompt,
                self.reply,
                self.criteria,
                settings=self.settings,
                template=self.template,
                sample=sample,
            )
            if self.only is None or question.item in self.only
        ]
        return estimate(questions, self.settings, self.prices)


class GradingJob:
    """One live grading of one reply, begun at once. Everything here may be used from any thread.

    Args:
        wish: What to grade and how.
        key: The provider's API key, None for a server that needs none.
        cache: Where verdicts are looked up and kept; None keeps none.
        earlier: Outcomes of an earlier job of the same reply; those graded again are replaced as they arrive.

    Raises:
        GradingError: The key cannot be used, or the cap cannot be kept.
    """

    def __init__(
        self,
        wish: Wish,
        key: SecretStr | None,
        cache: GradeCache | None = None,
        earlier: Sequence[ItemGrade] = (),
    ) -> None:
        self.wish = wish
        self._lock = threading.Lock()
        self._outcomes = list(earlier)
        self._earlier = len(self._outcomes)
        self._read = self._earlier
        self._state = JobState.RUNNING
        self._message: str | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False
        provider = Provider(wish.settings, key, wish.concurrency)
        budget_for(wish.max_cost, wish.settings, wish.prices)
        self._thread = threading.Thread(
            target=self._work, args=(provider, cache), name="grading", daemon=True
        )
        self._thread.start()

    @property
    def state(self) -> JobState:
        """Where the grading stands."""
        with self._lock:
            return self._state

    @property
    def message(self) -> str | None:
        """Why it stopped, one sentence for the screen; None otherwise."""
        with self._lock:
            return self._message

    def new_outcomes(self) -> list[ItemGrade]:
        """Return what arrived since the last call."""
        with self._lock:
            new = self._outcomes[self._read :]
            self._read = len(self._outcomes)
        return new

    def outcomes(self) -> list[ItemGrade]:
        """Return everything that arrived, replaced outcomes included, in the order it arrived."""
        with self._lock:
            return list(self._outcomes)

    def latest(self) -> dict[tuple[int, int], ItemGrade]:
        """Return the standing outcomes by sample and place in the rubric."""
        return {(outcome.sample, outcome.item): outcome for outcome in self.outcomes()}

    def verdicts(self, sample: int = 0) -> list[Verdict]:
        """Return one verdict a criterion, unknown where none has arrived."""
        latest = self.latest()
        return [
            latest[sample, place].verdict if (sample, place) in latest else Verdict(None)
            for place in range(len(self.wish.criteria))
        ]

    def flickering(self) -> list[int]:
        """Return the places of criteria whose verdict is not the same in all samples that have one."""
        said: defaultdict[int, Counter[bool]] = defaultdict(Counter)
        for (_, place), outcome in self.latest().items():
            if outcome.met is not None:
                said[place][outcome.met] += 1
        return sorted(place for place, counts in said.items() if len(counts) > 1)

    @property
    def receipt(self) -> Receipt:
        """What everything took so far: all that was charged, and how many criteria stand with a verdict and without."""
        receipt, standing = Receipt(), Receipt()
        for outcome in self.outcomes():
            receipt.add(outcome)
        for outcome in self.latest().values():
            standing.add(outcome)
        receipt.graded, receipt.unknown = standing.graded, standing.unknown
        receipt.failures = standing.failures
        return receipt

    def cancel(self) -> None:
        """Stop at once: requests under way are given up, verdicts that came are kept."""
        with self._lock:
            self._cancelled = True
            loop, task = self._loop, self._task
        if loop is not None and task is not None and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the grading has ended; False where it has not within this time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self, provider: Provider, cache: GradeCache | None) -> None:
        state, message = JobState.DONE, None
        try:
            asyncio.run(self._grade(provider, cache))
        except asyncio.CancelledError:
            state = JobState.CANCELLED
        except HealthBenchError as error:
            state, message = JobState.STOPPED, str(error)
        except Exception as error:  # noqa: BLE001 - a page must hear of whatever ends its thread
            _LOG.exception("a live grading broke off")
            state = JobState.STOPPED
            message = f"The grading broke off through a fault of this program ({type(error).__name__}); what came is kept."
        with self._lock:
            self._state, self._message = state, message
            self._loop = self._task = None

    async def _grade(self, provider: Provider, cache: GradeCache | None) -> None:
        wish = self.wish
        with self._lock:
            if self._cancelled:
                raise asyncio.CancelledError
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        grader = Grader(
            wish.settings,
            wish.template,
            provider,
            cache=cache,
            prices=wish.prices,
            budget=budget_for(wish.max_cost, wish.settings, wish.prices),
            concurrency=wish.concurrency,
        )
        async with grader:
            for sample in wish.samples:
                async for outcome in grader.grade_items(
                    wish.prompt, wish.reply, wish.criteria, only=wish.only, sample=sample
                ):
                    with self._lock:
                        self._outcomes.append(outcome)
