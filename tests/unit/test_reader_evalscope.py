"""evalscope's output folders: several review files are one run, and excluded rows stay."""

from __future__ import annotations

import json

import pytest
from specimens import (
    CASES,
    ORACLE,
    PREDICTION,
    Item,
    differences,
    evalscope_report,
    read,
    review_row,
    scores,
    write_evalscope,
    write_jsonl,
)

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.readers import find_runs, open_runs

EXCLUDED = CASES[0]._replace(
    items=[CASES[0].items[0], CASES[0].items[1]._replace(met=None), CASES[0].items[2]]
)


def reviews(root, model="careful"):
    return sorted((root / "reviews" / model).iterdir())


@pytest.mark.parametrize("generation", [1, 2])
@pytest.mark.parametrize("part", ["", "reviews", "reviews/careful"])
def test_a_folder_is_one_run_over_its_themes(tmp_path, generation, part):
    root = write_evalscope(tmp_path / "20260501_120000", generation=generation)
    run, examples = read(root / part)
    assert scores(examples) == ORACLE
    assert [c.text for c in examples[-1].criteria] == [i.criterion for i in CASES[0].items]
    assert examples[-1].example_tags == tuple(CASES[0].example_tags)
    assert examples[-1].verdicts[0].explanation == CASES[0].items[0].explanation
    info = run.info
    assert (info.model, info.benchmark) == ("acme/careful", "HealthBench Hard")
    assert info.grader == ("acme-judge")
    assert info.created == "2026-05-01T12:00:00"
    assert len(run.files) == 5  # three reviews, the report, the configuration


def test_files_given_together_are_one_run(tmp_path):
    root = write_evalscope(tmp_path / "out")
    run, examples = read(*reviews(root))
    assert scores(examples) == ORACLE
    assert run.info.source == "careful"
    assert run.info.stated["theme:hedging"] == 0.7


def test_some_of_the_files_are_a_part_and_their_report_is_not_compared(tmp_path):
    root = write_evalscope(tmp_path / "out")
    run, examples = read(reviews(root)[0])
    assert len(examples) == 1
    assert run.info.stated == {}
    assert any("2 more review files" in warning for warning in run.report.warnings)


def test_two_models_in_one_folder_are_two_runs(tmp_path):
    root = write_evalscope(tmp_path / "out")
    write_evalscope(root, model="terse")
    runs = open_runs([root])
    assert {run.part for run in runs} == {"careful", "terse"}
    assert all(len(list(run.examples())) == 3 for run in runs)


def test_an_excluded_row_stays_and_only_what_failed_is_unknown(tmp_path):
    root = write_evalscope(tmp_path / "out", [EXCLUDED, *CASES[1:]])
    run, examples = read(root)
    graded = {e.prompt_id: e for e in examples}
    assert [v.met for v in graded["case-1"].verdicts] == [True, None, False]
    assert scores(examples) == {"case-1": None, "case-2": -1.6, "case-3": 0.0}
    assert graded["case-1"].error == "no usable verdict"
    assert any(w.startswith("1 example: excluded by evalscope") for w in run.report.warnings)
    assert not any(name.startswith("axis:") for name in run.info.stated)


def test_attempts_that_were_never_made_are_unknown(tmp_path):
    row = review_row(EXCLUDED)
    del row["sample_score"]["score"]["metadata"]["judge_attempts"][2]
    _, (example,) = read(write_jsonl(tmp_path / "r.jsonl", [row]))
    assert [v.met for v in example.verdicts] == [True, None, None]


def test_a_retry_replaces_a_failed_attempt_and_disagreeing_judges_leave_it_unknown(tmp_path):
    row = review_row(EXCLUDED)
    attempts = row["sample_score"]["score"]["metadata"]["judge_attempts"]
    again = {"status": "success", "parsed_value": {"explanation": "x", "criteria_met": False}}
    attempts += [again | {"case_id": "rubric_1"}, again | {"case_id": "rubric_0"}]
    run, (example,) = read(write_jsonl(tmp_path / "r.jsonl", [row]))
    assert [v.met for v in example.verdicts] == [None, False, False]
    assert any("judges disagree" in warning for warning in run.report.warnings)


