"""Replies and a data set for bulk gradings, and what they become."""

import json
from dataclasses import replace

from pydantic import SecretStr

from healthbench.grading.bulk import BulkJob
from healthbench.grading.settings import PRESETS
from healthbench.grading.template import load_template

KEY = SecretStr("sk-test-key")


def write_input(folder, examples=4, criteria=3, repeats=1):
    rows, replies = [], []
    for place in range(examples):
        rubrics = [
            {
                "criterion": f"States item-{place * criteria + c}.",
                "points": 5 if c % 2 == 0 else -3,
                "tags": ["level:example", "axis:accuracy"],
            }
            for c in range(criteria)
        ]
        prompt = [{"role": "user", "content": f"Question {place}?"}]
        rows.append(
            {
                "example_tags": ["theme:hedging"],
                "prompt": prompt,
                "prompt_id": f"p{place}",
                "rubrics": rubrics,
            }
        )
        replies += [
            {"prompt_id": f"p{place}", "reply": f"Reply {place}.", "repeat": k}
            for k in range(repeats)
        ]
    for name, values in (("data.jsonl", rows), ("replies.jsonl", replies)):
        (folder / name).write_text("".join(json.dumps(value) + "\n" for value in values))


def job_in(folder, provider, **changes):
    settings = replace(PRESETS["reference"], base_url=provider.url, first_wait=0.001, attempts=2)
    defaults = {
        "replies": folder / "replies.jsonl",
        "dataset": folder / "data.jsonl",
        "out": folder / "run.jsonl",
        "settings": settings,
        "template": load_template(),
        "cache": folder / "grades.sqlite",
        "concurrency": 4,
    }
    return BulkJob(**(defaults | changes))


def lines_of(folder, name="run.jsonl"):
    """The run's examples, without its header."""
    return [json.loads(line) for line in (folder / name).read_text().splitlines()][1:]


def verdicts_of(folder):
    return [[item["criteria_met"] for item in row["criteria"]] for row in lines_of(folder)]
