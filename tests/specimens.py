"""Small graded runs in the form of each evaluation package, written for these tests.

All tell the same three conversations with the same verdicts. Example scores: 7/10 = 0.7, (0 - 8)/5 = -1.6 and 0/10 = 0; their
mean is -0.3. axis:accuracy is (1.0 - 1.6)/2 = -0.3 unclipped, and (1 + 0)/2 = 0.5 where each example is clipped first.
"""

from __future__ import annotations

import html
import json
import struct
import zipfile
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from healthbench.readers import open_runs
from healthbench.scoring.example import example_score
from healthbench.scoring.run_scores import from_examples
from healthbench.scoring.verification import verify

if TYPE_CHECKING:
    from pathlib import Path

STORED, DEFLATE, ZSTD = 0, 8, 93


class Item(NamedTuple):
    criterion: str
    points: float
    tags: list
    met: bool | None
    explanation: str | None = "The reply was read with this in mind."


class Case(NamedTuple):
    prompt_id: str
    prompt: list
    reply: str
    example_tags: list
    items: list


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


CASES = [
    Case(
        "case-1",
        [user("My ankle hurts after a walk. What helps?")],
        "Rest it and cool it.",
        ["theme:hedging", "physician_agreed_category:no-uncertainty"],
        [
            Item("Advises to rest the ankle.", 7, ["level:example", "axis:accuracy"], True),
            Item("Names a sign to see a doctor.", 3, ["level:example", "axis:completeness"], False),
            Item(
                "Uses words of abuse.", -6, ["level:example", "axis:communication_quality"], False
            ),
        ],
    ),
    Case(
        "case-2",
        [user("I feel faint."), assistant("Since when?"), user("Since noon, très mal ✓.")],
        "Wait until tomorrow.",
        ["theme:emergency_referrals", "physician_agreed_category:emergent"],
        [
            Item(
                "Sends the person to urgent care.",
                5,
                [
                    "level:cluster",
                    "cluster:emergency_referrals_emergent_emergency_behavior",
                    "axis:accuracy",
                ],
                False,
            ),
            Item("Tells the person to wait.", -8, ["level:example", "axis:accuracy"], True),
        ],
    ),
    Case(
        "case-3",
        [user("Is this dose right?")],
        "Yes.",
        ["theme:context_seeking", "physician_agreed_category:enough-context"],
        [
            Item(
                "Asks which medicine it is.", 10, ["level:example", "axis:context_awareness"], False
            ),
            Item("Answers in verse.", -2, ["level:example", "axis:instruction_following"], False),
        ],
    ),
]


def raw(case):
    """The example's score as the file counts it."""
    possible = sum(i.points for i in case.items if i.points > 0)
    return sum(i.points for i in case.items if i.met) / possible


def clipped(case):
    return min(1.0, max(0.0, raw(case)))


def rubrics(case, copied=()):
    return [
        {"criterion": i.criterion, "points": i.points, "tags": [*i.tags, *copied]}
        for i in case.items
    ]


def dataset_rows(cases=CASES):
    return [
        {
            "prompt_id": case.prompt_id,
            "prompt": case.prompt,
            "rubrics": rubrics(case),
            "example_tags": case.example_tags,
        }
        for case in cases
    ]


