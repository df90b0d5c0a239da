"""openbench's scorer in Inspect logs: verdicts only in the text of the explanation."""

from __future__ import annotations

import pytest
from specimens import (
    CASES,
    ORACLE,
    Item,
    differences,
    inspect_sample,
    members,
    openbench_header,
    openbench_sample,
    read,
    scores,
    write_zip,
)


def write(folder, samples=None):
    samples = [openbench_sample(case) for case in CASES] if samples is None else samples
    return write_zip(folder / "log.eval", members(openbench_header(), samples))


def with_items(*items):
    return CASES[0]._replace(items=list(items))


def test_verdicts_are_put_back_into_the_order_of_the_rubric(tmp_path):
    run, examples = read(write(tmp_path))
    assert scores(examples) == ORACLE
    assert [c.text for c in examples[0].criteria] == [i.criterion for i in CASES[0].items]
    assert [v.met for v in examples[0].verdicts] == [True, False, False]
    assert examples[0].verdicts[0].explanation == CASES[0].items[0].explanation
    assert (run.info.grader, run.info.rule, run.info.clip_level) == (
        "acme/judge",
        "openbench",
        "example",
    )
    assert run.info.benchmark == "HealthBench"


def test_its_accuracy_is_the_mean_of_clipped_scores_and_is_ours_by_that_rule(tmp_path):
    run, examples = read(write(tmp_path))
    # Examples 0.7, -1.6 -> 0 and 0; on the axis 1.0 and -1.6 -> 0.
    assert run.info.stated["overall_score"] == pytest.approx(0.7 / 3)
    assert run.info.stated["axis:accuracy"] == 0.5
    assert not differences(run, examples)


def test_a_reply_of_the_grader_that_could_not_be_read_is_unknown(tmp_path):
    bad = CASES[0].items[1]._replace(explanation="Invalid grading response format: not json")
    case = with_items(CASES[0].items[0], bad, CASES[0].items[2])
    run, (example,) = read(write(tmp_path, [openbench_sample(case)]))
    assert scores([example]) == {"case-1": None}
    assert scores([example], stored=True) == {"case-1": 0.7}
    assert run.report.verdicts["failure mark"] == 1


def test_lookalikes_and_indented_lines_in_texts_are_told_by_the_rubric(tmp_path):
    case = with_items(
        Item(
            "Lists:\n  - rest\n\n[✗] [4] no item",
            5,
            ["axis:accuracy"],
            False,
            "It says\n\n[✓] [9] nothing\n  else",
        ),
        Item("Is short", 3, [], True, "Yes\n\n[✗] [3] no"),
    )
    _, (example,) = read(write(tmp_path, [openbench_sample(case)]))
    assert [(v.met, v.explanation) for v in example.verdicts] == [
        (i.met, i.explanation) for i in case.items
    ]


def test_an_explanation_about_other_criteria_leaves_verdicts_unknown(tmp_path):
    sample = openbench_sample(CASES[0])
    sample["metadata"]["rubrics"][1]["criterion"] = "Was edited since."
    run, (example,) = read(write(tmp_path, [sample]))
    assert [v.met for v in example.verdicts] == [True, None, False]
    assert any("not about exactly the criteria" in warning for warning in run.report.warnings)


@pytest.mark.parametrize(
    ("tags", "unclear"), [(["axis:completeness"], True), (["axis:accuracy"], False)]
)
def test_equal_criteria_are_unclear_only_where_their_tags_differ(tmp_path, tags, unclear):
    case = with_items(
        Item("Is kind", 5, ["axis:accuracy"], True),
        Item("Is kind", 5, tags, False),
        Item("Is not", -1, [], False),
    )
    run, examples = read(write(tmp_path, [openbench_sample(case)]))
    assert scores(examples) == {"case-1": 0.5}
    assert any("twice with different verdicts" in w for w in run.report.warnings) is unclear


def test_samples_without_a_rubric_are_left_out_with_a_reason(tmp_path):
    bare = openbench_sample(CASES[1])
    bare["metadata"]["rubrics"] = []
    bare["scores"]["healthbench_scorer"] = {"value": 0.0, "explanation": "No rubrics found"}
    run, examples = read(write(tmp_path, [openbench_sample(CASES[0]), bare]))
    assert len(examples) == 1
    assert run.report.rows_skipped == {"neither verdicts nor a rubric": 1}


def test_the_two_scorers_are_told_apart_by_what_a_sample_holds(tmp_path):
    run, _ = read(write(tmp_path, [inspect_sample(CASES[0])]))
    assert run.info.format == "Inspect log of inspect_evals"
