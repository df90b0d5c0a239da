"""Results of verifiers with MedARC's environment, saved with verdicts and without."""

from __future__ import annotations

import gzip
import json
import random

import pytest
from specimens import (
    CASES,
    ORACLE,
    VERIFIERS_METADATA,
    differences,
    read,
    scores,
    verifiers_row,
    write_jsonl,
    write_verifiers,
)

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.readers import find_runs, open_runs


def rows(*changes):
    return [verifiers_row(CASES[0], n, **change) for n, change in enumerate(changes)]


def test_rows_and_the_metadata_beside_them_are_one_run(tmp_path):
    run, examples = read(write_verifiers(tmp_path))
    assert scores(examples) == ORACLE
    assert examples[0].criteria[0].tags == ("level:example", "axis:accuracy")
    assert examples[1].criteria[0].tags == (
        "level:cluster",
        "cluster:emergency_referrals_emergent_emergency_behavior",
        "axis:accuracy",
    )
    assert examples[1].example_tags == ("theme:emergency_referrals",)
    info = run.info
    assert (info.model, info.grader, info.benchmark) == (
        "acme/careful",
        "acme/judge",
        "HealthBench Hard",
    )
    assert info.settings["temperature"] == "0.5"
    assert [path.name for path in run.files] == ["results.jsonl", "metadata.json"]


def test_its_reward_clips_every_example_and_is_ours_by_that_rule(tmp_path):
    run, examples = read(write_verifiers(tmp_path))
    # Rewards 0.7, clip(-1.6) = 0 and 0.
    assert run.info.stated == {"overall_score": pytest.approx(0.7 / 3)}
    assert run.info.clip_level == "example"
    assert not differences(run, examples)


def test_without_metadata_the_model_is_not_known(tmp_path):
    run, _ = read(write_verifiers(tmp_path, metadata=None))
    assert (run.info.model, run.info.stated) == (None, {})


@pytest.mark.parametrize(
    "metadata", ["{", "[]", '{"env_args": 3, "model": null, "avg_metrics": []}']
)
def test_odd_metadata_is_refused_or_passed_over(tmp_path, metadata):
    path = write_verifiers(tmp_path)
    (tmp_path / "metadata.json").write_text(metadata, encoding="utf-8")
    if metadata == "{":
        with pytest.raises(InputRefusedError, match=r"metadata.json"):
            open_runs([path])
    else:
        assert read(path)[0].info.model is None


def test_rewards_without_verdicts_are_refused_with_what_would_work(tmp_path):
    bare = [{k: v for k, v in row.items() if k != "performance_by_rubric"} for row in rows({}, {})]
    with pytest.raises(NotAGradedRunError, match="--state-columns performance_by_rubric"):
        open_runs([write_verifiers(tmp_path, bare)])


def test_a_missing_explanation_beside_not_met_marks_a_failed_grade(tmp_path):
    row = verifiers_row(CASES[0])
    row["performance_by_rubric"][0][1]["judge_explanation"] = None
    row["performance_by_rubric"][0][0]["judge_explanation"] = None  # met: a verdict all the same
    run, examples = read(write_verifiers(tmp_path, [row]))
    assert [v.met for v in examples[0].verdicts] == [True, None, False]
    assert scores(examples, stored=True) == {"case-1": 0.7}
    assert run.report.verdicts == {"bool": 2, "failure mark": 1}


@pytest.mark.parametrize("form", ["flat", "twice scored", "text", "info"])
def test_verdicts_are_found_however_they_are_nested(tmp_path, form):
    row = verifiers_row(CASES[0])
    (graded,) = row["performance_by_rubric"]
    if form == "flat":
        row["performance_by_rubric"] = graded
    elif form == "twice scored":
        opposite = [verdict | {"criteria_met": not verdict["criteria_met"]} for verdict in graded]
        row["performance_by_rubric"] = [opposite, graded]
    elif form == "text":
        row["performance_by_rubric"] = json.dumps([graded])
    else:
        row["info"] = json.dumps(row["info"])
    assert scores(read(write_verifiers(tmp_path, [row]))[1]) == {"case-1": 0.7}


def test_rollouts_are_repeats_of_one_prompt(tmp_path):
    run, examples = read(write_verifiers(tmp_path, rows({}, {"example_id": 0}, {"example_id": 0})))
    assert len(examples) == 3
    assert {e.prompt_id for e in examples} == {"case-1"}
    assert "answered 3 times" in run.report.duplicates[0]


