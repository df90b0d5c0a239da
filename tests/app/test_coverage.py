"""The Coverage page: its two units, the grid's lists, and the states it must explain."""

from __future__ import annotations

import graded
import pytest


def frame_with(app, *columns):
    return next(frame.value for frame in app.dataframe if set(columns) <= set(frame.value.columns))


@pytest.fixture
def themed(tmp_path, one_run):
    """The three examples with a data set that knows two of their themes."""
    return one_run, graded.dataset(
        tmp_path / "set.jsonl",
        graded.dataset_row("p1", graded.item(7), tags=("theme:hedging",)),
        graded.dataset_row("p2", graded.item(5), tags=("theme:global_health",)),
    )


def test_conversations_sum_to_the_run_and_criteria_to_its_lines(open_page, texts, themed):
    app = open_page("coverage", *themed)
    themes = frame_with(app, "name", "conversations")
    assert dict(zip(themes["name"], themes["conversations"], strict=True)) == {
        "Responding under uncertainty": 1,
        "Global health": 1,
        "Theme not known": 1,
    }
    axes = frame_with(app, "name", "criterion assignments")
    assert axes["criterion assignments"].sum() == 7
    assert "Unit: conversations. 3 in all" in texts(app)
    assert "7 assignments in all" in texts(app)


def test_the_unit_of_the_axes_can_be_changed(open_page, themed):
    app = open_page("coverage", *themed)
    app.segmented_control(key="axes_unit").select("penalty").run()
    axes = frame_with(app, "name", "penalty points")
    # 6 on communication, 8 on accuracy, 2 on instruction following
    assert sorted(axes["penalty points"]) == [0, 0, 2, 6, 8]


def test_a_cell_lists_its_criteria(open_page, texts, themed):
    app = open_page("coverage", *themed)
    app.selectbox(key="coverage_row").select("theme:global_health")
    app.selectbox(key="coverage_column").select("axis:accuracy").run()
    assert "Global health, Accuracy**: 2 different criteria" in texts(app)
    listed = frame_with(app, "assignments", "text")
    assert sorted(listed["points"]) == [-8, 5]


def test_an_empty_cell_says_so(open_page, texts, themed):
    app = open_page("coverage", *themed)
    app.selectbox(key="coverage_row").select("theme:global_health")
    app.selectbox(key="coverage_column").select("axis:completeness").run()
    assert "Completeness**: 0 different criteria" in texts(app)


def test_the_blind_spot_is_shown(open_page, themed):
    app = open_page("coverage", *themed)
    # 6 + 2 of 16 penalty points stand alone on their axis; the incurred 8 does not.
    assert [metric.value for metric in app.metric] == ["50.0 %", "0", "66.7 %"]


def test_a_run_without_themes_says_how_to_get_them(open_page, texts, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_x_20260101_100000_allresults.json",
        graded.example("p1", graded.item(5, True, "level:example", "axis:accuracy")),
    )
    app = open_page("coverage", path)
    assert "does not say which theme a conversation has" in texts(app)
    assert "Attach the benchmark's data set" in texts(app)
    assert "This run's rubrics have no penalties" in texts(app)


def test_a_run_without_tags_says_why_there_are_no_axes(open_page, texts, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_x_20260101_100000_allresults.json",
        graded.example("p1", graded.item(5), graded.item(-3)),
    )
    app = open_page("coverage", path)
    assert "No criterion of this run carries an axis." in texts(app)
    signs = frame_with(app, "name", "criterion assignments")
    assert list(signs["criterion assignments"]) == [1, 1]


def test_professional_shows_its_own_tags(open_page, texts, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_x_20260101_100000_allresults.json",
        *(graded.example(f"p{number}", graded.item(5), graded.item(-3)) for number in range(3)),
    )
    rows = graded.dataset(
        tmp_path / "set.jsonl",
        *(
            graded.dataset_row(f"p{number}", graded.item(5), tags=tags)
            for number, tags in enumerate(
                (
                    ("consult", "good_faith", "typical", "Cardiology"),
                    ("consult", "red_teaming", "difficult", "Cardiology"),
                    ("writing", "good_faith", "difficult", "Neurology"),
                )
            )
        ),
    )
    app = open_page("coverage", path, rows)
    shown = frame_with(app, "name", "conversations", "share in Professional's 525")
    assert dict(zip(shown["name"], shown["conversations"], strict=True)) == {
        "Care consult": 2,
        "Writing and documentation": 1,
    }
    # 236 of 525 are consults.
    assert shown["share in Professional's 525"].iloc[0] == pytest.approx(236 / 525)
    app.segmented_control(key="tag_kind").select("specialty").run()
    assert "Cardiology" in set(frame_with(app, "name", "conversations")["name"])
    assert "No criterion of this run carries an axis." in texts(app)


def test_without_a_run_the_page_says_what_to_do(open_page, texts):
    assert "There is no graded run yet." in texts(open_page("coverage"))
