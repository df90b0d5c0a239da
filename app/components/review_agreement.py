"""The figures of the Agreement page: grader against reviewers, in all and in parts, and reviewers against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import agreement_data
import pandas as pd
import review_data
import streamlit as st
from agreement_data import Basis

from components.chart import chart, palette, show_table
from components.frame import empty
from components.text import some
from healthbench import published
from healthbench.charts.agreement import Part, agreement_dots, confusion_squares
from healthbench.formatting import (
    DASH,
    count,
    difference,
    fraction,
    interval,
    percent,
    plain_interval,
    sample_size,
    score,
)
from healthbench.taxonomy import THEMES, display_name, sort_key

if TYPE_CHECKING:
    from healthbench.review.agreement import Agreement, Figure
    from healthbench.review.estimate import Estimate
    from healthbench.store.records import RunSummary

FIGURES = {
    "ac1": "Gwet's AC1",
    "kappa": "Cohen's kappa",
    "raw": "Raw agreement",
    "macro_f1": "Macro F1",
}
_HELP = {
    "raw": "Share of pairs on which both say the same. High by itself where nearly all verdicts are alike.",
    "kappa": "Agreement beyond chance, chance from each side's own share of met. Collapses where one verdict is rare.",
    "ac1": "Agreement beyond chance by Gwet: stays meaningful where nearly all verdicts are alike, as here.",
    "macro_f1": "Mean of the F1 for met and for not met, each verdict paired with every reviewer's: the paper's figure.",
}
_PARTS = {"theme": "Theme", "axis": "Axis", "cluster": "Consensus cluster", "sign": "Sign"}
_EVERYONE = "everyone"
_YARDSTICK = {row.theme: row.physician_mean for row in published.GRADER_BY_THEME.rows}


def basis(run: RunSummary) -> Basis:
    """Ask what to compare."""
    events = review_data.events(run.id)
    names = sorted({event.reviewer for event in events})
    samples = agreement_data.samples(run.id)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        who = st.selectbox("Reviewers", [_EVERYONE, *names], key="agreement_who", width=240)
        blind = st.segmented_control(
            "Decisions",
            [True, False],
            format_func={True: "before seeing the grader's", False: "as they stand"}.get,
            default=True,
            required=True,
            key="agreement_blind",
        )
        weighted = st.selectbox(
            "Weights",
            [*samples, None],
            format_func=lambda queue: (
                "each verdict counts once"
                if queue is None
                else f"back to the run, by {samples[queue]}"
            ),
            key="agreement_weights",
            width=320,
        )
    if weighted is None:
        st.caption(
            "Unweighted: these figures describe the verdicts that were looked at. Where they were not drawn at random "
            "they say nothing about the rest of the run; make a sample on the page *Review* for that."
        )
    else:
        st.caption(
            "Each verdict of the sample counts by the inverse of the chance it had to be drawn, so the figures estimate "
            "those of the whole run; so do the numbers in the squares. Verdicts reviewed for another reason are left out."
        )
    return Basis(None if who == _EVERYONE else who, bool(blind), weighted)


def overall(found: Agreement) -> None:
    """Show the four figures over all pairs."""
    with st.container(horizontal=True, gap="large", key="agreement_figures"):
        for name in ("raw", "ac1", "kappa", "macro_f1"):
            figure: Figure = getattr(found, name)
            st.metric(
                FIGURES[name],
                percent(figure.value) if name == "raw" else fraction(figure.value, 2),
                delta=_interval(figure, name),
                delta_color="off",
                delta_arrow="off",
                help=_HELP[name],
                width="content",
            )
    st.caption(
        f"{some(found.n, 'pair')} of grader and reviewer on {some(found.n_verdicts, 'verdict')}. The 95 % intervals "
        "resample prompts, so that criteria of one prompt move together."
    )


def _interval(figure: Figure, name: str) -> str:
    if figure.interval is None:
        return "no interval"
    low, high = figure.interval.low, figure.interval.high
    if name == "raw":
        return f"[{percent(low)}, {percent(high)}]"
    return plain_interval(low, high)


def confusions(by_sign: list[Agreement]) -> None:
    """Show the two-by-two tables of positive criteria and of penalties."""
    titles = {"positive": "Positive criteria", "penalty": "Penalties"}
    with st.grid(2, min_column_width=330, gap="medium") as grid:
        for part in sorted(by_sign, key=lambda part: part.name, reverse=True):
            cells = part.table
            with grid.cell():
                st.markdown(f"**{titles[part.name]}**, {sample_size(part.n)}")
                chart(
                    confusion_squares(cells, palette(), "grader", "reviewer"),
                    key=f"confusion_{part.name}",
                    alt=f"{titles[part.name]}: both met {count(cells.both_met)}, only the grader {count(cells.only_first)}, "
                    f"only the reviewer {count(cells.only_second)}, neither {count(cells.neither)}.",
                    table=pd.DataFrame(
                        {
                            "grader": ["met", "met", "not met", "not met"],
                            "reviewer": ["met", "not met", "met", "not met"],
                            "n": list(cells),
                        }
                    ),
                    formats={"n": count},
                )


def parts(run: RunSummary, chosen: Basis) -> None:
    """Show one figure by theme, axis, cluster or sign."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        part = st.segmented_control(
            "By",
            list(_PARTS),
            format_func=_PARTS.get,
            default="theme",
            required=True,
            key="agreement_part",
        )
        name = st.selectbox(
            "Figure", list(FIGURES), format_func=FIGURES.get, key="agreement_figure", width=240
        )
    found = sorted(agreement_data.by_part(run.id, chosen, part), key=lambda row: sort_key(row.name))
    if not found:
        empty(f"None of these verdicts has a {_PARTS[part].lower()}.", "Choose another part.")
        return
    papers = agreement_data.theme_f1(run.id, chosen) if part == "theme" else {}
    shown = [_part(row, name, papers) for row in found]
    chart(
        agreement_dots(shown, palette(), FIGURES[name]),
        key="agreement_dots",
        alt=f"{FIGURES[name]} by {_PARTS[part].lower()}: "
        + ", ".join(f"{part_.name} {fraction(part_.value, 2)}" for part_ in shown)
        + ".",
        table=_table(found, papers),
        formats={
            "n": count,
            "raw agreement": percent,
            **{
                column: lambda value: fraction(value, 2)
                for column in ("AC1", "kappa", "macro F1", "as the paper", "physicians")
            },
        },
    )
    if part == "theme":
        st.caption(
            "*As the paper*: the mean over the theme's consensus clusters, weighted by their n. *Physicians*: what "
            f"physicians reach among themselves on it ({published.GRADER_BY_THEME.place}); over all, physicians and "
            "grader agree with physicians on 55 to 75 % (HealthBench, section 9)."
        )


