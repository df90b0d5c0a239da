"""Batches: sent once, collected whole, and finished live or by another batch."""

import json
import subprocess
import sys
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

    def die_after_the_second(self, *args):
        batch_id = create(self, *args)
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


def calls_of(provider, what):
    """How often "GET batches", "POST files" or "GET content" was asked."""
    method, kind = what.split()
    paths = [r.path.split("?")[0] for r in provider.requests if r.method == method]
    return sum(path.split("/")[4 if kind == "content" else 2 :][:1] == [kind] for path in paths)


def whole_batch(job):
    submit_batch(job, KEY)
    wait_for(job)
    return collect_batch(job, KEY)


CALLS = ("POST files", "GET batches", "POST batches", "GET content")


def test_passing_faults_are_got_over_and_nothing_is_created_twice(tmp_path):
    write_input(tmp_path)
    with FakeProvider(polls=0) as provider:
        provider.faults = {
            "POST files": ["overloaded"],
            "GET batches": ["reset"],
            "POST batches": ["lost"],
            "GET content": ["half"],
        }
        outcome = whole_batch(job_in(tmp_path, provider))
        # The lost creation was found again by its marks, so one batch was asked for once. Lists: one that broke, one
        # before the upload, one before each creation attempt; and one poll and one look at the end.
        assert [calls_of(provider, what) for what in CALLS] == [2, 6, 1, 2]
        assert len(provider.batches) == 1
    assert outcome.complete
    assert outcome.unknown == 0


@pytest.mark.parametrize("what", CALLS)
def test_a_lasting_fault_is_asked_exactly_as_often_as_allowed(tmp_path, what):
    write_input(tmp_path)
    with FakeProvider(polls=0) as provider:
        provider.faults = {what: ["server_error"] * 9}
        with pytest.raises(GradingError, match="status 500; try again later") as caught:
            whole_batch(job_in(tmp_path, provider))
        assert calls_of(provider, what) == 2
        assert "scripted" not in str(caught.value)
        # The same steps go on from where they were.
        provider.faults = {}
        assert whole_batch(job_in(tmp_path, provider)).complete
        assert len(provider.batches) == 1


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize("fault", ["quota", "bad_key", "redirect"])
def test_what_no_repetition_mends_stops_at_once(tmp_path, what, fault):
    write_input(tmp_path)
    with FakeProvider(polls=0) as provider, FakeProvider() as other:
        provider.faults = {what: [fault] * 9}
        provider.elsewhere = other.url
        with pytest.raises(GradingError, match=r"quota|not accepted|redirects") as caught:
            whole_batch(job_in(tmp_path, provider))
        assert calls_of(provider, what) == 1
        assert not other.requests
        assert "scripted" not in str(caught.value)
        assert caught.value.__cause__ is None


@pytest.mark.parametrize("what", CALLS)
def test_a_sign_in_page_is_no_answer(tmp_path, what):
    write_input(tmp_path)
    with FakeProvider(polls=0) as provider:
        provider.faults = {what: ["html"] * 9}
        with pytest.raises(GradingError, match="not JSON"):
            whole_batch(job_in(tmp_path, provider))


def test_loopback_is_behind_no_proxy_and_gets_no_key_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    write_input(tmp_path)
    with FakeProvider() as provider:
        submit_batch(job_in(tmp_path, provider), None)
        assert len(provider.batches) == 1
        assert "sk-of-the-environment" not in str(provider.requests)


def test_the_sdk_is_imported_only_where_a_batch_is_sent():
    code = "import sys, healthbench.grading.batch; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
