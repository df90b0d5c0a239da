"""Named filters: kept, found again, told in words, and never a way to break the page."""

from __future__ import annotations

import numpy as np
import pytest

from healthbench.errors import InputRefusedError
from healthbench.scoring.run_scores import OVERALL, Metric, RunScores
from healthbench.store.records import ExampleFilter
from healthbench.store.slices import by_outcome, in_words, remove_slice, save_slice, slices

HEDGING = ExampleFilter(themes=("theme:hedging",), min_score=0.25, text="dose", text_in="criterion")


def test_a_slice_is_kept_and_found_again(tmp_path):
    save_slice(tmp_path, "  low   doses ", HEDGING)
    save_slice(tmp_path, "A first", ExampleFilter(withheld=True))
    assert [one.name for one in slices(tmp_path)] == ["A first", "low doses"]
    assert slices(tmp_path)[1].wanted == HEDGING
    save_slice(tmp_path, "low doses", ExampleFilter(max_messages=3))
    assert slices(tmp_path)[1].wanted == ExampleFilter(max_messages=3)
    remove_slice(tmp_path, "low doses")
    remove_slice(tmp_path, "never there")
    assert [one.name for one in slices(tmp_path)] == ["A first"]


def test_names_are_no_paths(tmp_path):
    save_slice(tmp_path / "store", "../../outside", HEDGING)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert slices(tmp_path / "store")[0].name == "../../outside"


def test_a_name_and_a_condition_are_needed(tmp_path):
    with pytest.raises(InputRefusedError, match="needs a name"):
        save_slice(tmp_path, "  ", HEDGING)
    # A criterion's id means nothing in another run.
    with pytest.raises(InputRefusedError, match="needs a condition"):
        save_slice(tmp_path, "one criterion", ExampleFilter(criterion=5))


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"name": "x"}', '{"name": "x", "filter": {"text": 5}}']
)
def test_a_damaged_file_is_passed_over(tmp_path, content):
    save_slice(tmp_path, "whole", HEDGING)
    (tmp_path / "slices" / "damaged.json").write_text(content, encoding="utf-8")
    assert [one.name for one in slices(tmp_path)] == ["whole"]


def test_conditions_in_words():
    assert in_words(ExampleFilter()) == "all examples"
    assert in_words(HEDGING) == (
        "theme Responding under uncertainty; score from 0.25; \N{LEFT DOUBLE QUOTATION MARK}dose\N{RIGHT DOUBLE QUOTATION MARK} in the criterion"
    )
    assert in_words(ExampleFilter(min_points=-10, max_points=-8)) == (
        "points of a criterion \N{MINUS SIGN}10 to \N{MINUS SIGN}8"
    )


def test_slices_by_what_a_run_did_are_known():
    assert by_outcome(HEDGING)
    assert by_outcome(ExampleFilter(states=("incurred",)))
    assert not by_outcome(ExampleFilter(themes=("theme:hedging",), text="dose"))


def test_some_examples_as_a_run_of_their_own():
    def metric(name, rows, achieved):
        size = len(rows)
        return Metric(
            name,
            np.array(rows),
            np.full(size, 10.0),
            np.array(achieved, float),
            *(np.zeros(size) for _ in range(3)),
            np.ones(size, int),
            np.zeros(size, int),
        )

    run = RunScores(
        np.array([0, 1, 1, 2]),
        np.array([10, 20, 30, 40]),
        {
            OVERALL: metric(OVERALL, [0, 1, 2, 3], [1, 2, 3, 4]),
            "theme:a": metric("theme:a", [0, 2], [1, 3]),
            "theme:b": metric("theme:b", [0], [1]),
        },
    )
    part = run.only(np.array([1, 2]))
    assert (part.n_examples, part.n_prompts) == (2, 1)
    np.testing.assert_allclose(part.overall.scores, [0.2, 0.3])
    assert part.metrics["theme:a"].example.tolist() == [1]
    assert "theme:b" not in part.metrics
    assert part.characters.tolist() == [20, 30]
