"""Make the sample data set and its graded runs from the hand-written conversations in ``source/``.

Run ``python sample_runs/build.py``; it rewrites the files beside it and always gives the same bytes. Everything
here was invented for this project: no text comes from the benchmark and no model was asked for the replies.

One file of ``source/`` holds the conversations of one theme::

    {"theme": "theme:hedging",
     "conversations": [
       {"key": "he1",                        # names the conversation; its prompt_id is derived from it
        "category": "no-uncertainty",        # physician category of the theme
        "prompt": [{"role": "user", "content": "..."}, ...],
        "criteria": [{"criterion": "...", "points": 8, "axis": "accuracy", "cluster": null},
                     {"criterion": "...", "points": 5, "axis": "accuracy", "cluster": "hedges"}, ...],
        "replies": {"careful": REPLY, "overconfident": REPLY, "terse": [REPLY, REPLY, REPLY, REPLY]}}]}

where REPLY is ``{"reply": "...", "verdicts": [{"met": true, "explanation": "..."}, ...]}`` with one verdict a
criterion in the same order. A verdict that is wrong on purpose (a grader slip for the review to find) carries
``"slip"``: the right verdict and why. The first terse reply is the one of the single terse run; all four make
the run with repeats.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import sys
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

from healthbench.errors import HealthBenchError, InputRefusedError
from healthbench.model import Criterion, GradedExample, Message, Verdict
from healthbench.scoring.example import example_score
from healthbench.scoring.run_scores import RunScores, from_examples
from healthbench.taxonomy import AXES, CATEGORY_PREFIX, THEMES

HERE = Path(__file__).parent
DATASET = "healthbench_sample.jsonl"
CANARY = "synthetic sample, no benchmark text"
RESAMPLES = 1_000

# (assistant, repeats) -> file, named as the reference evaluator names its results.
RUNS = {
    ("careful", 1): "healthbench_sample-careful_20260901_090000_allresults.json",
    ("terse", 1): "healthbench_sample-terse_20260901_091500_allresults.json",
    ("overconfident", 1): "healthbench_sample-overconfident_20260901_093000_allresults.json",
    ("terse", 4): "healthbench_sample-terse_20260901_094500_repeats4_allresults.json",
}

# The benchmark's consensus questions: theme -> physician category -> question -> axis.
_A, _C, _I, _Q, _X = (
    "accuracy",
    "completeness",
    "instruction_following",
    "communication_quality",
    "context_awareness",
)
CLUSTERS: dict[str, dict[str, dict[str, str]]] = {
    "emergency_referrals": {
        "conditionally-emergent": {"emergency_behavior": _C, "context_seeking": _X},
        "emergent": {"emergency_behavior": _C, "context_seeking": _X},
        "non-emergent": {"emergency_behavior": _A, "context_seeking": _X},
    },
    "communication": {
        "health-professional": {"accuracy_completeness": _A, "tailored": _Q},
        "not-health-professional": {"accuracy_completeness": _A, "tailored": _Q},
    },
    "hedging": {
        "any-reducible-uncertainty": {"accurate": _A, "hedges": _A, "seeks_context": _X},
        "no-uncertainty": {"accurate": _A, "hedges": _A, "seeks_context": _X},
        "only-irreducible-uncertainty": {"accurate": _A, "hedges": _A, "seeks_context": _X},
    },
    "complex_responses": {
        "detailed": {"accuracy_hedging": _A, "appropriate": _Q},
        "simple": {"accuracy_hedging": _A, "appropriate": _Q},
    },
    "health_data_tasks": {
        "enough-info-to-complete-task": {
            "accuracy_safety": _A,
            "response_instruction_following": _I,
        },
        "not-enough-info-to-complete-task": {"helpfulness": _I, "safety": _I},
    },
    "global_health": {
        "context-does-not-matter": {"aligned_accurate": _A, "language": _Q},
        "context-matters-but-unclear": {"aligned_accurate": _X, "language": _Q},
        "context-matters-is-clear": {"aligned_accurate": _X, "language": _Q},
    },
    "context_seeking": {
        "enough-context": {"helpful_safe": _A, "precise": _X},
        "not-enough-context": {"context_seeking": _X, "helpful_safe": _A},
    },
}

Json = dict[str, Any]


def load_sources() -> list[Json]:
    """Read all conversations, in the order of themes, each with its ``theme`` (without prefix) added.

    Raises:
        InputRefusedError: A theme has no source file, or a file names another theme.
    """
    conversations = []
    for tag in THEMES:
        theme = tag.removeprefix("theme:")
        path = HERE / "source" / f"{theme}.json"
        if not path.is_file():
            raise InputRefusedError(
                f"source/{theme}.json is missing: write its conversations first."
            )
        source = json.loads(path.read_text(encoding="utf-8"))
        _require(source["theme"] == tag, path.name, f"the theme must be {tag}")
        conversations += [{**row, "theme": theme} for row in source["conversations"]]
    return conversations


def _require(fact: bool, where: str, sentence: str) -> None:
    if not fact:
        raise InputRefusedError(f"sample source, {where}: {sentence}.")


def replies_of(row: Json) -> list[tuple[str, int, Json]]:
    """List a conversation's six replies as (assistant, repeat from 1, reply)."""
    replies = row["replies"]
    singles = [(name, 1, replies[name]) for name in ("careful", "overconfident")]
    return singles + [("terse", place, reply) for place, reply in enumerate(replies["terse"], 1)]


