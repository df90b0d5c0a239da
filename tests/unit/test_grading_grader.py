"""One call a criterion, a bounded number of attempts, and never a verdict that was not given."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest
from fake_provider import FakeProvider
from pydantic import SecretStr

from healthbench.errors import GradingError
from healthbench.grading.cache import GradeCache
from healthbench.grading.cost import budget_for, load_prices
from healthbench.grading.grader import Grader, Receipt
from healthbench.grading.provider import GradingStoppedError, Provider
from healthbench.grading.settings import PRESETS, GraderSettings
from healthbench.grading.template import load_template
from healthbench.model import Criterion, Message
from healthbench.scoring.example import tally

PROMPT = [Message("user", "Is it safe?")]
TEN_FAULTS = (
    "rate_limit",
    "server_error",
    "overloaded",
    "hang",
    "reset",
    "html",
    "half",
    "truncated",
    "refusal",
    "string",
)


def settings_for(provider, **changes):
    quick = {"first_wait": 0.001, "timeout": 20.0}
    return replace(PRESETS["reference"], base_url=provider.url, **(quick | changes))


def criteria(n):
    return [Criterion(f"States item-{i}.", 5 if i % 3 else -4, ()) for i in range(n)]


def grade(settings, rubric, *, cache=None, cap=None, only=None, sample=0, concurrency=32):
    """Grade a rubric; returns the outcomes by criterion and why the grading stopped, if it did."""

    async def run():
        grader = Grader(
            settings,
            load_template(),
            Provider(settings, SecretStr("sk-test-key"), concurrency),
            cache=cache,
            prices=load_prices(),
            budget=budget_for(cap, settings, load_prices()),
            concurrency=concurrency,
        )
        outcomes, stopped = {}, None
        async with grader:
            try:
                async for one in grader.grade_items(
                    PROMPT, "Yes.", rubric, only=only, sample=sample
                ):
                    outcomes[one.item] = one
            except GradingStoppedError as stop:
                stopped = str(stop)
        return outcomes, stopped

    return asyncio.run(run())


def test_every_verdict_is_the_scripts_or_unknown_after_exactly_the_allowed_attempts():
    # 500 criteria; 50 of them (every tenth) are faulty, five by each of ten faults: 25 fail once and then answer, the
    # other 25 fail every time. 3 attempts are allowed, so 450 + 25 * 2 + 25 * 3 = 575 requests are sent.
    script = {}
    for place, item in enumerate(range(0, 500, 10)):
        fault = TEN_FAULTS[place % 10]
        script[item] = [fault, item % 20 == 0] if place < 25 else [fault]
    with FakeProvider(script, retry_after=0.01) as provider:
        outcomes, stopped = grade(settings_for(provider, attempts=3, timeout=2.0), criteria(500))
        assert stopped is None
        assert len(provider.requests) == 450 + 25 * 2 + 25 * 3
        for item, outcome in outcomes.items():
            fails_always = item % 10 == 0 and item >= 250
            expected = None if fails_always else item % 20 == 0 if item % 10 == 0 else item % 2 == 0
            assert outcome.met is expected, item
            assert outcome.charge.calls == provider.asked[item]
            assert (outcome.failure is None) == (outcome.met is not None)
    verdicts = [outcomes[item].met for item in range(500)]
    counted = tally([c.points for c in criteria(500)], verdicts)
    assert counted.n_unknown == 25
    assert counted.score is None
    assert counted.bounds.low < counted.bounds.high


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("rate_limit", "status 429"),
        ("server_error", "status 500"),
        ("bad_gateway", "status 502"),
        ("overloaded", "status 503"),
        ("hang", "in time"),
        ("reset", "connection to the provider broke"),
        ("half", "connection to the provider broke"),
        ("html", "not JSON"),
        ("truncated", "cut off"),
        ("refusal", "declined"),
        ("null", "empty"),
        ("prose", "not JSON"),
        ("broken", "not JSON"),
        ("list", "no object"),
        ("missing", "criteria_met is missing"),
        ("string", "neither true nor false"),
        ("number", "neither true nor false"),
    ],
)
def test_a_fault_is_named_and_no_verdict_is_made_of_it(fault, why):
    with FakeProvider({0: [fault]}) as provider:
        outcomes, _ = grade(settings_for(provider, attempts=2, timeout=0.3), criteria(1))
        assert provider.asked[0] == 2
    assert outcomes[0].met is None
    assert why in outcomes[0].failure
    assert outcomes[0].verdict.met is None


@pytest.mark.parametrize(
    ("fault", "why"), [("quota", "quota"), ("bad_key", "key"), ("no_model", "model")]
)
def test_a_hopeless_grading_stops_at_once_and_keeps_what_came(fault, why):
    with FakeProvider({3: [fault]}) as provider:
        outcomes, stopped = grade(settings_for(provider), criteria(200), concurrency=1)
        assert len(provider.requests) == 4
    assert sorted(outcomes) == [0, 1, 2]
    assert why in stopped
    assert "scripted" not in stopped


def test_a_question_the_provider_refuses_is_not_asked_again():
    with FakeProvider({0: ["too_long"]}) as provider:
        outcomes, stopped = grade(settings_for(provider), criteria(2))
        assert provider.asked[0] == 1
    assert stopped is None
    assert outcomes[0].met is None
    assert outcomes[1].met is False


def test_a_grader_that_never_answers_stops_the_grading_instead_of_filling_it_with_unknowns():
    with FakeProvider({item: ["prose"] for item in range(300)}) as provider:
        outcomes, stopped = grade(settings_for(provider, attempts=1), criteria(300), concurrency=4)
        assert len(provider.requests) <= 50 + 4
    assert "50 criteria in a row" in stopped
    assert all(outcome.met is None for outcome in outcomes.values())


def test_retry_after_is_waited_for_by_every_question():
    # Item 0 is told to wait 0.4 s; item 1, asked only after that answer, waits as well.
    with FakeProvider({0: ["rate_limit", True]}, retry_after=0.4) as provider:
        outcomes, _ = grade(settings_for(provider), criteria(3), concurrency=1)
        first, *later = [received.at for received in provider.requests]
    assert outcomes[0].met is True
    assert min(later) - first >= 0.4


def test_a_wait_beyond_the_longest_ends_the_grading_instead_of_hanging():
    with FakeProvider({0: ["rate_limit"]}, retry_after=3600) as provider:
        _, stopped = grade(settings_for(provider), criteria(1))
    assert "3600 seconds" in stopped


def test_waits_double_from_the_first_and_are_spread():
    with FakeProvider({0: ["server_error"]}) as provider:
        grade(settings_for(provider, attempts=4, first_wait=0.1), criteria(1))
        times = [received.at for received in provider.requests]
    waits = [later - earlier for earlier, later in pairwise(times)]
    # 0.1, 0.2 and 0.4 s, each taken between its half and its whole.
    for wait, whole in zip(waits, (0.1, 0.2, 0.4), strict=True):
        assert whole / 2 <= wait < whole + 0.1


def test_a_verdict_is_paid_for_once_and_a_bad_reply_is_never_kept(tmp_path):
    cache = GradeCache(tmp_path / "grades.sqlite")
    with FakeProvider({1: ["prose"]}) as provider:
        settings = settings_for(provider, attempts=2)
        grade(settings, criteria(4), cache=cache)
        assert len(provider.requests) == 3 + 2
        provider.script[1] = [True]
        outcomes, _ = grade(settings, criteria(4), cache=cache)
        assert len(provider.requests) == 3 + 2 + 1
        assert [outcomes[i].cached for i in range(4)] == [True, False, True, True]
        assert outcomes[1].met is True

        # Anything that can change the verdict makes it another one: an independent sample, a parameter, hidden points.
        grade(settings, criteria(4), cache=cache, sample=1)
        grade(replace(settings, temperature=0.0), criteria(4), cache=cache)
        grade(replace(settings, show_points=False), criteria(4), cache=cache)
        assert len(provider.requests) == 6 + 3 * 4
    cache.close()


def test_equal_criteria_in_one_rubric_are_asked_one_by_one_as_the_reference_does(tmp_path):
    twice = [Criterion("States item-2.", 5, ()), Criterion("States item-2.", 5, ())]
    cache = GradeCache(tmp_path / "grades.sqlite")
    with FakeProvider({2: [True, False]}) as provider:
        outcomes, _ = grade(settings_for(provider), twice, cache=cache)
        again, _ = grade(settings_for(provider), twice, cache=cache)
        assert len(provider.requests) == 2
    assert {outcomes[0].met, outcomes[1].met} == {True, False}
    assert [again[0].met, again[1].met] == [outcomes[0].met, outcomes[1].met]
    cache.close()


def test_one_criterion_can_be_graded_alone():
    with FakeProvider() as provider:
        outcomes, _ = grade(settings_for(provider), criteria(5), only=[3])
        assert [received.item for received in provider.requests] == [3]
    assert list(outcomes) == [3]


def test_the_cost_cap_is_never_passed_and_keeps_what_came():
    # gpt-4.1 costs 2 / 0.5 / 8 dollars a million: 800 fresh, 200 cached and 100 output tokens are 0.0025 dollars.
    with FakeProvider(latency=0.002) as provider:
        outcomes, stopped = grade(settings_for(provider), criteria(100), cap=0.05)
        spent = sum(outcome.charge.cost for outcome in outcomes.values())
        assert len(outcomes) == len(provider.requests)
    assert spent == pytest.approx(0.0025 * len(outcomes))
    assert 0 < spent <= 0.05
    assert "cost cap" in stopped


def test_a_cap_without_a_price_is_refused():
    settings = GraderSettings(model="llama-4", base_url="http://127.0.0.1:1/v1")
    with pytest.raises(GradingError, match="no price"):
        budget_for(1.0, settings, load_prices())


def test_a_receipt_counts_calls_retries_tokens_cost_and_hits(tmp_path):
    cache = GradeCache(tmp_path / "grades.sqlite")
    with FakeProvider({0: ["prose", True], 1: ["prose"]}) as provider:
        settings = settings_for(provider, attempts=3)
        grade(settings, [Criterion("States item-2.", 5, ())], cache=cache)
        outcomes, _ = grade(settings, criteria(3), cache=cache)
        receipt = Receipt()
        for outcome in outcomes.values():
            receipt.add(outcome)
        # Item 0 took two calls, item 1 three and gave no verdict, item 2 was known.
        assert (receipt.calls, receipt.retries, receipt.cache_hits) == (5, 3, 1)
        assert (receipt.graded, receipt.unknown) == (2, 1)
        assert receipt.usage == (5000, 1000, 500)
        assert receipt.cost == pytest.approx(5 * 0.0025)
    cache.close()


def test_the_key_is_sent_to_the_provider_and_shown_nowhere(tmp_path, caplog):
    caplog.set_level("DEBUG")
    cache = GradeCache(tmp_path / "grades.sqlite")
    with FakeProvider({0: ["bad_key"], 1: ["reset"]}) as provider:
        settings = settings_for(provider, attempts=2)
        outcomes, stopped = grade(settings, criteria(2), cache=cache)
        assert provider.requests[0].headers["authorization"] == "Bearer sk-test-key"
    seen = f"{outcomes} {stopped} {settings} {settings.parameters()} {caplog.text}"
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert "sk-test-key" not in seen
    assert b"sk-test-key" not in files
    cache.close()


def test_without_a_key_the_message_offers_grading_by_hand():
    with pytest.raises(GradingError, match="by hand"):
        Provider(PRESETS["reference"], None)


def test_a_redirect_is_not_followed_with_the_key():
    async def run():
        async def answer(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(
                b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"
            )
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        settings = replace(
            PRESETS["reference"],
            base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1",
        )
        async with server, Provider(settings, SecretStr("sk-test-key")) as provider:
            with pytest.raises(GradingStoppedError, match="redirects"):
                await provider.ask(settings.body("question"))

    asyncio.run(run())
