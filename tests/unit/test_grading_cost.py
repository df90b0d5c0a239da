"""Prices are dated, editable and never guessed; a budget is never passed."""

import asyncio
import json
from dataclasses import replace

import pytest
from fake_provider import FakeProvider
from grading_input import KEY, job_in, write_input
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.errors import GradingError
from healthbench.grading.bulk import estimate_file, grade_file
from healthbench.grading.cost import Budget, Price, estimate, load_prices, most_of
from healthbench.grading.provider import GradingStoppedError, Usage
from healthbench.grading.settings import PRESETS

PRICE = Price(2.0, 0.5, 8.0)


def test_a_request_costs_its_fresh_cached_and_written_tokens():
    # (800 * 2 + 200 * 0.5 + 100 * 8) / 1,000,000 = 0.0025
    assert PRICE.of(Usage(1000, 200, 100)) == pytest.approx(0.0025)


def test_both_reference_graders_have_a_dated_price():
    table = load_prices()
    assert len(table.as_of) == len("2026-11-29")
    assert table.price("gpt-4.1-2025-04-14") == table.price("gpt-4.1") == PRICE
    assert table.price("gpt-5.4-2026-03-05").output == 15.0
    assert table.price("gpt-4.1-turbo") is None
    assert table.price("llama-4") is None


def test_a_table_of_the_users_own_replaces_ours(tmp_path):
    own = tmp_path / "prices.json"
    assert load_prices(own) == load_prices()
    row = {"input": 1, "cached": 1, "output": 1}
    own.write_text(json.dumps({"as_of": "2027-01-01", "batch_factor": 1, "models": {"mine": row}}))
    assert load_prices(own).price("mine") == Price(1, 1, 1)
    assert load_prices(own).price("gpt-4.1") is None
    for broken in ("{}", "[]", "no", '{"as_of": "x", "batch_factor": 1, "models": {"m": {}}}'):
        own.write_text(broken)
        with pytest.raises(GradingError, match=r"prices\.json"):
            load_prices(own)


def test_a_batch_is_foreseen_at_half_the_price(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        job = job_in(tmp_path, provider)
        live, batch = estimate_file(job), estimate_file(job, batch=True)
        assert live.calls == 12
        assert batch.cost.high == pytest.approx(live.cost.high / 2)
        grade_file(job, KEY)
        assert estimate_file(job).calls == 0


@pytest.mark.parametrize(
    "text",
    ["plain English words " * 50, "كلمات عربية " * 50, "汉字" * 300, '{"json": [1, 2]}' * 60],
)
def test_the_range_of_tokens_is_a_range(text):
    foreseen = estimate([text], PRESETS["reference"], load_prices())
    assert 0 < foreseen.input_tokens.low < foreseen.input_tokens.high
    assert foreseen.output_tokens.high <= 2048
    # What is set aside before a request is sent covers the foreseen most and a whole answer.
    assert most_of(text, PRESETS["reference"], PRICE) >= foreseen.cost.high


@settings(max_examples=30, deadline=None)
@given(
    st.floats(0.0, 0.2),
    st.lists(st.integers(0, 2048), min_size=1, max_size=30),
    st.integers(1, 8),
)
def test_a_budget_is_never_passed_and_nobody_waits_forever(cap, answers, workers):
    """Requests that are charged no more than was set aside for them never bring the sum above the cap."""
    grader = replace(PRESETS["reference"], max_tokens=2048)

    async def run():
        budget, left, spent = Budget(cap, PRICE), list(answers), []

        async def work():
            while left:
                written = left.pop()
                reserved = await budget.reserve("a question", grader)
                await asyncio.sleep(0)
                usage = Usage(1, 0, written)
                budget.settle(reserved, usage)
                spent.append(PRICE.of(usage))

        ends = await asyncio.wait_for(
            asyncio.gather(*(work() for _ in range(workers)), return_exceptions=True), 5
        )
        assert all(end is None or isinstance(end, GradingStoppedError) for end in ends)
        return sum(spent)

    assert asyncio.run(run()) <= cap + 1e-12
