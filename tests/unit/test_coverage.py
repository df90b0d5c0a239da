"""Coverage: what sums to what, the grid's criteria, and the penalties no axis score contains."""

from __future__ import annotations

import pytest
from graded import allresults, dataset, dataset_row, example, item, three_examples

from healthbench.scoring.run_scores import OVERALL
from healthbench.store.coverage import SPECIALTY, Cell, blind_spot, coverage, criteria_of
from healthbench.store.library import Library


def library_with(folder, *examples, rows=()):
    library = Library(folder / "home")
    paths = [allresults(folder / "healthbench_m_20260101_000000_allresults.json", *examples)]
    if rows:
        paths.append(dataset(folder / "set.jsonl", *rows))
    outcomes = library.import_paths(paths)
    assert not [outcome.refusal for outcome in outcomes if outcome.refusal]
    return library, next(outcome.run for outcome in outcomes if outcome.run).id


def by(frame, column):
    return frame.set_index(frame[column].fillna("none"))


@pytest.fixture
def specimen(tmp_path):
    """Three examples; the data set knows the theme of the first only, the second's follows from its cluster."""
    return library_with(
        tmp_path, *three_examples(), rows=[dataset_row("p1", item(7), tags=("theme:hedging",))]
    )


def test_themes_sum_to_the_conversations_and_axes_to_the_criteria(specimen):
    library, run = specimen
    found = coverage(library, run)
    summary = library.summary(run)
    assert found.themes["conversations"].sum() == summary.n_prompts == 3
    assert found.themes["examples"].sum() == summary.n_examples
    assert found.axes["assignments"].sum() == summary.n_items == 7
    assert found.levels["assignments"].sum() == 7
    assert found.grid["assignments"].sum() == 7


def test_an_unknown_theme_has_a_row_and_an_inferred_one_is_counted(specimen):
    themes = by(coverage(*specimen).themes, "theme")
    assert themes["conversations"].to_dict() == {"theme:hedging": 2, "none": 1}
    assert themes["inferred"].to_dict() == {"theme:hedging": 1, "none": 0}


def test_points_by_axis(specimen):
    library, run = specimen
    axes = by(coverage(library, run).axes, "axis")
    # accuracy: +7, +5 and -8
    accuracy = axes.loc["axis:accuracy"]
    assert (accuracy["assignments"], accuracy["possible"], accuracy["penalty"]) == (3, 12, 8)
    overall = library.run_scores(run).metrics[OVERALL]
    assert axes["possible"].sum() == overall.possible.sum()
    assert axes["penalty"].sum() == -overall.negative.sum()


def test_a_criterion_used_twice_is_one_unique_criterion(tmp_path):
    same = [item(5, True, "axis:accuracy", criterion="Says so")]
    library, run = library_with(
        tmp_path, example("p1", *same, item(3, False, "axis:accuracy")), example("p2", *same)
    )
    found = coverage(library, run)
    accuracy = by(found.axes, "axis").loc["axis:accuracy"]
    assert (accuracy["assignments"], accuracy["unique_criteria"]) == (3, 2)
    assert found.unique_criteria == 2


def test_repeats_are_one_conversation(tmp_path):
    library, run = library_with(tmp_path, *(example("p1", item(5)) for _ in range(4)))
    found = coverage(library, run)
    assert list(found.themes["conversations"]) == [1]
    assert list(found.themes["examples"]) == [4]
    assert list(found.axes["assignments"]) == [4]
    assert list(found.axes["axis"]) == [None]


def test_a_cell_of_the_grid_opens_to_its_criteria(specimen):
    library, run = specimen
    grid = coverage(library, run).grid
    listed = 0
    for theme, axis, assignments in zip(
        grid["theme"], grid["axis"], grid["assignments"], strict=True
    ):
        criteria, total = criteria_of(library, run, Cell(theme, axis), limit=10)
        assert total == len(criteria)
        assert criteria["assignments"].sum() == assignments
        listed += assignments
    assert listed == 7
    page, total = criteria_of(
        library, run, Cell("theme:hedging", "axis:accuracy"), limit=1, offset=1
    )
    assert (len(page), total) == (1, 3)


def test_the_blind_spot_by_hand(specimen):
    found = blind_spot(*specimen)
    # Penalties -6 (communication, alone), -8 (accuracy, beside +5) and -2 (instruction following, alone): 8 of 16
    # points stand on axes with only penalties in their example. Only the -8 was incurred, and accuracy shows it.
    assert found.total("penalty") == 16
    assert found.total("blind_penalty") == 8
    assert found.share == 0.5
    assert (found.total("incurred"), found.total("blind_incurred")) == (8, 0)
    assert found.n_examples == 2


def test_an_incurred_penalty_outside_every_axis_score_is_counted(tmp_path):
    library, run = library_with(
        tmp_path,
        example("p1", item(10, True, "axis:accuracy"), item(-4, True, "axis:completeness")),
        example("p2", item(10, True, "axis:accuracy"), item(-3, True), item(-2, False)),
    )
    found = blind_spot(library, run)
    # -4 alone on its axis; -3 and -2 on none.
    assert (found.total("blind_penalty"), found.total("blind_incurred")) == (9, 7)
    assert found.n_examples == 1
    assert by(found.axes, "axis").loc["none", "blind_times_incurred"] == 1


def test_without_penalties_there_is_no_share(tmp_path):
    assert blind_spot(*library_with(tmp_path, example("p1", item(5)))).share is None


def test_professional_tags_are_sorted_into_their_kinds(tmp_path):
    library, run = library_with(
        tmp_path,
        example("p1", item(5)),
        example("p2", item(5)),
        rows=[
            dataset_row("p1", item(5), tags=("consult", "good_faith", "typical", "Cardiology")),
            dataset_row("p2", item(5), tags=("consult", "red_teaming", "difficult", "Urology")),
        ],
    )
    found = coverage(library, run)
    kinds = {kind: list(rows["tag"]) for kind, rows in found.tags.groupby("kind", sort=False)}
    assert kinds == {
        "use case": ["consult"],
        "type": ["good_faith", "red_teaming"],
        "difficulty": ["typical", "difficult"],
        SPECIALTY: ["Cardiology", "Urology"],
    }
    assert list(found.themes["theme"]) == [None]
