"""The page Compare says what differs, by how much, and why."""

from __future__ import annotations

import graded
import pytest

MINUS = "\N{MINUS SIGN}"
ACCURACY, COMPLETENESS = "axis:accuracy", "axis:completeness"


def example(prompt_id, *verdicts, reply="A reply.", points=(7, 3, -6)):
    axes = (ACCURACY, COMPLETENESS, ACCURACY)
    return graded.example(
        prompt_id,
        *(graded.item(*one) for one in zip(points, verdicts, axes, strict=True)),
        reply=reply,
    )


@pytest.fixture
def two_runs(tmp_path):
    """Scores 0.7, 0.3 and 1.0 against 1.0, 0.3 and 0.4: differences 0.3, 0 and -0.6, mean -0.1."""
    before = [
        example("p1", True, False, False),
        example("p2", False, True, False),
        example("p3", True, True, False),
    ]
    after = [
        example("p1", True, True, False, reply="Another reply!"),
        example("p2", False, True, False),
        example("p3", True, True, True),
    ]
    return [
        graded.allresults(tmp_path / f"healthbench_{name}_20260101_10000{n}_allresults.json", *run)
        for n, (name, run) in enumerate((("model-after", after), ("model-before", before)))
    ]


def test_the_difference_and_its_conditions(open_page, texts, two_runs):
    app = open_page("compare", *two_runs)
    assert app.metric[0].value == f"{MINUS}10.0"
    shown = texts(app)
    assert "**3 shared prompts**" in shown
    assert "the same prompts and rubrics" in shown
    assert "Neither file records its grader" in shown
    assert "**Not decisive" in shown
    facts = {key: row.iloc[0] for table in app.table for key, row in table.value.iterrows()}
    assert facts["Better, worse, same"] == "1 · 1 · 1 prompts"
    assert "2 of 3 paired replies are the same text." in shown


@pytest.mark.parametrize("part", ["", "criteria", "prompts", "example"])
def test_every_part_opens_from_a_link(open_page, two_runs, part):
    app = open_page("compare", *two_runs, part=part)
    assert not app.warning


def test_flips_in_words(open_page, texts, two_runs):
    app = open_page("compare", *two_runs, part="criteria")
    # Of 9 criteria p1's +3 is fixed and p3's -6 regressed; met in both: p1 +7, p2 +3, p3 +7, +3.
    assert "**1 were fixed** and **1 regressed**; 4 are met and 3 not met in both" in texts(app)
    # Of three examples with 10 points possible each, +3 is 0.1 of the mean and -6 is -0.2.
    assert f"+10.0 by what was fixed and {MINUS}20.0 by what regressed" in texts(app)


def test_side_by_side_starts_with_the_largest_loss_and_steps(open_page, texts, two_runs):
    app = open_page("compare", *two_runs, part="example")
    assert f"Score **1.000** in the other run, **0.400** in this one: **{MINUS}60.0**" in texts(app)
    app.button(key="pair_next").click().run()
    assert not app.exception
    assert app.query_params["example"] == "2"


def test_two_gradings_of_the_same_replies_show_agreement(open_page, texts, tmp_path):
    files = [
        graded.allresults(
            tmp_path / f"healthbench_{name}_20260101_100000_allresults.json",
            example("p1", True, True, False),
            example("p2", True, verdict, False),
        )
        for name, verdict in (("one", True), ("two", False))
    ]
    app = open_page("compare", *files)
    # 5 of 6 verdicts agree.
    assert "The verdicts agree on **83.3 %** of 6 criteria." in texts(app)


def test_no_overlap_is_a_sentence(open_page, tmp_path):
    files = [
        graded.allresults(
            tmp_path / f"healthbench_{name}_20260101_100000_allresults.json",
            example(name, True, True, False),
        )
        for name in ("one", "two")
    ]
    app = open_page("compare", *files)
    assert "share no prompt" in app.warning[0].value


def test_one_run_says_what_to_do(open_page, one_run):
    app = open_page("compare", one_run)
    assert "There is only one run" in app.info[0].value


def test_other_rubric_and_further_runs(open_page, texts, two_runs, tmp_path):
    third = graded.allresults(
        tmp_path / "healthbench_model-third_20260101_100000_allresults.json",
        example("p1", True, True, False, points=(7, 4, -6)),
        example("p2", True, True, False),
    )
    app = open_page("compare", *two_runs, third)
    ids = app.selectbox(key="against").options
    assert len(ids) == 2
    app.selectbox(key="against").select_index(1).run()
    assert not app.exception
    assert "1 prompt with another rubric" in texts(app)
    assert "1 prompt only in model" in texts(app)
