"""Runs over the same prompts and rubrics ranked by what can be told apart, not by bare order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from healthbench.scoring.compare import rank_runs
from healthbench.scoring.example import clip
from healthbench.scoring.uncertainty import PERCENTILES, draw_counts, resampled_means
from healthbench.store.filters import SCORE
from healthbench.store.tables import sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.scoring.run_scores import FloatArray
    from healthbench.store.library import Library

SHARED = 0.9
"""Runs are put on one board where they share this part of the prompts of the larger one."""


class Standing(NamedTuple):
    """What a board needs of a run.

    Attributes:
        run_id: The run.
        scores: Prompt and its rubric's hash -> mean of its example scores, an unclipped fraction; NaN where there is none.
    """

    run_id: str
    scores: dict[tuple[str, int], float]


def standing(library: Library, run_id: str) -> Standing:
    """Read the prompt means of a run; its hashes hold within this process only."""
    with library.cursor(run_id) as cursor:
        rows = cursor.execute(sql("standing", score=SCORE)).fetchall()
    return Standing(
        run_id,
        {(prompt, rubric): np.nan if score is None else score for prompt, rubric, score in rows},
    )


@dataclass(frozen=True, slots=True)
class Place:
    """One run on a board; fractions of 1 over the board's prompts.

    Attributes:
        run_id: The run.
        rank: 1 + the number of runs that are decisively better; runs that share a rank are a group.
        score: Mean over the board's prompts, clipped once.
        unclipped: The mean itself.
        low, high: 95 % interval of the unclipped mean, bootstrap over prompts; None with fewer than two prompts.
        beats: Ids of the runs that this one is decisively better than.
    """

    run_id: str
    rank: int
    score: float
    unclipped: float
    low: float | None
    high: float | None
    beats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """Runs compared on the same prompts.

    Attributes:
        n_prompts: Prompts on which every run has a score.
        places: Best first: by rank, then by mean.
    """

    n_prompts: int
    places: tuple[Place, ...]


def boards(standings: Sequence[Standing]) -> list[Board]:
    """Put runs that share prompts and rubrics on boards, the largest board first.

    Returns:
        Boards of at least two runs; a run that shares too little with any other is on none.
    """
    groups: list[tuple[set[tuple[str, int]], list[Standing]]] = []
    for one in sorted(standings, key=lambda one: -len(one.scores)):
        known = {key for key, score in one.scores.items() if not np.isnan(score)}
        for place, (common, members) in enumerate(groups):
            shared = common & known
            if len(shared) >= SHARED * max(len(members[0].scores), len(one.scores)):
                groups[place] = (shared, [*members, one])
                break
        else:
            if known:
                groups.append((known, [one]))
    found = [_board(sorted(common), members) for common, members in groups if len(members) > 1]
    return sorted(found, key=lambda board: -len(board.places))


def _board(keys: list[tuple[str, int]], members: list[Standing]) -> Board:
    scores = np.array([[member.scores[key] for member in members] for key in keys])
    ranking = rank_runs(scores)
    means = scores.mean(axis=0).tolist()
    intervals = _intervals(scores)
    places = [
        Place(
            member.run_id,
            int(ranking.rank[number]),
            clip(means[number]),
            means[number],
            *intervals[number],
            tuple(
                members[other].run_id for other in np.flatnonzero(ranking.decisive[number]).tolist()
            ),
        )
        for number, member in enumerate(members)
    ]
    return Board(len(keys), tuple(sorted(places, key=lambda place: (place.rank, -place.unclipped))))


def _intervals(scores: FloatArray) -> list[tuple[float | None, float | None]]:
    if len(scores) < 2:
        return [(None, None)] * scores.shape[1]
    means = resampled_means(draw_counts(len(scores)), scores, np.ones(scores.shape))
    lows, highs = np.percentile(means, PERCENTILES, axis=0)
    return list(zip(lows.tolist(), highs.tolist(), strict=True))
