"""The page Repeats: spread over repeats, worst of k, the parts of the variance, and what to do without repeats."""

from __future__ import annotations

import graded
import pytest


def scored(prompt_id, points, **more):
    """One example that scores so many tenths."""
    items = [
        graded.item(1, number < points, "axis:accuracy", criterion=f"point {number}")
        for number in range(10)
    ]
    return graded.example(prompt_id, *items, **more)


@pytest.fixture
def repeated(tmp_path):
    """p1 scores 0.8 and 0.2, p2 0.6 and 0.6: repeats 0.7 and 0.4."""
    return graded.allresults(
        tmp_path / "healthbench_model-r_20260101_100000_allresults.json",
        scored("p1", 8),
        scored("p2", 6),
        scored("p1", 2, reply="Another."),
        scored("p2", 6, reply="Another."),
    )


def test_spread_and_worst_at_two(open_page, texts, repeated):
    app = open_page("repeats", repeated)
    # Scores of the repeats 0.7 and 0.4: mean 0.55, SD 0.15. Worst of 2: (0.2 + 0.6) / 2 = 0.4 of 0.55, 27 % less.
    assert [metric.value for metric in app.metric[:3]] == ["55.0", "15.0", "40.0 to 70.0"]
    assert "Worst of **2**: **40.0**" in texts(app)
    assert "27 % less than the 55.0 of a single reply, over 2 prompts." in texts(app)


def test_variance_by_hand(open_page, texts, repeated):
    app = open_page("repeats", repeated)
    # Within: variances (ddof 1) 0.18 and 0 -> 0.09. Prompt means 0.5 and 0.6: variance 0.005 < 0.09 / 2, so between is 0.
    # Standard error sqrt(0.09 / 4) = 0.15; half of it takes 8 prompts or 8 replies.
    shown = texts(app)
    assert "**15.0** points" in shown
    assert "**8 prompts**" in shown
    assert "**8 replies**" in shown
    assert "cannot be told apart without a regrade" in shown


def test_one_reply_a_prompt_says_what_to_do_and_joining_helps(open_page, tmp_path):
    files = [
        graded.allresults(
            tmp_path / f"healthbench_model-j_20260101_10000{number}_allresults.json",
            scored("p1", points, reply=f"Reply {number}."),
            scored("p2", 6, reply=f"Reply {number}."),
        )
        for number, points in enumerate((8, 2))
    ]
    app = open_page("repeats", *files)
    assert "nothing was repeated" in app.info[0].value
    chosen = app.multiselect(key="joined")
    chosen.select(chosen.options[0]).run()
    assert not app.exception
    assert app.metric[0].value == "55.0"


def test_a_regrade_splits_answering_from_grading(open_page, texts, repeated, tmp_path):
    again = graded.allresults(
        tmp_path / "healthbench_model-again_20260101_100000_allresults.json",
        scored("p1", 6),
        scored("p2", 6),
        scored("p1", 4, reply="Another."),
        scored("p2", 6, reply="Another."),
    )
    app = open_page("repeats", repeated, again)
    app.selectbox(key="regrade").select_index(0).run()
    assert not app.exception
    # Differences of the gradings 0.2, 0, -0.2, 0: half the mean square 0.01.
    assert "over 4 replies graded in both runs" in texts(app)


def test_runs_that_cannot_be_joined_are_a_sentence(open_page, repeated, one_run):
    app = open_page("repeats", repeated, one_run)
    chosen = app.multiselect(key="joined")
    chosen.select(chosen.options[0]).run()
    assert not app.exception
    assert "graded on another rubric" in app.warning[0].value