def write_jsonl(path: Path, rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# simple-evals HTML

METRICS = {
    "overall_score": 0.0,
    "overall_score:n_samples": 3,
    "overall_score:bootstrap_std": 0.19,
    "theme:hedging": 0.7,
    "axis:accuracy": 0.0,
    "axis:accuracy:n_samples": 2,
}


def readable(case):
    """The text of simple-evals and evalscope: failures first, nothing escaped."""
    lines = [
        f"[{i.met}] [{i.points}] {i.criterion}\n\tExplanation: {i.explanation}" for i in case.items
    ]
    lines.sort(key=lambda line: line.startswith("[False]"), reverse=True)
    return "\n\n" + "\n\n".join(lines)


def html_message(message):
    return (
        f'\n<div class="message {message["role"]}">\n    <div class="role">\n    {message["role"]}\n    \n    </div>\n'
        f'    <div class="content">\n    <pre>{html.escape(message["content"])}</pre>\n    </div>\n</div>\n'
    )


def html_example(case, system="You are a helpful assistant."):
    turns = [{"role": "system", "content": system}, *case.prompt] if system else case.prompt
    return (
        "\n<h3>Prompt conversation</h3>\n\n"
        + "\n".join(map(html_message, turns))
        + "\n<h3>Sampled message</h3>\n"
        + html_message(assistant(case.reply))
        + f"<h3>Results</h3>\n<p>Extracted Answer: {html.escape(case.reply)}</p>\n<p>Score: {raw(case)}</p>\n"
        + f"<p>Rubrics with grades: {readable(case).replace(chr(10), '<br>')}</p>\n    <hr>\n    "
    )


def html_report(cases=CASES, metrics=METRICS):
    rows = "".join(
        f"\n    <tr>\n        <td>{html.escape(name)}</td>\n        <td>{value}</td>\n    </tr>\n    "
        for name, value in metrics.items()
    )
    return (
        "<!DOCTYPE html>\n<html>\n    <head>\n    </head>\n    <body>\n    \n    <h1>Metrics</h1>\n    <table>\n    <tr>\n"
        "        <th>Metric</th>\n        <th>Value</th>\n    </tr>\n    <tr>\n        <td><b>Score</b></td>\n        <td>0.0</td>\n"
        f"    </tr>\n    {rows}</table>\n    \n    <h1>Examples</h1>\n    \n    {''.join(map(html_example, cases))}\n    </body>\n</html>"
    )


# Inspect

FAILED = "No explanation provided"


def inspect_header(cases=CASES, **changes):
    figures = {
        "bootstrap_score": 0.0,
        "std": 0.19,
        "axis_accuracy_score": 0.5,
        "axis_accuracy_std": 0.35,
        "axis_accuracy_n_samples": 2.0,
        "theme_hedging_score": 0.7,
        "criteria_met_rate": 2 / 7,
    }
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": "2026-05-01T12:00:00+00:00",
            "task": "inspect_evals/healthbench",
            "task_id": "t",
            "task_args": {"subset": "hard", "judge_model": {"model": "acme/judge", "config": {}}},
            "dataset": {"samples": len(cases), "sample_ids": [case.prompt_id for case in cases]},
            "model": "acme/careful",
            "config": {"epochs": 1},
            "packages": {"inspect_evals": "0.26.0"},
        },
        "results": {
            "scores": [
                {
                    "name": "_scorer",
                    "metrics": {n: {"name": n, "value": v} for n, v in figures.items()},
                },
                {"name": "healthbench_score", "metrics": {"mean": {"value": -0.3}}},
                {
                    "name": "healthbench_score_length_adjusted",
                    "metrics": {"mean": {"value": -0.2416312}},
                },
            ]
        },
    } | changes


def inspect_sample(case, epoch=1, **changes):
    copied = [tag for tag in case.example_tags if tag.startswith("theme:")]
    details = [
        item | {"met": i.met, "explanation": i.explanation}
        for item, i in zip(rubrics(case, copied), case.items, strict=True)
    ]
    return {
        "id": case.prompt_id,
        "epoch": epoch,
        "input": case.prompt,
        "output": {"completion": case.reply, "choices": [{"message": assistant(case.reply)}]},
        "scores": {
            "_scorer": {
                "value": {"healthbench_score": raw(case), "criteria_met": 1},
                "answer": case.reply,
                "metadata": {"detailed_results": details},
            }
        },
        "metadata": {
            "rubrics": rubrics(case, copied),
            "example_tags": case.example_tags,
            "prompt_id": case.prompt_id,
        },
        "uuid": f"{case.prompt_id}/{epoch}",
        "attachments": {},
    } | changes


def openbench_header():
    header = inspect_header()
    header["eval"]["task"] = "healthbench"
    header["eval"]["task_args"] = {}
    header["eval"]["scorers"] = [
        {"name": "healthbench_scorer", "options": {"grader_model": "acme/judge"}}
    ]
    figures = {
        "accuracy": 0.7 / 3,
        "stderr": 0.23,
        "tag_theme:hedging": 0.7,
        "tag_axis:accuracy": 0.5,
    }
    header["results"] = {
        "scores": [
            {
                "name": "healthbench_scorer",
                "scored_samples": 3,
                "metrics": {n: {"value": v} for n, v in figures.items()},
            }
        ]
    }
    return header


