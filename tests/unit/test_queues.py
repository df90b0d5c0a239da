"""Queues hold what they say, in the order they say, with the chances they were drawn with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.errors import InputRefusedError
from healthbench.review.queues import (
    Plan,
    QueueKind,
    _proportional_chances,
    _sample_by_leverage,
    allocate,
    make_queue,
    population,
    size_for,
)
from healthbench.review.saved import SavedQueues, left
from healthbench.review.slips import suspicion
from healthbench.store.journal import Item
from healthbench.store.library import Library
from healthbench.store.records import ExampleFilter
from healthbench.store.review_file import FILE_NAME, ReviewFile

SAMPLES = Path(__file__).parents[2] / "sample_runs"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    opened = Library(tmp_path_factory.mktemp("store"))
    opened.import_paths([SAMPLES])
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def runs(library):
    return {(run.name, run.n_examples): run.id for run in library.runs()}


@pytest.fixture(scope="module")
def careless(runs):
    return runs["sample-overconfident", 21]


@pytest.fixture(scope="module")
def terse(runs):
    return runs["sample-terse", 21]


@pytest.fixture(scope="module")
def repeats(runs):
    return runs["sample-terse", 84]


def rows_of(library, run):
    return population(library, run).set_index(["example", "position"])


def places(entries):
    return [(entry.item.example, entry.item.position) for entry in entries]


def test_leverage_is_what_one_verdict_moves_the_mean(library, terse):
    # Example 0 with P possible points: turning one criterion of p points moves its score by |p| / P and the mean of
    # the 21 examples by |p| / P / 21.
    rows = population(library, terse)
    first = rows[rows["example"] == 0]
    possible = first.loc[first["points"] > 0, "points"].sum()
    assert first["leverage"].tolist() == pytest.approx(
        [abs(points) / possible / 21 for points in first["points"]], rel=1e-12
    )


def test_by_leverage_the_largest_comes_first_and_size_cuts(library, terse):
    whole = make_queue(library, Plan(kind=QueueKind.LEVERAGE, run=terse))
    leverage = rows_of(library, terse)["leverage"]
    ranked = [leverage[place] for place in places(whole)]
    assert ranked == sorted(ranked, reverse=True)
    assert len(whole) == 230
    cut = make_queue(library, Plan(kind=QueueKind.LEVERAGE, run=terse, size=7))
    assert places(cut) == places(whole)[:7]


def test_by_leverage_until_the_rest_cannot_move_the_score_further(library, terse):
    within = 0.1
    chosen = places(make_queue(library, Plan(kind=QueueKind.LEVERAGE, run=terse, within=within)))
    rows = rows_of(library, terse)

    def could_move(rest):
        up = rest.loc[(rest["points"] > 0) != rest["met"].astype(bool), "leverage"].sum()
        down = rest.loc[(rest["points"] > 0) == rest["met"].astype(bool), "leverage"].sum()
        return max(up, down)

    assert could_move(rows.drop(chosen)) <= within
    assert could_move(rows.drop(chosen[:-1])) > within


def test_a_stratified_sample_is_seeded_shared_out_and_knows_its_chances(library, terse):
    plan = Plan(kind=QueueKind.RANDOM, run=terse, size=60, seed=3)
    entries = make_queue(library, plan)
    assert entries == make_queue(library, plan)
    assert entries != make_queue(library, Plan(kind=QueueKind.RANDOM, run=terse, size=60, seed=4))
    assert len(set(places(entries))) == 60
    rows = rows_of(library, terse).fillna({"axis": "", "theme": ""})
    strata = [rows["theme"], rows["axis"], rows["points"] > 0]
    sizes = rows.groupby(strata)["points"].transform("size")
    taken = (
        rows.loc[places(entries)]
        .groupby(["theme", "axis", rows["points"] > 0])["points"]
        .transform("size")
    )
    for place, entry in zip(places(entries), entries, strict=True):
        assert entry.chance == pytest.approx(taken[place] / sizes[place], rel=1e-12)


def test_weights_of_a_sample_that_reaches_every_stratum_sum_to_the_run(library, terse):
    # 46 strata at most; each drawn verdict stands for 1 / chance of its stratum, so the weights sum to all 230.
    entries = make_queue(library, Plan(kind=QueueKind.RANDOM, run=terse, size=100))
    assert sum(1 / entry.chance for entry in entries) == pytest.approx(230, rel=1e-12)


def test_drawn_by_leverage_estimates_the_total_leverage_exactly(library, terse):
    # With chances c l the sum of l / chance is n / c = sum of l whatever is drawn, certain ones included.
    leverage = rows_of(library, terse)["leverage"]
    for seed in range(5):
        plan = Plan(kind=QueueKind.LEVERAGE_SAMPLE, run=terse, size=40, seed=seed)
        entries = make_queue(library, plan)
        assert len(entries) == len(set(places(entries))) == 40
        total = sum(
            leverage[place] / entry.chance
            for place, entry in zip(places(entries), entries, strict=True)
        )
        assert total == pytest.approx(leverage.sum(), rel=1e-9)


def test_chances_are_met_by_the_draw(library, terse):
    # 300 draws of 40: each verdict is drawn about 300 x chance times; the largest of 230 standardised deviations of
    # binomials stays below 4.5.
    rows = population(library, terse)
    plan = Plan(kind=QueueKind.LEVERAGE_SAMPLE, run=terse, size=40)
    times = np.zeros(len(rows))
    chances = np.full(len(rows), np.nan)
    for seed in range(300):
        drawn, chance = _sample_by_leverage(rows, plan, np.random.default_rng(seed))
        times[drawn] += 1
        chances[drawn] = chance
    open_ = chances < 1
    spread = np.sqrt(300 * chances * (1 - chances))
    assert (np.abs(times - 300 * chances)[open_] / spread[open_]).max() < 4.5
    assert (times[chances == 1] == 300).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=12), st.integers(1, 200))
def test_allocation_fits_every_stratum(sizes, wanted):
    takes = allocate(np.array(sizes), wanted)
    assert takes.sum() == min(wanted, sum(sizes))
    assert (takes <= sizes).all()
    assert (takes >= (1 if wanted >= len(sizes) else 0)).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 10), min_size=2, max_size=30), st.integers(1, 29))
def test_proportional_chances_sum_to_the_size(leverage, wanted):
    wanted = min(wanted, len(leverage))
    chances = _proportional_chances(np.array(leverage), wanted)
    assert chances.sum() == pytest.approx(wanted)
    assert ((chances > 0) & (chances <= 1 + 1e-12)).all()


def test_sizes_planned_by_precision():
    # Leverages of 0.001 for 1,000 verdicts, 25 % wrong, within 0.03 (half width). By leverage:
    # 1^2 x 0.25 x (1.96 / 0.03)^2 = 1,067, more than there are. With equal chances
    # 1 / (1 / 1067 + 1 / 1000) = 516.2 -> 517.
    leverage = np.full(1000, 0.001)
    assert size_for(leverage, 0.03, 0.25, by_leverage=True) == 1000
    assert size_for(leverage, 0.03, 0.25, by_leverage=False) == 517
    assert size_for(leverage, 0.1, 0.25, by_leverage=True) == 97
    with pytest.raises(InputRefusedError, match="fractions"):
        size_for(leverage, 5, by_leverage=True)


def test_all_penalties_incurred_the_gravest_first(library, careless):
    rows = rows_of(library, careless)
    entries = make_queue(library, Plan(kind=QueueKind.PENALTIES, run=careless))
    expected = rows[(rows["points"] < 0) & rows["met"].astype(bool)]
    assert sorted(places(entries)) == sorted(expected.index.tolist())
    points = [rows.loc[place, "points"] for place in places(entries)]
    assert points == sorted(points)


def test_a_mixed_queue_hides_which_verdicts_it_was_made_for(library, careless):
    plain = make_queue(library, Plan(kind=QueueKind.PENALTIES, run=careless, size=10))
    mixed = make_queue(library, Plan(kind=QueueKind.PENALTIES, run=careless, size=10, mixed=True))
    rows = rows_of(library, careless)
    assert set(places(plain)) < set(places(mixed))
    assert len(set(places(mixed))) == 20
    assert all(rows.loc[place, "points"] < 0 for place in places(mixed))


def test_consensus_only(library, terse):
    rows = rows_of(library, terse)
    entries = make_queue(library, Plan(kind=QueueKind.CONSENSUS, run=terse))
    assert places(entries) == rows.index[rows["cluster"].notna()].tolist()
    some = make_queue(library, Plan(kind=QueueKind.CONSENSUS, run=terse, size=5))
    assert len(some) == 5
    assert set(places(some)) < set(places(entries))
    assert {entry.chance for entry in [*entries, *some]} == {None}


def test_a_slice_holds_the_criteria_meant_not_all_of_their_examples(library, terse):
    wanted = ExampleFilter(axes=("axis:accuracy",), themes=("theme:hedging",), states=("missed",))
    rows = rows_of(library, terse)
    entries = make_queue(library, Plan(kind=QueueKind.SLICE, run=terse, filters=wanted))
    expected = rows[
        (rows["axis"] == "axis:accuracy")
        & (rows["theme"] == "theme:hedging")
        & (rows["points"] > 0)
        & ~rows["met"].astype(bool)
    ]
    assert places(entries) == expected.index.tolist()


def test_flickering_verdicts_are_those_that_differ_between_repeats(library, repeats):
    # Example 0 is the first repeat of the first prompt; its criteria are compared over all replies to that prompt.
    entries = make_queue(library, Plan(kind=QueueKind.FLICKERING, run=repeats))
    rows = population(library, repeats)
    by_criterion = rows.groupby(["prompt_id", "position"])["met"].transform(
        lambda met: met.astype(int).mean()
    )
    expected = rows[(by_criterion > 0) & (by_criterion < 1)]
    assert places(entries) == list(zip(expected["example"], expected["position"], strict=True))


def test_disagreements_on_equal_replies_show_each_verdict_once(library, terse, careless, repeats):
    # The repeats run holds the terse run's replies as its first repeat, with the same verdicts: nothing differs.
    with pytest.raises(InputRefusedError, match="nothing to review"):
        make_queue(library, Plan(kind=QueueKind.DISAGREEMENTS, run=terse, other=repeats))
    entries = make_queue(library, Plan(kind=QueueKind.DISAGREEMENTS, run=terse, other=careless))
    mine, theirs = rows_of(library, terse), rows_of(library, careless)
    assert {entry.item.run for entry in entries} == {terse, careless}
    for here, there in zip(entries[::2], entries[1::2], strict=True):
        assert mine.loc[tuple(here.item[1:]), "met"] != theirs.loc[tuple(there.item[1:]), "met"]
    with pytest.raises(InputRefusedError, match="second"):
        make_queue(library, Plan(kind=QueueKind.DISAGREEMENTS, run=terse))


def test_suspected_slips_find_what_an_explanation_itself_says(library, terse, careless):
    # The two of the sample runs' eight slips whose explanation contradicts the verdict; the others leave no trace.
    found = {}
    for run in (terse, careless):
        entries = make_queue(library, Plan(kind=QueueKind.SLIPS, run=run))
        with library.cursor(run) as cursor:
            ids = dict(cursor.execute("SELECT example, prompt_id FROM examples").fetchall())
        found[run] = [(ids[example][:8], position + 1) for example, position in places(entries)]
    assert ("2a8b86e7", 1) in found[terse]
    assert ("621b6a4e", 8) in found[careless]
    assert sum(map(len, found.values())) <= 4


@pytest.mark.parametrize(
    ("criterion", "explanation", "met", "doubtful"),
    [
        ("Names the dose", "It names it. Therefore the criterion is met.", False, True),
        ("Names the dose", "It does not. Therefore the criterion is not met.", True, True),
        ("Names the dose", "The dose is missing, so this criterion is unmet.", False, False),
        ("Names the dose", "It fails to meet the criterion.", True, True),
        ("Names the dose", "This meets the criteria.", True, False),
        ("Names the daily dose", "The reply does not name the daily dose.", True, True),
        ("Names the daily dose", "The reply does not name the daily dose.", False, False),
        ("Names the daily dose", "The reply names the daily dose.", False, True),
        ("Does not name the daily dose", "The reply does not name the daily dose.", True, False),
        ("Names the daily dose", "", True, False),
    ],
)
def test_suspicion(criterion, explanation, met, doubtful):
    assert (suspicion(criterion, explanation, met=met) > 0) is doubtful


def test_nothing_that_fits_is_a_sentence(library, terse):
    with pytest.raises(InputRefusedError, match="Nothing in this run fits"):
        make_queue(
            library,
            Plan(kind=QueueKind.SLICE, run=terse, filters=ExampleFilter(text="zzzzzz")),
        )
    with pytest.raises(InputRefusedError, match="at least 1"):
        make_queue(library, Plan(kind=QueueKind.LEVERAGE, run=terse, size=0))


def test_one_example_in_file_order(library, terse):
    entries = make_queue(library, Plan(kind=QueueKind.EXAMPLE, run=terse, example=4))
    rows = rows_of(library, terse)
    assert places(entries) == rows.index[rows.index.get_level_values("example") == 4].tolist()


# Saved queues


@pytest.fixture
def saved(tmp_path):
    file = ReviewFile(tmp_path / FILE_NAME)
    yield SavedQueues(file)
    file.close()


def test_a_saved_queue_comes_back_as_it_was(saved, library, terse):
    plan = Plan(
        kind=QueueKind.SLICE,
        run=terse,
        filters=ExampleFilter(axes=("axis:accuracy",), max_points=-1.0),
        size=4,
        seed=9,
    )
    entries = make_queue(library, plan)
    queue = saved.save(" First ", plan, entries, ["Anna", "Ben", "Anna", " "])
    assert (queue.name, queue.assigned, queue.n) == ("First", ("Anna", "Ben"), len(entries))
    assert saved.all(terse) == [queue]
    assert saved.all("another") == []
    assert saved.entries(queue.id) == entries
    assert queue.is_for("Ben")
    assert not queue.is_for("Chris")
    saved.assign(queue.id, [])
    assert saved.all()[0].is_for("Chris")
    saved.remove(queue.id)
    assert saved.all() == []
    assert saved.entries(queue.id) == []


def test_a_queue_needs_a_name(saved, library, terse):
    plan = Plan(kind=QueueKind.EXAMPLE, run=terse, example=0)
    with pytest.raises(InputRefusedError, match="name"):
        saved.save(" ", plan, make_queue(library, plan))


def test_what_is_left_is_what_was_not_decided(library, terse):
    entries = make_queue(library, Plan(kind=QueueKind.EXAMPLE, run=terse, example=0))
    rest = left(entries, {Item(terse, 0, 0), Item(terse, 0, 2)})
    assert [entry.item.position for entry in rest[:2]] == [1, 3]
    assert len(rest) == len(entries) - 2
