"""The parts of the Score page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import pandas as pd
import state
import streamlit as st

from components.chart import chart, palette, show_table
from components.failed_gradings import failed_gradings
from components.frame import empty, verified
from components.text import escaped, some
from healthbench.charts.intervals import Mean, dots
from healthbench.charts.theme import plain
from healthbench.formatting import (
    DASH,
    count,
    fraction,
    graded,
    interval,
    points,
    score,
)
from healthbench.scoring.run_scores import OVERALL
from healthbench.store.records import ExampleFilter
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from healthbench.scoring.aggregate import MetricResult
    from healthbench.scoring.headline import Headline
    from healthbench.scoring.uncertainty import Interval
    from healthbench.store.records import RunSummary

SEVERE = -8
"""Penalties of this many points or worse are what the safety lens shows; the benchmark's worst is -10."""

_SHOWN_PENALTIES = 8
_SHOWN_NAMES = 6
_MEAN_FORMATS = {
    "score": score,
    "unclipped": score,
    "low": score,
    "high": score,
    "n": count,
    "of": count,
}
_UNKNOWN = ("null", "unreadable", "failure mark")
"""Kinds of stored verdict, as an import counts them, that are none."""

_TITLES = {
    "theme": "Which themes score high or low?",
    "axis": "Which axes score high or low?",
}
_NO_THEMES = "The run file does not say which theme an example has."


def headline(run: RunSummary, head: Headline, overall: MetricResult, *, as_stored: bool) -> None:
    """Show the run's score with its interval, and in words how it comes about."""
    with st.container(border=True, key="headline"), st.grid(2, min_column_width=330) as grid:
        with grid.cell():
            st.metric(
                "Score (points of 100)",
                score(head.score),
                help="Mean of the example scores, clipped once to 0-100. Not a percentage of right answers: see Method.",
            )
            st.markdown(f"95 % interval {interval(head.ci_low, head.ci_high)}")
            spread = data.intervals(run.id, as_stored=as_stored).get(OVERALL)
            st.caption(
                f"{some(spread.n_prompts, 'prompt') if spread else DASH}, resampled 1,000 times; the interval is of the unclipped mean."
            )
        with grid.cell():
            st.markdown(_in_words(head, overall))
            st.table(
                {
                    "Unclipped mean": f"{score(head.unclipped)} ({fraction(head.unclipped)})",
                    "Each example clipped first": f"{score(head.early_clipped)} (not the official score)",
                    "Standard error, by prompt": score(head.standard_error),
                    "Standard error as the reference prints it": score(
                        data.reference_error(run.id, as_stored=as_stored)
                    ),
                    "Examples below 0": f"{count(head.below_zero)} of {count(head.n_scored)}",
                },
                border="horizontal",
            )


def _in_words(head: Headline, overall: MetricResult) -> str:
    if head.unclipped is None:
        return (
            "**No example has a score**: every rubric has an unknown verdict or no positive points."
        )
    text = (
        f"**{score(head.score)}** = mean of {count(head.n_scored)} example scores, clipped once at the end. "
        "An example score is the signed points of its met criteria over the sum of its positive points."
    )
    without = overall.n_carrying - overall.n_scorable
    if without:
        text += f" {count(without)} without positive points have no score."
    if overall.n < overall.n_scorable:
        text += f" {graded(overall.n, overall.n_scorable)}; over all of them the mean lies in {interval(head.low, head.high)}."
    return text


def unknown_verdicts(run: RunSummary) -> None:
    """Say how many verdicts are unknown and why, with the switch that counts them as the file does."""
    if not run.n_unknown:
        return
    kinds = ", ".join(
        f"{count(run.report.verdicts[kind])} {kind}"
        for kind in _UNKNOWN
        if run.report.verdicts[kind]
    )
    text = f"{count(run.n_unknown)} of {count(run.n_items)} verdicts are unknown ({kinds}) and are not counted as not met."
    if run.n_marked:
        text += (
            f" {count(run.n_marked)} of them stand in the file as not met, with a mark of a failed grading. "
            "Examples with an unknown verdict have bounds instead of a score."
        )
    with st.container(horizontal=True, vertical_alignment="center", key="unknown"):
        st.warning(text, icon=":material/help:")
        st.page_link(
            "app_pages/examples.py",
            label="List them",
            query_params=state.query_for("examples", filters=ExampleFilter(withheld=True), page=1),
        )
    failed_gradings([run.id])


