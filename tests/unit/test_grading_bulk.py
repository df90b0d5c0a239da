"""A bulk grading survives being stopped anywhere, pays for no verdict twice and writes no line twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest
from fake_provider import FakeProvider
from grading_input import KEY, job_in, lines_of, verdicts_of, write_input

from healthbench.errors import GradingError, InputRefusedError
from healthbench.grading.bulk import grade_file
from healthbench.readers import open_runs

# What the killed process runs: the same call as the command line's, with the provider's address as its argument.
PROGRAM = """
import sys
from dataclasses import replace
from pathlib import Path
from pydantic import SecretStr
from healthbench.grading.bulk import BulkJob, grade_file
from healthbench.grading.settings import PRESETS
from healthbench.grading.template import load_template
folder, url, concurrency = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
settings = replace(PRESETS["reference"], base_url=url, first_wait=0.001)
outcome = grade_file(
    BulkJob(
        replies=folder / "replies.jsonl", dataset=folder / "data.jsonl", out=folder / "run.jsonl",
        settings=settings, template=load_template(), cache=folder / "grades.sqlite", concurrency=concurrency,
    ),
    SecretStr("sk-test-key"),
)
print("complete" if outcome.complete else outcome.stopped)
"""


def test_a_run_holds_every_reply_in_order_with_its_verdicts(tmp_path):
    write_input(tmp_path, examples=5, criteria=3)
    seen = []
    with FakeProvider() as provider:
        outcome = grade_file(job_in(tmp_path, provider, model="sample"), KEY, seen.append)
        assert len(provider.requests) == 15
    assert outcome.complete
    assert [row["prompt_id"] for row in lines_of(tmp_path)] == [f"p{place}" for place in range(5)]
    # Item n is met where n is even.
    assert verdicts_of(tmp_path) == [
        [(place * 3 + c) % 2 == 0 for c in range(3)] for place in range(5)
    ]
    assert seen[-1].examples_done == 5
    assert seen[-1].criteria_done == seen[-1].criteria == 15
    assert seen[-1].rate > 0
    assert outcome.receipt.cost == pytest.approx(15 * 0.0025)
    assert outcome.charged.calls == 15


def test_a_finished_run_is_not_paid_for_again(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        grade_file(job_in(tmp_path, provider), KEY)
        before = (tmp_path / "run.jsonl").read_bytes()
        outcome = grade_file(job_in(tmp_path, provider), KEY)
        assert len(provider.requests) == 12
    assert outcome.complete
    assert outcome.receipt.calls == 0
    assert outcome.charged.calls == 12
    assert (tmp_path / "run.jsonl").read_bytes() == before


def test_equal_replies_of_one_prompt_are_graded_apart(tmp_path):
    write_input(tmp_path, examples=2, criteria=2, repeats=3)
    with FakeProvider() as provider:
        outcome = grade_file(job_in(tmp_path, provider), KEY)
        assert len(provider.requests) == 2 * 2 * 3
    assert outcome.written == 6


def test_the_run_is_one_that_every_page_and_command_reads(tmp_path):
    write_input(tmp_path, examples=3, criteria=2)
    data = tmp_path / "data.jsonl"
    rows = [json.loads(line) | {"canary": "a canary"} for line in data.read_text().splitlines()]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with FakeProvider({3: ["prose"]}) as provider:
        grade_file(job_in(tmp_path, provider, model="sample"), KEY)
    assert json.loads((tmp_path / "run.jsonl").read_text().splitlines()[0])["canary"] == "a canary"
    (run,) = open_runs([tmp_path / "run.jsonl"])
    examples = list(run.examples())
    assert (run.info.model, run.info.grader) == ("sample", "gpt-4.1-2025-04-14")
    assert run.report.canary
    assert run.report.verdicts == {"bool": 5, "null": 1}
    assert [e.prompt_id for e in examples] == ["p0", "p1", "p2"]
    assert [[v.met for v in e.verdicts] for e in examples] == [
        [True, False],
        [True, None],
        [True, False],
    ]
    assert "not JSON" in examples[1].verdicts[1].explanation
    assert examples[0].example_tags == ("theme:hedging",)
    assert examples[0].criteria[0] == ("States item-0.", 5, ("level:example", "axis:accuracy"))


def test_a_reply_with_half_a_surrogate_pair_is_graded_and_the_run_goes_on(tmp_path):
    write_input(tmp_path, examples=2)
    text = (tmp_path / "replies.jsonl").read_text().replace("Reply 0.", "Reply \\ud83d 0.")
    (tmp_path / "replies.jsonl").write_text(text)
    with FakeProvider() as provider:
        assert grade_file(job_in(tmp_path, provider), KEY).complete
        assert grade_file(job_in(tmp_path, provider), KEY).receipt.calls == 0
    assert lines_of(tmp_path)[0]["reply"] == "Reply ? 0."


def test_kill_at_ten_random_moments_loses_no_line_and_pays_only_what_was_in_flight(tmp_path):
    concurrency, kills, examples, criteria = 4, 10, 60, 6
    write_input(tmp_path, examples=examples, criteria=criteria)
    choice = random.Random(5)
    with FakeProvider(latency=0.01) as provider:
        arguments = [sys.executable, "-c", PROGRAM, str(tmp_path), provider.url, str(concurrency)]
        for _ in range(kills):
            target = len(provider.requests) + choice.randrange(1, 30)
            process = subprocess.Popen(arguments)
            while len(provider.requests) < target:
                assert process.poll() is None
                time.sleep(0.001)
            time.sleep(choice.random() * 0.02)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        last = subprocess.run(arguments, capture_output=True, text=True, check=True)
        assert last.stdout.strip() == "complete"
        asked = Counter(received.item for received in provider.requests)
    assert set(asked) == set(range(examples * criteria))
    # A kill can lose at most the requests under way, one for each place of the concurrency.
    assert len(provider.requests) <= examples * criteria + kills * concurrency
    assert [row["prompt_id"] for row in lines_of(tmp_path)] == [
        f"p{place}" for place in range(examples)
    ]
    assert verdicts_of(tmp_path) == [
        [(place * criteria + c) % 2 == 0 for c in range(criteria)] for place in range(examples)
    ]


def test_ctrl_c_keeps_what_came_and_the_next_start_goes_on(tmp_path):
    write_input(tmp_path, examples=20, criteria=5)
    with FakeProvider(latency=0.02) as provider:
        arguments = [sys.executable, "-c", PROGRAM, str(tmp_path), provider.url, "4"]
        process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
        while len(provider.requests) < 40:
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=5)
        assert "KeyboardInterrupt" in errors
        assert "sk-test-key" not in errors
        interrupted = len(lines_of(tmp_path))
        assert 0 < interrupted < 20
        outcome = grade_file(job_in(tmp_path, provider), KEY)
        assert len(provider.requests) <= 100 + 4
    assert outcome.complete
    assert len(lines_of(tmp_path)) == 20


def test_a_line_cut_off_by_a_kill_is_written_again(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        grade_file(job_in(tmp_path, provider), KEY)
        whole = (tmp_path / "run.jsonl").read_bytes()
        for cut in (1, 40, len(whole.splitlines(keepends=True)[-1])):
            (tmp_path / "run.jsonl").write_bytes(whole[:-cut])
            assert grade_file(job_in(tmp_path, provider), KEY).complete
            assert (tmp_path / "run.jsonl").read_bytes() == whole
        assert len(provider.requests) == 12


def test_the_cost_cap_holds_over_all_starts_and_a_higher_one_goes_on(tmp_path):
    # 60 calls of 0.0025 dollars are 0.15 dollars; a request sets aside up to 0.02 before it is sent.
    write_input(tmp_path, examples=20, criteria=3)
    with FakeProvider() as provider:
        first = grade_file(job_in(tmp_path, provider, max_cost=0.06), KEY)
        again = grade_file(job_in(tmp_path, provider, max_cost=0.06), KEY)
        assert not first.complete
        assert "cost cap" in first.stopped
        assert again.receipt.calls == 0
        assert again.charged.cost == first.charged.cost <= 0.06
        last = grade_file(job_in(tmp_path, provider, max_cost=1.0), KEY)
        assert last.complete
        assert len(provider.requests) == 60
    assert last.charged.cost == pytest.approx(0.15)


def test_what_stays_unknown_is_asked_again_only_on_request(tmp_path):
    write_input(tmp_path)
    with FakeProvider({4: ["prose"], 7: ["refusal"]}) as provider:
        outcome = grade_file(job_in(tmp_path, provider), KEY)
        assert outcome.unknown == 2
        assert len(provider.requests) == 10 + 2 * 2
        assert grade_file(job_in(tmp_path, provider), KEY).receipt.calls == 0
        rubric = lines_of(tmp_path)[1]["criteria"]
        assert rubric[1]["criteria_met"] is None
        assert "not JSON" in rubric[1]["explanation"]

        provider.script = {7: ["refusal"]}
        outcome = grade_file(job_in(tmp_path, provider, retry_unknown=True), KEY)
        assert outcome.receipt.calls == 1 + 2
        assert outcome.unknown == 1
    assert verdicts_of(tmp_path) == [
        [True, False, True],
        [False, True, False],
        [True, None, True],
        [False, True, False],
    ]
    assert not list(tmp_path.glob("*.retry*"))


def test_a_run_is_not_continued_with_another_grader_or_other_replies(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        job = job_in(tmp_path, provider)
        grade_file(job, KEY)
        with pytest.raises(GradingError, match="grader parameters"):
            grade_file(replace(job, settings=replace(job.settings, temperature=0.0)), KEY)
        with pytest.raises(InputRefusedError, match="there already"):
            grade_file(replace(job, resume=False), KEY)
        lines = (tmp_path / "replies.jsonl").read_text().splitlines(keepends=True)
        (tmp_path / "replies.jsonl").write_text("".join(reversed(lines)))
        with pytest.raises(InputRefusedError, match="other replies"):
            grade_file(job, KEY)
        (tmp_path / "replies.jsonl").write_text("".join(lines[:3]))
        with pytest.raises(GradingError, match="begun for 4 replies"):
            grade_file(job, KEY)
        (tmp_path / "replies.jsonl").write_text("".join(lines))
        (tmp_path / "other.jsonl").write_text('{"something": "else"}\n')
        with pytest.raises(InputRefusedError, match="no run of this project"):
            grade_file(replace(job, out=tmp_path / "other.jsonl"), KEY)
        assert len(provider.requests) == 12
    assert (tmp_path / "other.jsonl").read_text() == '{"something": "else"}\n'


def test_a_hopeless_provider_ends_the_run_with_one_sentence_and_it_goes_on_later(tmp_path):
    write_input(tmp_path, examples=10)
    with FakeProvider({15: ["quota", False]}) as provider:
        outcome = grade_file(job_in(tmp_path, provider), KEY)
        assert not outcome.complete
        assert "quota" in outcome.stopped
        assert grade_file(job_in(tmp_path, provider), KEY).complete
        assert len(provider.requests) == 30 + 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("not json", "no JSON object"),
        ("[]", "no JSON object"),
        ('{"reply": "x"}', "prompt_id is missing"),
        ('{"prompt_id": "p0"}', "reply is missing"),
        ('{"prompt_id": "p0", "reply": 5}', "reply is the number 5"),
        ('{"prompt_id": "p99", "reply": "x"}', "not in data.jsonl"),
        ('{"prompt_id": "p0", "reply": "x", "repeat": 0}', "earlier line"),
    ],
)
def test_a_reply_that_cannot_be_used_is_refused_before_anything_is_paid(tmp_path, line, why):
    write_input(tmp_path)
    with (tmp_path / "replies.jsonl").open("a") as file:
        file.write(line + "\n")
    with FakeProvider() as provider:
        with pytest.raises(InputRefusedError, match=why) as refusal:
            grade_file(job_in(tmp_path, provider), KEY)
        assert "replies.jsonl, example 5" in str(refusal.value)
        assert not provider.requests
    assert not (tmp_path / "run.jsonl").exists()


def test_two_gradings_cannot_write_one_run(tmp_path):
    write_input(tmp_path, examples=20)
    with FakeProvider(latency=0.05) as provider:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path), provider.url, "1"],
            stdout=subprocess.PIPE,
        )
        while len(provider.requests) < 3:
            time.sleep(0.005)
        with pytest.raises(GradingError, match="another grading"):
            grade_file(job_in(tmp_path, provider), KEY)
        process.kill()
        process.communicate()


def test_the_key_is_in_no_file(tmp_path):
    write_input(tmp_path)
    with FakeProvider({1: ["bad_key"]}) as provider:
        outcome = grade_file(job_in(tmp_path, provider), KEY)
    assert "sk-test-key" not in str(outcome)
    for path in tmp_path.rglob("*"):
        assert b"sk-test-key" not in path.read_bytes()
