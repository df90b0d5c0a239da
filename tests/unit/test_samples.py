"""The sample runs are what build.py makes, hold what the project promises of them, and list their slips."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from healthbench.errors import InputRefusedError
from healthbench.taxonomy import AXES, THEMES, parse_cluster

SAMPLES = Path(__file__).parents[2] / "sample_runs"


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("sample_build", SAMPLES / "build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def conversations(build):
    return build.load_sources()


@pytest.fixture(scope="module")
def dataset(build):
    lines = (SAMPLES / build.DATASET).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def runs(build):
    return {
        key: json.loads((SAMPLES / name).read_text(encoding="utf-8"))
        for key, name in build.RUNS.items()
    }


def examples_of(run):
    return run["metadata"]["example_level_metadata"]


def score_of(items):
    possible = sum(item["points"] for item in items if item["points"] > 0)
    achieved = sum(item["points"] for item in items if item["criteria_met"])
    return achieved / possible if possible else None


def mean_score(run):
    return math.fsum(example["score"] for example in examples_of(run)) / len(examples_of(run))


def test_the_committed_files_are_what_the_build_makes(build):
    for name, text in build.documents().items():
        assert (SAMPLES / name).read_bytes() == text.encode(), f"{name}: run sample_runs/build.py"


def test_three_conversations_a_theme_of_one_to_seven_turns(dataset):
    themes = Counter(row["example_tags"][0] for row in dataset)
    assert themes == dict.fromkeys(THEMES, 3)
    turns = Counter(len(row["prompt"]) for row in dataset)
    assert set(turns) == {1, 3, 5, 7}
    assert len({row["prompt_id"] for row in dataset}) == 21


def test_lay_and_professional_users_and_three_languages(dataset):
    categories = {row["example_tags"][1].partition(":")[2] for row in dataset}
    assert {"health-professional", "not-health-professional"} <= categories
    last = [row["prompt"][-1]["content"] for row in dataset]
    assert sum(any("\u0600" <= letter <= "\u06ff" for letter in text) for text in last) == 1
    assert sum("¿" in text for text in last) == 1


def test_rubrics_have_eight_to_fourteen_criteria_with_clusters_and_penalties(dataset):
    sizes = [len(row["rubrics"]) for row in dataset]
    assert min(sizes) >= 8
    assert max(sizes) in {12, 13, 14}
    points = [[item["points"] for item in row["rubrics"]] for row in dataset]
    assert all(-10 <= value <= 10 and value for values in points for value in values)
    assert sum(min(values) < 0 for values in points) >= 19
    assert sum(value <= -8 for values in points for value in values) >= 10
    for row in dataset:
        theme, category = (tag.partition(":")[2] for tag in row["example_tags"])
        clusters = [parse_cluster(tag) for item in row["rubrics"] for tag in item["tags"]]
        clusters = [cluster for cluster in clusters if cluster]
        assert clusters
        assert {(c.theme, c.category) for c in clusters} == {(f"theme:{theme}", category)}


def test_all_axes_are_used_and_six_examples_have_an_axis_of_penalties_only(dataset):
    with_such_an_axis = 0
    used = set()
    for row in dataset:
        best = defaultdict(lambda: -math.inf)
        for item in row["rubrics"]:
            axis = item["tags"][-1]
            best[axis] = max(best[axis], item["points"])
        used |= set(best)
        with_such_an_axis += any(value < 0 for value in best.values())
    assert used == set(AXES)
    assert with_such_an_axis >= 6


def test_the_three_assistants_score_as_described(runs):
    assert 0.60 <= mean_score(runs["careful", 1]) <= 0.70
    assert 0.35 <= mean_score(runs["terse", 1]) <= 0.45
    overconfident = [example["score"] for example in examples_of(runs["overconfident", 1])]
    assert sum(score < 0 for score in overconfident) >= 7
    assert math.fsum(overconfident) / 21 < 0.1


def test_replies_have_150_to_6000_characters_and_one_is_long(runs):
    lengths = [
        len(example["completion"][0]["content"])
        for run in runs.values()
        for example in examples_of(run)
    ]
    assert min(lengths) >= 150
    assert 5_500 <= max(lengths) <= 6_000
    terse = examples_of(runs["terse", 4])
    assert max(len(example["completion"][0]["content"]) for example in terse) <= 600


def test_the_repeats_come_block_after_block_and_begin_with_the_single_run(runs, dataset):
    rows = examples_of(runs["terse", 4])
    ids = [row["prompt_id"] for row in dataset]
    assert [row["prompt_id"] for row in rows] == ids * 4
    assert rows[:21] == examples_of(runs["terse", 1])
    replies = Counter(row["completion"][0]["content"] for row in rows)
    assert len(replies) == 84


def test_every_stated_figure_follows_from_the_verdicts(runs, dataset):
    tags_of = {row["prompt_id"]: row["example_tags"] for row in dataset}
    for run in runs.values():
        scores = defaultdict(list)
        for example in examples_of(run):
            own = score_of(example["rubric_items"])
            assert example["score"] == own
            for name in ("overall_score", "score", *tags_of[example["prompt_id"]]):
                scores[name].append(own)
            items = example["rubric_items"]
            for tag in {tag for item in items for tag in item["tags"]}:
                part = score_of([item for item in items if tag in item["tags"]])
                if part is not None:
                    scores[tag].append(part)
        stated = {**run["metrics"], "score": run["score"]}
        names = {name for name in stated if not name.endswith((":n_samples", ":bootstrap_std"))}
        assert names == set(scores)
        for name, values in scores.items():
            mean = min(1.0, max(0.0, sum(values) / len(values)))
            assert stated[name] == pytest.approx(mean, abs=1e-12)
            assert stated[f"{name}:n_samples"] == len(values)
            assert stated[f"{name}:bootstrap_std"] >= 0


def test_everything_is_marked_synthetic(runs, dataset):
    for run in runs.values():
        assert run["synthetic"] is True
        assert run["metadata"]["synthetic"] is True
    assert {row["canary"] for row in dataset} == {"synthetic sample, no benchmark text"}


def test_the_readme_lists_exactly_the_eight_slips(build, conversations, runs):
    table = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in (SAMPLES / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    listed = {
        (prompt.split("`")[1], assistant, int(place), criterion, stored, right.partition(":")[0])
        for prompt, assistant, place, criterion, stored, right in table
    }
    marked = set()
    for row, assistant, place, verdict in build.slips(conversations):
        prompt_id = build.prompt_id(row["key"])
        words = ("not met", "met")
        stored = words[verdict["met"]]
        marked.add(
            (
                prompt_id[:8],
                assistant,
                place,
                row["criteria"][place - 1]["criterion"],
                stored,
                words[not verdict["met"]],
            )
        )
        example = next(e for e in examples_of(runs[assistant, 1]) if e["prompt_id"] == prompt_id)
        assert example["rubric_items"][place - 1]["criteria_met"] is verdict["met"]
    assert len(table) == len(listed) == 8
    assert listed == marked
    assert {assistant for _, assistant, *_ in listed} == {"careful", "terse", "overconfident"}


def test_the_readme_states_each_runs_figures(build, runs):
    text = (SAMPLES / "README.md").read_text(encoding="utf-8").replace("\N{MINUS SIGN}", "-")
    for key, name in build.RUNS.items():
        cells = next(line for line in text.splitlines() if f"| {name} |" in line).split(" | ")
        below_zero = sum(example["score"] < 0 for example in examples_of(runs[key]))
        size = str(len(examples_of(runs[key])))
        assert cells[2:5] == [size, f"{100 * mean_score(runs[key]):.1f}", str(below_zero)]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda row: row["criteria"][0].update(points=0), "criterion 1: points are whole numbers"),
        (lambda row: row["criteria"].clear(), "8 to 14 criteria are wanted, not 0"),
        (lambda row: row["prompt"].append(row["prompt"][0]), "ends with the user"),
        (lambda row: row["replies"]["careful"].update(reply="short"), "characters, not 5"),
        (lambda row: row["replies"]["careful"]["verdicts"].pop(), "one verdict a criterion"),
    ],
)
def test_a_source_that_breaks_the_structure_is_refused_in_a_sentence(
    build, conversations, spoil, sentence
):
    spoiled = json.loads(json.dumps(conversations))
    spoil(spoiled[0])
    with pytest.raises(InputRefusedError, match=sentence):
        build.check(spoiled)
