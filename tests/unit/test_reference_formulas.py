"""Files in the reference evaluator's own form, with figures from a second, literal reading of its formulas.

The second reading lives here alone and shares no code with the library: scores and tag scores of single examples, the
mean of each name over the examples that have it, clipped to 0-1 once, and the number of those examples.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from contextlib import closing

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from healthbench.run_figures import as_json, run_figures
from healthbench.store.library import Library

AXES = ("accuracy", "completeness", "communication_quality", "context_awareness")
THEMES = ("hedging", "global_health", "communication")
WHOLE = st.integers(-10, 10).filter(bool)
PART = st.one_of(
    st.sampled_from([0.1, 0.2, 0.3, -0.7, 1 / 3, 2.5]),
    st.floats(-10, 10).filter(lambda value: abs(value) >= 0.01),
)


@st.composite
def criteria(draw):
    tags = [
        f"axis:{draw(st.sampled_from(AXES))}",
        f"level:{draw(st.sampled_from(['example', 'cluster']))}",
    ]
    if draw(st.booleans()):
        tags.append("cluster:hedging_no-uncertainty_accurate")
    if draw(st.integers(0, 9)) == 0:
        tags = []
    return {
        "criterion": draw(st.sampled_from("abcdef")),
        "points": draw(WHOLE | PART),
        "tags": tags,
    }


@st.composite
def runs(draw):
    """A data set and the graded replies to it: blockwise repeats, the same criterion twice, axes with penalties only."""
    rows = []
    for number in range(draw(st.integers(1, 6))):
        rubric = draw(st.lists(criteria(), min_size=1, max_size=7))
        if draw(st.booleans()):
            rubric.append(dict(rubric[0]))
        if not any(
            c["points"] > 0 for c in rubric
        ):  # the reference asserts that an example has a score
            rubric.append({"criterion": "g", "points": 3, "tags": []})
        if draw(st.integers(0, 3)) == 0:
            rubric.append(
                {"criterion": "penalty", "points": -4, "tags": ["axis:instruction_following"]}
            )
        tags = [
            f"theme:{draw(st.sampled_from(THEMES))}",
            f"physician_agreed_category:c{number % 2}",
        ]
        rows.append(
            {
                "prompt_id": f"p{number}",
                "prompt": [{"role": "user", "content": "?"}],
                "rubrics": rubric,
                "example_tags": tags,
            }
        )
    met = st.booleans()
    graded = [
        (row, [draw(met) for _ in row["rubrics"]], draw(st.text(max_size=30)))
        for _ in range(draw(st.integers(1, 3)))
        for row in rows
    ]
    return rows, graded


def calculate_score(rubric, verdicts):
    """Achieved over possible points; None where no points are possible."""
    possible = sum(c["points"] for c in rubric if c["points"] > 0)
    if possible == 0:
        return None
    return sum(c["points"] for c, met in zip(rubric, verdicts, strict=True) if met) / possible


def example_metrics(row, verdicts):
    """The figures of one example: overall, each of its tags the same, each tag of its criteria where it has a score."""
    overall = calculate_score(row["rubrics"], verdicts)
    figures = {"overall_score": overall, **dict.fromkeys(row["example_tags"], overall)}
    by_tag = defaultdict(list)
    for criterion, met in zip(row["rubrics"], verdicts, strict=True):
        for tag in criterion["tags"]:
            by_tag[tag].append((criterion, met))
    for tag, pairs in by_tag.items():
        score = calculate_score(*zip(*pairs, strict=True))
        if score is not None:
            figures[tag] = score
    return overall, figures


def clipped_mean(values):
    return min(1.0, max(0.0, math.fsum(values) / len(values)))


def write(folder, rows, graded, *, nan):
    values, examples = defaultdict(list), []
    for row, verdicts, reply in graded:
        overall, figures = example_metrics(row, verdicts)
        for name, value in [*figures.items(), ("score", overall)]:
            values[name].append(value)
        items = [
            {**c, "criteria_met": met, "explanation": "Because."}
            for c, met in zip(row["rubrics"], verdicts, strict=True)
        ]
        examples.append(
            {
                "score": overall,
                "usage": {"input_tokens": None, "total_tokens": math.nan if nan else 3},
                "rubric_items": items,
                "prompt": row["prompt"],
                "completion": [{"role": "assistant", "content": reply}],
                "prompt_id": row["prompt_id"],
                "completion_id": "c",
            }
        )
    metrics = {}
    for name, scores in values.items():
        if name != "score":
            metrics[name] = clipped_mean(scores)
        metrics[f"{name}:n_samples"] = len(scores)
        metrics[f"{name}:bootstrap_std"] = math.nan if nan else 0.1
    run = {
        "score": clipped_mean(values["score"]),
        "metrics": metrics,
        "htmls": ["<h3>Prompt conversation</h3>"] * len(examples),
        "convos": [row["prompt"] for row, _, _ in graded],
        "metadata": {"example_level_metadata": examples},
    }
    path = folder / "healthbench_some_model_20260101_100000_allresults.json"
    path.write_text(json.dumps(run, indent=2), encoding="utf-8")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "set.jsonl").write_text(lines, encoding="utf-8")
    return path, values


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(run=runs(), nan=st.booleans())
def test_every_figure_of_a_reference_file_is_ours(tmp_path_factory, run, nan):
    rows, graded = run
    folder = tmp_path_factory.mktemp("run")
    path, values = write(folder, rows, graded, nan=nan)
    with closing(Library(folder / "home")) as library:
        library.attach_dataset(folder / "set.jsonl")
        (outcome,) = library.import_paths([path])
        assert outcome.refusal is None
        found = as_json(run_figures(library, outcome.run.id), str(path))

    # Every figure the file states was compared and is the same: names and counts, and "score"'s own count.
    assert found["stated"]["compared"] == found["stated"]["matching"] == 2 * len(values) - 1
    assert found["stated"]["differences"] == []
    assert abs(found["score"] - clipped_mean(values["score"])) <= 1e-12
    mean = math.fsum(values["score"]) / len(values["score"])
    assert abs(found["unclipped_mean"] - mean) <= 1e-12 * max(1.0, abs(mean))
    # 0.1 + 0.2 - 0.3 is 0 or a hair beside it, by the order of the sum.
    surely, perhaps = (sum(v < hair for v in values["score"]) for hair in (-1e-12, 1e-12))
    assert surely <= found["below_zero"] <= perhaps
    named = {name: scores for name, scores in values.items() if name != "score"}
    assert {name: metric["n"] for name, metric in found["metrics"].items()} == {
        name: len(scores) for name, scores in named.items()
    }
    for name, scores in named.items():
        assert abs(found["metrics"][name]["score"] - clipped_mean(scores)) <= 1e-12
    assert found["n_prompts"] == len(rows)
    assert found["n_examples"] == len(graded)
