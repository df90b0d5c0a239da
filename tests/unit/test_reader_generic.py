"""Graded JSON and JSON lines of tools that have no reader of their own, each in its own form."""

from __future__ import annotations

import gzip
import json

import pytest

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.model import Message
from healthbench.readers import find_runs, open_runs

RUBRIC = [
    {"criterion": "Says rest.", "points": 7, "tags": ["level:example", "axis:accuracy"]},
    {
        "criterion": "Asks how long.",
        "points": 3,
        "tags": ["level:example", "axis:context_awareness"],
    },
    {"criterion": "Guesses a dose.", "points": -6, "tags": ["level:example", "axis:accuracy"]},
]
MET = [True, False, True]
PROMPT = [{"role": "user", "content": "What helps?"}]
ANSWER = {"role": "assistant", "content": "Rest. Take 500 mg."}
DATASET_ROW = {
    "prompt_id": "p1",
    "prompt": PROMPT,
    "example_tags": ["theme:hedging"],
    "rubrics": RUBRIC,
}


def graded(text="criterion", verdict="criteria_met", words="explanation", **drop):
    """Return the rubric with verdicts under a tool's own names."""
    items = []
    for place, (item, met) in enumerate(zip(RUBRIC, MET, strict=True)):
        named = {text: item["criterion"], "points": item["points"], "tags": item["tags"]}
        items.append(named | {verdict: met, words: f"Because {place}."})
    for item in items:
        for name in drop.get("without", ()):
            item.pop(name, None)
    return items


def write(path, value, *, lines=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(v) + "\n" for v in value) if lines else json.dumps(value, indent=2)
    path.write_text(text, encoding="utf-8")
    return path


def read(*paths, dataset=None):
    (run,) = open_runs(list(paths), dataset)
    return run, list(run.examples())


def check(example, *, tags=True, text=True, words=True, reply="Rest. Take 500 mg."):
    """The example has points 7, 3, -6 with met, not met, met: (7 - 6) / 10 = 0.1."""
    assert [c.points for c in example.criteria] == [7, 3, -6]
    assert [v.met for v in example.verdicts] == MET
    assert example.reply == reply
    if text:
        assert [c.text for c in example.criteria] == [item["criterion"] for item in RUBRIC]
    if tags:
        assert [c.tags for c in example.criteria] == [tuple(item["tags"]) for item in RUBRIC]
    if words:
        assert [v.explanation for v in example.verdicts] == [
            "Because 0.",
            "Because 1.",
            "Because 2.",
        ]


def test_m42_python_literals(tmp_path):
    responses = [
        {
            "response_dict": {"explanation": f"Because {p}.", "criteria_met": met},
            "points": i["points"],
            "tags": i["tags"],
        }
        for p, (i, met) in enumerate(zip(RUBRIC, MET, strict=True))
    ]
    row = DATASET_ROW | {
        "prompt_response": [ANSWER],
        "score": 0.1,
        "metrics": str({"overall_score": 0.1}),
        "responses": str(responses),
        "canary": "x",
    }
    run, (one,) = read(write(tmp_path / "judge_responses.jsonl", [row], lines=True))
    check(one)
    assert run.info.format == "m42 judge responses"
    assert one.example_tags == ("theme:hedging",)
    assert one.stated_score == 0.1
    assert run.report.canary
    assert (run.report.themes_from, run.report.axes_from) == ("file", "file")


@pytest.mark.parametrize(
    "text", ["__import__('os').system('true')", "[{'a': open('x')}]", "[" * 5000, "[{"]
)
def test_a_text_that_is_no_literal_is_never_run(tmp_path, text):
    row = DATASET_ROW | {"prompt_response": [ANSWER], "responses": text}
    with pytest.raises(NotAGradedRunError):
        read(write(tmp_path / "judge_responses.jsonl", [row, row], lines=True))


def test_a_list_with_the_answer_as_last_turn_and_points_as_total(tmp_path):
    items = [
        i | {"score": i["points"] if i["criteria_met"] else 0}
        for i in graded(text="criteria", without=["tags"])
    ]
    row = {"prompt_id": "p1", "conversations": [*PROMPT, ANSWER], "rubrics": items, "total": 1}
    run, (one,) = read(write(tmp_path / "gpt4_grader.json", [row]))
    check(one, tags=False)
    assert one.prompt == [Message("user", "What helps?")]
    assert one.stated_score is None
    assert run.report.axes_from == "none"


def test_tags_come_from_the_data_set_where_the_file_has_none(tmp_path):
    dataset = write(tmp_path / "set.jsonl", [DATASET_ROW], lines=True)
    row = {
        "prompt_id": "p1",
        "conversations": [*PROMPT, ANSWER],
        "rubrics": graded(without=["tags"]),
    }
    run, (one,) = read(write(tmp_path / "graded.json", [row]), dataset=dataset)
    check(one)
    assert run.report.axes_from == "dataset"


