"""Counting failed gradings as the file does is one choice: Compare and Repeats follow it."""

from __future__ import annotations

import graded
import pytest

MINUS = "\N{MINUS SIGN}"


def example(prompt_id, first, second, explanation="Because.", reply="A reply."):
    return graded.example(
        prompt_id,
        graded.item(4, first, "axis:accuracy", explanation=explanation),
        graded.item(6, second, "axis:accuracy"),
        reply=reply,
    )


@pytest.fixture
def files(tmp_path):
    """After: p1 0.6 where the failed grading is not met, p2 0.4. Before: all 1."""
    failed = example("p1", False, True, "Failed to parse the answer")
    runs = {
        "after": [failed, example("p2", True, False, reply="Another."), example("p1", True, True)],
        "before": [example("p1", True, True), example("p2", True, True)],
    }
    return [
        graded.allresults(tmp_path / f"healthbench_{name}_20260101_100000_allresults.json", *run)
        for name, run in runs.items()
    ]


def test_compare_follows(open_page, files, texts):
    app = open_page("compare", *files)
    # p1 has its second reply alone, 1.0: mean of 0 and -0.6.
    assert app.metric[0].value == f"{MINUS}30.0"
    app.toggle(key="as_stored").set_value(True).run()
    # p1 is (0.6 + 1) / 2: mean of -0.2 and -0.6.
    assert app.metric[0].value == f"{MINUS}40.0"
    assert app.query_params["as_stored"] in ("1", ["1"])
    assert "counted as the files do" in texts(app)
    for part in ("criteria", "prompts", "example"):
        assert not open_page("compare", *files, part=part, as_stored="1").exception


def test_repeats_follow(open_page, files, texts):
    app = open_page("repeats", *files)
    # p1 has one scored reply left: no prompt has two.
    assert "two scored replies" in texts(app)
    app.toggle(key="as_stored").set_value(True).run()
    # Worst of 2 of p1: 0.6.
    assert "Worst of **2**: **60.0**" in texts(app)