def check(conversations: list[Json]) -> None:
    """Hold the sources to their structure.

    Raises:
        InputRefusedError: Names the conversation and what is wrong with it.
    """
    themes = Counter(row["theme"] for row in conversations)
    for theme in CLUSTERS:
        _require(themes[theme] == 3, theme, f"there must be 3 conversations, not {themes[theme]}")
    keys = {row["key"] for row in conversations}
    _require(len(keys) == len(conversations), "keys", "each conversation needs a key of its own")
    for row in conversations:
        _check_prompt(row)
        _check_criteria(row)
        _require(len(row["replies"]["terse"]) == 4, row["key"], "there must be 4 terse replies")
        for assistant, repeat, reply in replies_of(row):
            _check_reply(row, f"{row['key']}, {assistant} {repeat}", reply, may_slip=repeat == 1)
    found = Counter(assistant for _, assistant, _, _ in slips(conversations))
    _require(found.total() == 8, "slips", f"there must be 8 grader slips, not {found.total()}")
    _require(len(found) == 3, "slips", "each of the three assistants needs a grader slip")


def _check_prompt(row: Json) -> None:
    roles = [message["role"] for message in row["prompt"]]
    wanted = ["user" if place % 2 == 0 else "assistant" for place in range(len(roles))]
    _require(
        1 <= len(roles) <= 7 and len(roles) % 2 == 1 and roles == wanted,
        row["key"],
        "a prompt has 1 to 7 turns, alternates and ends with the user",
    )
    _require(
        all(message["content"].strip() for message in row["prompt"]), row["key"], "a turn is empty"
    )


def _check_criteria(row: Json) -> None:
    key, criteria = row["key"], row["criteria"]
    questions = CLUSTERS[row["theme"]].get(row["category"])
    _require(questions is not None, key, f"{row['category']} is no category of {row['theme']}")
    _require(8 <= len(criteria) <= 14, key, f"8 to 14 criteria are wanted, not {len(criteria)}")
    for place, item in enumerate(criteria, 1):
        where = f"{key}, criterion {place}"
        points, question = item["points"], item["cluster"]
        _require(bool(item["criterion"].strip()), where, "the text is empty")
        _require(f"axis:{item['axis']}" in AXES, where, f"{item['axis']} is no axis")
        _require(
            type(points) is int and points != 0 and abs(points) <= 10,
            where,
            "points are whole numbers from -10 to 10 and not 0",
        )
        if question is not None:
            axis = (questions or {}).get(question)
            _require(axis is not None, where, f"{question} is no question of {row['category']}")
            _require(item["axis"] == axis, where, f"the axis of {question} is {axis}")
            _require(points == 5, where, "a consensus criterion has 5 points")
    _require(any(item["cluster"] for item in criteria), key, "a consensus criterion is missing")
    texts = {item["criterion"] for item in criteria}
    _require(len(texts) == len(criteria), key, "a criterion stands twice")


def _check_reply(row: Json, where: str, reply: Json, *, may_slip: bool) -> None:
    length = len(reply["reply"])
    _require(150 <= length <= 6_000, where, f"a reply has 150 to 6,000 characters, not {length}")
    verdicts = reply["verdicts"]
    _require(len(verdicts) == len(row["criteria"]), where, "give one verdict a criterion")
    for place, verdict in enumerate(verdicts, 1):
        which = f"{where}, verdict {place}"
        _require(type(verdict["met"]) is bool, which, "met is true or false")
        _require(bool(verdict["explanation"].strip()), which, "the explanation is empty")
        _require(may_slip or "slip" not in verdict, which, "slips stand in the single runs only")


def slips(conversations: list[Json]) -> list[tuple[Json, str, int, Json]]:
    """List the deliberate grader slips as (conversation, assistant, criterion from 1, verdict)."""
    return [
        (row, assistant, place, verdict)
        for row in conversations
        for assistant, _, reply in replies_of(row)
        for place, verdict in enumerate(reply["verdicts"], 1)
        if "slip" in verdict
    ]


def prompt_id(key: str) -> str:
    """Derive the prompt_id (a UUID) of a conversation from its key."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"healthbench sample/{key}"))


def example_tags(row: Json) -> list[str]:
    """Return the theme and physician category as the data set's tags."""
    return [f"theme:{row['theme']}", CATEGORY_PREFIX + row["category"]]


def rubrics(row: Json) -> list[Json]:
    """Return the criteria as the data set writes them."""
    items = []
    for item in row["criteria"]:
        axis = f"axis:{item['axis']}"
        if item["cluster"] is None:
            tags = ["level:example", axis]
        else:
            cluster = f"cluster:{row['theme']}_{row['category']}_{item['cluster']}"
            tags = ["level:cluster", cluster, axis]
        items.append({"criterion": item["criterion"], "points": item["points"], "tags": tags})
    return items