def test_healthbench_runner(tmp_path):
    failed = {
        "prompt_id": "p0",
        "prompt": "Q",
        "model_response": "",
        "rubric_results": [],
        "score": 0,
    }
    row = {
        "prompt_id": "p1",
        "prompt": PROMPT,
        "question": "What helps?",
        "model_response": ANSWER["content"],
        "rubric_results": graded(without=["tags"]),
        "achieved_points": 1,
        "total_points": 10,
        "score": 0.1,
    }
    document = {
        "model": "org/model",
        "dataset": "healthbench_hard",
        "timestamp": "2026-01-02T03:04:05",
        "grader": "gpt-4.1",
        "example_results": [failed, row],
        "padding": "x" * 300_000,
        "overall_score": 0.1,
        "std_dev": 0.0,
    }
    run, (one,) = read(write(tmp_path / "org-model_2026.json", document))
    check(one, tags=False)
    assert one.stated_score == 0.1
    assert (run.info.format, run.info.model, run.info.grader) == (
        "healthbench-runner results",
        "org/model",
        "gpt-4.1",
    )
    assert (run.info.benchmark, run.info.created) == ("healthbench_hard", "2026-01-02T03:04:05")
    assert run.info.stated == {"overall_score": 0.1}
    assert dict(run.report.rows_skipped) == {"the row has no verdicts": 1}
    assert run.report.rows_read == 1


def test_llm_eval_framework_with_its_replies_and_summary(tmp_path):
    score = {
        "prompt_id": "p1",
        "score": 0.1,
        "axis_scores": {"accuracy": None},
        "rubric_grades": graded(without=["tags"]),
    }
    path = write(tmp_path / "scores.jsonl", [score], lines=True)
    write(
        tmp_path / "responses.jsonl",
        [{"prompt_id": "p1", "prompt": PROMPT, "response": ANSWER["content"]}],
        lines=True,
    )
    write(tmp_path / "summary.json", {"model": "m", "judge_model": "j", "avg_score": 0.1})
    run, (one,) = read(path)
    check(one, tags=False)
    assert one.prompt == [Message("user", "What helps?")]
    assert (run.info.model, run.info.grader, run.info.stated) == ("m", "j", {"overall_score": 0.1})
    assert len(run.files) == 3
    in_folder = find_runs([tmp_path])
    assert [len(found.runs) for found in in_folder] == [1]


def test_whispey_one_document_a_conversation(tmp_path):
    for place in (1, 2):
        document = {
            "conversation_id": f"c{place}",
            "transcript": [*PROMPT, ANSWER],
            "evaluation_results": {"detailed_results": graded(), "overall_score": 0.1},
        }
        write(tmp_path / f"conversation_{place}.json", document)
    run, rows = read(tmp_path)
    assert [row.prompt_id for row in rows] == ["c1", "c2"]
    check(rows[0])
    assert rows[0].stated_score == 0.1
    assert run.info.source == tmp_path.name
    assert len(run.files) == 2


def test_yoda_evaluations_in_a_document(tmp_path):
    row = {
        "id": 7,
        "user_message": "What helps?",
        "bot_response": ANSWER["content"],
        "evaluation": {"overall_score": 0.5, "rubric_scores": graded()},
    }
    _, (one,) = read(
        write(
            tmp_path / "healthbench_results.json", {"total_evaluations": 305, "evaluations": [row]}
        )
    )
    check(one)
    assert (one.prompt_id, one.stated_score) == ("7", 0.5)


def test_items_without_criterion_text_are_numbered(tmp_path):
    items = [i | {"prompt_id": "p1"} for i in graded(without=["criterion", "tags"])]
    row = {"prompt": PROMPT, "completion": ANSWER["content"], "rubrics": items}
    run, rows = read(write(tmp_path / "results.jsonl", [row, row], lines=True))
    one = rows[0]
    check(one, tags=False, text=False)
    assert one.prompt_id == "p1"
    assert one.criteria[1].text == "Criterion 2 (its text is not in the file)"
    assert "The texts of 6 criteria are not in the file" in run.report.warnings[-1]


def test_positional_verdicts_need_the_data_set(tmp_path):
    grades = write(
        tmp_path / "runs" / "grades" / "model-a__judge-b.jsonl",
        [{"prompt_id": "p1", "score": 0.1, "grades": [{"criteria_met": met} for met in MET]}] * 2,
        lines=True,
    )
    write(
        tmp_path / "runs" / "responses" / "model-a.jsonl",
        [{"prompt_id": "p1", "prompt": PROMPT, "response": ANSWER["content"]}],
        lines=True,
    )
    with pytest.raises(InputRefusedError, match="attach the data set"):
        read(grades)
    dataset = write(tmp_path / "set.jsonl", [DATASET_ROW], lines=True)
    run, rows = read(grades, dataset=dataset)
    check(rows[0], words=False)
    assert (run.info.model, run.info.grader) == ("model-a", "judge-b")
    short = write(tmp_path / "x__y.jsonl", [{"prompt_id": "p1", "grades": [True]}] * 2, lines=True)
    with pytest.raises(InputRefusedError, match="has 1 entries, but the data set's rubric has 3"):
        read(short, dataset=dataset)


