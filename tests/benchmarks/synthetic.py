"""A graded run of the benchmark's real size, from made-up words, as simple-evals writes it.

Sizes follow the paper's Table 1 (messages, characters, criteria an example) and the data set's counts: 5,000 examples and
about 57,000 criteria make a file of 110 to 150 MB.
"""

from __future__ import annotations

import hashlib
import json
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

WORDS = tuple(
    word
    for line in (
        "seek care today if symptoms persist and ask a clinician about the dose rest hydrate monitor rash",
        "fever cough pain review allergies renal function pregnancy history naïve § ≥ 38.5 °C 質問 🩺",
    )
    for word in line.split()
)
THEMES = (
    "communication", "complex_responses", "context_seeking", "emergency_referrals", "global_health", "health_data_tasks",
    "hedging",
)  # fmt: skip
AXES = (
    ("completeness",) * 39
    + ("accuracy",) * 33
    + ("context_awareness",) * 16
    + ("communication_quality",) * 8
    + ("instruction_following",) * 4
)


def words(rng: random.Random, characters: int) -> str:
    """Text of about so many characters."""
    return " ".join(rng.choices(WORDS, k=max(1, characters // 6)))


def rubric(rng: random.Random) -> list[dict]:
    """A rubric of the benchmark's shape; three of ten criteria are penalties, one is always positive."""
    items = []
    for place in range(max(2, min(48, int(rng.gauss(11.5, 5.7))))):
        points = rng.randint(1, 10) if place == 0 or rng.random() > 0.3 else -rng.randint(1, 10)
        items.append(
            {
                "criterion": words(rng, 150),
                "points": points,
                "tags": ["level:example", f"axis:{rng.choice(AXES)}"],
            }
        )
    return items


def write_run(
    path: Path,
    n_prompts: int = 5000,
    repeats: int = 1,
    *,
    seed: int = 0,
    model: int = 0,
    bulk: bool = True,
) -> Path:
    """Write a run; ``bulk`` adds the HTML and the repeated conversations that triple a real file.

    The seed gives prompts and rubrics, the model the replies and verdicts: two models of one seed can be compared.
    """
    with path.open("w", encoding="utf-8") as file:
        file.write('{"score": 0.5,\n "metrics": {"overall_score": 0.5},\n "htmls": [')
        if bulk:
            rng = random.Random(f"{seed}/bulk")
            for n in range(n_prompts * repeats):
                file.write(
                    ("," if n else "")
                    + json.dumps("<h3>Prompt conversation</h3>" + words(rng, 9000))
                )
        file.write('],\n "convos": [')
        if bulk:
            for n in range(n_prompts * repeats):
                turn = [{"role": "user", "content": words(rng, 2300)}]
                file.write(("," if n else "") + json.dumps(turn, indent=2))
        file.write('],\n "metadata": {"example_level_metadata": [')
        for n in range(n_prompts * repeats):
            file.write(
                ("," if n else "")
                + json.dumps(_example(seed, n % n_prompts, n // n_prompts, model), indent=2)
            )
        file.write("]}}")
    return path


def write_dataset(path: Path, n_prompts: int = 5000, *, seed: int = 0) -> Path:
    """Write the data set the runs of ``write_run`` are over."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(n_prompts):
            rng = random.Random(f"{seed}/{n}")
            row = {
                "example_tags": [f"theme:{THEMES[n % len(THEMES)]}"],
                "ideal_completions_data": None,
                "prompt": [{"role": "user", "content": words(rng, 660)}],
                "prompt_id": f"{n:08d}",
                "rubrics": rubric(rng),
            }
            file.write(json.dumps(row) + "\n")
    return path


def _example(seed: int, prompt: int, repeat: int, model: int) -> dict:
    shared = random.Random(f"{seed}/{prompt}")
    question = words(shared, 660)
    items = rubric(shared)
    own = random.Random(f"{seed}/{prompt}/{repeat}/{model}")
    skill = min(1.0, max(0.0, own.gauss(0.55, 0.2)))
    for item in items:
        item["criteria_met"] = own.random() < (skill if item["points"] > 0 else 0.25)
        item["explanation"] = words(own, 170)
    reply = words(own, int(own.lognormvariate(7.3, 0.5)))
    prompt_id = f"{prompt:08d}"
    return {
        "score": None,
        "usage": {"input_tokens": 90, "output_tokens": len(reply) // 4},
        "rubric_items": items,
        "prompt": [{"role": "user", "content": question}],
        "completion": [{"content": reply, "role": "assistant"}],
        "prompt_id": prompt_id,
        "completion_id": hashlib.sha256((prompt_id + reply).encode()).hexdigest(),
    }
