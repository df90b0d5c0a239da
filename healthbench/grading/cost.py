"""What a grading will cost, what it has cost, and where it has to stop.

Prices come from one dated table, ``prices.json`` beside this module; a file of that name in the user's own folder
replaces it. No price is ever guessed: a model that is not in the table has none.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import GradingError
from healthbench.grading.provider import GradingStoppedError, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from healthbench.grading.settings import GraderSettings

FILE_NAME = "prices.json"
PRICES = Path(__file__).with_name(FILE_NAME)
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")
# Bytes of UTF-8 a token stands for: English text lies near 4.3, other scripts and JSON between these.
_BYTES_PER_TOKEN = (6.0, 3.0)
# Tokens of a verdict with its explanation, and of one with the reasoning before it.
_ANSWER_TOKENS = (40, 250)
_REASONING_TOKENS = (60, 1500)


class Price(NamedTuple):
    """US dollars for a million tokens."""

    input: float
    cached: float
    output: float

    def of(self, usage: Usage) -> float:
        """Cost of a request in US dollars."""
        fresh = max(0, usage.input - usage.cached)
        return (
            fresh * self.input + usage.cached * self.cached + usage.output * self.output
        ) / 1_000_000


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by model, with the day they were true.

    Attributes:
        as_of: ISO date.
        batch_factor: What the Batch API charges of the full price.
        models: Model name without its date -> price.
        source: Where the prices are from, in words.
    """

    as_of: str
    batch_factor: float
    models: dict[str, Price]
    source: str

    def price(self, model: str) -> Price | None:
        """Return a model's price by its full name or its name without the date; None where there is none."""
        return self.models.get(model) or self.models.get(_DATED.sub("", model))


def load_prices(path: Path | None = None) -> PriceTable:
    """Read a price table; a path that does not exist gives the table that comes with the project.

    Raises:
        GradingError: The user's own table cannot be used.
    """
    chosen = path if path is not None and path.exists() else PRICES
    try:
        data = json.loads(chosen.read_text(encoding="utf-8"))
        return PriceTable(
            str(data["as_of"]),
            float(data["batch_factor"]),
            {
                name: Price(float(row["input"]), float(row["cached"]), float(row["output"]))
                for name, row in data["models"].items()
            },
            str(data.get("source", "")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise GradingError(
            f"{chosen.name}: the price table cannot be used ({type(error).__name__}); write as_of, batch_factor and"
            " models with input, cached and output, as in the table that comes with the project."
        ) from None


def save_prices(path: Path, table: PriceTable) -> None:
    """Write a price table that ``load_prices`` reads, in place of what was there.

    Raises:
        GradingError: A price is no number of 0 or more, or the file cannot be written.
    """
    for name, price in table.models.items():
        if not name.strip() or not all(0 <= value < math.inf for value in price):
            raise GradingError(
                f"The prices of {name.strip() or 'a model without a name'} cannot be kept; write a name and dollars of 0"
                " or more for a million tokens."
            )
    models = {name.strip(): price._asdict() for name, price in table.models.items()}
    data = asdict(table) | {"currency": "USD", "unit": "1,000,000 tokens", "models": models}
    beside = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(data, indent=2), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise GradingError(
            f"{path.name}: the price table cannot be written ({error.strerror}); check the folder and the disk."
        ) from None


class Range(NamedTuple):
    """The least and most something is expected to be."""

    low: float
    high: float


class Estimate(NamedTuple):
    """What a grading is expected to take, without failed attempts.

    Attributes:
        calls: Requests, one a criterion.
        input_tokens: Expected from the length of the texts.
        output_tokens: Expected from the usual length of verdicts.
        cost: US dollars; None where the model has no price.
    """

    calls: int
    input_tokens: Range
    output_tokens: Range
    cost: Range | None


def estimate(
    questions: Iterable[str],
    settings: GraderSettings,
    prices: PriceTable,
    *,
    batch: bool = False,
) -> Estimate:
    """Foresee calls, tokens and cost of a list of questions."""
    calls = size = 0
    for question in questions:
        calls += 1
        size += len(question.encode(errors="replace")) + len(settings.system_message or "")
    low, high = (size / per_token for per_token in _BYTES_PER_TOKEN)
    answer = Range(*(calls * tokens for tokens in _answer_tokens(settings)))
    price = prices.price(settings.model)
    cost = None
    if price is not None:
        factor = prices.batch_factor if batch else 1.0
        cost = Range(
            factor * price.of(Usage(round(low), 0, round(answer.low))),
            factor * price.of(Usage(round(high), 0, round(answer.high))),
        )
    return Estimate(calls, Range(low, high), answer, cost)


def most_of(question: str, settings: GraderSettings, price: Price) -> float:
    """Return the most one request is expected to cost in US dollars: what the budget sets aside before it is sent."""
    tokens = len(question.encode(errors="replace")) / _BYTES_PER_TOKEN[1]
    answer = settings.max_tokens or _answer_tokens(settings)[1]
    return price.of(Usage(round(tokens), 0, answer))


def _answer_tokens(settings: GraderSettings) -> tuple[int, int]:
    low, high = _REASONING_TOKENS if settings.reasoning_effort else _ANSWER_TOKENS
    limit = settings.max_tokens
    return (low, high) if limit is None else (min(low, limit), min(high, limit))


class Budget:
    """Keeps a grading below its cost cap by setting the most a request can cost aside before it is sent.

    Args:
        cap: US dollars.
        price: The grader's price.
        spent: US dollars this grading has cost already.
    """

    def __init__(self, cap: float, price: Price, spent: float = 0.0) -> None:
        self._cap = cap
        self._price = price
        self._spent = spent
        self._aside = 0.0
        self._under_way = 0
        self._settled = asyncio.Event()

    async def reserve(self, question: str, settings: GraderSettings) -> float:
        """Set one request's cost aside, waiting for requests under way where that could make room.

        Raises:
            GradingStoppedError: The cap leaves no room for it.
        """
        amount = most_of(question, settings, self._price)
        while self._spent + self._aside + amount > self._cap:
            if not self._under_way:
                raise GradingStoppedError(
                    f"The cost cap of ${self._cap:g} is reached at ${self._spent:.4f}; what came is kept, and a"
                    " higher cap continues from there."
                )
            self._settled.clear()
            await self._settled.wait()
        self._aside += amount
        self._under_way += 1
        return amount

    def settle(self, reserved: float, usage: Usage) -> None:
        """Replace what was set aside by what the request was charged for."""
        self._under_way -= 1
        self._aside = self._aside - reserved if self._under_way else 0.0
        self._spent += self._price.of(usage)
        self._settled.set()


def budget_for(
    cap: float | None, settings: GraderSettings, prices: PriceTable, spent: float = 0.0
) -> Budget | None:
    """Make the budget of a grading; None without a cap.

    Raises:
        GradingError: The cap is not above 0, or the model has no price to hold it by.
    """
    if cap is None:
        return None
    if not cap > 0:
        raise GradingError("The cost cap must be above 0 dollars; raise it or leave it out.")
    price = prices.price(settings.model)
    if price is None:
        raise GradingError(
            f"{settings.model} has no price in the price table of {prices.as_of}, so a cost cap cannot be kept; add"
            " its price or leave the cap out."
        )
    return Budget(cap, price, spent)