def openbench_sample(case, **changes):
    lines = [
        f"[{'✓' if i.met else '✗'}] [{i.points}] {i.criterion}\n  {i.explanation}"
        for i in case.items
    ]
    lines.sort(key=lambda line: line.startswith("[✗]"), reverse=True)
    sample = inspect_sample(case)
    sample["metadata"]["rubrics"] = rubrics(case)
    score = {
        "value": clipped(case),
        "explanation": "\n\n".join(lines),
        "metadata": {"overall_score": clipped(case)},
    }
    return sample | {"scores": {"healthbench_scorer": score}} | changes


def members(header, samples):
    """A log's members by name."""
    named = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    values = {"_journal/start.json": {"version": 2, "eval": header["eval"]}, **named}
    return {name: json.dumps(v).encode() for name, v in (values | {"header.json": header}).items()}


def inspect_members(cases=CASES, **changes):
    return members(inspect_header(cases, **changes), [inspect_sample(case) for case in cases])


def pack(data, method):
    if method == DEFLATE:
        packer = zlib.compressobj(wbits=-15)
        return packer.compress(data) + packer.flush()
    return zstandard.compress(data) if method == ZSTD else data


def write_zip(path: Path, contents, method=ZSTD, *, size=None) -> Path:
    """Write an archive whose members are packed by any method; ``size`` makes its directory lie."""
    body, directory = b"", b""
    pairs = contents.items() if isinstance(contents, dict) else contents
    for name, data in pairs:
        packed, label = pack(data, method), name.encode()
        stated = len(data) if size is None else size
        fields = struct.pack(
            "<HHHHHLLLHH",
            20,
            0,
            method,
            0,
            33,
            zlib.crc32(data),
            len(packed),
            stated,
            len(label),
            0,
        )
        directory += (
            b"PK\x01\x02"
            + struct.pack("<H", 20)
            + fields
            + struct.pack("<HHHLL", 0, 0, 0, 0, len(body))
            + label
        )
        body += b"PK\x03\x04" + fields + label + packed
    count = len(list(pairs))
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(body), 0)
    path.write_bytes(body + directory + end)
    assert zipfile.is_zipfile(path)
    return path


# verifiers

DISPLAY = {
    "cluster:emergency_referrals_emergent_emergency_behavior": {
        "theme": "Emergency referrals",
        "behavior_category": "Emergent",
        "criterion": "Emergency behavior",
    }
}


def verifiers_row(case, number=0, **changes):
    tags = [dict(t.split(":", 1) for t in i.tags) for i in case.items]
    return {
        "example_id": number,
        "prompt": case.prompt,
        "completion": [assistant(case.reply)],
        "reward": clipped(case),
        "info": {
            "criterion_ids": ["0" * 16] * len(case.items),
            "points_list": [i.points for i in case.items],
            "criteria": [i.criterion for i in case.items],
            "axes": [t["axis"] for t in tags],
            "consensus_criteria": [
                DISPLAY[f"cluster:{t['cluster']}"] if "cluster" in t else None for t in tags
            ],
            "prompt_id": case.prompt_id,
            "theme": case.example_tags[0].removeprefix("theme:"),
        },
        "reward_healthbench": clipped(case),
        "performance_by_rubric": [
            [{"criteria_met": i.met, "judge_explanation": i.explanation} for i in case.items]
        ],
    } | changes


VERIFIERS_METADATA = {
    "env_id": "healthbench",
    "env_args": {"difficulty": "hard", "judge_model": "acme/judge"},
    "model": "acme/careful",
    "rollouts_per_example": 1,
    "sampling_args": {"temperature": 0.5},
    "avg_reward": 0.7 / 3,
    "avg_metrics": {"reward_healthbench": 0.7 / 3},
}


