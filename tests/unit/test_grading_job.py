"""A live grading shows verdicts as they come, stops within a second, and can ask again about one criterion."""

import json
import time
from dataclasses import replace

import pytest
from fake_provider import FakeProvider
from pydantic import SecretStr

from healthbench.errors import GradingError, InputRefusedError
from healthbench.grading.cache import GradeCache
from healthbench.grading.job import GradingJob, JobState, Wish
from healthbench.grading.run_file import run_info, write_run
from healthbench.grading.settings import PRESETS
from healthbench.grading.template import load_template
from healthbench.model import Criterion, GradedExample, Message
from healthbench.scoring.example import tally

KEY = SecretStr("sk-test-key")


def wish_for(provider, criteria=6, **changes):
    settings = replace(PRESETS["reference"], base_url=provider.url, first_wait=0.001, attempts=2)
    defaults = {
        "prompt": [Message("user", "Is it safe?")],
        "reply": "Yes.",
        "criteria": [
            Criterion(f"States item-{i}.", 5 if i % 2 else -3, ()) for i in range(criteria)
        ],
        "settings": settings,
        "template": load_template(),
    }
    return Wish(**(defaults | changes))


def bounds_of(job):
    points = [criterion.points for criterion in job.wish.criteria]
    return tally(points, [verdict.met for verdict in job.verdicts()]).bounds


def test_the_band_narrows_to_a_point_as_verdicts_arrive():
    with FakeProvider(latency=0.05) as provider:
        job = GradingJob(wish_for(provider, concurrency=1), KEY)
        bands, arrived = [bounds_of(job)], []
        while job.state == JobState.RUNNING:
            arrived += job.new_outcomes()
            bands.append(bounds_of(job))
            time.sleep(0.01)
        arrived += job.new_outcomes()
        bands.append(bounds_of(job))
    # Even items are met: -3 three times and +5 never, of 15 points possible.
    assert bands[-1] == (-9 / 15, -9 / 15)
    assert (bands[0].low, bands[0].high) == (-9 / 15, 1.0)
    widths = [band.high - band.low for band in bands]
    assert widths == sorted(widths, reverse=True)
    assert len({round(width, 6) for width in widths}) >= 4
    assert [outcome.item for outcome in arrived] == list(range(6))
    assert job.state == JobState.DONE


def test_cancel_takes_effect_within_a_second_and_keeps_what_came(tmp_path):
    cache = GradeCache(tmp_path / "grades.sqlite")
    with FakeProvider({3: ["hang"]}, latency=0.02) as provider:
        job = GradingJob(wish_for(provider, concurrency=1), KEY, cache)
        while len(provider.requests) < 4:
            time.sleep(0.005)
        asked = time.monotonic()
        job.cancel()
        assert job.wait(5)
        assert time.monotonic() - asked < 1
        assert job.state == JobState.CANCELLED
        assert [verdict.met for verdict in job.verdicts()] == [True, False, True, None, None, None]
        provider.script = {}
        again = GradingJob(wish_for(provider), KEY, cache)
        assert again.wait(5)
        assert again.receipt.cache_hits == 3
        assert again.receipt.calls == 3
    cache.close()


def test_cancel_before_the_first_request_and_after_the_end_does_no_harm():
    with FakeProvider() as provider:
        job = GradingJob(wish_for(provider), KEY)
        job.cancel()
        assert job.wait(5)
        done = GradingJob(wish_for(provider), KEY)
        assert done.wait(5)
        done.cancel()
        assert done.state == JobState.DONE


def test_a_failed_criterion_is_asked_again_alone_and_the_receipt_adds_up():
    with FakeProvider({2: ["prose", "prose", True]}) as provider:
        job = GradingJob(wish_for(provider), KEY)
        assert job.wait(5)
        assert job.receipt.unknown == 1
        assert "not JSON" in job.verdicts()[2].explanation
        assert bounds_of(job).low < bounds_of(job).high
        retry = GradingJob(wish_for(provider, only=[2]), KEY, earlier=job.outcomes())
        assert retry.wait(5)
        assert [outcome.item for outcome in retry.new_outcomes()] == [2]
        assert provider.asked == {0: 1, 1: 1, 2: 3, 3: 1, 4: 1, 5: 1}
    assert (retry.receipt.calls, retry.receipt.graded, retry.receipt.unknown) == (8, 6, 0)
    assert not retry.receipt.failures
    assert retry.verdicts()[2].met is True


def test_grading_several_times_shows_which_verdicts_flicker():
    with FakeProvider({1: [True, False, True], 2: [True]}) as provider:
        job = GradingJob(wish_for(provider, samples=range(3)), KEY)
        assert job.wait(5)
        assert len(provider.requests) == 18
    assert job.flickering() == [1]
    assert {job.verdicts(sample)[1].met for sample in range(3)} == {True, False}


def test_the_cap_stops_a_job_and_says_so():
    with FakeProvider() as provider:
        job = GradingJob(wish_for(provider, criteria=60, max_cost=0.03), KEY)
        assert job.wait(5)
    assert job.state == JobState.STOPPED
    assert "cost cap" in job.message
    assert 0 < job.receipt.graded < 60
    assert job.receipt.cost <= 0.03


def test_the_estimate_brackets_what_is_charged():
    with FakeProvider() as provider:
        wish = wish_for(provider, samples=range(2), only=[0, 3])
        foreseen = wish.estimate()
    assert foreseen.calls == 4
    assert foreseen.cost.low < foreseen.cost.high
    # The template alone is 3,176 bytes: between 529 and 1,059 tokens a call.
    assert 4 * 529 <= foreseen.input_tokens.low < foreseen.input_tokens.high < 4 * 1200
    assert replace(wish, settings=replace(wish.settings, model="own-model")).estimate().cost is None


def test_points_can_be_hidden_from_the_grader():
    with FakeProvider() as provider:
        wish = wish_for(provider, only=[1])
        hidden = replace(wish, settings=replace(wish.settings, show_points=False))
        for each in (wish, hidden):
            assert GradingJob(each, KEY).wait(5)
        shown, without = (r.json["messages"][1]["content"] for r in provider.requests)
    assert "\n[5] States item-1.\n" in shown
    assert "\nStates item-1.\n" in without


def test_a_job_without_a_usable_key_is_refused_before_it_starts():
    wish = replace(
        wish_for(type("Nowhere", (), {"url": "https://api.openai.com/v1"})), max_cost=None
    )
    for key in (None, SecretStr(""), SecretStr("sk-\nx")):
        with pytest.raises(GradingError):
            GradingJob(wish, key)


def test_a_live_grading_is_saved_as_a_run(tmp_path):
    with FakeProvider({1: ["prose"]}) as provider:
        job = GradingJob(wish_for(provider, criteria=3), KEY)
        assert job.wait(5)
    wish, path = job.wish, tmp_path / "mine.jsonl"
    example = GradedExample(
        "p0", list(wish.prompt), wish.reply, list(wish.criteria), job.verdicts()
    )
    info = run_info(path.name, wish.settings, wish.template, model="sample")
    write_run(path, info, [example])
    header, row = (json.loads(line) for line in path.read_text().splitlines())
    assert header["grader"] == "gpt-4.1-2025-04-14"
    assert header["settings"]["grader template sha256"] == wish.template.sha256
    assert [item["criteria_met"] for item in row["criteria"]] == [True, None, True]
    with pytest.raises(InputRefusedError, match="there already"):
        write_run(path, info, [example])
    assert b"sk-test-key" not in path.read_bytes()
