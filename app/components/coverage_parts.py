"""The parts of the Coverage page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import pandas as pd
import state
import streamlit as st

from components.chart import chart, palette, show_table
from components.frame import empty
from components.text import escaped, some
from healthbench import published
from healthbench.charts.coverage import Bar, Square, counted, grid, seen_and_unseen
from healthbench.formatting import count, percent, points
from healthbench.store.coverage import SPECIALTY, TAG_KINDS, Cell
from healthbench.store.records import ExampleFilter
from healthbench.taxonomy import display_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from healthbench.store.coverage import BlindSpot, Coverage
    from healthbench.store.records import RunSummary

UNKNOWN_THEME = "Theme not known"
NO_AXIS = "No axis"
FULL_SET = "the full set of 5,000"
PROFESSIONAL_SET = "Professional's 525"
PAGE_SIZE = 20

UNITS = {
    "assignments": "criterion assignments",
    "unique_criteria": "unique criteria",
    "possible": "points possible",
    "penalty": "penalty points",
}
_ADDS_UP = {name: unit for name, unit in UNITS.items() if name != "unique_criteria"}
_PUBLISHED_USE_CASES = {row.use_case: row.total for row in published.PROFESSIONAL_TASKS.rows}
_ROW = "coverage_row"
_COLUMN = "coverage_column"
_PAGE = "coverage_page"


def conversations(run: RunSummary, found: Coverage) -> None:
    """Show which conversations the run contains: by theme, or by Professional's tags."""
    st.subheader("Which conversations does this run contain?")
    replies = f" with {count(run.n_examples)} replies" if run.n_examples != run.n_prompts else ""
    if found.themes["theme"].isna().all() and not found.tags.empty:
        _tagged_conversations(run, found, replies)
        return
    in_all = f"Unit: conversations. {count(run.n_prompts)} in all{replies}"
    if found.themes["theme"].isna().all():
        st.caption(f"{in_all}.")
        empty(
            "This run's file does not say which theme a conversation has.",
            "Attach the benchmark's data set (its JSONL file) on the page *Runs*: it has the themes by prompt.",
        )
        return
    st.caption(f"{in_all}; each has one theme, so the bars sum to them.")
    shares = {row.name: row.value / 5000 for row in published.THEMES.rows}
    bars = [
        Bar(_theme_name(theme), n, shares.get(_theme_name(theme)))
        for theme, n in zip(found.themes["theme"], found.themes["conversations"], strict=True)
    ]
    _bars(bars, "conversations", key="themes", elsewhere=FULL_SET)
    inferred = int(found.themes["inferred"].sum())
    if inferred:
        st.caption(
            f"The theme of {count(inferred)} examples is only inferred from their consensus criteria; "
            "attach the data set on the page *Runs* to know it."
        )


def _tagged_conversations(run: RunSummary, found: Coverage, replies: str) -> None:
    kinds = [kind for kind in (*TAG_KINDS, SPECIALTY) if kind in set(found.tags["kind"])]
    kind = st.segmented_control(
        "Conversations by", kinds, default=kinds[0], required=True, key="tag_kind", wrap=True
    )
    st.caption(
        f"Unit: conversations. {count(run.n_prompts)} in all{replies}, by {kind}; this benchmark has no themes."
    )
    rows = found.tags[found.tags["kind"] == kind]
    bars = [
        Bar(display_name(tag), n, _professional_share(kind, tag))
        for tag, n in zip(rows["tag"], rows["conversations"], strict=True)
    ]
    missing = run.n_prompts - int(rows["conversations"].sum())
    if missing > 0:
        bars.append(Bar("Not known", missing))
    _bars(bars, "conversations", key="tags", elsewhere=PROFESSIONAL_SET)


def _professional_share(kind: str, tag: str) -> float | None:
    tasks = published.PROFESSIONAL_TASKS.rows
    total = sum(row.total for row in tasks)
    counts: Mapping[str, int] = {
        **_PUBLISHED_USE_CASES,
        "good_faith": sum(row.good_faith_typical + row.good_faith_difficult for row in tasks),
        "red_teaming": sum(row.red_teaming_difficult for row in tasks),
        "typical": sum(row.good_faith_typical for row in tasks),
        "difficult": sum(row.good_faith_difficult + row.red_teaming_difficult for row in tasks),
    }
    if kind == SPECIALTY:
        counts = {row.name: row.value for row in published.SPECIALTIES.rows}
    return counts[tag] / total if tag in counts else None


