"""A slice is saved on Examples, chosen on Score and Compare, said loudly, and in the link."""

from __future__ import annotations

import graded
import pytest


@pytest.fixture
def run_file(tmp_path):
    """Scores 1.0 (accuracy met) and 0.0, 0.0: mean 1/3."""
    return graded.allresults(
        tmp_path / "healthbench_model-s_20260101_100000_allresults.json",
        *(
            graded.example(
                f"p{number}",
                graded.item(5, number == 0, "axis:accuracy"),
                reply="x" * (10 * number),
            )
            for number in range(3)
        ),
    )


def test_a_slice_is_saved_and_counted(open_page, texts, run_file):
    app = open_page("examples", run_file, min_score="0.5")
    app.text_input(key="slice_name").input("good ones").run()
    app.button(key="slice_save").click().run()
    assert not app.exception
    app.switch_page("app_pages/score.py").run()
    chosen = app.selectbox(key="slice")
    assert chosen.options == ["All examples", "good ones"]
    assert app.metric[0].value == "33.3"
    chosen.select("good ones").run()
    assert not app.exception
    assert app.query_params["sliced"] == "1"
    assert app.query_params["min_score"] == "0.5"
    shown = texts(app)
    assert "Slice: score from 0" in shown
    assert "**100.0**" in shown
    assert "over 1 scored example of 1 in it; the whole run has 33.3." in shown
    assert "luck as well as skill" in shown
    # The whole run's own figure stays what it is.
    assert app.metric[0].value == "33.3"


def test_a_link_opens_the_slice(open_page, texts, run_file):
    app = open_page("score", run_file, sliced="1", max_characters="5")
    assert "Slice: reply characters up to 5" in texts(app)


def test_an_empty_slice_says_so(open_page, texts, run_file):
    app = open_page("score", run_file, sliced="1", min_characters="500")
    assert "No example of this run lies in the slice" in texts(app)


def test_a_name_is_needed(open_page, run_file):
    app = open_page("examples", run_file, min_score="0.5")
    app.button(key="slice_save").click().run()
    assert not app.exception
    assert any("needs a name" in warning.value for warning in app.warning)


def test_compare_and_repeats_use_the_slice(open_page, texts, run_file, tmp_path):
    other = graded.allresults(
        tmp_path / "healthbench_model-t_20260101_100000_allresults.json",
        *(
            graded.example(
                f"p{number}", graded.item(5, number == 1, "axis:accuracy"), reply="y" * 40
            )
            for number in range(3)
        ),
    )
    app = open_page("compare", run_file, other, sliced="1", min_score="0.5")
    # p0 is met in one run, p1 in the other.
    assert "**2 shared prompts**" in texts(app)
    assert "where either run meets the conditions" in texts(app)
    app = open_page("repeats", run_file, other, sliced="1", min_characters="500")
    assert any("No prompt lies in this slice" in info.value for info in app.info)
