"""The leaderboard ranks by what can be told apart, and only runs that can be compared."""

from __future__ import annotations

from contextlib import closing

import graded
import numpy as np
import pytest

from healthbench.comparison.leaderboard import Standing, boards, standing
from healthbench.store.library import Library


def standing_of(run_id, scores, first=0):
    return Standing(
        run_id, {(f"p{place + first}", 1): float(value) for place, value in enumerate(scores)}
    )


def test_runs_that_cannot_be_told_apart_share_a_rank():
    rng = np.random.default_rng(0)
    base = rng.normal(0.5, 0.2, 400)
    noise = rng.normal(0, 0.1, (3, 400))
    # a is 0.1 above b on every prompt; c differs from b by noise with mean 0.
    found = boards(
        [
            standing_of("b", base + noise[0]),
            standing_of("a", base + 0.1 + noise[1]),
            standing_of("c", base + noise[0] + noise[2] - noise[2].mean()),
        ]
    )
    (board,) = found
    assert board.n_prompts == 400
    assert board.places[0].run_id == "a"
    assert {place.run_id: place.rank for place in board.places} == {"a": 1, "b": 2, "c": 2}
    assert set(board.places[0].beats) == {"b", "c"}
    assert board.places[0].low < board.places[0].unclipped < board.places[0].high


def test_boards_are_of_shared_prompts_only():
    rng = np.random.default_rng(1)
    whole, part, other = rng.random(100), rng.random(95), rng.random(40)
    # 95 of 100 shared prompts make a board; 40 others over their own prompts do not join it.
    found = boards(
        [standing_of("whole", whole), standing_of("part", part), standing_of("x", other, first=500)]
    )
    (board,) = found
    assert board.n_prompts == 95
    assert {place.run_id for place in board.places} == {"whole", "part"}
    means = {place.run_id: place.unclipped for place in board.places}
    assert means["whole"] == pytest.approx(whole[:95].mean())


def test_other_rubrics_are_other_boards():
    scores = {("p1", 1): 0.5, ("p2", 1): 0.4}
    other = {("p1", 2): 0.5, ("p2", 2): 0.4}
    assert boards([Standing("a", scores), Standing("b", other)]) == []
    assert boards([]) == []


def test_standing_reads_prompt_means_and_rubrics(tmp_path):
    # p1 twice: 7/10 and 3/10; p2 has an unknown verdict.
    rubric = ((7, "axis:accuracy"), (3, "axis:accuracy"))

    def example(prompt_id, *met):
        return graded.example(
            prompt_id,
            *(
                graded.item(points, verdict, tag)
                for (points, tag), verdict in zip(rubric, met, strict=True)
            ),
        )

    path = graded.allresults(
        tmp_path / "r.json",
        example("p1", True, False),
        example("p1", False, True),
        example("p2", None, True),
    )
    with closing(Library(tmp_path / "store")) as library:
        (outcome,) = library.import_paths([path])
        found = standing(library, outcome.run.id).scores
    assert {prompt for prompt, _ in found} == {"p1", "p2"}
    assert len({rubric for _, rubric in found}) == 1
    values = {prompt: score for (prompt, _), score in found.items()}
    assert values["p1"] == pytest.approx(0.5)
    assert np.isnan(values["p2"])