def test_a_row_with_fewer_verdicts_than_criteria_is_unknown_and_said(tmp_path):
    row = verifiers_row(CASES[0])
    row["performance_by_rubric"][0].pop()
    run, examples = read(
        write_verifiers(
            tmp_path,
            [
                verifiers_row(CASES[1]),
                row,
                verifiers_row(CASES[2], performance_by_rubric=None, error="timeout"),
            ],
        )
    )
    assert scores(examples) == {"case-2": -1.6, "case-1": None, "case-3": None}
    assert examples[2].error == "timeout"
    assert any(w.startswith("2 examples: there is not one verdict") for w in run.report.warnings)


def test_judges_that_disagree_leave_a_verdict_unknown(tmp_path):
    row = verifiers_row(CASES[0])
    graded = row["performance_by_rubric"][0]
    graded[0]["judges"] = [
        {"model": "a", "criteria_met": True},
        {"model": "b", "criteria_met": False},
    ]
    graded[1]["judges"] = [
        {"model": "a", "criteria_met": False},
        {"model": "b", "criteria_met": False},
    ]
    metadata = {k: v for k, v in VERIFIERS_METADATA.items() if k != "env_args"}
    run, examples = read(write_verifiers(tmp_path, [row], metadata))
    assert [v.met for v in examples[0].verdicts] == [None, False, False]
    assert run.info.grader == "a, b"
    assert any("judges disagree" in warning for warning in run.report.warnings)


def test_professional_rows_have_neither_axes_nor_a_theme_of_the_benchmark(tmp_path):
    row = verifiers_row(CASES[0])
    row["info"] |= {"axes": [None] * 3, "theme": "professional"}
    _, (example,) = read(write_verifiers(tmp_path, [row]))
    assert example.example_tags is None
    assert [c.tags for c in example.criteria] == [("level:example",)] * 3


def test_a_length_adjusted_reward_is_held_against_medarcs_own_rule(tmp_path):
    arguments = {"use_length_adjusted_as_reward": True, "length_adjustment_center": 2000}
    run, _ = read(write_verifiers(tmp_path, metadata=VERIFIERS_METADATA | {"env_args": arguments}))
    assert run.info.rule == "medarc"
    assert run.info.settings["length_adjustment_center"] == "2000"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points_list": [7]}, "one length"),
        ({"points_list": ["7", 3, -6]}, "criterion 1: info.points_list is text"),
        ({"criteria": ["", "b", "c"]}, "criterion 1: info.criteria is empty"),
    ],
)
def test_a_broken_rubric_names_its_place(tmp_path, change, words):
    row = verifiers_row(CASES[0])
    row["info"] |= change
    with pytest.raises(InputRefusedError, match=words):
        read(write_verifiers(tmp_path, [verifiers_row(CASES[1]), row]))


def test_metadata_and_traces_are_named(tmp_path):
    write_verifiers(tmp_path)
    with pytest.raises(NotAGradedRunError, match=r"give the results.jsonl"):
        open_runs([tmp_path / "metadata.json"])
    trace = {"version": 1, "id": "t", "task": {"data": {}}, "nodes": [], "rewards": {}}
    with pytest.raises(NotAGradedRunError, match="second generation"):
        open_runs([write_jsonl(tmp_path / "traces.jsonl", [trace])])


def test_a_folder_is_one_run(tmp_path):
    write_verifiers(tmp_path)
    (found,) = find_runs([tmp_path])
    assert len(found.runs) == 1


def test_a_first_row_longer_than_the_head_is_still_recognised(tmp_path):
    long = verifiers_row(CASES[0]._replace(reply="é" * 300_000))
    assert scores(read(write_verifiers(tmp_path, [long, verifiers_row(CASES[1])]))[1]) == {
        "case-1": 0.7,
        "case-2": -1.6,
    }


def test_damaged_gzip_is_refused_wherever_reading_meets_it(tmp_path):
    noise = random.Random(1).randbytes(400_000).hex()
    row = json.dumps(verifiers_row(CASES[0]._replace(reply=noise))) + "\n"
    whole = gzip.compress((row * 3).encode(), compresslevel=1)
    path = tmp_path / "results.jsonl.gz"
    path.write_bytes(whole)
    assert len(read(path)[1]) == 3
    path.write_bytes(whole[:-20])
    with pytest.raises(InputRefusedError, match="damaged gzip"):
        read(path)