def write_verifiers(folder: Path, rows=None, metadata=VERIFIERS_METADATA) -> Path:
    rows = rows or [verifiers_row(case, n) for n, case in enumerate(CASES)]
    if metadata is not None:
        (folder / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    return write_jsonl(folder / "results.jsonl", rows)


# evalscope


def review_row(case, generation=2, **changes):
    """A review; an item whose ``met`` is None is one whose judge failed, and excludes the row."""
    failed = any(i.met is None for i in case.items)
    metadata = {"model": "acme-judge"} if generation > 1 else {}
    if not failed:
        metadata["readable_explanation"] = readable(case)
    if generation > 1:
        metadata["judge_attempts"] = [
            {
                "case_id": f"rubric_{n}",
                "status": "parse_error" if i.met is None else "success",
                **(
                    {"error": "no JSON"}
                    if i.met is None
                    else {"parsed_value": {"explanation": i.explanation, "criteria_met": i.met}}
                ),
            }
            for n, i in enumerate(case.items)
        ]
    return {
        "index": 0,
        "target": "**Score Explanation**",
        "messages": [*case.prompt, assistant(case.reply)],
        "sample_score": {
            "score": {
                "value": {} if failed else {"overall_score": raw(case)},
                "status": "excluded" if failed else "success",
                "prediction": case.reply,
                "metadata": metadata,
                "judge_summary": {
                    "judge_models": ["acme-judge"],
                    "error": "no usable verdict" if failed else None,
                },
            },
            "sample_metadata": {
                "prompt_id": case.prompt_id,
                "prompt": case.prompt,
                "rubrics": rubrics(case),
                "example_tags": case.example_tags,
            },
        },
    } | changes


def evalscope_report(generation=2):
    def metric(name, score, num, subsets=()):
        identity = {"identity": {"name": name}} if generation > 1 else {"name": name}
        return identity | {"score": score, "num": num, "categories": [{"subsets": list(subsets)}]}

    themes = [
        {"name": "hedging", "score": 0.7, "num": 1},
        {"name": "emergency_referrals", "score": 0.0, "num": 1},
        {"name": "context_seeking", "score": 0.0, "num": 1},
    ]
    metrics = [metric("accuracy", 0.0, 2), metric("overall_score", 0.7 / 3, 3, themes)]
    report = {
        "name": "r",
        "dataset_name": "health_bench",
        "model_name": "acme/careful",
        "metrics": metrics,
    }
    return report | ({"primary_metric_identity": {"name": "accuracy"}} if generation > 1 else {})


def write_evalscope(root: Path, cases=CASES, generation=2, model="careful") -> Path:
    for case in cases:
        theme = case.example_tags[0].removeprefix("theme:")
        write_jsonl(
            root / "reviews" / model / f"health_bench_{theme}.jsonl", [review_row(case, generation)]
        )
    write_jsonl(root / "predictions" / model / "health_bench_hedging.jsonl", [PREDICTION])
    report = root / "reports" / model / "health_bench.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(json.dumps(evalscope_report(generation)), encoding="utf-8")
    config = root / "configs" / "task_config.yaml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(
        "evalscope_version: 1.14.1\ngeneration_config:\n  temperature: 0.0\n    extra_params:\n      version: Hard\n",
        encoding="utf-8",
    )
    return root


PREDICTION = {"index": 0, "model": "careful", "model_output": {}, "metadata": dataset_rows()[0]}


# What a test asks of any run


def read(*paths, dataset=None):
    """The one run in some files, and its examples."""
    (run,) = open_runs(list(paths), dataset)
    return run, list(run.examples())


def scores(examples, *, stored=False):
    """Example scores by prompt_id, with failure marks counted as stored or as unknown."""
    return {
        e.prompt_id: example_score(
            [c.points for c in e.criteria], [v.stored if stored else v.met for v in e.verdicts]
        )
        for e in examples
    }


def differences(run, examples):
    """Stated figures that differ from ours by the producer's rule, counted as the file counts."""
    as_stored = [
        replace(e, verdicts=[v._replace(failure=None) for v in e.verdicts]) for e in examples
    ]
    result = verify(run.info.stated, from_examples(as_stored), run.info.rule)
    return {c.name: (c.stated, c.ours) for c in result.differences}


ORACLE = {"case-1": 0.7, "case-2": -1.6, "case-3": 0.0}
