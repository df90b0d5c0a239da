"""Batches: sent once, collected whole, and finished live or by another batch."""

import json
from dataclasses import replace

import pytest
from fake_provider import FakeProvider
from grading_input import KEY, job_in, lines_of, verdicts_of, write_input

from healthbench.errors import GradingError
from healthbench.grading import batch
from healthbench.grading.batch import collect_batch, poll_batch, submit_batch
from healthbench.grading.batch_api import BatchApi
from healthbench.grading.bulk import grade_file
from healthbench.grading.settings import PRESETS


def wait_for(job):
    while not all(status.ended for status in poll_batch(job, KEY)):
        pass


def requests_of(provider):
    """Every line of every uploaded file."""
    files = [provider.files[b["input_file_id"]] for b in provider.batches.values()]
    return [json.loads(line) for file in files for line in file.splitlines()]


def test_a_batch_gives_the_same_run_as_live_grading_at_half_the_price(tmp_path):
    for name in ("live", "batch"):
        (tmp_path / name).mkdir()
        write_input(tmp_path / name, examples=5, criteria=3, repeats=2)
    with FakeProvider(polls=2) as provider:
        live = grade_file(job_in(tmp_path / "live", provider), KEY)
        bodies = sorted(json.dumps(received.json) for received in provider.questions)
        job = job_in(tmp_path / "batch", provider)
        submitted = submit_batch(job, KEY)
        assert (submitted.batches, submitted.requests) == (1, 30)
        first = poll_batch(job, KEY)
        assert [status.ended for status in first] == [False]
        assert "under way" in collect_batch(job, KEY).stopped
        wait_for(job)
        outcome = collect_batch(job, KEY)
        assert len(provider.questions) == 30
        assert sorted(json.dumps(r["body"]) for r in requests_of(provider)) == bodies
        assert {r["url"] for r in requests_of(provider)} == {"/v1/chat/completions"}
    assert outcome.complete
    assert lines_of(tmp_path / "batch") == lines_of(tmp_path / "live")
    assert outcome.charged.cost == pytest.approx(live.charged.cost / 2)
    assert outcome.charged.usage == live.charged.usage


def test_the_professional_grader_goes_to_the_responses_endpoint(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        settings = replace(PRESETS["professional"], base_url=provider.url)
        job = job_in(tmp_path, provider, settings=settings)
        submit_batch(job, KEY)
        assert {r["url"] for r in requests_of(provider)} == {"/v1/responses"}
        wait_for(job)
        assert collect_batch(job, KEY).complete


def test_what_a_batch_leaves_open_is_graded_live_and_nothing_else(tmp_path):
    write_input(tmp_path)
    with FakeProvider({4: ["prose", True], 7: ["server_error", True]}) as provider:
        job = job_in(tmp_path, provider)
        submit_batch(job, KEY)
        wait_for(job)
        outcome = collect_batch(job, KEY)
        assert not outcome.complete
        assert "2 criteria got no verdict" in outcome.stopped
        # The first reply is whole; the second lacks item 4, and lines are written in order.
        assert outcome.written == len(lines_of(tmp_path)) == 1
        done = grade_file(job, KEY)
        assert sorted(received.item for received in provider.questions) == [4, 7]
    assert done.complete
    assert done.unknown == 0


def test_a_second_submit_sends_only_what_is_missing(tmp_path):
    write_input(tmp_path)
    with FakeProvider({4: ["refusal", True]}) as provider:
        job = job_in(tmp_path, provider)
        assert submit_batch(job, KEY).requests == 12
        assert submit_batch(job, KEY).requests == 0
        with pytest.raises(GradingError, match="pay for them again"):
            grade_file(job, KEY)
        wait_for(job)
        collect_batch(job, KEY)
        assert submit_batch(job, KEY).requests == 1
        wait_for(job)
        assert collect_batch(job, KEY).complete
        assert provider.asked[4] == 2


def test_an_expired_batch_keeps_the_answers_it_has(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        provider.batch_end, provider.batch_share = "expired", 0.5
        job = job_in(tmp_path, provider)
        submit_batch(job, KEY)
        wait_for(job)
        outcome = collect_batch(job, KEY)
        assert outcome.written == 2
        assert "6 criteria" in outcome.stopped
        outcome = collect_batch(job, KEY, give_up=True)
    assert outcome.complete
    assert outcome.unknown == 6
    assert verdicts_of(tmp_path)[2:] == [[None] * 3, [None] * 3]
    assert "batch" in lines_of(tmp_path)[3]["criteria"][0]["explanation"]


def test_an_interrupted_submit_finds_its_batches_again(tmp_path, monkeypatch):
    write_input(tmp_path)
    monkeypatch.setattr(batch, "MAX_REQUESTS", 5)
    create = BatchApi.create
    created = []

    async def die_after_the_second(self, *args):
        batch_id = await create(self, *args)
        created.append(batch_id)
        if len(created) == 2:
            raise KeyboardInterrupt
        return batch_id

    with FakeProvider() as provider:
        job = job_in(tmp_path, provider)
        monkeypatch.setattr(BatchApi, "create", die_after_the_second)
        with pytest.raises(KeyboardInterrupt):
            submit_batch(job, KEY)
        # The second batch exists at the provider, but its id was lost.
        assert len(provider.batches) == 2
        monkeypatch.setattr(BatchApi, "create", create)
        assert submit_batch(job, KEY).batches == 2
        assert len(provider.batches) == 3
        asked = [r["custom_id"] for r in requests_of(provider)]
        assert len(asked) == len(set(asked)) == 12
        wait_for(job)
        assert collect_batch(job, KEY).complete
    assert not list(tmp_path.glob(".batch-*"))


def test_a_collect_that_is_repeated_charges_nothing_twice(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        job = job_in(tmp_path, provider)
        submit_batch(job, KEY)
        wait_for(job)
        ledger = (tmp_path / "run.jsonl.batches.json").read_text()
        first = collect_batch(job, KEY)
        # As if it had been killed before it noted that the batch was collected.
        (tmp_path / "run.jsonl.batches.json").write_text(ledger)
        again = collect_batch(job, KEY)
    assert again.charged == first.charged
    assert len(lines_of(tmp_path)) == 4


def test_the_cap_refuses_a_batch_before_it_is_sent(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        with pytest.raises(GradingError, match="more than the cap"):
            submit_batch(job_in(tmp_path, provider, max_cost=0.001), KEY)
        assert not provider.requests


def test_polling_before_a_submit_says_what_to_do(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider, pytest.raises(GradingError, match="submit one first"):
        poll_batch(job_in(tmp_path, provider), KEY)


def test_the_key_is_in_no_file_of_a_batch(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        job = job_in(tmp_path, provider)
        submit_batch(job, KEY)
        wait_for(job)
        collect_batch(job, KEY)
        assert provider.requests[0].headers["authorization"] == "Bearer sk-test-key"
    assert all(b"sk-test-key" not in path.read_bytes() for path in tmp_path.rglob("*"))
