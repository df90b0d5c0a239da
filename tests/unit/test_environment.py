"""The environment through the SDK's own server and client, on loopback."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from aiohttp import ClientResponseError
from fake_provider import FakeProvider

pytest.importorskip("openreward", reason="the extra openreward is not installed")

from openreward import OpenReward
from openreward.api.errors import OpenRewardError

from healthbench.environment import Bench, environment_for
from healthbench.errors import GradingError
from healthbench.model import Criterion, Message
from healthbench.readers.dataset import DatasetRow

SERVER = """
import sys
from dataclasses import replace
from pathlib import Path
from healthbench.config import ProviderSettings
from healthbench.environment import serve
from healthbench.grading.settings import PRESETS
data, url, port = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
settings = PRESETS["reference"] if url == "openai" else replace(
    PRESETS["reference"], base_url=url, attempts=2, first_wait=0.001
)
serve(data, key=ProviderSettings().openai_api_key, settings=settings, port=port)
"""

# (prompt, points) of three tasks; item n is met where n is even, so of 0-2, 4-5, 6-7 and 8.
TASKS = [
    ([("user", "What helps?")], [7, 3, -6]),
    ([("user", "It hurts."), ("assistant", "Where?"), ("user", "Here.")], [-8, 5]),
    ([("user", "Is it bad?")], [-4, 9]),
    ([("user", "And now?")], [5]),
]
MET = {0: True, 1: False, 2: False, 4: True, 5: False, 6: False, 7: False}


def write_data(path):
    first, rows = [0, 4, 6, 8], []
    for place, (turns, points) in enumerate(TASKS):
        rows.append(
            {
                "prompt_id": f"p{place}",
                "example_tags": ["theme:hedging"],
                "prompt": [{"role": role, "content": content} for role, content in turns],
                "rubrics": [
                    {"criterion": f"States item-{first[place] + c}.", "points": p, "tags": []}
                    for c, p in enumerate(points)
                ],
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@contextmanager
def served(data, grader, **environ):
    """Serve a data set in a process of its own; yields its address and gives its log at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    log = data.with_suffix(".log")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(data), grader, str(port)],
            stdout=out,
            stderr=subprocess.STDOUT,
            env=base | environ,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            assert process.poll() is None, log.read_text()
            try:
                urlopen(f"{url}/health", timeout=1).close()
                break
            except (URLError, ConnectionError, TimeoutError):
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(10)
    assert "sk-test-key" not in log.read_text()


@contextmanager
def client_of(url, monkeypatch):
    for name, value in {
        "OPENREWARD_API_URL": url,
        "OPENREWARD_SESSION_URL": url,
        "OPENREWARD_DISABLE_UPDATE_CHECK": "1",
    }.items():
        monkeypatch.setenv(name, value)
    with OpenReward(api_key="none", base_url=url) as client:
        yield client.environments.get("healthbench", base_url=url)


def test_three_tasks_get_their_rewards_and_a_failing_grader_gives_none(tmp_path, monkeypatch):
    write_data(tmp_path / "data.jsonl")
    script = {item: [met] for item, met in MET.items()} | {8: ["prose"]}
    with (
        FakeProvider(script) as provider,
        served(tmp_path / "data.jsonl", provider.url, OPENAI_API_KEY="sk-test-key") as url,
        client_of(url, monkeypatch) as environment,
    ):
        assert environment.list_splits() == ["test"]
        tasks = environment.list_tasks("test")
        assert [task.task_spec["prompt_id"] for task in tasks] == ["p0", "p1", "p2", "p3"]
        assert "States item" not in json.dumps([task.task_spec for task in tasks])

        outputs, prompts = [], []
        for task in tasks[:3]:
            with environment.session(task=task) as session:
                assert session.list_tools() == []
                assert session.is_assistant_message_final()
                (block,) = session.get_prompt()
                prompts.append(block.text)
                outputs.append(session.call_terminal_tool("My reply."))
        # 7 of 7 + 3 points; -8 of 5; none of 9.
        assert [output.reward for output in outputs] == [0.7, -1.6, 0.0]
        assert all(output.finished for output in outputs)
        assert prompts[0] == "What helps?"
        assert prompts[1].endswith("\n\nuser: It hurts.\n\nassistant: Where?\n\nuser: Here.")

        ledger = outputs[1].metadata["ledger"]
        assert [(row["points"], row["state"], row["running"]) for row in ledger] == [
            (-8, "incurred", -8.0),
            (5, "missed", -8.0),
        ]
        assert outputs[1].metadata["transcript"].endswith("user: Here.\n\nassistant: My reply.")
        assert "helpful assistant" not in outputs[1].metadata["transcript"]
        sent = provider.requests[0].json["messages"]
        assert [turn["role"] for turn in sent] == ["system", "user"]
        assert "You are a helpful assistant." not in sent[1]["content"]

        with (
            environment.session(task=tasks[3]) as session,
            pytest.raises(
                OpenRewardError, match="1 of 1 criteria got no verdict within 2 attempts"
            ),
        ):
            session.call_terminal_tool("My reply.")
        assert provider.asked[8] % 2 == 0


def test_without_a_key_it_says_what_it_needs_and_a_session_may_bring_it(tmp_path, monkeypatch):
    write_data(tmp_path / "data.jsonl")
    with (
        served(tmp_path / "data.jsonl", "openai") as url,
        client_of(url, monkeypatch) as environment,
    ):
        task = environment.list_tasks("test")[0]
        with (
            pytest.raises(ClientResponseError, match="OPENAI_API_KEY"),
            environment.session(task=task) as session,
        ):
            session.get_prompt()
        with environment.session(task=task, secrets={"OPENAI_API_KEY": "sk-test-key"}) as session:
            assert session.get_prompt()[0].text == "What helps?"


def test_a_row_without_positive_points_is_refused_when_it_is_served():
    row = DatasetRow("p0", [Message("user", "Hm?")], (), [Criterion("Lies.", -5, ())])
    with pytest.raises(GradingError, match="p0"):
        environment_for(Bench(rows=[row]))


def test_a_task_of_another_data_set_is_refused():
    row = DatasetRow("p0", [Message("user", "Hm?")], (), [Criterion("Answers.", 5, ())])
    environment = environment_for(Bench(rows=[row]))
    for task in ({"index": 0, "prompt_id": "other"}, {"index": 1, "prompt_id": "p0"}, {}):
        with pytest.raises(GradingError):
            environment(task)
