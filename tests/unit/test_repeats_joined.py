"""Runs joined as repeats, regrades, and two ledgers aligned."""

from __future__ import annotations

from contextlib import closing

import graded
import numpy as np
import pandas as pd
import pytest

from healthbench.comparison.align import aligned
from healthbench.comparison.pair import side
from healthbench.comparison.repeats import join, prompt_repeats, regrade
from healthbench.errors import InputRefusedError
from healthbench.store.library import Library
from healthbench.store.opening import opened


def tenths(prompt_id, points, **more):
    """One example that scores so many tenths."""
    items = [
        graded.item(1, number < points, "axis:accuracy", criterion=f"point {number}")
        for number in range(10)
    ]
    return graded.example(prompt_id, *items, **more)


@pytest.fixture
def library(tmp_path):
    with closing(Library(tmp_path / "store")) as opened_library:
        yield opened_library


@pytest.fixture
def sides(library, tmp_path):
    def imported(*runs):
        found = []
        for number, (model, examples) in enumerate(runs):
            path = graded.allresults(
                tmp_path / f"healthbench_{model}_2026010{number + 1}_100000_allresults.json",
                *examples,
            )
            (outcome,) = library.import_paths([path])
            found.append(side(library, outcome.run.id))
        return found

    return imported


def test_repeats_of_two_runs_stand_side_by_side(sides):
    # p1 in the first run twice, in the second once; p3 only in the second.
    first, second = sides(
        ("m", [tenths("p1", 8), tenths("p2", 5), tenths("p1", 6, reply="Again.")]),
        ("m", [tenths("p3", 1), tenths("p2", 4, reply="Other."), tenths("p1", 2, reply="Other.")]),
    )
    joint = join([first, second])
    assert joint.kept == {"p1", "p2"}
    found = prompt_repeats([first, second], joint.kept)
    assert found.prompt_ids == ("p1", "p2")
    np.testing.assert_allclose(found.repeats.scores, [[0.8, 0.6, 0.2], [0.5, np.nan, 0.4]])
    assert found.run.tolist() == [0, 0, 1]
    assert found.rows.tolist() == [[0, 2, 2], [1, -1, 1]]
    only = prompt_repeats([first, second], {"p2"})
    assert only.prompt_ids == ("p2",)
    assert only.rows.tolist() == [[1, -1, 1]]


def test_joining_says_what_differs(sides):
    first, second = sides(("m", [tenths("p1", 8)]), ("other", [tenths("p1", 2, reply="Other.")]))
    remarks = join([first, second]).remarks
    assert any("different models" in sentence for sentence in remarks)
    assert join([first]).kept is None


def test_other_rubrics_cannot_be_joined(sides):
    first, second = sides(
        ("m", [tenths("p1", 8)]), ("m", [graded.example("p1", graded.item(3, True))])
    )
    with pytest.raises(InputRefusedError, match="another rubric"):
        join([first, second])


def test_a_regrade_is_of_the_same_replies(sides, library):
    first, second = sides(
        ("m", [tenths("p1", 8), tenths("p2", 5), tenths("p3", 1)]),
        ("m", [tenths("p1", 6), tenths("p2", 5), tenths("p3", 9, reply="Another reply.")]),
    )
    found = regrade(library, first, second)
    # p1 0.8 and 0.6, p2 the same, p3 another reply: half the mean of 0.04 and 0.
    assert found.n_replies == 2
    assert found.variance == pytest.approx(0.01)


def ledger(*rows):
    return pd.DataFrame(
        [
            {"position": place, "criterion": text, "points": points, "met": met}
            for place, (text, points, met) in enumerate(rows)
        ]
    )


def test_ledgers_are_aligned_by_text_and_points_in_order():
    first = ledger(("a", 5, True), ("b", 3, False), ("a", 5, False), ("gone", 1, True))
    second = ledger(("a", 5, False), ("new", 2, True), ("a", 5, True), ("b", 4, False))
    rows = [
        (row.first and row.first["position"], row.second and row.second["position"])
        for row in aligned(first, second)
    ]
    # b has other points, so it is another criterion; what only the first has comes last.
    assert rows == [(0, 0), (None, 1), (2, 2), (None, 3), (1, None), (3, None)]


# Runs named on the command line


def test_a_run_is_opened_by_its_id_or_its_file_and_nothing_is_kept(library, sides, tmp_path):
    (stored,) = sides(("m", [tenths("p1", 8)]))
    file = graded.allresults(tmp_path / "another.json", tenths("p1", 3))
    with opened([stored.fingerprint.run.id, str(file)], library.home) as (passing, ids):
        assert [passing.summary(run_id).n_examples for run_id in ids] == [1, 1]
        assert ids[0] == stored.fingerprint.run.id
        assert not passing.home.is_relative_to(library.home)
    assert not passing.home.exists()
    assert [run.id for run in library.runs()] == [stored.fingerprint.run.id]


def test_names_that_are_no_run_are_refused(library, tmp_path):
    folder = tmp_path / "two"
    folder.mkdir()
    for number in range(2):
        graded.allresults(folder / f"{number}.json", tenths("p1", number))
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    for name, sentence in (
        ("../runs", "neither a file nor the id"),
        (str(folder), "holds 2 runs"),
        (str(tmp_path / "broken.json"), "broken.json"),
    ):
        with pytest.raises(InputRefusedError, match=sentence), opened([name], library.home):
            pass
