"""Reviewed scores: an override moves exactly what it should, and its undo leaves no trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthbench.model import Criterion, GradedExample, Message, Verdict
from healthbench.review.effective import human_verdicts
from healthbench.review.reviewed import Line, example_lines, replaced, reviewed_run
from healthbench.scoring.run_scores import OVERALL, from_examples
from healthbench.store.journal import Decision, Item, Journal, Reviewer
from healthbench.store.library import Library
from healthbench.store.review_file import FILE_NAME, ReviewFile

SAMPLES = Path(__file__).parents[2] / "sample_runs"
ANNA = Reviewer("Anna", "physician")

# The eight slips of the sample runs (sample_runs/README.md): assistant, start of the prompt, number, right verdict.
SLIPS = [
    ("sample-terse", "986177f4", 9, False),
    ("sample-overconfident", "2aada509", 9, True),
    ("sample-careful", "995dfde1", 6, True),
    ("sample-careful", "08b0aa1e", 5, False),
    ("sample-overconfident", "621b6a4e", 8, True),
    ("sample-terse", "2c641adf", 3, False),
    ("sample-overconfident", "aa715fc8", 10, True),
    ("sample-terse", "2a8b86e7", 1, False),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    opened = Library(tmp_path_factory.mktemp("store"))
    opened.import_paths([SAMPLES])
    yield opened
    opened.close()


@pytest.fixture
def journal(tmp_path):
    file = ReviewFile(tmp_path / FILE_NAME)
    yield Journal(file)
    file.close()


def run_named(library, name):
    return next(run.id for run in library.runs() if run.name == name and run.n_examples == 21)


def row_of(library, run, start):
    with library.cursor(run) as cursor:
        query = "SELECT example FROM examples WHERE starts_with(prompt_id, ?)"
        return cursor.execute(query, [start]).fetchall()[0][0]


def slip_items(library, name):
    run = run_named(library, name)
    return [
        (Item(run, row_of(library, run, start), number - 1), right)
        for assistant, start, number, right in SLIPS
        if assistant == name
    ]


def decide(journal, item, met, grader=None):
    decision = Decision.MET if met else Decision.NOT_MET
    return journal.record(item, ANNA, decision, prompt_id="p", grader_met=grader)


def numbers(library, journal, run):
    scores = library.run_scores(run, inferred=True)
    return reviewed_run(library, run, scores, human_verdicts(journal.events(run)))


@pytest.mark.parametrize(
    ("name", "unclipped"),
    [("sample-careful", 67.2), ("sample-terse", 40.4), ("sample-overconfident", -6.7)],
)
def test_correcting_the_slips_gives_the_documented_scores(library, journal, name, unclipped):
    for item, right in slip_items(library, name):
        decide(journal, item, right, grader=not right)
    found = numbers(library, journal, run_named(library, name))
    assert round(100 * found.with_reviews[OVERALL].unclipped, 1) == unclipped
    assert found.n_overridden == found.n_reviewed == len(slip_items(library, name))


def test_one_override_moves_example_theme_axis_and_run_by_hand(library, journal):
    # sample-overconfident, 2aada509, criterion 9: -8 points, axis accuracy, turned from not met to met.
    run = run_named(library, "sample-overconfident")
    example = row_of(library, run, "2aada509")
    lines = example_lines(library, run, [example])[example]
    line = lines[8]
    assert (line.points, line.met) == (-8, False)
    axis = next(tag for tag in line.tags if tag.startswith("axis:"))
    theme = "theme:communication"
    possible = sum(other.points for other in lines if other.points > 0)
    on_axis = sum(o.points for o in lines if o.points > 0 and axis in o.tags)
    assert on_axis > 0
    before = numbers(library, journal, run).by_grader
    decide(journal, Item(run, example, 8), met=True, grader=False)
    after = numbers(library, journal, run).with_reviews
    # The example falls by 8 / possible; a mean of n examples by that over n.
    moved = -8 / possible
    for metric, expected in (
        (OVERALL, moved / before[OVERALL].n),
        (theme, moved / before[theme].n),
        (axis, -8 / on_axis / before[axis].n),
    ):
        assert after[metric].unclipped - before[metric].unclipped == pytest.approx(
            expected, rel=1e-9
        )
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= {OVERALL, *line.tags, theme} | {
        name for name in before if name.startswith("physician_agreed_category:")
    }
    journal.undo(Item(run, example, 8), ANNA)
    restored = numbers(library, journal, run)
    assert restored.with_reviews == restored.by_grader == before


def test_a_decision_that_agrees_changes_not_a_bit(library, journal):
    run = run_named(library, "sample-careful")
    for line in example_lines(library, run, [0])[0]:
        decide(journal, Item(run, 0, line.position), line.met, grader=line.met)
    found = numbers(library, journal, run)
    assert found.with_reviews == found.by_grader
    assert (found.n_overridden, found.n_fully_reviewed) == (0, 1)
    assert found.fully_reviewed[OVERALL] == found.grader_on_same[OVERALL]
    assert found.fully_reviewed[OVERALL].n == 1


def test_an_example_is_fully_reviewed_only_with_every_verdict(library, journal):
    run = run_named(library, "sample-careful")
    lines = example_lines(library, run, [3])[3]
    for line in lines[:-1]:
        decide(journal, Item(run, 3, line.position), met=False, grader=line.met)
    assert numbers(library, journal, run).n_fully_reviewed == 0
    journal.record(Item(run, 3, lines[-1].position), ANNA, Decision.CANNOT_JUDGE, prompt_id="p")
    assert numbers(library, journal, run).n_fully_reviewed == 0
    decide(journal, Item(run, 3, lines[-1].position), met=False)
    found = numbers(library, journal, run)
    assert found.n_fully_reviewed == 1
    # Everything not met: 0 points achieved.
    assert found.fully_reviewed[OVERALL].unclipped == 0


def test_reviews_of_other_runs_and_unknown_places_change_nothing(library, journal):
    run = run_named(library, "sample-careful")
    decide(journal, Item(run, 999, 0), met=True)
    decide(journal, Item("elsewhere", 0, 0), met=True)
    found = numbers(library, journal, run)
    decide(journal, Item(run, 0, 10**6), met=True)
    found = numbers(library, journal, run)
    assert found.with_reviews == found.by_grader
    assert (found.n_overridden, found.n_reviewed, found.n_contested) == (0, 0, 0)


def test_a_verdict_that_was_never_given_can_be_given_by_a_person():
    # +4 met, +6 unknown: withheld in [0.4, 1.0]; a person says not met: 4 / 10.
    example = GradedExample(
        "p",
        [Message("user", "?")],
        "reply",
        [Criterion("a", 4, ("axis:accuracy",)), Criterion("b", 6, ("axis:accuracy",))],
        [Verdict(stored=True), Verdict(stored=None)],
    )
    scores = from_examples([example])
    assert np.isnan(scores.overall.scores[0])
    tags = frozenset(("axis:accuracy",))
    lines = {0: [Line(0, 4.0, True, tags), Line(1, 6.0, None, tags)]}
    after = replaced(scores, lines, {(0, 1): False}, frozenset())
    assert after.overall.scores.tolist() == [0.4]
    assert after.metrics["axis:accuracy"].scores.tolist() == [0.4]
    assert np.isnan(scores.overall.scores[0])


rubric = st.lists(
    st.tuples(
        st.integers(-10, 10).filter(bool),
        st.sampled_from(["axis:accuracy", "axis:completeness", "theme:odd"]),
        st.sampled_from([True, False, None]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(rubric, min_size=1, max_size=4), st.data())
def test_replacing_verdicts_equals_grading_with_them(rubrics, data):
    places = [(row, place) for row, lines in enumerate(rubrics) for place in range(len(lines))]
    overrides = data.draw(st.dictionaries(st.sampled_from(places), st.booleans()))

    def build(changes):
        return from_examples(
            [
                GradedExample(
                    f"p{row}",
                    [],
                    "reply",
                    [Criterion("c", points, (tag,)) for points, tag, _ in lines],
                    [
                        Verdict(stored=changes.get((row, place), met))
                        for place, (_, _, met) in enumerate(lines)
                    ],
                    example_tags=("theme:hedging",),
                )
                for row, lines in enumerate(rubrics)
            ]
        )

    lines = {
        row: [
            Line(place, float(points), met, frozenset((tag,)))
            for place, (points, tag, met) in enumerate(found)
        ]
        for row, found in enumerate(rubrics)
    }
    changed = replaced(build({}), lines, overrides, frozenset(("theme:hedging",)))
    expected = build(overrides)
    assert changed.metrics.keys() == expected.metrics.keys()
    for name, metric in expected.metrics.items():
        for column in ("example", "possible", "achieved", "unknown_positive", "n_unknown"):
            assert (
                getattr(changed.metrics[name], column).tolist() == getattr(metric, column).tolist()
            )
