"""The Length page: the calculator with its units, and a run before and after."""

from __future__ import annotations

import graded
import pytest

from healthbench.formatting import MINUS, fraction
from healthbench.published import LENGTH_ROWS


def result(app):
    return next(metric.value for metric in app.metric if metric.label == "Length-adjusted score")


def markdown(app):
    return "\n".join(element.value for element in app.markdown)


def test_sixty_points_at_3000_characters(open_page):
    app = open_page("length")
    # 0.60 - 0.0147 * 1000 / 500 = 0.5706
    assert result(app) == "57.06 points"
    assert "= **0.5706**, a fraction of 1 = **57.06 points** of 100" in markdown(app)


def test_the_unit_changes_the_writing_and_not_the_score(open_page):
    app = open_page("length")
    app.segmented_control(key="calculator_unit").select("fraction of 1").run()
    assert app.number_input(key="calculator_fraction").value == 0.6
    assert result(app) == "0.5706"
    app.number_input(key="calculator_fraction").set_value(0.5).run()
    app.segmented_control(key="calculator_unit").select("points of 100").run()
    assert app.number_input(key="calculator_points").value == 50


def test_a_preset_and_own_values(open_page):
    app = open_page("length")
    app.segmented_control(key="length_preset").select("hard").run()
    # 0.60 - 0.0392 * 2 = 0.5216
    assert result(app) == "52.16 points"
    assert app.query_params["length"] in ("hard", ["hard"])
    app.number_input(key="length_penalty").set_value(0.01).run()
    assert app.segmented_control(key="length_preset").value == "own"
    assert result(app) == "58.00 points"


def test_all_published_rows_through_the_page(open_page):
    app = open_page("length")
    for row in LENGTH_ROWS.rows:
        app.segmented_control(key="length_preset").select(row.benchmark)
        app.number_input(key="calculator_points").set_value(row.raw_points)
        app.number_input(key="calculator_characters").set_value(row.mean_characters).run()
        shown = float(result(app).removesuffix(" points"))
        # Raw and adjusted are printed to 0.1 each, the result here to 0.01.
        assert shown == pytest.approx(row.adjusted_points, abs=0.105), row
    assert len(LENGTH_ROWS.rows) == 80


def test_a_pasted_reply_is_counted_in_code_points(open_page):
    app = open_page("length")
    app.toggle(key="calculator_paste").set_value(True).run()
    app.text_area(key="calculator_reply").input("é" * 499 + "\N{STETHOSCOPE}").run()
    # 0.60 - 0.0147 * (500 - 2000) / 500 = 0.6441
    assert app.number_input(key="calculator_counted").value == 500
    assert result(app) == "64.41 points"


def test_break_even_both_ways_and_for_one_criterion(open_page):
    shown = markdown(open_page("length"))
    assert "pay off from **1.47 points** more of raw score." in shown
    # 0.01 / 0.0147 * 500 = 340.1; 5 / 50 / 0.0147 * 500 = 3,401.4
    assert "pays for **340 characters** more." in shown
    assert "Meeting it buys **3,401 characters**." in shown


def test_a_penalty_of_zero_buys_any_length(open_page):
    app = open_page("length")
    app.number_input(key="length_penalty").set_value(0.0).run()
    assert "pays for **\N{INFINITY} characters** more." in markdown(app)


def test_a_run_before_and_after(open_page, texts, one_run):
    app = open_page("length", one_run, length="professional")
    values = {metric.label: metric.value for metric in app.metric}
    # Mean length (2500 + 1000 + 8) / 3 = 1169.33: -0.3 + 0.0147 * 830.67 / 500 = -0.2756, clipped 0.
    assert values["Raw score"] == "0.0"
    assert values["Adjusted score"] == "0.0"
    assert values["Mean length"] == "1,169 characters"
    assert f"Unclipped means {MINUS}30.0" in texts(app)
    assert f"and {MINUS}27.6" in texts(app)
    steps = next(table.value for table in app.table)
    assert f"{MINUS}27.6" in steps.to_string()


def test_the_preset_of_the_benchmark_is_the_first_choice(open_page, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_hard_x_20260101_100000_allresults.json", *graded.three_examples()
    )
    assert open_page("length", path).segmented_control(key="length_preset").value == "hard"


def test_the_part_of_a_difference_that_is_length(open_page, tmp_path, one_run):
    longer = graded.three_examples()
    for example in longer:
        example["completion"][0]["content"] += "z" * 1000
    other = graded.allresults(
        tmp_path / "healthbench_longer_20260102_100000_allresults.json", *longer
    )
    app = open_page("length", one_run, other, length="professional")
    others = app.selectbox(key="length_other")
    others.select_index(0).run()
    # The same verdicts, 1,000 characters fewer: nothing raw, 0.0294 by length.
    assert f"raw **0.0** = adjusted **+2.9** + length **{MINUS}2.9** points" in markdown(app)


def test_long_replies_are_outside_the_fitted_range(open_page, tmp_path):
    examples = graded.three_examples()
    for example in examples:
        example["completion"][0]["content"] = "w" * 5000
    path = graded.allresults(tmp_path / "healthbench_x_20260101_100000_allresults.json", *examples)
    app = open_page("length", path)
    assert "outside the range the penalty was fitted on" in app.warning[0].value


def test_a_spoilt_link_falls_back_to_the_published_penalty(open_page, one_run):
    app = open_page("length", one_run, length="nonsense")
    assert app.segmented_control(key="length_preset").value == "healthbench"
    assert fraction(app.number_input(key="length_penalty").value) == "0.0299"


@pytest.mark.parametrize("verdict", [None, True])
def test_a_run_of_one_example(open_page, texts, tmp_path, verdict):
    path = graded.allresults(
        tmp_path / "healthbench_x_20260101_100000_allresults.json",
        graded.example("p1", graded.item(5, verdict)),
    )
    app = open_page("length", path)
    assert ("No example of this run has a score." in texts(app)) is (verdict is None)
