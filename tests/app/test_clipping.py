"""The Clipping page: both scores, every rule, the number seen elsewhere, and the sandbox."""

from __future__ import annotations

import graded
import pytest

from healthbench.formatting import MINUS


def metrics(app):
    return [metric.value for metric in app.metric]


def rule_figures(app):
    table = next(table.value for table in app.table if "to official" in table.value)
    return {
        rule.partition("`")[2].partition("`")[0]: figure
        for rule, figure in zip(table["rule"], table["figure"], strict=True)
    }


def test_both_scores_and_the_parts_of_their_gap(open_page, texts, one_run):
    app = open_page("clipping", one_run)
    # Scores 0.7, -1.6, 0: mean -0.3, clipped 0; clipped each 0.7 / 3 = 0.2333.
    assert metrics(app)[:4] == ["0.0", "23.3", "+23.3", f"{MINUS}30.0"]
    # 1.6 / 3 = 0.5333 is lifted, the official clip takes 0.3 of the gap back.
    shown = texts(app)
    assert "+23.3 = **53.3** lifted from below zero (1 of 3 examples)" in shown
    assert "less **30.0** by which the one official clip itself lifts the mean to 0" in shown


def test_every_rule_on_the_overall_score_and_on_an_axis(open_page, one_run):
    app = open_page("clipping", one_run)
    # All points in one fraction are 7 - 8 + 0 of 10 + 5 + 10, which is -0.04.
    assert rule_figures(app) | {"medarc": None} == {
        "simple-evals": "0.0",
        "inspect": "0.0",
        "openbench": "23.3",
        "medarc": None,
        "autorubric": "23.3",
        "pooled": f"{MINUS}4.0",
        "unclipped": f"{MINUS}30.0",
    }
    app.selectbox(key="rules_metric").select("axis:accuracy").run()
    # mean(1.0, -1.6) = -0.3, but (1 + 0) / 2 = 0.5 where each example is clipped first
    assert rule_figures(app)["simple-evals"] == "0.0"
    assert rule_figures(app)["inspect"] == "50.0"


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        ("50.0", "Accuracy"),
        ("-30.0", "*No clip* gives for Overall"),
        ("0.0", "*Late clip (official)* gives for Overall"),
    ],
)
def test_a_number_seen_elsewhere_is_explained(open_page, one_run, number, answer):
    app = open_page("clipping", one_run)
    app.text_input(key="seen_number").input(number).run()
    assert answer in app.success[0].value


def test_inspect_is_among_the_rules_for_fifty_on_accuracy(open_page, one_run):
    app = open_page("clipping", one_run)
    app.text_input(key="seen_number").input("50.0").run()
    matches = next(frame.value for frame in app.dataframe if "length penalty" in frame.value)
    accuracy = matches[matches["of"] == "Accuracy"]
    assert any("inspect" in rules for rules in accuracy["rule"])


def test_a_number_nothing_gives_shows_the_nearest(open_page, one_run):
    app = open_page("clipping", one_run)
    app.text_input(key="seen_number").input("61.31").run()
    assert "Nothing tried gives 61\\.31" in app.warning[0].value
    app.text_input(key="seen_number").input("rubbish").run()
    assert "is not a number" in app.error[0].value.replace("\\", "")


def test_the_examples_that_make_the_gap_are_links(open_page, one_run):
    app = open_page("clipping", one_run)
    assert any(f"score **{MINUS}1.60**" in link.value for link in app.page_link)


def test_a_run_without_negative_scores_has_no_gap(open_page, texts, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_x_20260101_100000_allresults.json",
        graded.example("p1", graded.item(5, True), graded.item(5, False)),
    )
    app = open_page("clipping", path)
    assert "No example score is below 0, so clipping early changes nothing." in texts(app)
    assert "This run has no axis tags." in texts(app)


def test_a_run_without_any_score_says_so(open_page, texts, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_x_20260101_100000_allresults.json",
        graded.example("p1", graded.item(5, None)),
    )
    assert "No example of this run has a score." in texts(open_page("clipping", path))


def test_the_sandbox_needs_no_run_and_follows_its_scores(open_page, texts):
    app = open_page("clipping")
    assert "There is no run to look at." in texts(app)
    # 0.7, -1.6, 0.0 to begin with
    assert metrics(app) == ["0.0", "23.3", f"{MINUS}30.0"]
