"""Runs written by simple-evals and its forks, good and bad."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.model import Criterion, Message, Verdict
from healthbench.readers import find_runs, open_runs

if TYPE_CHECKING:
    from pathlib import Path

NAME = "healthbench_careful-model_v2_20260501_120000_allresults.json"


def item(points=5, met=True, **fields):
    return {
        "criterion": f"Says what {points} asks.",
        "points": points,
        "tags": ["level:example", "axis:accuracy"],
        "criteria_met": met,
        "explanation": "It does.",
    } | fields


def example(*items, **fields):
    return {
        "score": 1.0,
        "usage": {"input_tokens": None},
        "rubric_items": list(items) or [item(), item(-3, met=False)],
        "prompt": [{"role": "user", "content": "What helps?"}],
        "completion": [{"content": "Rest.", "role": "assistant"}],
        "prompt_id": "p1",
        "completion_id": "c1",
    } | fields


def document(*examples, **top):
    return {
        "score": 0.5,
        "metrics": {"overall_score": 0.5, "overall_score:n_samples": 1, "axis:accuracy": 0.25},
        "htmls": ["<p>large</p>"],
        "convos": [[]],
        "metadata": {"example_level_metadata": list(examples) or [example()]},
    } | top


def write(folder: Path, value, name=NAME, **dump) -> Path:
    path = folder / name
    path.write_text(
        value if isinstance(value, str) else json.dumps(value, **dump), encoding="utf-8"
    )
    return path


def read(path: Path):
    (run,) = open_runs([path])
    return run, list(run.examples())


def refusal(path: Path) -> str:
    with pytest.raises(InputRefusedError) as caught:
        read(path)
    return str(caught.value)


def test_a_plain_run(tmp_path):
    run, (one,) = read(write(tmp_path, document(), indent=2))
    assert run.info.format == "simple-evals allresults"
    assert run.info.model == "careful-model_v2"
    assert run.info.benchmark == "HealthBench"
    assert run.info.created == "2026-05-01T12:00:00"
    assert run.info.clip_level == "run"
    assert run.info.grader is None
    assert run.info.stated == {
        "overall_score": 0.5,
        "overall_score:n_samples": 1.0,
        "axis:accuracy": 0.25,
        "score": 0.5,
    }
    assert one.prompt == [Message("user", "What helps?")]
    assert one.reply == "Rest."
    assert one.criteria == [
        Criterion("Says what 5 asks.", 5, ("level:example", "axis:accuracy")),
        Criterion("Says what -3 asks.", -3, ("level:example", "axis:accuracy")),
    ]
    assert one.verdicts == [
        Verdict(stored=True, explanation="It does."),
        Verdict(False, "It does."),
    ]
    assert (one.prompt_id, one.completion_id, one.stated_score) == ("p1", "c1", 1.0)
    assert run.report.rows_read == 1
    assert dict(run.report.verdicts) == {"bool": 2}
    assert (run.report.axes_from, run.report.themes_from) == ("file", "none")
    assert run.report.warnings == []


def test_equal_criteria_are_one_object(tmp_path):
    _, (first, second) = read(write(tmp_path, document(example(), example(prompt_id="p2"))))
    assert first.criteria[0] is second.criteria[0]


def test_repeats_are_rows_and_counted(tmp_path):
    rows = [example(prompt_id=p) for p in ("a", "b", "a", "b")]
    run, read_rows = read(write(tmp_path, document(*rows)))
    assert [row.prompt_id for row in read_rows] == ["a", "b", "a", "b"]
    assert run.report.duplicates == [
        "2 conversations answered 2 times: each row is kept as a repeat of its prompt."
    ]


def test_the_same_criterion_twice_keeps_its_own_verdicts(tmp_path):
    twice = [item(met=True, explanation="first"), item(met=False, explanation="second")]
    _, (one,) = read(write(tmp_path, document(example(*twice))))
    assert one.criteria[0] == one.criteria[1]
    assert [(v.met, v.explanation) for v in one.verdicts] == [(True, "first"), (False, "second")]


def test_what_forks_write(tmp_path):
    fork = example(
        error="HTTP 500",
        usage=None,
        readable_explanations="[True] [5] ...",
        prompt=[
            {"role": "system", "content": "S"},
            {
                "role": "user",
                "content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}],
            },
        ],
        completion=[
            {"role": "assistant", "content": [{"type": "text", "text": "R"}], "type": "text"}
        ],
    )
    value = document(fork)
    del value["htmls"], value["convos"]
    run, (one,) = read(write(tmp_path, value, name="results_org-model.json"))
    assert run.info.model == "org-model"
    assert one.prompt == [Message("system", "S"), Message("user", "A\nB")]
    assert one.reply == "R"
    assert one.error == "HTTP 500"
    assert run.report.warnings == ["The producer recorded an error for 1 example."]


@pytest.mark.parametrize("completion", [None, [], "", [{"role": "assistant", "content": None}]])
def test_no_reply_is_an_empty_reply(tmp_path, completion):
    row = example(completion=completion, response_text=None)
    run, (one,) = read(write(tmp_path, document(row)))
    assert one.reply == ""
    assert run.report.warnings == ["1 reply is empty and was graded as an answer."]


def test_a_failed_grade_stored_as_not_met_is_unknown(tmp_path):
    marked = [
        item(met=False, explanation="Failed to parse after retries"),
        item(-3, met=True, explanation="Failed to parse after retries"),
        item(2, met=False, explanation="The reply failed to parse the question."),
    ]
    run, (one,) = read(write(tmp_path, document(example(*marked))))
    assert [v.stored for v in one.verdicts] == [False, True, False]
    assert [v.met for v in one.verdicts] == [None, True, False]
    assert one.verdicts[0].failure == 'the explanation begins "Failed to parse"'
    assert dict(run.report.verdicts) == {"bool": 2, "failure mark": 1}
    assert (
        "1 of 3 verdicts are stored as not met although the grade failed" in run.report.warnings[0]
    )


def test_no_explanation_is_no_failure_here_but_is_said(tmp_path):
    rows = [
        item(met=False, explanation="No explanation provided"),
        item(3, met=False, explanation=""),
    ]
    run, (one,) = read(write(tmp_path, document(example(*rows))))
    assert [v.met for v in one.verdicts] == [False, False]
    assert one.verdicts[1].explanation is None
    assert any('1 verdicts came with "No explanation provided"' in w for w in run.report.warnings)


def test_verdicts_that_are_no_bools(tmp_path):
    values = [1, 0, 1.0, "TRUE", "false", "Unmet", None, "yes", 2, [True], {}, float("nan")]
    rows = [item(place + 1, met=value) for place, value in enumerate(values)]
    absent = item(20)
    del absent["criteria_met"]
    run, (one,) = read(write(tmp_path, document(example(*rows, absent))))
    expected = [True, False, True, True, False, False] + [None] * 7
    assert [v.met for v in one.verdicts] == expected
    assert dict(run.report.verdicts) == {"0/1": 3, "string": 3, "null": 2, "unreadable": 5}
    assert run.report.warnings[0].startswith("7 of 13 verdicts are missing or unreadable")


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ("5", "points is text, not a number; write it as a number without quotes"),
        (True, "points is true, not a number"),
        (None, "points is missing"),
        (0, "points is 0"),
        (0.0, "points is 0"),
        (float("nan"), "points is nan, not a finite number"),
        (float("inf"), "points is inf, not a finite number"),
        (1e308, "points is 1e+308, beyond the 1000"),
        (-1001, "points is -1001, beyond the 1000"),
        ([5], "points is a list, not a number"),
    ],
)
def test_points_that_are_none_are_refused_with_their_place(tmp_path, points, said):
    # The good item of equal text comes first, so that a lookup by equality would let true pass as 1.
    rows = [example(item(1)), example(item(1), item(1) | {"points": points})]
    assert refusal(write(tmp_path, document(*rows))).startswith(
        f"{NAME}, example 2, criterion 2: {said}"
    )


def test_whole_and_fractional_points(tmp_path):
    _, (one,) = read(write(tmp_path, document(example(item(5), item(5.0), item(0.5), item(-2.5)))))
    assert [c.points for c in one.criteria] == [5, 5.0, 0.5, -2.5]


def test_a_rubric_without_positive_points_is_imported_and_said(tmp_path):
    run, rows = read(write(tmp_path, document(example(), example(item(-5), prompt_id="p2"))))
    assert len(rows) == 2
    assert run.report.warnings == [
        "1 example without a criterion of positive points: no score is defined there (example 2)."
    ]


def test_metrics_behind_the_examples_are_found(tmp_path):
    value = document()
    shuffled = {key: value[key] for key in ("htmls", "metadata", "convos", "metrics", "score")}
    shuffled["htmls"] = ["x" * 400_000]
    run, rows = read(write(tmp_path, shuffled))
    assert run.info.stated["axis:accuracy"] == 0.25
    assert run.info.stated["score"] == 0.5
    assert len(rows) == 1


def test_examples_first(tmp_path):
    value = document(*[example(prompt_id=str(n), padding="x" * 9000) for n in range(40)])
    shuffled = {key: value[key] for key in ("metadata", "score", "metrics")}
    run, rows = read(write(tmp_path, shuffled))
    assert len(rows) == 40
    assert run.info.stated["score"] == 0.5


def test_the_length_adjusted_figure_is_stated(tmp_path):
    metrics = {"overall_score": 0.5, "overall_score_length_adjusted": 0.45, "theme:hedging": 0.5}
    run, _ = read(write(tmp_path, document(metrics=metrics)))
    assert run.info.stated["overall_score_length_adjusted"] == 0.45
    assert run.info.benchmark == "HealthBench"
    assert run.report.warnings == [
        "The file states a length-adjusted score for the whole run only: its scores by tag are raw."
    ]


def test_professional_is_recognised_by_its_unprefixed_tags(tmp_path):
    metrics = {"overall_score": 0.5, "consult": 0.5, "Cardiology": 0.5}
    run, _ = read(write(tmp_path, document(example(item(tags=[])), metrics=metrics)))
    assert run.info.benchmark == "HealthBench Professional"


def test_professional_is_recognised_by_adjustment_without_rubric_tags(tmp_path):
    metrics = {"overall_score": 0.5, "overall_score_length_adjusted": 0.45}
    run, _ = read(write(tmp_path, document(example(item(tags=[])), metrics=metrics)))
    assert run.info.benchmark == "HealthBench Professional"
    assert run.report.axes_from == "none"


def test_synthetic_runs_say_so(tmp_path):
    value = document()
    marked = {"score": value.pop("score"), "synthetic": True, **value}
    assert read(write(tmp_path, marked))[0].info.synthetic
    assert not read(write(tmp_path, value))[0].info.synthetic


@pytest.mark.parametrize("indent", [None, 2])
def test_what_only_pythons_parser_takes(tmp_path, indent):
    rows = [
        example(prompt_id="a"),
        example(
            prompt_id="b",
            score=float("nan"),
            completion=[{"role": "assistant", "content": "\ud83d!"}],
        ),
        example(prompt_id="c", seed=2**70),
    ]
    run, read_rows = read(write(tmp_path, document(*rows), indent=indent))
    assert [row.prompt_id for row in read_rows] == ["a", "b", "c"]
    assert read_rows[1].stated_score is None
    assert read_rows[1].reply == "\ufffd!"
    assert run.report.rows_read == 3


def test_nan_at_the_top(tmp_path):
    run, _ = read(write(tmp_path, document(score=float("nan"))))
    assert "score" not in run.info.stated
    assert run.info.stated["overall_score"] == 0.5


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_encodings_of_windows(tmp_path, encoding):
    row = example(completion=[{"role": "assistant", "content": "«38.5 °C» ok"}])
    path = tmp_path / NAME
    path.write_bytes(json.dumps(document(row), ensure_ascii=False, indent=2).encode(encoding))
    _, (one,) = read(path)
    assert one.reply == "«38.5 °C» ok"


def test_text_is_kept_as_it_is(tmp_path):
    nasty = "<script>alert(1)</script> {{7*7}} ![](http://x.test/i.png) \x00 مرحبا"
    row = example(
        item(criterion=nasty, explanation=nasty),
        completion=[{"role": "assistant", "content": nasty}],
    )
    _, (one,) = read(write(tmp_path, document(row)))
    assert one.reply == one.criteria[0].text == one.verdicts[0].explanation == nasty


def test_a_million_character_reply(tmp_path):
    row = example(completion=[{"role": "assistant", "content": "é" * 1_000_000}])
    _, (one,) = read(write(tmp_path, document(row)))
    assert len(one.reply) == 1_000_000


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9, 0.999])
def test_a_file_that_was_cut_off(tmp_path, share):
    text = json.dumps(document(*[example(prompt_id=str(n)) for n in range(30)]), indent=2)
    said = refusal(write(tmp_path, text[: int(len(text) * share)]))
    assert said.startswith(NAME)
    assert "cut off" in said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (document(metadata={"example_level_metadata": []}), "without a graded example"),
        (document(metadata={}), "without example_level_metadata"),
        (document(metadata=None), "without example_level_metadata"),
        (document(metadata={"model_agreement_metrics": {}}), "meta-evaluation"),
        (document(metrics={"cluster:x: pairwise_model_f1_balanced": 0.7}), "meta-evaluation"),
        ({"overall_score": 0.4, "overall_score:n_samples": 5}, "metrics only"),
        ({"score": 0.4, "metrics": {"a": 1, "a:n_samples": 2}}, "metrics only"),
        ({"accuracy": 40.2}, "scores only"),
        ({}, "JSON without content"),
        ([], "JSON without content"),
        ({"a": {"b": 1}}, "JSON of another kind (with the keys a)"),
        ([1, 2], "JSON of another kind"),
        ({"2026_healthbench_x.eval": {"version": 2}}, "listing of Inspect logs"),
        ([{"question": "Q", "options": ["a"], "answer": "A"}], "multiple choice"),
        ([{"id": 1, "score": 0.2, "n_rubrics": 4}], "scores only"),
        ({"runs": [{"model": "a", "overall_score": 0.2}]}, "summary of runs"),
    ],
)
def test_json_that_is_no_graded_run_is_named(tmp_path, value, said):
    with pytest.raises(InputRefusedError) as caught:
        read(write(tmp_path, value, name="some.json"))
    assert said in str(caught.value)
    assert str(caught.value).startswith("some.json ")
    if value:
        assert isinstance(caught.value, NotAGradedRunError)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n ", "is empty"),
        (b"hello\n", "is text without rows"),
        (b"%PDF-1.7 x", "is a PDF"),
        (b"SQLite format 3\x00...", "is an SQLite database"),
        (b"\x7fELF\x00\x00\x01", "is no text, table or archive"),
        (b"PK\x03\x04 damaged", "zip archive but is damaged"),
        (b"\x1f\x8b\x08 damaged", "damaged gzip"),
        (b"<html></html>", "is a web page"),
    ],
)
def test_other_files_are_named(tmp_path, content, said):
    path = tmp_path / "thing"
    path.write_bytes(content)
    assert said in refusal(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rubric_items": None}, "example 1: rubric_items is missing"),
        ({"rubric_items": {"a": 1}}, "example 1: rubric_items is an object, not a list"),
        ({"rubric_items": ["x"]}, "example 1, criterion 1: the criterion is text, not an object"),
        ({"rubric_items": [item(criterion=None)]}, "criterion 1: criterion is missing"),
        ({"rubric_items": [item(criterion="")]}, "criterion 1: criterion is empty"),
        (
            {"rubric_items": [item(tags="axis:accuracy")]},
            "criterion 1: tags is text, not a list of texts",
        ),
        (
            {"rubric_items": [item(tags=[["x"]])]},
            "criterion 1: tags is a list, not a list of texts",
        ),
        ({"prompt": 5}, "example 1: prompt is the number 5, not a list of messages"),
        ({"prompt": [5]}, "example 1: prompt holds the number 5 where a message belongs"),
    ],
)
def test_fields_of_another_type_are_refused_with_their_place(tmp_path, change, said):
    assert said in refusal(write(tmp_path, document(example(**change))))


def test_a_row_that_is_no_object(tmp_path):
    assert "example 2: the row is null" in refusal(write(tmp_path, document(example(), None)))


@pytest.mark.parametrize(
    "level",
    ["[|]", '{"a":|}', '[{"a":|}]', '[{"a-longer-key": [|]}]', '{"]]}}\\"%s":|}' % ("k" * 150)],
)
@pytest.mark.parametrize("depth", [1_000, 300_000])
def test_deep_nesting_is_refused(tmp_path, level, depth):
    opened, closed = level.split("|")
    text = json.dumps(document(example(extra="DEEP")))
    text = text.replace('"DEEP"', opened * depth + "1" + closed * depth)
    if depth < 10_000:  # ijson holds this much, and what is not looked at does no harm
        read(write(tmp_path, text))
        return
    assert "nested too deeply" in refusal(write(tmp_path, text))


def test_a_missing_path_and_an_empty_folder(tmp_path):
    assert "does not exist" in refusal(tmp_path / "no.json")
    assert "a folder without files" in refusal(tmp_path)


def test_a_folder_of_runs_passes_over_what_lies_beside_them(tmp_path):
    write(tmp_path, document())
    write(
        tmp_path,
        {"overall_score": 0.5, "overall_score:n_samples": 1},
        name=NAME.replace("_allresults", ""),
    )
    write(tmp_path, "<html>the same run</html>", name=NAME.replace("_allresults.json", ".html"))
    write(tmp_path, "about these runs", name="README.md")
    inner = tmp_path / "more"
    inner.mkdir()
    write(inner, document(), name="healthbench_b_20260502_120000_allresults.json")
    found = find_runs([tmp_path])
    assert sorted(run.info.model for one in found for run in one.runs) == ["b", "careful-model_v2"]
    assert all(one.refused is None for one in found)


def test_one_broken_file_in_a_folder_hides_no_other(tmp_path):
    write(tmp_path, document())
    write(tmp_path, "", name="healthbench_b_20260502_120000_allresults.json")
    found = find_runs([tmp_path])
    assert len([run for one in found for run in one.runs]) == 1
    assert [str(one.refused) for one in found if one.refused] == [
        "healthbench_b_20260502_120000_allresults.json is empty; copy it again or give another file."
    ]


def test_a_folder_without_a_run_says_what_it_holds(tmp_path):
    write(tmp_path, {"overall_score": 0.5, "overall_score:n_samples": 1}, name="healthbench_m.json")
    said = refusal(tmp_path)
    assert "none of 1 entries is a graded run" in said
    assert "metrics only" in said


def test_gzip_is_looked_through(tmp_path):
    path = tmp_path / f"{NAME}.gz"
    path.write_bytes(gzip.compress(json.dumps(document()).encode()))
    run, rows = read(path)
    assert run.info.model == "careful-model_v2"
    assert len(rows) == 1
    path.write_bytes(path.read_bytes()[:-30])
    assert "damaged gzip" in refusal(path)
