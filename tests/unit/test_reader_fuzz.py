"""Damaged files of every format end in a run or in a named refusal, never in another exception.

2,000 seeded mutations a format; HEALTHBENCH_FUZZ=20000 makes more, HEALTHBENCH_FUZZ_SEED another draw.
"""

from __future__ import annotations

import copy
import csv
import json
import math
import os
import random

import pytest
from specimens import (
    CASES,
    DEFLATE,
    METRICS,
    STORED,
    VERIFIERS_METADATA,
    ZSTD,
    assistant,
    evalscope_report,
    html_report,
    inspect_header,
    inspect_sample,
    members,
    openbench_header,
    openbench_sample,
    raw,
    review_row,
    rubrics,
    verifiers_row,
    write_zip,
)

from healthbench.errors import InputRefusedError
from healthbench.readers import find_runs

MUTATIONS = int(os.environ.get("HEALTHBENCH_FUZZ", "2000"))
SEED = os.environ.get("HEALTHBENCH_FUZZ_SEED", "1")
FEW = CASES[:2]
ODD = (
    None, True, False, 0, 1, -1, 2.5, 1e308, 1e-320, math.nan, -math.inf, 10**30, 10**400, "9" * 5000, "", "x", "true", "MET", "1", "\ud800", "\x00",
    "attachment://a", "[True] [3] x\n\tExplanation: y", [], {}, [[]], [None], [{}], {"a": 1}, {"criteria_met": True},
    {"role": 3, "content": [{"type": "image"}]}, ["axis:accuracy", 3], "é" * 50,
)  # fmt: skip


def allresults():
    return {
        "score": 0.0,
        "metrics": METRICS,
        "htmls": ["<p></p>"],
        "convos": [[]],
        "metadata": {
            "example_level_metadata": [
                {
                    "score": raw(case),
                    "usage": {"input_tokens": None},
                    "rubric_items": [
                        item | {"criteria_met": i.met, "explanation": i.explanation}
                        for item, i in zip(rubrics(case), case.items, strict=True)
                    ],
                    "prompt": case.prompt,
                    "completion": [assistant(case.reply)],
                    "prompt_id": case.prompt_id,
                    "completion_id": "c",
                }
                for case in FEW
            ]
        },
    }


def write_text(path, text):
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    return path


def dump(value):
    return json.dumps(value, ensure_ascii=False)


def write_lines(path, rows):
    return write_text(
        path, "".join(dump(row) + "\n" for row in rows) if isinstance(rows, list) else dump(rows)
    )


def write_log(path, log, method):
    """Write an archive from a header and samples, either of which may have become anything."""
    header = log.get("header") if isinstance(log, dict) else log
    samples = log.get("samples") if isinstance(log, dict) else []
    contents = {"header.json": dump(header)}
    for n, sample in enumerate(samples if isinstance(samples, list) else [samples]):
        contents[f"samples/s{n}_epoch_1.json"] = dump(sample)
    return write_zip(
        path, {n: t.encode("utf-8", errors="surrogatepass") for n, t in contents.items()}, method
    )


def write_results(folder, value):
    value = value if isinstance(value, dict) else {"rows": value}
    write_text(folder / "metadata.json", dump(value.get("metadata")))
    return write_lines(folder / "results.jsonl", value.get("rows"))


