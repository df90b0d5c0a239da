"""``healthbench grade`` and ``healthbench environment``: what they print, their exit status, and that no key is printed."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from urllib.request import urlopen

import pytest
from fake_provider import FakeProvider
from grading_input import lines_of, verdicts_of, write_input

from healthbench.errors import GradingError
from healthbench.formatting import DASH
from healthbench.grading.choice import choose, standing
from healthbench.grading.in_words import dollars
from healthbench.grading.settings import PRESETS
from healthbench.grading.template import REFERENCE_SHA256, Template, load_template

KEY = "sk-key-of-the-command"
COMMAND = [sys.executable, "-c", "from healthbench.cli import main; main()"]


def surroundings(folder, key=KEY):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")} | {
        "HEALTHBENCH_HOME": str(folder / "home")
    }
    return kept | {"OPENAI_API_KEY": key} if key else kept


def grade(folder, provider, *options, key=KEY):
    files = [folder / "replies.jsonl", "--dataset", folder / "data.jsonl"]
    where = ["--out", folder / "run.jsonl", "--base-url", provider.url]
    done = subprocess.run(
        [*COMMAND, "grade", *map(str, [*files, *where, *options])],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=surroundings(folder, key),
    )
    assert KEY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_a_file_of_replies_becomes_a_run_that_scores_and_the_receipt_says_what_it_took(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        done = grade(tmp_path, provider, "--reply-model", "sample")
        assert done.returncode == 0, done.stderr
        assert provider.requests[0].headers["authorization"] == f"Bearer {KEY}"
        again = grade(tmp_path, provider)
        assert len(provider.questions) == 12
    assert "12 calls" in done.stderr
    assert "not the reference grader (another address)" in done.stdout
    assert REFERENCE_SHA256 in done.stdout
    assert "12 with a verdict, 0 without" in done.stdout
    # 12 calls of 800 fresh, 200 cached and 100 output tokens: 12 * (1600 + 100 + 800) / 1e6 dollars
    assert "$0.03" in done.stdout
    assert "0 calls" in again.stderr
    scored = subprocess.run(
        [*COMMAND, "score", "--json", str(tmp_path / "run.jsonl")],
        capture_output=True,
        text=True,
        check=True,
        env=surroundings(tmp_path),
    )
    (element,) = json.loads(scored.stdout)
    assert (element["model"], element["n_items"], element["n_unknown"]) == ("sample", 12, 0)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in written


def test_an_estimate_sends_nothing_and_needs_no_key(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        done = grade(tmp_path, provider, "--estimate", key=None)
        assert done.returncode == 0, done.stderr
        assert not provider.requests
    assert "12 calls" in done.stderr
    assert not (tmp_path / "run.jsonl").exists()


def test_without_a_key_openai_is_not_asked_and_one_sentence_says_so(tmp_path):
    write_input(tmp_path)
    done = subprocess.run(
        [
            *COMMAND,
            "grade",
            str(tmp_path / "replies.jsonl"),
            *("--dataset", str(tmp_path / "data.jsonl"), "--out", str(tmp_path / "run.jsonl")),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=surroundings(tmp_path, key=None),
    )
    assert done.returncode == 1
    assert "No API key is set" in done.stderr.splitlines()[-1]


def test_the_cap_stops_with_one_sentence_and_a_higher_one_goes_on(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        # One request may cost up to about 0.018 dollars and costs 0.0025: under 0.025 there is room for some, not for 12.
        done = grade(tmp_path, provider, "--max-cost", "0.025", "--concurrency", "1")
        assert done.returncode == 1
        assert "The cost cap of $0.025 is reached" in done.stderr.splitlines()[-1]
        assert 0 < len(provider.questions) < 12
        assert grade(tmp_path, provider, "--max-cost", "1").returncode == 0
        assert len(provider.questions) == 12


def test_no_resume_refuses_a_run_that_is_there(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        assert grade(tmp_path, provider).returncode == 0
        done = grade(tmp_path, provider, "--no-resume")
    assert done.returncode == 2
    assert "run.jsonl is there already" in done.stderr


def test_what_stayed_unknown_is_asked_again_where_wanted(tmp_path):
    write_input(tmp_path, examples=2)
    with FakeProvider({1: ["too_long", True]}) as provider:
        first = grade(tmp_path, provider)
        assert "Unknown in the run:  1 criteria" in first.stdout
        assert verdicts_of(tmp_path)[0] == [True, None, True]
        grade(tmp_path, provider, "--retry-unknown")
    assert verdicts_of(tmp_path)[0] == [True, True, True]


def test_points_can_be_hidden_from_the_grader(tmp_path):
    write_input(tmp_path, examples=1, criteria=1)
    with FakeProvider() as provider:
        done = grade(tmp_path, provider, "--hide-points")
        text = provider.questions[0].json["messages"][-1]["content"]
    assert "States item-0." in text
    assert "[5] States item-0." not in text
    assert "the points are hidden from it" in done.stdout


def test_a_batch_is_submitted_polled_and_collected(tmp_path):
    write_input(tmp_path)
    with FakeProvider() as provider:
        sent = grade(tmp_path, provider, "--batch", "submit")
        assert sent.returncode == 0, sent.stderr
        assert "12 requests were sent in 1 batches" in sent.stdout
        early = grade(tmp_path, provider, "--batch", "collect")
        assert early.returncode == 1
        assert "still under way" in early.stderr
        polled = grade(tmp_path, provider, "--batch", "poll")
        assert "completed" in polled.stdout
        done = grade(tmp_path, provider, "--batch", "collect")
        assert done.returncode == 0, done.stderr
        assert not provider.questions
    assert len(lines_of(tmp_path)) == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "gpt-5-mini"), "not accepted as a grader"),
        (("--max-cost", "0"), "must be above 0"),
        (("--model", "no-such", "--max-cost", "1"), "has no price"),
        (("--give-up",), "--batch collect"),
        (("--template", "nowhere.txt"), "cannot be read"),
    ],
)
def test_what_cannot_be_graded_is_one_sentence(tmp_path, options, words):
    write_input(tmp_path)
    with FakeProvider() as provider:
        done = grade(tmp_path, provider, *options)
        assert not provider.requests
    assert done.returncode in {1, 2}
    assert words in done.stderr.splitlines()[-1]


def test_ctrl_c_keeps_what_came_and_says_how_to_go_on(tmp_path):
    write_input(tmp_path, examples=40, criteria=5)
    files = ["--dataset", str(tmp_path / "data.jsonl"), "--out", str(tmp_path / "run.jsonl")]
    with FakeProvider(latency=0.05) as provider:
        more = ["--base-url", provider.url, "--concurrency", "4"]
        process = subprocess.Popen(
            [*COMMAND, "grade", str(tmp_path / "replies.jsonl"), *files, *more],
            stderr=subprocess.PIPE,
            text=True,
            env=surroundings(tmp_path),
        )
        while len(provider.questions) < 40:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "the same command continues run.jsonl" in errors
    assert "Traceback" not in errors
    assert 0 < len(lines_of(tmp_path)) < 40


def test_the_environment_is_served_on_loopback(tmp_path):
    pytest.importorskip("openreward", reason="the extra openreward is not installed")
    write_input(tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*COMMAND, "environment", "--dataset", str(tmp_path / "data.jsonl"), "--port", str(port)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=surroundings(tmp_path, key=None),
    )
    try:
        for _ in range(300):
            assert process.poll() is None
            try:
                with urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as answer:
                    assert answer.status == 200
                    break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail("the environment did not answer")
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert "OPENAI_API_KEY is not set" in errors
    assert f"http://127.0.0.1:{port}" in errors


def test_a_grader_says_what_sets_it_apart_from_the_reference():
    reference = load_template()
    other = Template("<<conversation>> <<rubric_item>>", "a test")
    assert standing(choose(), reference) == "the reference grader"
    assert standing(choose("professional"), reference).endswith("HealthBench Professional")
    assert standing(choose(model="gpt-4o"), reference) == "not the reference grader (another model)"
    assert "hidden" in standing(choose(show_points=False), reference)
    # The model of one preset asked in the way of the other.
    mixed = choose(model=PRESETS["professional"].model)
    assert standing(mixed, reference) == "not the reference grader (another model)"
    assert "another wording" in standing(choose(), other)
    with pytest.raises(GradingError, match="no grader preset"):
        choose("other")


def test_small_prices_keep_their_digits():
    assert [dollars(value) for value in (None, 0, 0.0025, 0.03, 1234.5)] == [
        DASH,
        "$0.00",
        "$0.0025",
        "$0.03",
        "$1,234.50",
    ]
