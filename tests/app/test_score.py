"""The Score page says the numbers it should, and why."""

from __future__ import annotations

import graded
import pytest

MINUS = "\N{MINUS SIGN}"


def shown_table(app):
    return {key: row.iloc[0] for table in app.table for key, row in table.value.iterrows()}


def test_headline_and_its_arithmetic(open_page, texts, one_run):
    app = open_page("score", one_run)
    # (0.7 - 1.6 + 0) / 3 = -0.3, clipped to 0; clipped one by one (0.7 + 0 + 0) / 3 = 0.2333
    assert app.metric[0].value == "0.0"
    facts = shown_table(app)
    assert facts["Unclipped mean"] == f"{MINUS}30.0 ({MINUS}0.3000)"
    assert facts["Each example clipped first"].startswith("23.3")
    assert facts["Examples below 0"] == "1 of 3"
    assert "**0.0** = mean of 3 example scores, clipped once at the end." in texts(app)


def test_axes_with_penalties_only_have_no_score(open_page, one_run):
    app = open_page("score", one_run)
    axes = next(
        frame.value for frame in app.dataframe if "Accuracy" in list(frame.value.get("name", []))
    )
    assert list(axes["name"]) == ["Accuracy", "Context awareness", "Completeness"]
    accuracy = axes.iloc[0]
    # (1.0 - 1.6) / 2 = -0.3 over the two examples with a positive accuracy criterion
    assert accuracy["score"] == 0
    assert accuracy["unclipped"] == pytest.approx(-0.3)
    assert accuracy["n"] == 2


def test_perfecting_every_axis_would_give_100(open_page, one_run):
    app = open_page("score", one_run)
    levers = next(frame.value for frame in app.dataframe if "gain" in frame.value)
    gains = dict(zip(levers["suppose"], levers["gain"], strict=True))
    # Without the -8 of the second example: (7/10 + 0/5 + 0/10) / 3 instead of -0.3.
    assert gains.pop("all penalties avoided") == pytest.approx(0.7 / 3 + 0.3)
    gains.pop("1 % more of the positive criteria met, at random")
    assert sum(gains.values()) - 0.3 == pytest.approx(1)


def test_severe_penalties_are_links_to_their_examples(open_page, texts, one_run):
    app = open_page("score", one_run)
    assert "**1 penalty** of" in texts(app)
    assert any("example 2" in link.value for link in app.page_link)


def test_unknown_verdicts_withhold_and_are_counted(open_page, texts, tmp_path):
    examples = graded.three_examples()
    examples[0]["rubric_items"][0]["criteria_met"] = None
    path = graded.allresults(
        tmp_path / "healthbench_gaps_20260101_100000_allresults.json", *examples
    )
    app = open_page("score", path)
    shown = texts(app)
    assert "1 of 7 verdicts are unknown (1 null) and are not counted as not met." in shown
    assert "2 of 3 examples fully graded" in shown
    # Lowest (0 - 1.6 + 0) / 3 = -0.533, highest (0.7 - 1.6 + 0) / 3 = -0.3
    assert f"[{MINUS}53.3, {MINUS}30.0]" in shown


def test_a_difference_from_the_file_is_said_and_shown(open_page, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_wrong_20260101_100000_allresults.json",
        *graded.three_examples(),
        metrics={"overall_score": 0.25},
        score=0.25,
    )
    app = open_page("score", path)
    (panel,) = (box for box in app.expander if box.label.startswith("Verification"))
    assert "1 difference from the file" in panel.label
    table = panel.dataframe[0].value
    assert table["file states"].iloc[0] == 0.25
    assert table["recomputed"].iloc[0] == 0


def test_a_run_without_any_score_says_so(open_page, texts, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_none_20260101_100000_allresults.json",
        graded.example("p1", graded.item(-5, True, "axis:accuracy")),
    )
    app = open_page("score", path)
    assert app.metric[0].value == "\N{EN DASH}"
    assert "No example has a score" in texts(app)


def test_failed_gradings_are_unknown_until_counted_as_the_file_does(open_page, texts, tmp_path):
    examples = graded.three_examples()
    examples[0]["rubric_items"][1]["explanation"] = "Failed to parse the grader's answer"
    path = graded.allresults(
        tmp_path / "healthbench_failed_20260101_100000_allresults.json", *examples
    )
    app = open_page("score", path)
    # The two others: (-1.6 + 0) / 2 = -0.8
    assert shown_table(app)["Unclipped mean"].startswith(f"{MINUS}80.0")
    assert "1 of 7 verdicts are unknown (1 failure mark)" in texts(app)
    app.toggle(key="as_stored").set_value(True).run()
    # (0.7 - 1.6 + 0) / 3 = -0.3, as the file has it
    assert shown_table(app)["Unclipped mean"].startswith(f"{MINUS}30.0")
    assert app.query_params["as_stored"] == "1"


def test_penalties_outside_every_axis_score_are_said(open_page, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_blind_20260101_100000_allresults.json",
        graded.example(
            "p1", graded.item(10, True, "axis:accuracy"), graded.item(-4, True, "axis:completeness")
        ),
    )
    app = open_page("score", path)
    assert any(f"Not in any axis score: {MINUS}4 points" in link.value for link in app.page_link)
