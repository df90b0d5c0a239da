"""The grader is asked exactly as the reference evaluator asks, and everything else is said to be something else."""

import hashlib
from dataclasses import replace
from importlib.resources import files

import pytest
from fake_provider import FakeProvider
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from healthbench.errors import GradingError
from healthbench.grading import template as template_module
from healthbench.grading.job import GradingJob, Wish
from healthbench.grading.settings import PRESETS, GraderSettings, reference_of
from healthbench.grading.template import (
    OWN_WORDING,
    REFERENCE_SHA256,
    Template,
    conversation_text,
    item_text,
    load_template,
)
from healthbench.model import Criterion, Message

TEXT = (files("keystone") / "healthbench_grader.txt").read_text(encoding="utf-8").strip()


def reference_message(prompt, reply, criterion, points):
    """The published rule: turns as "role: content" with a blank line between, the item as "[points] criterion"."""
    turns = [*prompt, {"role": "assistant", "content": reply}]
    conversation = "\n\n".join([f"{turn['role']}: {turn['content']}" for turn in turns])
    item = f"[{points}] {criterion}"
    return TEXT.replace("<<conversation>>", conversation).replace("<<rubric_item>>", item)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.just("<<rubric_item>>")


@given(
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant", "system"]), words), min_size=1, max_size=4
    ),
    words,
    words,
    st.integers(-10, 10).filter(bool),
)
def test_a_question_is_the_references_to_the_byte(turns, reply, criterion, points):
    prompt = [{"role": role, "content": content} for role, content in turns]
    expected = reference_message(prompt, reply, criterion, points)
    conversation = conversation_text([Message(*turn) for turn in turns], reply)
    for value in (points, float(points)):
        item = item_text(Criterion(criterion, value, ()))
        assert load_template().fill(conversation, item) == expected


@pytest.mark.parametrize("name", ["reference", "professional"])
def test_the_request_that_leaves_the_machine_is_the_references(name):
    turns = [{"role": "user", "content": "¿Es seguro?\r\n"}, {"role": "assistant", "content": "Sí"}]
    turns.append({"role": "user", "content": "شكرا 😀 \u2028 \x00"})
    criterion = "Names item-7, with <b>tags</b> & a \\ backslash."
    with FakeProvider({7: [True]}) as provider:
        wish = Wish(
            prompt=[Message(**turn) for turn in turns],
            reply="Reply\n\twith «marks».",
            criteria=[Criterion(criterion, -8, ("axis:accuracy",))],
            settings=replace(PRESETS[name], base_url=provider.url),
            template=load_template(),
        )
        job = GradingJob(wish, SecretStr("sk-test-key"))
        assert job.wait(10)
        assert job.verdicts()[0].met is True
        (received,) = provider.requests
    message = reference_message(turns, "Reply\n\twith «marks».", criterion, -8)
    if name == "reference":
        assert received.path == "/v1/chat/completions"
        assert received.json == {
            "model": "gpt-4.1-2025-04-14",
            "messages": [
                {"role": "system", "content": "You are a helpful assistant."},
                {"role": "user", "content": message},
            ],
            "temperature": 0.5,
            "max_tokens": 2048,
        }
    else:
        assert received.path == "/v1/responses"
        assert received.json == {
            "model": "gpt-5.4-2026-03-05",
            "input": [{"role": "user", "content": message}],
            "reasoning": {"effort": "low"},
            "store": False,
        }


def test_the_installed_text_is_recognised_by_its_hash():
    template = load_template()
    assert template.sha256 == REFERENCE_SHA256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert template.is_reference
    assert "keystone-bench" in template.origin


def test_without_the_package_our_own_wording_is_used_and_marked(monkeypatch):
    monkeypatch.setattr(template_module, "find_spec", lambda _: None)
    template = load_template()
    assert template.text == OWN_WORDING
    assert not template.is_reference
    assert "own wording" in template.origin
    assert reference_of(PRESETS["reference"], template) is None
    # Nothing of it is the reference's text: no run of ten words is shared.
    ours, theirs = OWN_WORDING.lower().split(), " ".join(TEXT.lower().split())
    assert not any(" ".join(ours[i : i + 10]) in theirs for i in range(len(ours) - 9))


def test_another_text_in_the_package_is_not_taken_for_the_references(monkeypatch):
    monkeypatch.setattr(template_module, "REFERENCE_SHA256", "0" * 64)
    assert load_template().text == OWN_WORDING


def test_a_named_file_is_used_and_recognised_by_its_hash_alone(tmp_path):
    path = tmp_path / "grader.txt"
    path.write_text(f"\n{TEXT}\n\n", encoding="utf-8")
    assert load_template(path).is_reference
    path.write_text("<<conversation>> <<rubric_item>>", encoding="utf-8")
    assert not load_template(path).is_reference
    path.write_text("<<conversation>>", encoding="utf-8")
    with pytest.raises(GradingError, match="rubric_item"):
        load_template(path)
    with pytest.raises(GradingError, match="cannot be read"):
        load_template(tmp_path / "absent.txt")


def test_only_the_presets_with_the_references_text_are_called_reference():
    template = load_template()
    assert reference_of(PRESETS["reference"], template) == "reference"
    assert reference_of(PRESETS["professional"], template) == "professional"
    for change in (
        {"model": "gpt-4.1"},
        {"temperature": 0.0},
        {"base_url": "http://127.0.0.1:11434/v1"},
        {"show_points": False},
        {"max_tokens": 100},
    ):
        assert reference_of(replace(PRESETS["reference"], **change), template) is None
    assert reference_of(PRESETS["reference"], Template(TEXT + ".", "x")) is None
    # How often and how long is tried does not change a verdict.
    assert reference_of(replace(PRESETS["reference"], attempts=1), template) == "reference"


@pytest.mark.parametrize(
    "model", ["gpt-5-mini", "gpt-5-mini-2025-08-07", "openai/gpt-5-mini", "GPT-5.4-mini-2026-03-17"]
)
def test_the_mini_family_is_refused_as_a_grader(model):
    with pytest.raises(GradingError, match="gpt-5-mini family"):
        GraderSettings(model=model)


@pytest.mark.parametrize(
    "model", ["gpt-5-minimal-local", "gpt-4.1-mini", "gpt-5.4-2026-03-05", "qwen3:8b"]
)
def test_other_models_are_accepted(model):
    assert GraderSettings(model=model).model == model


@pytest.mark.parametrize(
    "change",
    [
        {"model": " "},
        {"base_url": "127.0.0.1:8000/v1"},
        {"base_url": "file:///etc/passwd"},
        {"base_url": "https://user:pass@host/v1"},
        {"api": "completions"},
        {"attempts": 0},
        {"timeout": 0.0},
    ],
)
def test_settings_that_cannot_work_are_refused(change):
    with pytest.raises(GradingError):
        GraderSettings(**change)
