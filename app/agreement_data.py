"""What the Agreement page asks: figures over a run's reviews, kept by the journal's version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import review_data
import streamlit as st

from healthbench.review import agreement
from healthbench.review.estimate import drawn, estimated_score, inverse_chances

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from healthbench.review.agreement import Agreement
    from healthbench.review.estimate import Estimate
    from healthbench.review.reviewed import Place
    from healthbench.review.saved import SavedQueue


@dataclass(frozen=True, slots=True)
class Basis:
    """What is compared.

    Attributes:
        reviewer: Whose decisions, None for everyone's.
        blind: Those made before seeing the grader's verdict, else those that stand.
        sample: The queue whose chances weigh them back to the run, None to count each once.
    """

    reviewer: str | None
    blind: bool
    sample: str | None


def samples(run_id: str) -> dict[str, str]:
    """Return the samples that decisions in a run are from, name by id, the one with most decisions first."""
    found = drawn(review_data.events(run_id))
    names = {queue.id: queue.name for queue in review_data.saved_queues().all(run_id)}
    ranked = sorted(found, key=lambda queue: len(found[queue]), reverse=True)
    return {queue: names.get(queue, f"an imported queue ({queue})") for queue in ranked}


def wanted_precision(run_id: str, queue_id: str) -> float | None:
    """Return the half width a sample was planned for, None where none was asked for."""
    queue = _saved(run_id, queue_id)
    return queue.plan.within if queue else None


def overall(run_id: str, basis: Basis) -> Agreement | None:
    """Return the figures over all pairs, None without a pair."""
    return _overall(run_id, basis, review_data.journal().version(run_id))


@st.cache_resource(show_spinner=False, max_entries=16)
def _overall(run_id: str, basis: Basis, version: int) -> Agreement | None:
    pairs = _pairs(run_id, basis, version)
    return agreement.figures(pairs) if len(pairs) else None


def by_part(run_id: str, basis: Basis, part: str) -> list[Agreement]:
    """Return the figures for each theme, axis, cluster or sign."""
    return _by_part(run_id, basis, part, review_data.journal().version(run_id))


@st.cache_resource(show_spinner=False, max_entries=32)
def _by_part(run_id: str, basis: Basis, part: str, version: int) -> list[Agreement]:
    return agreement.by_part(_pairs(run_id, basis, version), part)


def theme_f1(run_id: str, basis: Basis) -> dict[str, tuple[float, int]]:
    """Return each theme's macro F1 as the paper has it, with its n."""
    version = review_data.journal().version(run_id)
    return agreement.theme_macro_f1(_pairs(run_id, basis, version))


def between(run_id: str, *, blind: bool) -> dict[tuple[str, str], Agreement]:
    """Return the figures of every two reviewers."""
    return _between(run_id, blind, review_data.journal().version(run_id))


@st.cache_resource(show_spinner=False, max_entries=8)
def _between(run_id: str, blind: bool, _version: int) -> dict[tuple[str, str], Agreement]:
    found = agreement.decisions(review_data.events(run_id), blind=blind)
    tables = agreement.between_reviewers(review_data.population(run_id), found)
    return {names: agreement.figures(pairs) for names, pairs in tables.items()}


def estimate(run_id: str, sample: str | None) -> Estimate | None:
    """Return the score after full review as a sample estimates it."""
    if sample is None:
        return None
    return _estimate(run_id, sample, review_data.journal().version(run_id))


@st.cache_resource(show_spinner=False, max_entries=8)
def _estimate(run_id: str, sample: str, _version: int) -> Estimate | None:
    chances = _chances(run_id, sample)
    return estimated_score(
        review_data.population(run_id),
        review_data.verdicts(run_id),
        chances,
        _share(run_id, sample, chances),
    )


@st.cache_resource(show_spinner=False, max_entries=16)
def _pairs(run_id: str, basis: Basis, _version: int) -> pd.DataFrame:
    found = agreement.decisions(review_data.events(run_id), blind=basis.blind)
    weights = None
    if basis.sample is not None:
        chances = _chances(run_id, basis.sample)
        weights = inverse_chances(chances, _share(run_id, basis.sample, chances))
    return agreement.with_grader(
        review_data.population(run_id), found, weights, reviewer=basis.reviewer
    )


def _chances(run_id: str, sample: str) -> dict[Place, float]:
    return drawn(review_data.events(run_id)).get(sample, {})


def _share(run_id: str, sample: str, decided: Mapping[Place, float]) -> float:
    """Return the share of a sample that was decided; 1 where the queue itself is not in this store."""
    queue = _saved(run_id, sample)
    return min(1.0, len(decided) / queue.n) if queue else 1.0


def _saved(run_id: str, queue_id: str) -> SavedQueue | None:
    queues = review_data.saved_queues().all(run_id)
    return next((queue for queue in queues if queue.id == queue_id), None)