def criteria(run: RunSummary, found: Coverage) -> None:
    """Show what the run's criteria ask for: by axis, in a unit the reader chooses, and by level."""
    st.subheader("What do its criteria ask for?")
    unit = _unit("axes_unit", UNITS)
    total = count(run.n_items)
    st.caption(
        f"Unit: {UNITS[unit]}. {total} assignments in all (a rubric line of one reply), "
        f"{count(found.unique_criteria)} unique texts."
        + (" A text used on two axes counts on both." if unit == "unique_criteria" else "")
    )
    penalty = unit == "penalty"
    if found.axes["axis"].isna().all():
        signs = [
            Bar("Positive criteria", run.n_items - int(found.axes["penalties"].sum())),
            Bar("Penalty criteria", int(found.axes["penalties"].sum())),
        ]
        _bars(signs, UNITS["assignments"], key="signs")
        empty(
            "No criterion of this run carries an axis.",
            "Axes are tags of the rubric in HealthBench's data set: import a results file that keeps them. "
            "HealthBench Professional has none.",
        )
        return
    shares = {row.name: row.value / 57237 for row in published.AXES.rows}
    bars = [
        Bar(_axis_name(axis), n, shares.get(_axis_name(axis)) if unit == "assignments" else None)
        for axis, n in zip(found.axes["axis"], found.axes[unit], strict=True)
    ]
    _bars(bars, UNITS[unit], key="axes", elsewhere=FULL_SET, penalty=penalty)
    levels = ", ".join(
        f"{escaped(display_name(level)) if level else 'no level'} {count(n)}"
        for level, n in zip(found.levels["level"], found.levels[unit], strict=True)
    )
    if found.levels["level"].notna().any():
        st.caption(f"By level: {levels}.")


def _bars(
    bars: list[Bar], unit: str, *, key: str, elsewhere: str = "", penalty: bool = False
) -> None:
    total = sum(bar.value for bar in bars)
    table = pd.DataFrame(
        {
            "name": [bar.name for bar in bars],
            unit: [bar.value for bar in bars],
            "share": [bar.value / total if total else None for bar in bars],
        }
    )
    if any(bar.elsewhere is not None for bar in bars):
        table[f"share in {elsewhere}"] = [bar.elsewhere for bar in bars]
    chart(
        counted(bars, unit, palette(), penalty=penalty, elsewhere=elsewhere),
        key=key,
        alt=f"{unit.capitalize()}: " + ", ".join(f"{b.name} {count(b.value)}" for b in bars) + ".",
        table=table,
        formats={unit: count, "share": percent, f"share in {elsewhere}": percent},
    )


def published_sizes(run: RunSummary, found: Coverage) -> None:
    """Show the sizes of the published sets under this run's own."""
    with st.expander("Beside the published sets"):
        own = (
            f"This run ({run.info.benchmark or 'benchmark not recorded'})",
            run.n_prompts,
            None,
            run.n_items,
            int(found.axes["penalties"].sum()),
            found.unique_criteria,
        )
        columns = [
            "set",
            "conversations",
            "multi-turn",
            "criterion assignments",
            "penalties",
            "unique criteria",
        ]
        sizes = pd.DataFrame([own, *published.SIZES.rows], columns=columns)
        show_table(
            sizes,
            key="sizes",
            alt="Sizes of this run and of the published sets",
            formats=dict.fromkeys(columns[1:], count),
        )
        source = published.SOURCES[published.SIZES.source]
        st.caption(
            f"{published.SIZES.conditions} Source: {published.SIZES.place} ({source.title}). With repeats, this run's "
            "assignments are counted once a reply."
        )


@st.fragment
def cells(found: Coverage) -> None:
    """Show the theme x axis grid and the criteria of the chosen cell; without themes and axes, all criteria."""
    if found.grid["theme"].isna().all() and found.grid["axis"].isna().all():
        st.subheader("Criteria")
        _criteria_table(Cell(None, None), "All")
        return
    st.subheader("Which axes do the themes' criteria ask about?")
    unit = _unit("grid_unit", _ADDS_UP)
    rows = [_theme_name(theme) for theme in dict.fromkeys(found.grid["theme"])]
    columns = [_axis_name(axis) for axis in found.axes["axis"]]
    squares = [
        Square(_theme_name(theme), _axis_name(axis), float(value), (theme or "", axis or ""))
        for theme, axis, value in zip(
            found.grid["theme"], found.grid["axis"], found.grid[unit], strict=True
        )
    ]
    st.caption(
        f"Area: {UNITS[unit]} of a theme's conversations on an axis. Click a square, or choose below, to list its criteria."
    )
    chart(
        grid(squares, rows, columns, UNITS[unit], palette(), penalty=unit == "penalty"),
        key="grid",
        alt=f"Grid of {len(rows)} themes by {len(columns)} axes; the area of a square is its {UNITS[unit]}.",
        table=pd.DataFrame(
            {
                "theme": [_theme_name(theme) for theme in found.grid["theme"]],
                "axis": [_axis_name(axis) for axis in found.grid["axis"]],
                **{name: found.grid[column] for column, name in UNITS.items()},
            }
        ),
        formats=dict.fromkeys(UNITS.values(), count),
        on_select=_choose_clicked,
    )
    _chosen_cell(found)


def _choose_clicked() -> None:
    clicked = st.session_state["grid"]["selection"]["points"]
    if clicked:
        theme, axis = clicked[0]["customdata"]
        st.session_state[_ROW] = theme
        st.session_state[_COLUMN] = axis
        st.session_state[_PAGE] = 1


