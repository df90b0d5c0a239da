"""The Example page: ledger, equation, steps and "what if"."""

from __future__ import annotations

import json

import graded

MINUS = "\N{MINUS SIGN}"


def equation(app):
    return next(str(line.value) for line in app.markdown if " / " in plain(str(line.value)))


def plain(text):
    return text.replace("\\", "")


def foreign_texts(app):
    """Return every text that is handed to the component for foreign text."""
    return [
        block["text"]
        for element in app.get("bidi_component")
        for block in json.loads(element.proto.json)
    ]


def test_the_equation_names_every_met_point(open_page, one_run):
    app = open_page("example", one_run)
    assert "(+7) / 10 = 0.70" in plain(equation(app))
    app.button(key="next").click().run()
    assert f"({MINUS}8) / 5 = {MINUS}1.60" in plain(equation(app))
    assert app.query_params["example"] == "2"
    app.button(key="previous").click().run()
    assert app.query_params["example"] == "1"
    assert app.button(key="previous").disabled


def test_steps_follow_the_filter(open_page, texts, one_run):
    run = open_page("example", one_run).query_params["run"]
    app = open_page("example", one_run, run=run, max_score="0")
    # Examples 2 and 3 are at or below 0; the first of them is shown.
    assert "**1** of 2" in texts(app)
    app.button(key="next").click().run()
    assert app.query_params["example"] == "3"
    assert app.button(key="next").disabled


def test_what_if_recomputes_at_once_and_stores_nothing(open_page, texts, one_run):
    app = open_page("example", one_run)
    switches = [toggle for toggle in app.toggle if toggle.label == "met"]
    assert [toggle.value for toggle in switches] == [True, False, False]
    switches[1].set_value(True).run()
    # Both met now: 7 and 3 of 10 points.
    assert "(+7 +3) / 10 = 1.00" in plain(texts(app))
    assert "1 verdict changed, nothing stored" in texts(app)
    reset = next(button for button in app.button if button.label == "Reset")
    reset.click().run()
    assert "What if" not in texts(app)
    app.button(key="next").click().run()
    app.button(key="previous").click().run()
    assert "What if" not in texts(app)


def test_an_unknown_verdict_gives_bounds_and_can_be_supposed(open_page, texts, tmp_path):
    examples = graded.three_examples()
    examples[0]["rubric_items"][1]["criteria_met"] = None
    path = graded.allresults(
        tmp_path / "healthbench_gaps_20260101_100000_allresults.json", *examples
    )
    app = open_page("example", path)
    assert "1 of 3 verdicts unknown" in texts(app)
    # 7 / 10 without the unknown 3 points, 10 / 10 with them
    assert "between 0.700 and 1.000" in texts(app)
    choice = next(group for group in app.get("button_group") if "criterion 2" in group.label)
    choice.set_value("met").run()
    assert "(+7 +3) / 10 = 1.00" in plain(texts(app))


def test_no_positive_points_means_no_score(open_page, texts, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_none_20260101_100000_allresults.json",
        graded.example("p1", graded.item(-5, True, "axis:accuracy")),
    )
    app = open_page("example", path)
    assert "No score: the rubric has no positive points" in texts(app)


def test_foreign_text_is_handed_over_as_text(open_page, texts, tmp_path):
    bad = "<script>alert(1)</script> {{7*7}} ![x](http://example.invalid/x.png)"
    path = graded.allresults(
        tmp_path / "healthbench_bad_20260101_100000_allresults.json",
        graded.example(
            "p1",
            graded.item(5, True, "axis:accuracy", bad, criterion=bad, explanation=bad),
            reply=bad,
            prompt=bad,
        ),
    )
    app = open_page("example", path)
    assert foreign_texts(app).count(bad) == 4
    assert "![x]" not in texts(app)
    app.toggle(key="rendered").set_value(True).run()
    assert not app.exception
    assert "![" not in texts(app)


def test_a_long_reply_is_shown_in_part_until_asked_for(open_page, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_long_20260101_100000_allresults.json",
        graded.example("p1", graded.item(), reply="word " * 20_000),
    )
    app = open_page("example", path)
    assert max(map(len, foreign_texts(app))) < 21_000
    whole = next(toggle for toggle in app.toggle if "100,000" in toggle.label)
    whole.set_value(True).run()
    assert max(map(len, foreign_texts(app))) == 100_000


def test_an_example_that_is_not_there(open_page, texts, one_run):
    app = open_page("example", one_run)
    app.query_params["example"] = "99"
    app.run()
    assert "This run has no example 99." in texts(app)