def _part(row: Agreement, name: str, papers: dict[str, tuple[float, int]]) -> Part:
    figure: Figure = getattr(row, name)
    ends = figure.interval
    yardstick = _YARDSTICK.get(THEMES.get(row.name, "")) if name == "macro_f1" and papers else None
    return Part(
        display_name(row.name),
        figure.value,
        ends.low if ends else None,
        ends.high if ends else None,
        row.n,
        yardstick,
    )


def _table(found: list[Agreement], papers: dict[str, tuple[float, int]]) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "about": [display_name(row.name) for row in found],
            "n": [row.n for row in found],
            "raw agreement": [row.raw.value for row in found],
            "AC1": [row.ac1.value for row in found],
            "kappa": [row.kappa.value for row in found],
            "macro F1": [row.macro_f1.value for row in found],
        }
    )
    if papers:
        table["as the paper"] = [papers.get(row.name, (None, 0))[0] for row in found]
        table["physicians"] = [_YARDSTICK.get(THEMES.get(row.name, "")) for row in found]
    return table


def estimate(found: Estimate | None, wanted: float | None) -> None:
    """Show the score to expect after full review."""
    st.subheader("The score after full review")
    if found is None:
        empty(
            "No sample was reviewed, so nothing can be said about the verdicts nobody looked at.",
            "Make a sample on the page *Review*, and choose it above under *Weights*.",
        )
        return
    with st.container(horizontal=True, gap="large", key="estimate"):
        st.metric("Unclipped mean by the grader", score(found.by_grader), width="content")
        st.metric(
            "Expected after full review",
            score(found.value),
            delta=f"{difference(found.value - found.by_grader)}, 95 % {interval(found.low, found.high)}",
            delta_color="off",
            delta_arrow="off",
            width="content",
        )
        st.metric("Verdicts a reviewer would change", percent(found.wrong), width="content")
    decisive = found.low is not None and not found.low <= found.by_grader <= found.high
    words = [
        f"{some(found.n_sampled, 'verdict')} of the sample speak for the {count(found.n_left)} nobody looked at.",
        f"The {count(found.n_reviewed)} reviewed ones count as they are.",
        "The interval holds the luck of the draw, not the reviewers' own doubts.",
        "" if decisive else "The change is not decisive: the interval holds the grader's own mean.",
    ]
    if wanted is not None and found.half_width is not None:
        reached = found.half_width <= wanted
        words.append(
            f"Wanted: ± {score(wanted)} points; reached: ± {score(found.half_width)}"
            + (", so you can stop." if reached else ", so go on.")
        )
    st.caption(" ".join(word for word in words if word))


def between(run: RunSummary, chosen: Basis) -> None:
    """Show how reviewers agree with each other on what both looked at."""
    st.subheader("Reviewers against each other")
    found = agreement_data.between(run.id, blind=chosen.blind)
    if not found:
        empty(
            "No two reviewers looked at the same verdict.", "Assign a queue to several reviewers."
        )
        return
    table = pd.DataFrame(
        {
            "reviewers": [f"{first} and {second}" for first, second in found],
            "n": [row.n for row in found.values()],
            "both met": [row.table.both_met for row in found.values()],
            "only the first": [row.table.only_first for row in found.values()],
            "only the second": [row.table.only_second for row in found.values()],
            "neither": [row.table.neither for row in found.values()],
            "raw agreement": [row.raw.value for row in found.values()],
            "AC1": [row.ac1.value for row in found.values()],
            "kappa": [row.kappa.value for row in found.values()],
            "macro F1": [row.macro_f1.value for row in found.values()],
            "95 % of AC1": [
                plain_interval(row.ac1.interval.low, row.ac1.interval.high)
                if row.ac1.interval
                else DASH
                for row in found.values()
            ],
        }
    )
    numbers = ("n", "both met", "only the first", "only the second", "neither")
    show_table(
        table,
        key="between",
        alt="Agreement of every two reviewers, one pair a row",
        formats={
            **dict.fromkeys(numbers, count),
            "raw agreement": percent,
            **{name: lambda value: fraction(value, 2) for name in ("AC1", "kappa", "macro F1")},
        },
    )
