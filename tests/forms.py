"""Files of every form the README lists, written from the three conversations of ``specimens``, and files it refuses."""

from __future__ import annotations

import csv
import json

import graded
from specimens import (
    CASES,
    PREDICTION,
    assistant,
    dataset_rows,
    evalscope_report,
    html_report,
    inspect_header,
    inspect_members,
    members,
    openbench_header,
    openbench_sample,
    raw,
    rubrics,
    verifiers_row,
    write_evalscope,
    write_jsonl,
    write_verifiers,
    write_zip,
)

from healthbench.model import Criterion, GradedExample, Message, RunInfo, Verdict
from healthbench.readers.own_jsonl import example_line, header_line

ALLRESULTS = "healthbench_careful-model_20260501_120000_allresults.json"


def items(case, *, text="criterion", tags=True, **more):
    """The case's graded criteria, without tags or under another name for their text."""
    found = []
    for rubric, item in zip(rubrics(case), case.items, strict=True):
        row = {text: item.criterion, "points": item.points, **more}
        row |= {"criteria_met": item.met, "explanation": item.explanation}
        found.append(row | ({"tags": rubric["tags"]} if tags else {}))
    return found


def write_json(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def allresults(folder):
    rows = [
        graded.example(case.prompt_id, *items(case), reply=case.reply)
        | {"prompt": case.prompt, "score": raw(case)}
        for case in CASES
    ]
    return graded.allresults(folder / ALLRESULTS, *rows)


def html(folder):
    path = folder / "healthbench_careful-model_20260501_120000.html"
    path.write_text(html_report(), encoding="utf-8")
    return path


def inspect_log(folder):
    return write_zip(folder / "log.eval", inspect_members())


def openbench(folder):
    samples = [openbench_sample(case) for case in CASES]
    return write_zip(folder / "log.eval", members(openbench_header(), samples))


def evalscope(folder):
    return write_evalscope(folder / "outputs")


def llm_eval(folder):
    scores = [
        {"prompt_id": case.prompt_id, "score": raw(case), "rubric_grades": items(case, tags=False)}
        for case in CASES
    ]
    replies = [
        {"prompt_id": case.prompt_id, "prompt": case.prompt, "response": case.reply}
        for case in CASES
    ]
    write_jsonl(folder / "responses.jsonl", replies)
    write_json(folder / "summary.json", {"model": "m", "judge_model": "j", "avg_score": -0.3})
    return write_jsonl(folder / "scores.jsonl", scores)


def runner(folder):
    rows = [
        {
            "prompt_id": case.prompt_id,
            "prompt": case.prompt,
            "model_response": case.reply,
            "rubric_results": items(case, tags=False),
            "score": raw(case),
        }
        for case in CASES
    ]
    return write_json(
        folder / "results.json", {"model": "m", "grader": "j", "example_results": rows}
    )


def m42(folder):
    rows = [
        row
        | {
            "prompt_response": [assistant(case.reply)],
            "responses": str(
                [
                    {
                        "response_dict": {
                            "explanation": i.explanation,
                            "criteria_met": i.met,
                        },
                        "points": i.points,
                        "tags": i.tags,
                    }
                    for i in case.items
                ]
            ),
        }
        for row, case in zip(dataset_rows(), CASES, strict=True)
    ]
    return write_jsonl(folder / "judge_responses.jsonl", rows)


def conversations(folder):
    rows = [
        {
            "prompt_id": case.prompt_id,
            "conversations": [*case.prompt, assistant(case.reply)],
            "rubrics": items(case, text="criteria", tags=False),
            "total": 9,
        }
        for case in CASES
    ]
    return write_json(folder / "gpt4_grader.json", rows)


def whispey(folder):
    folder = folder / "conversations"
    folder.mkdir()
    for case in CASES:
        document = {
            "conversation_id": case.prompt_id,
            "transcript": [*case.prompt, assistant(case.reply)],
            "evaluation_results": {"detailed_results": items(case)},
        }
        write_json(folder / f"{case.prompt_id}.json", document)
    return folder


def yoda(folder):
    rows = [
        {
            "id": case.prompt_id,
            "user_message": case.prompt[-1]["content"],
            "bot_response": case.reply,
            "evaluation": {"overall_score": 0.5, "rubric_scores": items(case)},
        }
        for case in CASES
    ]
    return write_json(folder / "healthbench_results.json", {"evaluations": rows})


def log(folder):
    rows = [
        {
            "prompt_id": case.prompt_id,
            "rubric_index": place,
            "rubric_points": item.points,
            "criteria_met": item.met,
            "explanation": item.explanation,
        }
        for case in CASES
        for place, item in enumerate(case.items)
    ]
    return write_jsonl(folder / "graded.jsonl", rows)


def by_place(folder):
    rows = [
        {"prompt_id": case.prompt_id, "grades": [{"criteria_met": i.met} for i in case.items]}
        for case in CASES
    ]
    return write_jsonl(folder / "careful__strict.jsonl", rows)


def write_csv(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def about(case):
    return {
        "prompt_id": case.prompt_id,
        "prompt": json.dumps(case.prompt),
        "response": case.reply,
        "model": "m",
        "grader": "j",
    }


def long_table(folder):
    rows = [
        about(case)
        | {"theme": case.example_tags[0].removeprefix("theme:")}
        | {"criterion": i.criterion, "points": i.points, "criteria_met": i.met}
        | {"explanation": i.explanation, "tags": json.dumps(i.tags)}
        for case in CASES
        for i in case.items
    ]
    return write_csv(folder / "run.csv", rows)


def table_of_lists(folder):
    rows = [about(case) | {"rubric_items": json.dumps(items(case))} for case in CASES]
    return write_csv(folder / "run.csv", rows)


def own(folder):
    examples = [
        GradedExample(
            case.prompt_id,
            [Message(turn["role"], turn["content"]) for turn in case.prompt],
            case.reply,
            [Criterion(i.criterion, i.points, tuple(i.tags)) for i in case.items],
            [Verdict(i.met, i.explanation) for i in case.items],
            tuple(case.example_tags),
        )
        for case in CASES
    ]
    info = RunInfo("run", "our own", model="m", grader="j")
    header = header_line(info, len(examples), texts=True, canary=None)
    path = folder / "run.jsonl"
    path.write_text("\n".join([header, *map(example_line, examples)]) + "\n", encoding="utf-8")
    return path


READ = {
    "simple-evals `_allresults.json`": allresults,
    "simple-evals HTML report": html,
    "Inspect log of inspect_evals (`.eval`, `.json`, folder)": inspect_log,
    "Inspect log of openbench": openbench,
    "verifiers / MedARC `results.jsonl`": write_verifiers,
    "evalscope output folder": evalscope,
    "llm-eval-framework `scores.jsonl`": llm_eval,
    "healthbench-runner results": runner,
    "m42 `judge_responses.jsonl`": m42,
    "list of graded conversations (SumonKantiDey)": conversations,
    "whispey, a document a conversation": whispey,
    "yoda evaluations": yoda,
    "verdicts without criterion text": log,
    "verdicts by place (healthbench-psych)": by_place,
    "table, a row a criterion (CSV, TSV, XLSX, Parquet)": long_table,
    "table, a row an example": table_of_lists,
    "our own graded-run lines": own,
}


def ungraded_log(folder):
    log = {**inspect_header(status="error"), "samples": []}
    return write_json(folder / "log.json", log)


def database(folder):
    path = folder / "runs.db"
    path.write_bytes(b"SQLite format 3\x00...")
    return path


def rewards(folder):
    rows = [verifiers_row(case, n) for n, case in enumerate(CASES)]
    for row in rows:
        del row["performance_by_rubric"]
    return write_verifiers(folder, rows)


def value(content, name="some.json"):
    return lambda folder: write_json(folder / name, content)


NOT_READ = {
    "metrics without verdicts": value({"overall_score": 0.4, "overall_score:n_samples": 5}),
    "a meta-evaluation of a grader": value({"metadata": {"model_agreement_metrics": {}}}),
    "multiple-choice results that are called HealthBench": value(
        [{"question": "Q", "options": ["a"], "answer": "A"}]
    ),
    "a list of scores": value([{"id": 1, "score": 0.2, "n_rubrics": 4}]),
    "a registry or summary of runs": value({"runs": [{"model": "a", "overall_score": 0.2}]}),
    "a data set": lambda folder: write_jsonl(folder / "set.jsonl", dataset_rows()),
    "a listing of Inspect logs": value({"2026_healthbench_x.eval": {"version": 2}}),
    "an Inspect log without a graded sample": ungraded_log,
    "verifiers results without verdicts": rewards,
    "evalscope predictions": lambda folder: write_jsonl(folder / "p.jsonl", [PREDICTION]),
    "evalscope report": value(evalscope_report(), "health_bench.json"),
    "an SQLite database": database,
}
