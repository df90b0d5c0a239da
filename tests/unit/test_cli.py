"""The command line's contract: keys, exit status, one sentence for what is refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import graded
import pytest
from typer.testing import CliRunner

from healthbench.cli import app

KEYS = {
    "path", "format", "rule", "model", "grader", "n_examples", "n_prompts", "n_items", "n_unknown", "score",
    "unclipped_mean", "early_clipped", "below_zero", "bounds", "standard_error", "ci95", "metrics", "length_adjusted",
    "stated", "report",
}  # fmt: skip


def healthbench(*arguments):
    command = [
        sys.executable,
        "-c",
        "from healthbench.cli import main; main()",
        *map(str, arguments),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def scored(*arguments):
    done = healthbench("score", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def run(tmp_path):
    # Stated as the reference computes it: axis accuracy clip((0.7/0.7 + -8/5) / 2) = clip(-0.3) = 0 over 2.
    metrics = {
        "overall_score": 0.0,
        "overall_score:n_samples": 3,
        "overall_score:bootstrap_std": 0.2,
        "theme:hedging": 0.7,
        "theme:hedging:n_samples": 1,
        "axis:accuracy": 0.0,
        "axis:accuracy:n_samples": 2,
        "score:n_samples": 3,
    }
    path = tmp_path / "healthbench_hard_my_model_20260101_120000_allresults.json"
    return graded.allresults(path, *graded.three_examples(), metrics=metrics, score=0.0)


def test_json_has_the_keys_and_figures_of_the_contract(run):
    (element,) = scored(run)
    assert element.keys() >= KEYS
    assert element["path"] == str(run)
    assert (element["model"], element["grader"], element["rule"]) == (
        "my_model",
        None,
        "simple-evals",
    )
    assert element["unclipped_mean"] == pytest.approx(-0.3, abs=1e-12)
    assert element["score"] == 0
    assert element["metrics"]["axis:accuracy"] == {
        "score": 0,
        "unclipped": pytest.approx(-0.3),
        "n": 2,
    }
    # Axes with penalties only have no score, and no theme is known without the data set.
    assert (
        not {"axis:communication_quality", "axis:instruction_following", "theme:hedging"}
        & element["metrics"].keys()
    )
    assert element["length_adjusted"] is None
    assert element["report"]["verdicts"] == {"bool": 7}
    assert element["report"]["rows_read"] == 3


def test_stated_figures_are_compared_where_they_can_be(run, tmp_path):
    (element,) = scored(run)
    stated = element["stated"]
    # overall and accuracy with their counts, and the count of the score; two theme figures need the data set.
    assert (stated["compared"], stated["matching"], stated["differences"]) == (5, 5, [])
    assert sorted(stated["not_compared"]) == ["theme:hedging", "theme:hedging:n_samples"]
    rows = [graded.dataset_row(name, graded.item(), tags=("theme:hedging",)) for name in ("p1",)]
    (element,) = scored(run, "--dataset", graded.dataset(tmp_path / "d.jsonl", *rows))
    assert (element["stated"]["compared"], element["stated"]["matching"]) == (7, 7)
    assert element["metrics"]["theme:hedging"]["score"] == pytest.approx(0.7)
    assert element["report"]["themes_from"] == "dataset"


def test_a_stated_figure_that_differs_is_named(tmp_path):
    path = graded.allresults(
        tmp_path / "r.json", *graded.three_examples(), metrics={"overall_score": 0.25}
    )
    (element,) = scored(path)
    assert element["stated"]["differences"] == [
        {"name": "overall_score", "stated": 0.25, "ours": 0.0}
    ]


def test_rule_changes_the_score_and_never_the_unclipped_mean(run):
    (element,) = scored(run, "--rule", "openbench")
    # Clipped one by one: (0.7 + 0 + 0) / 3.
    assert element["score"] == pytest.approx(0.7 / 3)
    assert element["unclipped_mean"] == pytest.approx(-0.3)
    # Accuracy: 1.0 and -1.6, clipped one by one (1 + 0) / 2.
    assert element["metrics"]["axis:accuracy"]["score"] == pytest.approx(0.5)


def test_length_adjustment_where_asked(run):
    (element,) = scored(run, "--length", "2000,0.0147")
    # Lengths 2500, 1000 and 8: 0.7 - 0.0147, -1.6 + 0.0294, 0 + 0.0147 * 1992 / 500.
    mean = (0.7 - 0.0147 - 1.6 + 0.0294 + 0.0147 * 1992 / 500) / 3
    assert element["length_adjusted"] == {
        "center": 2000, "penalty": 0.0147, "unclipped_mean": pytest.approx(mean), "score": 0.0,
    }  # fmt: skip


def test_unknown_verdicts_withhold_the_score_and_give_bounds(tmp_path):
    rows = [
        graded.example("p1", graded.item(6, True), graded.item(4, None)),
        graded.example("p2", graded.item(5, True), graded.item(5, False)),
    ]
    (element,) = scored(graded.allresults(tmp_path / "r.json", *rows))
    # p1 lies in [6/10, 10/10], p2 is 5/10: bounds (0.6 + 0.5) / 2 and (1 + 0.5) / 2; the mean is p2's alone.
    assert element["n_unknown"] == 1
    assert element["unclipped_mean"] == 0.5
    assert element["bounds"] == [pytest.approx(0.55), pytest.approx(0.75)]
    assert element["metrics"]["overall_score"]["n"] == 1


def test_nothing_graded_is_null_not_zero(tmp_path):
    (element,) = scored(
        graded.allresults(tmp_path / "r.json", graded.example("p", graded.item(5, None)))
    )
    assert element["score"] is None
    assert element["unclipped_mean"] is None
    assert element["bounds"] == [0, 1]


def test_good_files_are_printed_beside_refused_ones_and_the_exit_status_is_2(run, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"score": 0.1, "metadata": {"example_level_metadata": [{"pro')
    done = healthbench("score", "--json", run, broken)
    assert done.returncode == 2
    assert [element["path"] for element in json.loads(done.stdout)] == [str(run)]
    assert re.fullmatch(r"broken\.json[^\n]+\n", done.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "missing.json"),
        ("score", "--rule", "none", "missing.json"),
        ("score", "--length", "60", "missing.json"),
        ("score", "--dataset", "missing.jsonl", "missing.json"),
        ("app", "missing.json"),
    ],
)
def test_refusals_are_one_sentence_without_a_traceback(arguments):
    done = healthbench(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_a_broken_data_set_leaves_nothing_scored(run):
    done = healthbench("score", run, "--dataset", run)
    assert done.returncode == 2
    assert done.stdout == ""


def every_command(command=None, path=()):
    command = command or __import__("typer").main.get_command(app)
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from every_command(child, (*path, name))


def test_every_command_and_option_has_help():
    for path, command in every_command():
        assert command.help, path
        for parameter in command.params:
            assert getattr(parameter, "help", None), (path, parameter.name)
        shown = CliRunner().invoke(app, [*path, "--help"])
        assert shown.exit_code == 0


def test_every_command_is_in_the_readme():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    for path, command in every_command():
        if path and not getattr(command, "commands", None):
            assert f"healthbench {' '.join(path)}" in readme, path


def test_the_dashboard_starts_on_a_free_port_and_ends_with_its_command(tmp_path):
    environment = {**os.environ, "HEALTHBENCH_HOME": str(tmp_path / "store"), "CI": "1"}
    command = [
        sys.executable,
        "-c",
        "from healthbench.cli import main; main()",
        "app",
        "--no-browser",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as dashboard:
        address = re.search(r"http://127\.0\.0\.1:\d+", dashboard.stdout.readline())[0]
        try:
            assert answers(f"{address}/_stcore/health", within=60)
        finally:
            dashboard.terminate()
        dashboard.wait(30)
    assert not answers(f"{address}/_stcore/health", within=0)


def answers(address, within):
    until = time.monotonic() + within
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return answer.status == 200
        except OSError:
            if time.monotonic() > until:
                return False
            threading.Event().wait(0.2)
