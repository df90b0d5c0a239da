"""The leaderboard on the page Runs: comparable runs in ranked groups, and which differences are decisive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import compare_data
import data
import pandas as pd
import streamlit as st

from components.chart import chart, palette
from components.text import escaped, some
from healthbench.charts.intervals import Mean, dots
from healthbench.charts.theme import plain
from healthbench.formatting import DASH, count, interval, score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.comparison.leaderboard import Board
    from healthbench.store.records import RunSummary


def leaderboard(runs: Sequence[RunSummary]) -> None:
    """Show every board of at least two comparable runs; nothing where no two runs can be compared."""
    scored = [run for run in runs if run.headline.n_scored]
    if len(scored) < 2:
        return
    st.header("Leaderboard")
    found = compare_data.boards(tuple(run.id for run in scored))
    for number, board in enumerate(found):
        _board(board, {run.id: run for run in scored}, number)
    placed = {place.run_id for board in found for place in board.places}
    left = [data.label(run.id) for run in scored if run.id not in placed]
    if left:
        st.caption(
            f"On no board, because they share too few prompts and rubrics with any other run: {escaped(', '.join(left))}."
        )


def _board(board: Board, runs: dict[str, RunSummary], number: int) -> None:
    graders = {runs[place.run_id].info.grader for place in board.places}
    if graders == {None}:
        graded = "no file records its grader"
    elif len(graders) == 1:
        graded = f"all graded by {graders.pop()}"
    else:
        graded = "graders differ or are not recorded, so a difference may be the grader's"
    st.markdown(
        f"**{some(len(board.places), 'run')}** on the same **{some(board.n_prompts, 'prompt')}**; {escaped(graded)}."
    )
    names = {place.run_id: data.label(place.run_id) for place in board.places}
    table = pd.DataFrame(
        {
            "rank": [place.rank for place in board.places],
            "run": [names[place.run_id] for place in board.places],
            "score": [place.score for place in board.places],
            "95 %": [interval(place.low, place.high) for place in board.places],
            "decisively better than": [
                ", ".join(names[other] for other in place.beats) or DASH for place in board.places
            ],
            "grader": [runs[place.run_id].info.grader or DASH for place in board.places],
        }
    )
    chart(
        dots(
            [
                Mean(
                    f"{place.rank}. {names[place.run_id]}",
                    place.unclipped,
                    place.low,
                    place.high,
                    board.n_prompts,
                )
                for place in board.places
            ],
            palette(),
        ),
        key=f"board_{number}",
        alt="Ranks: "
        + ", ".join(
            f"{place.rank} {plain(names[place.run_id])} {score(place.unclipped)}"
            for place in board.places
        )
        + ".",
        table=table,
        formats={"score": score, "rank": count},
    )
    st.caption(
        "Rank is 1 + the number of runs that are decisively better, so runs of one rank are a group whose order means "
        "nothing. Decisive: the interval of the paired difference excludes 0 and p is below 5 % after Holm's correction "
        "over all pairs. Where intervals of two runs overlap, their difference can still be decisive: it is paired by prompt."
    )