def log_rows():
    return [
        {
            "prompt_id": "p1",
            "rubric_index": place,
            "rubric_points": item["points"],
            "criteria_met": met,
            "explanation": f"Because {place}.",
            "raw_response": "{}",
        }
        for place, (item, met) in enumerate(zip(RUBRIC, MET, strict=True))
    ]


def test_an_append_only_log_keeps_the_last_of_repeated_keys(tmp_path):
    first, second, third = log_rows()
    rows = [third, first | {"criteria_met": None}, second, first]
    run, (one,) = read(write(tmp_path / "log.jsonl", rows, lines=True))
    check(one, text=False, tags=False, reply="")
    assert run.report.duplicates == [
        "1 rows repeat a criterion of the same reply; the last of each is kept, as in a log taken up again."
    ]
    assert dict(run.report.verdicts) == {"bool": 3}


def test_a_log_gets_its_criteria_from_the_data_set(tmp_path):
    dataset = write(tmp_path / "set.jsonl", [DATASET_ROW], lines=True)
    run, (one,) = read(write(tmp_path / "log.jsonl", log_rows(), lines=True), dataset=dataset)
    check(one, reply="")
    assert run.report.axes_from == "dataset"


def test_several_models_and_graders_in_one_file_are_several_runs(tmp_path):
    pairs = [("a", "g"), ("b", "g"), ("a", "h")]
    rows = [
        {
            "prompt_id": "p1",
            "model": m,
            "judge_model": g,
            "response": ANSWER["content"],
            "rubric_items": graded(),
        }
        for m, g in pairs
    ]
    runs = open_runs([write(tmp_path / "all.jsonl", rows, lines=True)])
    assert [(run.info.model, run.info.grader, run.part) for run in runs] == [
        ("a", "g", "a, graded by g"),
        ("b", "g", "b, graded by g"),
        ("a", "h", "a, graded by h"),
    ]
    for run in runs:
        (one,) = run.examples()
        check(one)


def test_shards_are_one_run_and_pairs_are_not(tmp_path):
    row = {"prompt": PROMPT, "response": ANSWER["content"], "rubric_items": graded()}
    for place in (0, 1):
        write(
            tmp_path / "s" / f"graded_outputs_shard{place}.json", [row | {"prompt_id": str(place)}]
        )
        write(
            tmp_path / "p" / f"m__judge{place}.jsonl",
            [row | {"prompt_id": str(place)}] * 2,
            lines=True,
        )
    _, rows = read(tmp_path / "s")
    assert [one.prompt_id for one in rows] == ["0", "1"]
    assert [run.info.grader for run in open_runs([tmp_path / "p"])] == ["judge0", "judge1"]


def test_gzip_and_repeats(tmp_path):
    row = {
        "prompt_id": "p1",
        "prompt": PROMPT,
        "response": ANSWER["content"],
        "rubric_items": graded(),
    }
    path = tmp_path / "graded.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for _ in range(3)).encode()))
    run, rows = read(path)
    assert len(rows) == 3
    assert run.report.duplicates == [
        "1 conversation answered 3 times: each row is kept as a repeat of its prompt."
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"points": "7"}, "points is text, not a number"),
        ({"points": None}, "points is missing"),
        ({"points": 0}, "points is 0"),
        ({"criterion": ""}, "the criterion's text is empty"),
        ({"tags": 5}, "tags is the number 5"),
    ],
)
def test_bad_fields_are_refused_with_their_place(tmp_path, change, said):
    bad = graded()
    bad[1] = bad[1] | change
    rows = [{"prompt_id": p, "rubric_items": items} for p, items in (("a", graded()), ("b", bad))]
    with pytest.raises(InputRefusedError, match=f"graded.jsonl, example 2, criterion 2: {said}"):
        read(write(tmp_path / "graded.jsonl", rows, lines=True))


def test_a_cut_line_and_an_overlong_line(tmp_path, monkeypatch):
    row = json.dumps({"prompt_id": "a", "rubric_items": graded()})
    path = tmp_path / "graded.jsonl"
    path.write_text(f"{row}\n{row}\n{row[:-40]}", encoding="utf-8")
    with pytest.raises(InputRefusedError, match="line 3 ends in the middle of a value"):
        read(path)
    monkeypatch.setattr("healthbench.readers.head.LINE_LIMIT", 1000)
    path.write_text(f"{row}\n{row}\n" + json.dumps({"x": "y" * 2000}), encoding="utf-8")
    with pytest.raises(InputRefusedError, match="line 3 is longer than"):
        read(path)


def test_mixed_encodings_in_one_file(tmp_path):
    rows = [
        {"prompt_id": str(n), "response": "Ruhe für alle", "rubric_items": graded()}
        for n in range(2)
    ]
    path = tmp_path / "graded.jsonl"
    utf8, other = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_bytes(utf8.encode() + b"\r\n" + other.encode("cp1252") + b"\r\n")
    _, read_rows = read(path)
    assert [one.reply for one in read_rows] == ["Ruhe für alle"] * 2