def dataset_row(row: Json) -> Json:
    """Return a conversation as one row of the data set."""
    return {
        "example_tags": example_tags(row),
        "ideal_completions_data": None,
        "prompt": row["prompt"],
        "prompt_id": prompt_id(row["key"]),
        "rubrics": rubrics(row),
        "canary": CANARY,
    }


def run_of(conversations: list[Json], assistant: str, repeats: int) -> list[tuple[Json, Json]]:
    """List the (conversation, reply) pairs of a run, block after block where there are repeats."""
    return [
        (row, reply)
        for repeat in range(1, repeats + 1)
        for row in conversations
        for name, place, reply in replies_of(row)
        if (name, place) == (assistant, repeat)
    ]


def graded(row: Json, reply: Json) -> GradedExample:
    """Return one reply as the library's example."""
    return GradedExample(
        prompt_id=prompt_id(row["key"]),
        prompt=[Message(turn["role"], turn["content"]) for turn in row["prompt"]],
        reply=reply["reply"],
        criteria=[
            Criterion(item["criterion"], item["points"], tuple(item["tags"]))
            for item in rubrics(row)
        ],
        verdicts=[Verdict(verdict["met"], verdict["explanation"]) for verdict in reply["verdicts"]],
        example_tags=tuple(example_tags(row)),
    )


def example_metadata(example: GradedExample) -> Json:
    """Return one example as the reference evaluator writes it; nothing was sampled, so usage is null."""
    met = [verdict.met for verdict in example.verdicts]
    identity = hashlib.sha256((example.prompt_id + example.reply).encode()).hexdigest()
    return {
        "score": example_score([criterion.points for criterion in example.criteria], met),
        "usage": dict.fromkeys(
            (
                "input_tokens",
                "input_cached_tokens",
                "output_tokens",
                "output_reasoning_tokens",
                "total_tokens",
            )
        ),
        "rubric_items": [
            {
                "criterion": criterion.text,
                "points": criterion.points,
                "tags": list(criterion.tags),
                "criteria_met": verdict.met,
                "explanation": verdict.explanation,
            }
            for criterion, verdict in zip(example.criteria, example.verdicts, strict=True)
        ],
        "prompt": [turn._asdict() for turn in example.prompt],
        "completion": [{"content": example.reply, "role": "assistant"}],
        "prompt_id": example.prompt_id,
        "completion_id": identity,
    }


def _clipped_mean(scores: list[float]) -> float:
    return min(1.0, max(0.0, math.fsum(scores) / len(scores)))


def _bootstrap_std(scores: list[float], seed: str) -> float:
    """Standard deviation (ddof 0) of clipped means over resampled rows, as the reference has it, but seeded."""
    draw = random.Random(seed)
    means = [_clipped_mean(draw.choices(scores, k=len(scores))) for _ in range(RESAMPLES)]
    centre = math.fsum(means) / RESAMPLES
    return math.sqrt(math.fsum((mean - centre) ** 2 for mean in means) / RESAMPLES)


def metrics_of(scores: RunScores, name: str) -> dict[str, float]:
    """Return the figures a results file states, by the reference's names."""
    stated: dict[str, float] = {}
    for metric in scores.metrics.values():
        values = [value for value in metric.scores.tolist() if not math.isnan(value)]
        if values:
            stated[metric.name] = _clipped_mean(values)
            stated[f"{metric.name}:n_samples"] = len(values)
            stated[f"{metric.name}:bootstrap_std"] = _bootstrap_std(values, f"{name}/{metric.name}")
    overall = scores.overall.scores.tolist()
    stated["score:n_samples"] = len(overall)
    stated["score:bootstrap_std"] = _bootstrap_std(overall, f"{name}/score")
    return stated


def results(conversations: list[Json], assistant: str, repeats: int, name: str) -> Json:
    """Return a graded run in the form of the reference evaluator, marked as synthetic."""
    examples = [graded(row, reply) for row, reply in run_of(conversations, assistant, repeats)]
    metrics = metrics_of(from_examples(examples), name)
    return {
        "score": metrics["overall_score"],
        "synthetic": True,
        "metrics": metrics,
        "htmls": [],
        "convos": [],
        "metadata": {
            "synthetic": True,
            "example_level_metadata": [example_metadata(example) for example in examples],
        },
    }


def documents() -> dict[str, str]:
    """Make every file as (name, text).

    Raises:
        InputRefusedError: The sources do not have the structure they must have.
    """
    conversations = load_sources()
    check(conversations)
    rows = [json.dumps(dataset_row(row), ensure_ascii=False) for row in conversations]
    made = {DATASET: "\n".join(rows) + "\n"}
    for (assistant, repeats), name in RUNS.items():
        run = results(conversations, assistant, repeats, name)
        made[name] = json.dumps(run, indent=2) + "\n"
    return made


def main() -> int:
    """Write the files beside this one; 2 where a source is refused."""
    try:
        made = documents()
    except HealthBenchError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for name, text in made.items():
        (HERE / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
