"""Small graded runs in simple-evals' own form, for tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def item(
    points: float = 5,
    met: Any = True,
    *tags: str,
    criterion: str = "",
    explanation: Any = "Because.",
) -> dict:
    """One graded criterion; its text says its points and tags unless given."""
    return {
        "criterion": criterion or f"Says what earns {points} ({', '.join(tags)})",
        "points": points,
        "tags": list(tags),
        "criteria_met": met,
        "explanation": explanation,
    }


def example(
    prompt_id: str, *items: dict, reply: str = "A reply.", prompt: str = "A question?", **more: Any
) -> dict:
    """One element of ``example_level_metadata``."""
    return {
        "score": None,
        "usage": None,
        "rubric_items": list(items),
        "prompt": [{"role": "user", "content": prompt}],
        "completion": [{"role": "assistant", "content": reply}],
        "prompt_id": prompt_id,
        "completion_id": f"completion-of-{prompt_id}",
        **more,
    }


def allresults(path: Path, *examples: dict, metrics: dict | None = None, **more: Any) -> Path:
    """Write a run file and return its path."""
    run = {
        "score": None,
        "metrics": metrics or {},
        "htmls": [],
        "convos": [],
        "metadata": {"example_level_metadata": list(examples)},
        **more,
    }
    path.write_text(json.dumps(run), encoding="utf-8")
    return path


def three_examples() -> list[dict]:
    """Scores 0.7, -1.6 and 0.0: 7/10, -8/5 and 0/10; two axes have only penalties."""
    return [
        example(
            "p1",
            item(7, True, "level:example", "axis:accuracy"),
            item(3, False, "level:example", "axis:completeness"),
            item(-6, False, "level:example", "axis:communication_quality"),
            reply="x" * 2500,
        ),
        example(
            "p2",
            item(
                5,
                False,
                "level:cluster",
                "cluster:hedging_no-uncertainty_accurate",
                "axis:accuracy",
            ),
            item(-8, True, "level:example", "axis:accuracy"),
            reply="y" * 1000,
        ),
        example(
            "p3",
            item(10, False, "level:example", "axis:context_awareness"),
            item(-2, False, "level:example", "axis:instruction_following"),
        ),
    ]


def dataset_row(prompt_id: str, *items: dict, tags: tuple[str, ...] = ("theme:hedging",)) -> dict:
    """One row of a HealthBench data set."""
    return {
        "example_tags": list(tags),
        "ideal_completions_data": None,
        "prompt": [{"role": "user", "content": "A question?"}],
        "prompt_id": prompt_id,
        "rubrics": [{key: one[key] for key in ("criterion", "points", "tags")} for one in items],
    }


def dataset(path: Path, *rows: dict) -> Path:
    """Write a data set file and return its path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
