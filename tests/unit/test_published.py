"""The published figures agree with themselves: sums, weighted means, and the formula of the adjustment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from healthbench import published
from healthbench.scoring.length import PRESETS, adjust_points
from healthbench.taxonomy import AXES, CATEGORIES, LEVELS, QUESTIONS, THEMES

PRINTED = json.loads(Path(__file__).with_name("vectors.json").read_text("utf-8"))["published"]
TABLES = {
    name: value for name, value in vars(published).items() if isinstance(value, published.Table)
}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_a_source_and_conditions(name):
    table = TABLES[name]
    assert table.source in published.SOURCES
    assert table.title
    assert table.place
    assert table.conditions
    assert table.rows


@pytest.mark.parametrize(
    ("table", "rows", "total"),
    [
        (published.THEMES, PRINTED["table2_themes"]["rows"], 5000),
        (published.AXES, PRINTED["table3_axes"]["rows"], 57237),
        (published.LEVELS, PRINTED["table3_axes"]["levels"], 57237),
        (published.SPECIALTIES, PRINTED["pro_specialties"]["rows"], 525),
    ],
)
def test_counts_are_the_printed_ones_and_sum_up(table, rows, total):
    assert dict(table.rows) == rows
    assert sum(row.value for row in table.rows) == total


@pytest.mark.parametrize(
    ("table", "percent", "decimals"),
    [
        (published.THEMES, PRINTED["table2_themes"]["percent_1dp"], 1),
        (published.AXES, PRINTED["table3_axes"]["percent_0dp"], 0),
        (published.LEVELS, PRINTED["table3_axes"]["percent_0dp"], 0),
    ],
)
def test_printed_percentages_follow_from_the_counts(table, percent, decimals):
    total = sum(row.value for row in table.rows)
    for row in table.rows:
        assert round(100 * row.value / total, decimals) == percent[row.name]


def test_names_are_those_of_the_taxonomy():
    assert {row.name for row in published.THEMES.rows} == set(THEMES.values())
    assert {row.name for row in published.AXES.rows} == set(AXES.values())
    assert {row.name for row in published.LEVELS.rows} == set(LEVELS.values())
    assert {row.theme for row in published.GRADER_BY_THEME.rows} == set(THEMES.values())
    assert {row.theme for row in published.CONSENSUS.rows} == set(THEMES.values())
    assert {row.question for row in published.CONSENSUS.rows} == set(QUESTIONS.values())
    # Table 8 prints "No uncertainty present" where the reference's own names have "No uncertainty".
    printed = {row.category for row in published.CONSENSUS.rows} - set(CATEGORIES.values())
    assert printed == {"No uncertainty present"}


def test_professional_tasks_sum_up_both_ways():
    rows = published.PROFESSIONAL_TASKS.rows
    assert [list(row[1:]) for row in rows] == list(PRINTED["pro_table2"]["rows"].values())
    assert all(sum(row[1:4]) == row.total for row in rows)
    # 84 + 46 + 126 = 256, 59 + 5 + 14 = 78, 93 + 91 + 7 = 191.
    assert [sum(column) for column in list(zip(*rows, strict=True))[1:]] == [256, 78, 191, 525]


def test_run_spread_is_the_printed_one():
    assert [
        {"model": r.model, "mean": r.mean, "min": r.low, "max": r.high, "std": r.sd}
        for r in published.RUN_SPREAD.rows
    ] == PRINTED["table7_runs"]
    assert all(row.low < row.mean < row.high for row in published.RUN_SPREAD.rows)


def test_consensus_criteria_rebuild_the_nine_overall_scores():
    printed = PRINTED["table8_consensus"]
    assert [
        (row.theme, row.category, row.question, list(row.values))
        for row in published.CONSENSUS.rows
    ] == [(r["theme"], r["category"], r["criterion"], r["values"]) for r in printed["rows"]]
    categories = {}
    for row in published.CONSENSUS.rows:
        categories.setdefault((row.theme, row.category, row.n), []).append(row.values)
    assert sum(n for _, _, n in categories) == 3671
    assert sum(row.n for row in published.CONSENSUS.rows) == 8053
    for place, (model, overall) in enumerate(published.CONSENSUS_OVERALL.rows):
        # All criteria have +5 points, so an example is the plain mean of its category's two or three.
        total = sum(
            n * sum(values[place] for values in rows) / len(rows)
            for (_, _, n), rows in categories.items()
        )
        assert model == published.CONSENSUS_MODELS[place]
        assert total / 3671 == pytest.approx(overall, abs=1e-4)


def test_length_rows_are_the_printed_ones_and_obey_the_formula():
    rows = published.LENGTH_ROWS.rows
    assert len(rows) == 80
    assert [tuple(row[:5]) for row in rows] == [
        (r["evaluation"], r["model"], r["adjusted"], r["raw"], r["mean_chars"])
        for r in PRINTED["length_adjusted_rows"]["rows"]
    ]
    for row in rows:
        assert row.source in published.SOURCES
        assert adjust_points(
            row.raw_points, row.mean_characters, PRESETS[row.benchmark]
        ) == pytest.approx(row.adjusted_points, abs=0.1 + 1e-9)


def test_professional_scores_are_the_weighted_means_of_the_use_cases():
    n = {row.use_case: row.total for row in published.PROFESSIONAL_TASKS.rows}
    assert n == PRINTED["pro_use_case_check"]["n"]
    checked = 0
    for row in published.PROFESSIONAL.rows:
        parts = {use_case: getattr(row, use_case) for use_case in n}
        if None not in parts.values():
            mean = sum(n[use_case] * score for use_case, score in parts.items()) / 525
            assert mean == pytest.approx(row.overall, abs=0.1)
            checked += 1
    assert checked == 2


def test_graders_are_the_printed_ones():
    assert {row.model: row.score for row in published.GRADERS.rows} == PRINTED["table6_graders"]


def test_sizes_agree_with_the_tables():
    sizes = {size.name: size for size in published.SIZES.rows}
    assert sizes["HealthBench"].conversations == sum(row.value for row in published.THEMES.rows)
    assert sizes["HealthBench"].criteria == sum(row.value for row in published.AXES.rows)
    assert sizes["HealthBench Consensus"].criteria == published.LEVELS.rows[0].value
    assert sizes["HealthBench Professional"].conversations == 410 + 115