def write_reviews(folder, value):
    value = value if isinstance(value, dict) else {"rows": value}
    for part in ("reviews/m", "reports/m"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    write_text(folder / "reports/m/health_bench.json", dump(value.get("report")))
    return write_lines(folder / "reviews/m/health_bench_hedging.jsonl", value.get("rows"))


def items_of(case):
    """The case's criteria with verdicts, under the plain names."""
    return [
        item | {"criteria_met": i.met, "explanation": i.explanation}
        for item, i in zip(rubrics(case), case.items, strict=True)
    ]


def nested_rows():
    return [
        {
            "prompt_id": case.prompt_id,
            "prompt": case.prompt,
            "response": case.reply,
            "score": raw(case),
            "model": "m",
            "example_tags": ["theme:hedging"],
            "rubric_items": items_of(case),
        }
        for case in FEW
    ]


def literal_rows():
    """Rows in m42's form: verdicts in a Python literal beside the rubric."""
    return [
        {
            "prompt_id": case.prompt_id,
            "prompt": case.prompt,
            "prompt_response": [assistant(case.reply)],
            "rubrics": rubrics(case),
            "responses": str([{"response_dict": item, "points": 1} for item in items_of(case)]),
        }
        for case in FEW
    ]


def criterion_rows():
    return [
        {
            "prompt_id": case.prompt_id,
            "rubric_index": n,
            "model": "m",
            "response": case.reply,
            **item,
        }
        for case in FEW
        for n, item in enumerate(items_of(case))
    ]


def own_rows():
    """Our own lines, as the examples of an allresults file say them."""
    rows = [
        {
            "prompt_id": case.prompt_id,
            "prompt": case.prompt,
            "reply": case.reply,
            "criteria": items_of(case),
            "example_tags": ["theme:hedging"],
        }
        for case in FEW
    ]
    return [{"graded_run_version": 1, "n_examples": len(rows), "stated": {"score": 0.1}}, *rows]


def write_csv(path, rows):
    """Write rows, whatever became of them, as cells of text."""
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    columns = list(dict.fromkeys(str(key) for row in rows for key in row)) or ["nothing"]
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in rows:
            cells = [row.get(column) for column in columns]
            writer.writerow([dump(c) if isinstance(c, list | dict) else c for c in cells])
    return path


# Name -> the value that is mutated, and how it is written below a folder.
FORMATS = {
    "allresults": (
        allresults(),
        lambda f, v: write_text(f / "healthbench_m_allresults.json", dump(v)),
    ),
    "inspect json": (
        {**inspect_header(FEW), "samples": [inspect_sample(case) for case in FEW]},
        lambda f, v: write_text(f / "log.json", dump(v)),
    ),
    "inspect eval": (
        {"header": inspect_header(FEW), "samples": [inspect_sample(case) for case in FEW]},
        lambda f, v: write_log(f / "log.eval", v, ZSTD),
    ),
    "openbench": (
        {"header": openbench_header(), "samples": [openbench_sample(case) for case in FEW]},
        lambda f, v: write_log(f / "log.eval", v, DEFLATE),
    ),
    "verifiers": (
        {"metadata": VERIFIERS_METADATA, "rows": [verifiers_row(case) for case in FEW]},
        write_results,
    ),
    "evalscope": (
        {"report": evalscope_report(), "rows": [review_row(FEW[0]), review_row(FEW[1], 1)]},
        write_reviews,
    ),
    "graded lines": (nested_rows(), lambda f, v: write_lines(f / "graded.jsonl", v)),
    "graded document": (
        {"model": "m", "grader": "g", "results": nested_rows(), "overall_score": 0.1},
        lambda f, v: write_text(f / "graded.json", dump(v)),
    ),
    "python literals": (literal_rows(), lambda f, v: write_lines(f / "judge_responses.jsonl", v)),
    "criterion lines": (criterion_rows(), lambda f, v: write_lines(f / "log.jsonl", v)),
    "own lines": (own_rows(), lambda f, v: write_lines(f / "run.jsonl", v)),
    "table": (criterion_rows(), lambda f, v: write_csv(f / "run.csv", v)),
    "table of lists": (nested_rows(), lambda f, v: write_csv(f / "run.csv", v)),
}


def containers(value):
    """Every list and object in a JSON value that has content."""
    found = [value] if isinstance(value, dict | list) and value else []
    for child in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        found += containers(child)
    return found


def mutate(value, rng):
    """Cut, swap, retype or duplicate one to three fields."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        places = containers(value)
        if not places:
            break
        place = rng.choice(places)
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        change = rng.choice(("cut", "swap", "retype", "retype", "duplicate"))
        if change == "cut":
            del place[key]
        elif change == "retype":
            place[key] = copy.deepcopy(rng.choice(ODD))
        elif change == "duplicate" and isinstance(place, list):
            place.insert(rng.randint(0, len(place)), copy.deepcopy(place[key]))
        elif change == "duplicate":
            place[rng.choice([*place, "copy"])] = copy.deepcopy(place[key])
        else:
            other = rng.choice(places)
            other_key = rng.choice(list(other) if isinstance(other, dict) else range(len(other)))
            place[key], other[other_key] = (
                copy.deepcopy(other[other_key]),
                copy.deepcopy(place[key]),
            )
    return value


def damage(data, rng):
    """Cut, swap, overwrite or duplicate bytes."""
    begin, end = sorted(rng.randrange(len(data)) for _ in range(2))
    piece = data[begin:end]
    return rng.choice(
        (
            data[:begin],
            data[:begin] + data[end:],
            data[:end] + piece + data[end:],
            data[:begin] + piece[::-1] + data[end:],
            data[:begin]
            + rng.choice((b"\x00", b"\xff", b'"', b"}", b"\n", b"<br>"))
            + data[begin + 1 :],
            data[:begin] + rng.randbytes(4) + data[begin + 4 :],
        )
    )


def outcome(path):
    """Read whatever is found and hold it to the model; tell whether it was a run."""
    runs = 0
    for found in find_runs([path]):
        for run in found.runs:
            try:
                for example in run.examples():
                    hold(example)
            except InputRefusedError as error:
                assert_sentence(error)
            else:
                runs += 1
                assert all(math.isfinite(value) for value in run.info.stated.values())
        if found.refused is not None:
            assert_sentence(found.refused)
    return runs


def assert_sentence(error):
    assert str(error).endswith("."), error
    assert str(error).encode()


def hold(example):
    assert isinstance(example.prompt_id, str)
    assert example.prompt_id
    assert len(example.criteria) == len(example.verdicts)
    assert all(isinstance(m.content, str) and isinstance(m.role, str) for m in example.prompt)
    texts = [example.prompt_id, example.reply, *(m.content for m in example.prompt)]
    for criterion, verdict in zip(example.criteria, example.verdicts, strict=True):
        assert math.isfinite(criterion.points)
        assert criterion.points != 0
        assert verdict.met in (True, False, None)
        assert isinstance(criterion.tags, tuple)
        texts += [criterion.text, verdict.explanation or "", *criterion.tags]
    assert "".join(texts).encode()  # no lone surrogates: a store could not hold them


@pytest.mark.parametrize("name", FORMATS)
def test_mutated_fields_end_in_a_run_or_a_refusal(tmp_path, name):
    value, write = FORMATS[name]
    assert outcome(write(tmp_path, value)) == 1
    rng = random.Random(f"{SEED}/{name}")
    runs = 0
    for _ in range(MUTATIONS * 3 // 4):
        runs += outcome(write(tmp_path, mutate(value, rng)))
    assert runs > 0


def nested(depth):
    value = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("name", FORMATS)
def test_nesting_at_any_place_ends_in_a_run_or_a_refusal(tmp_path, name):
    """450 levels are within what Python's parser takes, and beyond what a function can follow by calling itself."""
    value, write = FORMATS[name]
    for number in range(len(containers(value))):
        changed = copy.deepcopy(value)
        place = containers(changed)[number]
        for key in list(place) if isinstance(place, dict) else range(len(place)):
            kept, place[key] = place[key], nested(450)
            outcome(write(tmp_path, changed))
            place[key] = kept


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_bytes_end_in_a_run_or_a_refusal(tmp_path, name):
    value, write = FORMATS[name]
    path = write(tmp_path, value)
    data = path.read_bytes()
    rng = random.Random(f"{SEED}/{name}/bytes")
    for _ in range(MUTATIONS // 4):
        path.write_bytes(damage(data, rng))
        outcome(path)


def test_a_damaged_report_ends_in_a_run_or_a_refusal(tmp_path):
    path = tmp_path / "healthbench_m_20260501_120000.html"
    data = html_report(FEW).encode()
    body = data.index(b"<h3>")
    rng = random.Random(f"{SEED}/html")
    runs = 0
    for _ in range(MUTATIONS):
        path.write_bytes(data[:body] + damage(data[body:], rng))
        runs += outcome(path)
    assert runs > 0


def test_a_damaged_archive_of_stored_members_ends_in_a_run_or_a_refusal(tmp_path):
    contents = members(inspect_header(FEW), [inspect_sample(case) for case in FEW])
    data = write_zip(tmp_path / "log.eval", contents, STORED).read_bytes()
    rng = random.Random(f"{SEED}/stored")
    for _ in range(MUTATIONS // 4):
        (tmp_path / "log.eval").write_bytes(damage(data, rng))
        outcome(tmp_path / "log.eval")
