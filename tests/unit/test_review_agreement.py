"""Agreement of grader and reviewers over a run, weighted back to it, and the score after full review."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, f1_score

from healthbench.review.agreement import (
    between_reviewers,
    by_part,
    decisions,
    figures,
    theme_macro_f1,
    with_grader,
)
from healthbench.review.effective import human_verdicts
from healthbench.review.estimate import drawn, estimated_score, inverse_chances
from healthbench.review.queues import Plan, QueueKind, make_queue, population
from healthbench.review.reviewed import reviewed_run
from healthbench.scoring.agreement import cohens_kappa, confusion, pairwise_f1
from healthbench.scoring.run_scores import OVERALL
from healthbench.store.journal import Decision, Event
from healthbench.store.library import Library

SAMPLES = Path(__file__).parents[2] / "sample_runs"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    opened = Library(tmp_path_factory.mktemp("store"))
    opened.import_paths([SAMPLES])
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def run(library):
    return next(run.id for run in library.runs() if run.name == "sample-overconfident")


@pytest.fixture(scope="module")
def rows(library, run):
    return population(library, run)


def event(run, example, position, met, who="Anna", *, blind=True, at=0, **more):
    decision = {True: Decision.MET, False: Decision.NOT_MET, None: Decision.CANNOT_JUDGE}[met]
    return Event(
        id=f"{who}-{example}-{position}-{at}",
        at=f"2026-01-01T00:00:{at:02}.000000+00:00",
        kind="decision",
        run=run,
        example=example,
        position=position,
        prompt_id="p",
        reviewer=who,
        role="physician",
        decision=decision,
        blind=blind,
        **more,
    )


def small_table():
    # Two prompts; the fourth verdict is a penalty.
    return pd.DataFrame(
        {
            "example": [0, 0, 1, 1],
            "position": [0, 1, 0, 1],
            "points": [5.0, 3.0, 4.0, -2.0],
            "met": pd.array([True, False, True, True], dtype="boolean"),
            "axis": ["axis:accuracy"] * 4,
            "cluster": ["cluster:a", "cluster:a", "cluster:b", "cluster:b"],
            "theme": ["theme:hedging"] * 4,
            "prompt_id": ["p", "p", "q", "q"],
            "possible": [8.0, 8.0, 4.0, 4.0],
            "n_unknown": [0, 0, 0, 0],
            "leverage": [5 / 8 / 2, 3 / 8 / 2, 4 / 4 / 2, 2 / 4 / 2],
        }
    )


def test_a_grader_is_paired_with_every_reviewer():
    # M01 of the worked cases: verdicts T F T; labels (T T F), (T F), (F): TP 2, FP 2, FN 1, TN 1; macro F1 17 / 35.
    rows = small_table()
    given = [(0, 0, [True, True, False]), (0, 1, [True, False]), (1, 0, [False])]
    events = [
        event("r", example, position, met, who=f"R{place}")
        for example, position, labels in given
        for place, met in enumerate(labels)
    ]
    found = figures(with_grader(rows, decisions(events, blind=True)))
    assert (found.n, found.n_verdicts) == (6, 3)
    assert found.table == (2, 2, 1, 1)
    assert found.macro_f1.value == pytest.approx(17 / 35, rel=1e-12)
    assert found.raw.value == pytest.approx(1 / 2)


def test_cannot_judge_makes_no_pair_and_reviewers_can_be_told_apart():
    rows = small_table()
    events = [
        event("r", 0, 0, None),
        event("r", 0, 1, met=True),
        event("r", 0, 1, met=False, who="Ben"),
    ]
    found = decisions(events, blind=True)
    assert len(with_grader(rows, found)) == 2
    assert with_grader(rows, found, reviewer="Ben")["second"].tolist() == [False]


def test_blind_decisions_are_kept_apart_from_those_that_stand():
    rows = small_table()
    events = [event("r", 0, 0, met=False), event("r", 0, 0, met=True, blind=False, at=1)]
    assert with_grader(rows, decisions(events, blind=True))["second"].tolist() == [False]
    assert with_grader(rows, decisions(events, blind=False))["second"].tolist() == [True]


def test_reviewer_against_reviewer_on_what_both_saw():
    # Both saw three verdicts: agree on met, agree on not met, differ: table (1, 1, 0, 1); kappa by hand:
    # agreement 2/3, shares of met 2/3 and 1/3, chance 2/9 + 2/9 = 4/9, (2/3 - 4/9) / (5/9) = 2/5.
    rows = small_table()
    anna = [event("r", 0, 0, met=True), event("r", 0, 1, met=False), event("r", 1, 0, met=True)]
    ben = [event("r", 0, 0, met=True, who="Ben"), event("r", 0, 1, met=False, who="Ben")]
    ben += [event("r", 1, 0, met=False, who="Ben"), event("r", 1, 1, met=False, who="Ben")]
    tables = between_reviewers(rows, decisions([*anna, *ben], blind=True))
    assert list(tables) == [("Anna", "Ben")]
    found = figures(tables["Anna", "Ben"])
    assert found.table == (1, 1, 0, 1)
    assert found.kappa.value == pytest.approx(2 / 5, rel=1e-12)


def test_parts_by_sign_and_the_papers_figure_of_a_theme():
    # Cluster a: grader T F, reviewer T F: macro F1 1, n 2. Cluster b: grader T T, reviewer T F: the grader never says
    # not met, so the reference has no figure there. The theme's is that of cluster a, on 2 pairs.
    rows = small_table()
    events = [event("r", 0, 0, met=True), event("r", 0, 1, met=False)]
    events += [event("r", 1, 0, met=True), event("r", 1, 1, met=False)]
    pairs = with_grader(rows, decisions(events, blind=True))
    by_sign = {part.name: part for part in by_part(pairs, "sign")}
    assert by_sign["penalty"].table == (0, 1, 0, 0)
    assert by_sign["positive"].table == (2, 0, 0, 1)
    assert theme_macro_f1(pairs) == {"theme:hedging": (1.0, 2)}


def test_weights_turn_a_lopsided_sample_into_the_run():
    # Of the run, penalties are drawn with chance 1, the rest with 1/2: agreement of the run is estimated by counting
    # each of the rest twice. Agree, differ (weight 2 each) and agree (weight 1): 3 / 5.
    rows = small_table()
    events = [event("r", 0, 0, met=True), event("r", 0, 1, met=True), event("r", 1, 1, met=True)]
    weights = inverse_chances({(0, 0): 0.5, (0, 1): 0.5, (1, 1): 1.0})
    found = figures(with_grader(rows, decisions(events, blind=True), weights))
    assert found.raw.value == pytest.approx(3 / 5, rel=1e-12)
    assert found.n == 3


def test_the_estimate_counts_the_known_and_projects_the_rest():
    # Leverages 5/16, 3/16, 1/2, 1/4. Grader: (5/8 + (4 - 2)/4) / 2 = 9/16. Reviewed: (0,0) by a sample with chance
    # 1/2, turned to not met: -5/16. Weight (1 - 1/2) / (1/2) = 1, so a correction of -1 per leverage is projected on
    # the rest, 3/16 + 1/2 + 1/4 = 15/16: 9/16 - 5/16 - 15/16 = -11/16.
    rows = small_table()
    events = [event("r", 0, 0, met=False, queue="s", chance=0.5)]
    verdicts = human_verdicts(events)
    found = estimated_score(rows, verdicts, drawn(events)["s"])
    assert found.by_grader == pytest.approx(9 / 16)
    assert found.with_reviews == pytest.approx(4 / 16)
    assert found.value == pytest.approx(-11 / 16)
    assert (found.low, found.n_sampled, found.n_left) == (None, 1, 3)
    # Another verdict reviewed outside the sample is counted, and projects nothing: (1,1) not met gives back 1/4, and
    # the rest is 11/16.
    more = [*events, event("r", 1, 1, met=False)]
    found = estimated_score(rows, human_verdicts(more), drawn(more)["s"])
    assert found.value == pytest.approx(9 / 16 - 5 / 16 + 1 / 4 - 11 / 16)
    assert estimated_score(rows, verdicts, {}) is None


def test_a_complete_review_needs_no_projection(library, run, rows):
    events = [
        event(run, row["example"], row["position"], not row["met"], queue="s", chance=1.0)
        for row in rows.to_dict("records")
    ]
    verdicts = human_verdicts(events)
    found = estimated_score(rows, verdicts, drawn(events)["s"])
    scores = library.run_scores(run, inferred=True)
    exact = reviewed_run(library, run, scores, verdicts).with_reviews[OVERALL].unclipped
    assert found.value == found.low == found.high == found.with_reviews == pytest.approx(exact)
    assert (found.n_left, found.wrong) == (0, 1.0)


@pytest.mark.parametrize("size", [90, 170])
@pytest.mark.parametrize("kind", [QueueKind.RANDOM, QueueKind.LEVERAGE_SAMPLE])
def test_estimates_from_samples_are_unbiased_and_their_intervals_hold(
    library, run, rows, kind, size
):
    # The truth: a fifth of all verdicts are wrong, more of the penalties. 60 samples of the run's 230 verdicts: the
    # mean of the estimates is within 3 standard errors of the truth, at least 52 of the 95 % intervals hold it (of 60,
    # fewer than 53 have a chance of 1 %), and they are not narrower than the estimates spread, even where the sample
    # is most of the run.
    rng = np.random.default_rng(5)
    wrong = rng.random(len(rows)) < np.where(rows["points"] < 0, 0.35, 0.15)
    right = dict(
        zip(
            zip(rows["example"], rows["position"], strict=True),
            (rows["met"].astype(bool) ^ wrong).tolist(),
            strict=True,
        )
    )
    worth = (rows["points"] / rows["possible"] / rows["example"].nunique()).to_numpy()
    truth = float((worth * (rows["met"].astype(bool).to_numpy() ^ wrong)).sum())
    values, widths, held = [], [], 0
    for seed in range(60):
        entries = make_queue(library, Plan(kind=kind, run=run, size=size, seed=seed))
        events = [
            event(run, *entry.item[1:], right[entry.item[1:]], queue="s", chance=entry.chance)
            for entry in entries
        ]
        found = estimated_score(rows, human_verdicts(events), drawn(events)["s"], resamples=200)
        values.append(found.value)
        widths.append(found.half_width)
        held += found.low <= truth <= found.high
    assert abs(np.mean(values) - truth) < 3 * np.std(values) / np.sqrt(60)
    assert held >= 52
    assert np.mean(widths) > 0.85 * 1.96 * np.std(values)


pairs = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.floats(0.1, 50)), min_size=4, max_size=40
)


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_kappa_and_macro_f1_are_scikit_learns_with_weights_too(found):
    first, second, weights = (np.array(column) for column in zip(*found, strict=True))
    assume(0 < first.sum() < len(first))
    assume(0 < second.sum() < len(second))
    table = confusion(first, second, weights)
    expected = cohen_kappa_score(first, second, sample_weight=weights)
    assert cohens_kappa(table) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    macro = f1_score(second, first, average="macro", sample_weight=weights)
    assert pairwise_f1(table).macro == pytest.approx(macro, rel=1e-9, abs=1e-9)