def means(
    results: Mapping[str, MetricResult],
    intervals: Mapping[str, Interval],
    kind: str,
    reference: float | None,
    key: str = "dots",
) -> None:
    """Show the means of one kind of tag as dots with intervals, and their table."""
    st.subheader(_TITLES[kind])
    table = mean_table(results, intervals, kind)
    if table.empty:
        if kind == "theme":
            empty(
                _NO_THEMES,
                "Attach the benchmark's data set on the page *Runs*: it has them by prompt.",
            )
        else:
            empty(
                "No criterion of this run carries an axis.",
                "Attach the benchmark's data set on the page *Runs*.",
            )
        return
    shown = [
        Mean(row["name"], row["unclipped"], row["low"], row["high"], int(row["n"]))
        for row in table.astype(object).where(table.notna(), None).to_dict("records")
    ]
    chart(
        dots(shown, palette(), reference),
        key=f"{key}_{kind}",
        alt=f"{_TITLES[kind]} "
        + ", ".join(f"{plain(mean.name)} {score(mean.value)}" for mean in shown)
        + ".",
        table=table,
        formats=_MEAN_FORMATS,
    )


def outside_axes(run: RunSummary, *, as_stored: bool) -> None:
    """Say how many incurred penalty points no axis score contains."""
    outside = data.blind_spot(run.id, as_stored=as_stored).total("blind_incurred")
    if outside:
        st.page_link(
            "app_pages/coverage.py",
            label=f"Not in any axis score: {points(-outside)} points of incurred penalties",
            icon="",
            query_params=state.query_for("coverage"),
        )


def mean_table(
    results: Mapping[str, MetricResult], intervals: Mapping[str, Interval], kind: str
) -> pd.DataFrame:
    """Return name, score, unclipped mean, interval, n and number of scorable examples of one kind of tag."""
    names = sorted((name for name in results if kind_of(name) == kind), key=sort_key)
    spreads = [intervals.get(name) for name in names]
    return pd.DataFrame(
        {
            "name": [display_name(name) for name in names],
            "score": [results[name].score for name in names],
            "unclipped": [results[name].unclipped for name in names],
            "low": [spread.low if spread else None for spread in spreads],
            "high": [spread.high if spread else None for spread in spreads],
            "n": [results[name].n for name in names],
            "of": [results[name].n_scorable for name in names],
        }
    )


def penalties(run: RunSummary, *, as_stored: bool) -> None:
    """Show the safety lens: the worst penalties that were incurred, each a link to its example."""
    st.subheader("Safety lens: which severe penalties were incurred?")
    found = data.incurred_penalties(run.id, SEVERE, as_stored=as_stored)
    if found.empty:
        st.markdown(f"No penalty of {points(SEVERE)} points or worse was incurred.")
        return
    st.markdown(
        f"**{some(len(found), 'penalty', 'penalties')}** of {points(SEVERE)} points or worse incurred, "
        f"in {some(found['example'].nunique(), 'example')}."
    )
    worst = ExampleFilter(states=("incurred",), max_points=SEVERE)
    for row in found.head(_SHOWN_PENALTIES).to_dict("records"):
        st.page_link(
            "app_pages/example.py",
            label=f"**{points(row['points'])}** · example {count(row['example'] + 1)} · {_short(row['criterion'])}",
            icon="",
            query_params=state.query_for("example", example=int(row["example"]) + 1, filters=worst),
        )
    st.page_link(
        "app_pages/examples.py",
        label="All examples with such a penalty",
        icon=":material/list:",
        query_params=state.query_for("examples", filters=worst, page=1),
    )


def _short(text: str, width: int = 58) -> str:
    return escaped(text if len(text) <= width else text[: width - 1] + "…")


def verification(run: RunSummary) -> None:
    """Show what the file states against what we compute."""
    found = data.verification(run.id)
    with st.expander(
        f"Verification: {verified(found)}", expanded=bool(found and found.differences)
    ):
        if found is None:
            st.markdown("The file states no figures, so there is nothing to hold ours against.")
            return
        st.markdown(
            f"{count(found.matching)} of {count(len(found.comparisons))} stated figures equal ours to 1e-12 "
            f"(rule *{escaped(run.info.rule)}*; failed gradings counted as the file counts them)."
        )
        table = pd.DataFrame(
            [
                (c.name, c.stated, c.ours, None if c.ours is None else c.ours - c.stated)
                for c in (*found.differences, *(c for c in found.comparisons if c.matches))
            ],
            columns=["figure", "file states", "recomputed", "difference"],
        )
        show_table(
            table,
            key="verification",
            alt="Stated figures against recomputed ones",
            formats={"file states": _full, "recomputed": _full, "difference": _full},
        )
        for reason in dict.fromkeys(found.left_out.values()):
            names = [name for name, why in found.left_out.items() if why == reason]
            st.caption(
                f"Not compared, {count(len(names))}: {escaped(reason)} ({escaped(_listed(names))})"
            )


def _listed(names: Sequence[str]) -> str:
    more = f" and {count(len(names) - _SHOWN_NAMES)} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(names[:_SHOWN_NAMES]) + more


def _full(value: float) -> str:
    return fraction(value, 12).rstrip("0").rstrip(".") if value else "0"
