"""Failed gradings compared as unknown, or as the files count them: everywhere by the same choice."""

from __future__ import annotations

import json
from contextlib import closing

import graded
import pytest

from healthbench.cli import main
from healthbench.comparison.flips import Flip, flips
from healthbench.comparison.gate import Kind
from healthbench.comparison.pair import compare, side
from healthbench.comparison.repeats import prompt_repeats
from healthbench.scoring.run_scores import OVERALL
from healthbench.store.library import Library

FAILED = "Failed to parse the answer"


def example(prompt_id, first, second, explanation="Because."):
    return graded.example(
        prompt_id,
        graded.item(4, first, "axis:accuracy", explanation=explanation),
        graded.item(6, second, "axis:accuracy"),
    )


@pytest.fixture
def files(tmp_path):
    """Before 1 and 1; after 0.6 with a failed grading, and 0.4."""
    runs = {
        "before": [example("p1", True, True), example("p2", True, True)],
        "after": [example("p1", False, True, FAILED), example("p2", True, False)],
    }
    return [
        graded.allresults(tmp_path / f"healthbench_{name}_20260101_100000_allresults.json", *run)
        for name, run in runs.items()
    ]


@pytest.fixture
def library(tmp_path):
    with closing(Library(tmp_path / "store")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("as_stored", "difference", "unknown"),
    [
        # p1 is left out: 0.4 - 1. As stored p1 has 0.6: the mean of -0.4 and -0.6.
        (False, -0.6, 1),
        (True, -0.5, 0),
    ],
)
def test_difference_flips_and_repeats_take_the_same_verdicts(
    library, files, as_stored, difference, unknown
):
    ids = [outcome.run.id for outcome in library.import_paths(files)]
    one, two = (side(library, run_id, as_stored=as_stored) for run_id in ids)
    found = compare(one, two)
    assert found.overall.n_prompts == 2 - unknown
    assert found.overall.difference == pytest.approx(difference)
    rows = flips(library, found, one)
    assert (rows["flip"] == Flip.UNKNOWN.value).sum() == unknown
    assert rows["effect"].sum() == pytest.approx(difference)
    said = [one.sentence for one in found.gate.findings if one.kind is Kind.UNKNOWN]
    assert len(said) == 1
    assert ("counted as the files do" in said[0]) == as_stored
    repeats = prompt_repeats([two], name=OVERALL).repeats.scores
    assert repeats[-1, 0] == pytest.approx(0.4)
    assert (repeats[0, 0] == pytest.approx(0.6)) == as_stored


def test_the_command_takes_the_choice(files, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HEALTHBENCH_HOME", str(tmp_path / "home"))
    found = {}
    for flag in ([], ["--as-stored"]):
        monkeypatch.setattr(
            "sys.argv", ["healthbench", "compare", *map(str, files), "--json", *flag]
        )
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        found[bool(flag)] = json.loads(capsys.readouterr().out)
    assert found[False]["overall"]["n_prompts"] == 1
    assert found[True]["overall"]["n_prompts"] == 2
    assert (found[False]["second"]["n_unknown"], found[True]["second"]["n_unknown"]) == (1, 0)
    assert found[True]["second"]["n_as_stored"] == 1
