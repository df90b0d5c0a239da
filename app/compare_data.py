"""What the pages Compare and Repeats and the leaderboard ask: figures over two and more runs, kept by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import streamlit as st

from healthbench.comparison import flips as criterion_flips
from healthbench.comparison import leaderboard as ranking
from healthbench.comparison import pair
from healthbench.comparison import repeats as prompt_repeats
from healthbench.comparison.fingerprint import fingerprint
from healthbench.scoring import reliability
from healthbench.scoring.run_scores import OVERALL
from healthbench.store import pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from healthbench.comparison.flips import GraderAgreement
    from healthbench.comparison.leaderboard import Board, Standing
    from healthbench.comparison.pair import Comparison, Side
    from healthbench.comparison.repeats import Joint, PromptRepeats, Regrade
    from healthbench.scoring.reliability import WorstAtK
    from healthbench.store.records import (
        ExampleFilter,
    )


def side(run_id: str, *, as_stored: bool = False) -> Side:
    """Return what a comparison needs of a run."""
    return _side(run_id, as_stored, data.themes_key())


@st.cache_resource(show_spinner=False, max_entries=24)
def _side(run_id: str, as_stored: bool, key: tuple[str, ...]) -> Side:
    taken = fingerprint(data.library(), run_id, as_stored=as_stored)
    scores = data.run_scores(run_id, as_stored=as_stored)
    return pair.Side(taken, scores, pairs.prompt_ids(data.library(), run_id), as_stored)


def comparison(
    first: str, second: str, wanted: ExampleFilter | None = None, *, as_stored: bool = False
) -> Comparison:
    """Return the second run less the first, on a slice if one is given.

    Raises:
        InputRefusedError: Nothing can be compared.
    """
    return _comparison(first, second, wanted, as_stored, data.themes_key())


@st.cache_resource(show_spinner="Comparing …", max_entries=24)
def _comparison(
    first: str, second: str, wanted: ExampleFilter | None, as_stored: bool, key: tuple[str, ...]
) -> Comparison:
    one, two = _side(first, as_stored, key), _side(second, as_stored, key)
    both = [(first, one.prompt_ids), (second, two.prompt_ids)]
    within = None if wanted is None else pair.slice_prompts(data.library(), both, wanted)
    return pair.compare(one, two, within)


def flips(
    first: str, second: str, wanted: ExampleFilter | None = None, *, as_stored: bool = False
) -> pd.DataFrame:
    """Return what became of every criterion; shared, so copy before changing it."""
    return _flips(first, second, wanted, as_stored, data.themes_key())


@st.cache_resource(show_spinner=False, max_entries=6)
def _flips(
    first: str, second: str, wanted: ExampleFilter | None, as_stored: bool, key: tuple[str, ...]
) -> pd.DataFrame:
    found = _comparison(first, second, wanted, as_stored, key)
    return criterion_flips.flips(data.library(), found, _side(first, as_stored, key))


def grader_agreement(
    first: str, second: str, wanted: ExampleFilter | None = None, *, as_stored: bool = False
) -> GraderAgreement | None:
    """Return how far two gradings of the same replies agree, None where no reply is the same."""
    return _grader_agreement(first, second, wanted, as_stored, data.themes_key())


@st.cache_data(show_spinner=False, max_entries=50)
def _grader_agreement(
    first: str, second: str, wanted: ExampleFilter | None, as_stored: bool, key: tuple[str, ...]
) -> GraderAgreement | None:
    found = _comparison(first, second, wanted, as_stored, key)
    return criterion_flips.grader_agreement(
        data.library(), found, _flips(first, second, wanted, as_stored, key)
    )


def criterion_texts(run_id: str, criteria: Sequence[int]) -> dict[int, str]:
    """Return the texts of the criteria on one page of a list."""
    return pairs.criterion_texts(data.library(), run_id, criteria)


def joint(run_ids: tuple[str, ...], *, as_stored: bool = False) -> Joint:
    """Return what joining runs as repeats rests on.

    Raises:
        InputRefusedError: They cannot be joined.
    """
    return _joint(run_ids, as_stored, data.themes_key())


@st.cache_data(show_spinner=False, max_entries=20)
def _joint(run_ids: tuple[str, ...], as_stored: bool, key: tuple[str, ...]) -> Joint:
    return prompt_repeats.join([_side(run_id, as_stored, key) for run_id in run_ids])


def repeats(
    run_ids: tuple[str, ...],
    wanted: ExampleFilter | None = None,
    name: str = OVERALL,
    *,
    as_stored: bool = False,
) -> PromptRepeats:
    """Return the scores of one metric by prompt and repeat, over the prompts that all runs hold."""
    return _repeats(run_ids, wanted, name, as_stored, data.themes_key())


@st.cache_resource(show_spinner=False, max_entries=24)
def _repeats(
    run_ids: tuple[str, ...],
    wanted: ExampleFilter | None,
    name: str,
    as_stored: bool,
    key: tuple[str, ...],
) -> PromptRepeats:
    sides = [_side(run_id, as_stored, key) for run_id in run_ids]
    kept = _joint(run_ids, as_stored, key).kept
    if wanted is not None:
        ids = [(run_id, one.prompt_ids) for run_id, one in zip(run_ids, sides, strict=True)]
        chosen = pair.slice_prompts(data.library(), ids, wanted)
        kept = chosen if kept is None else kept & chosen
    return prompt_repeats.prompt_repeats(sides, kept, name)


def worst_at_k(
    run_ids: tuple[str, ...],
    wanted: ExampleFilter | None = None,
    name: str = OVERALL,
    *,
    as_stored: bool = False,
) -> list[WorstAtK]:
    """Return the score to expect if the worst of k replies counted, for every k."""
    return _worst_at_k(run_ids, wanted, name, as_stored, data.themes_key())


@st.cache_data(show_spinner=False, max_entries=100)
def _worst_at_k(
    run_ids: tuple[str, ...],
    wanted: ExampleFilter | None,
    name: str,
    as_stored: bool,
    key: tuple[str, ...],
) -> list[WorstAtK]:
    return reliability.worst_at_k_curve(_repeats(run_ids, wanted, name, as_stored, key).scored)


def regrade(first: str, second: str, *, as_stored: bool = False) -> Regrade:
    """Return how much two gradings of the same replies differ.

    Raises:
        InputRefusedError: The runs share no prompt with the same rubric.
    """
    return _regrade(first, second, as_stored, data.themes_key())


@st.cache_data(show_spinner=False, max_entries=20)
def _regrade(first: str, second: str, as_stored: bool, key: tuple[str, ...]) -> Regrade:
    one, two = _side(first, as_stored, key), _side(second, as_stored, key)
    return prompt_repeats.regrade(data.library(), one, two)


@st.cache_data(show_spinner="Ranking the runs …", max_entries=20)
def boards(run_ids: tuple[str, ...]) -> list[Board]:
    """Return the leaderboards of runs that can be compared."""
    return ranking.boards([_standing(run_id) for run_id in run_ids])


@st.cache_resource(show_spinner=False, max_entries=64)
def _standing(run_id: str) -> Standing:
    return ranking.standing(data.library(), run_id)