def test_older_rows_without_any_verdict_are_unknown(tmp_path):
    row = review_row(EXCLUDED, generation=1)
    run, (example,) = read(write_jsonl(tmp_path / "r.jsonl", [row]))
    assert [v.met for v in example.verdicts] == [None] * 3
    assert run.report.verdicts == {"null": 3}


def test_older_text_keeps_lookalikes(tmp_path):
    case = CASES[0]._replace(
        items=[
            Item("Says\n\n[True] [9] x", 5, [], False, "A\n\n[False] [2] b"),
            Item("Rests", 4, [], True),
        ]
    )
    _, (example,) = read(write_jsonl(tmp_path / "r.jsonl", [review_row(case, generation=1)]))
    assert [v.explanation for v in example.verdicts] == [i.explanation for i in case.items]


@pytest.mark.parametrize("generation", [1, 2])
def test_a_headline_that_is_the_accuracy_axis_is_warned_of(tmp_path, generation):
    run, examples = read(write_evalscope(tmp_path / "out", generation=generation))
    assert any("headline is the axis accuracy" in warning for warning in run.report.warnings)
    # It weighs clipped means of themes: (0.7 + 0 + 0) / 3, where the official rule clips -0.3 to 0.
    assert differences(run, examples) == {"overall_score": (pytest.approx(0.7 / 3), 0.0)}
    assert any("clips the mean of each theme" in warning for warning in run.report.warnings)


def test_a_folder_of_outputs_gives_each_run(tmp_path):
    write_evalscope(tmp_path / "outputs" / "20260501_120000")
    write_evalscope(tmp_path / "outputs" / "20260502_120000")
    found = find_runs([tmp_path / "outputs"])
    assert [run.info.created for f in found for run in f.runs] == [
        "2026-05-01T12:00:00",
        "2026-05-02T12:00:00",
    ]
    assert all(f.refused is None for f in found)


def test_reviews_of_other_benchmarks_beside_it_are_passed_over(tmp_path):
    root = write_evalscope(tmp_path / "out")
    write_jsonl(
        root / "reviews" / "careful" / "gsm8k_main.jsonl", [{"index": 0, "sample_score": {}}]
    )
    run, examples = read(root)
    assert len(examples) == 3
    assert not any(path.name.startswith("gsm8k") for path in run.files)


def test_predictions_and_reports_are_named(tmp_path):
    with pytest.raises(NotAGradedRunError, match="predictions, not yet graded"):
        open_runs([write_jsonl(tmp_path / "p.jsonl", [PREDICTION])])
    report = tmp_path / "health_bench.json"
    report.write_text(json.dumps(evalscope_report()), encoding="utf-8")
    with pytest.raises(NotAGradedRunError, match="report of averages"):
        open_runs([report])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"sample_score": {"sample_metadata": {}}},
            "example 2: sample_score.sample_metadata holds no rubric",
        ),
        ({"sample_score": 3}, "holds no rubric"),
    ],
)
def test_a_broken_row_names_its_place(tmp_path, change, words):
    path = write_jsonl(tmp_path / "r.jsonl", [review_row(CASES[0]), review_row(CASES[1]) | change])
    with pytest.raises(InputRefusedError, match=words):
        read(path)


def test_a_first_row_longer_than_the_head_is_still_recognised(tmp_path):
    rows = [review_row(CASES[0]._replace(reply="x" * 300_000)), review_row(CASES[1])]
    for row in rows:
        row["messages"][-1]["content"] *= 2
    path = write_jsonl(tmp_path / "out" / "reviews" / "m" / "health_bench_hedging.jsonl", rows)
    assert scores(read(path)[1]) == {"case-1": 0.7, "case-2": -1.6}
    assert scores(read(tmp_path / "out")[1]) == {"case-1": 0.7, "case-2": -1.6}