def _chosen_cell(found: Coverage) -> None:
    themes = [theme or "" for theme in dict.fromkeys(found.grid["theme"])]
    axes = [axis or "" for axis in found.axes["axis"]]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        theme = st.selectbox(
            "Theme",
            themes,
            index=None,
            key=_ROW,
            placeholder="Choose a theme",
            format_func=_theme_name,
        )
        axis = st.selectbox(
            "Axis",
            axes,
            index=None,
            key=_COLUMN,
            placeholder="Choose an axis",
            format_func=_axis_name,
        )
    if theme is None or axis is None:
        return
    name = f"{_theme_name(theme)}, {_axis_name(axis)}"
    _criteria_table(Cell(theme or None, axis or None), name)


def _criteria_table(cell: Cell, name: str) -> None:
    run_id = state.view().run or ""
    offset = PAGE_SIZE * (st.session_state.get(_PAGE, 1) - 1)
    listed, total = data.criteria_of(run_id, cell, PAGE_SIZE, offset)
    if listed.empty and offset:
        st.session_state[_PAGE] = 1
        listed, total = data.criteria_of(run_id, cell, PAGE_SIZE, 0)
    st.markdown(f"**{name}**: {count(total)} different criteria")
    if not total:
        return
    st.session_state["coverage_listed"] = [int(criterion) for criterion in listed["criterion"]]
    table = listed.assign(open="Examples")
    show_table(
        table[["open", "points", "assignments", "met", "not_met", "unknown", "text"]],
        key="cell_criteria",
        alt=f"Criteria of {name}",
        formats={"points": points},
        column_config={
            "open": st.column_config.ButtonColumn(
                "open", key="open_criterion", on_click=_open_criterion, width="small"
            ),
            "points": st.column_config.Column(width="small", alignment="right"),
            "assignments": st.column_config.Column("used", width="small"),
            "met": st.column_config.Column(width="small"),
            "not_met": st.column_config.Column("not met", width="small"),
            "unknown": st.column_config.Column(width="small"),
            "text": st.column_config.Column("criterion", width="large"),
        },
        height="content",
    )
    pages = -(-total // PAGE_SIZE)
    if pages > 1:
        st.pagination(pages, key=_PAGE)


def _open_criterion() -> None:
    row = st.session_state["open_criterion"]["row"]
    criterion = st.session_state["coverage_listed"][row]
    state.open_page("examples", filters=ExampleFilter(criterion=criterion), page=1)


def blind_spot(run: RunSummary, found: BlindSpot) -> None:
    """Show the penalty points that no axis score contains."""
    st.subheader("Blind spot: which penalties does no axis score show?")
    if found.share is None:
        st.markdown("This run's rubrics have no penalties, so nothing can be hidden.")
        return
    if found.axes["axis"].isna().all():
        st.markdown("No criterion of this run carries an axis, so there are no axis scores.")
        return
    st.markdown(
        "An axis has a score in an example only if it has a positive criterion there. Penalties on an axis that has only "
        "penalties lower the example's score, but no axis shows them."
    )
    with st.container(horizontal=True):
        st.metric(
            "Penalty points no axis score contains",
            percent(found.share),
            help=f"{count(found.total('blind_penalty'))} of {count(found.total('penalty'))} penalty points, met or not",
        )
        st.metric(
            "Incurred points no axis score contains",
            points(-found.total("blind_incurred")),
            help=f"of {points(-found.total('incurred'))} points incurred in all",
        )
        st.metric(
            "Examples with such an axis",
            percent(found.n_examples / run.n_examples),
            help=f"{count(found.n_examples)} of {count(run.n_examples)} examples have at least one axis with only penalties",
        )
    st.caption(
        f"{count(found.total('blind_penalty'))} of {count(found.total('penalty'))} penalty points, met or not; "
        f"{points(-found.total('blind_incurred'))} of {points(-found.total('incurred'))} points incurred; "
        f"{count(found.n_examples)} of {some(run.n_examples, 'example')}."
    )
    axes = found.axes
    names = [_axis_name(axis) for axis in axes["axis"]]
    chart(
        seen_and_unseen(
            names, axes["penalty"] - axes["blind_penalty"], axes["blind_penalty"], palette()
        ),
        key="blind",
        alt="Penalty points by axis, split into those an axis score contains and those none contains.",
        table=pd.DataFrame(
            {
                "axis": names,
                "penalty points": axes["penalty"],
                "in no axis score": axes["blind_penalty"],
                "incurred points": axes["incurred"],
                "incurred, in no axis score": axes["blind_incurred"],
                "examples": axes["blind_examples"],
            }
        ),
    )


def _unit(key: str, units: Mapping[str, str]) -> str:
    return st.segmented_control(
        "Unit",
        list(units),
        default="assignments",
        required=True,
        key=key,
        # Without the word they share with the title, so that all units stand in one line.
        format_func=lambda name: units[name].removeprefix("criterion "),
        label_visibility="collapsed",
        wrap=True,
    )


def _theme_name(theme: str | None) -> str:
    return display_name(theme) if theme else UNKNOWN_THEME


def _axis_name(axis: str | None) -> str:
    return display_name(axis) if axis else NO_AXIS
