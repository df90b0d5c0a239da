"""The parts of the page Compare: which runs, what differs between them, and the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import compare_data
import data
import pandas as pd
import state
import streamlit as st

from components.chart import chart, palette, show_table
from components.text import escaped, some
from healthbench.charts.compare import differences
from healthbench.charts.theme import plain
from healthbench.comparison.output import verdict
from healthbench.errors import InputRefusedError
from healthbench.formatting import (
    FEW,
    count,
    difference,
    difference_interval,
    fraction,
    p_value,
    percent,
    score,
)
from healthbench.scoring.run_scores import OVERALL
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.comparison.flips import GraderAgreement
    from healthbench.comparison.gate import Gate
    from healthbench.comparison.pair import Comparison
    from healthbench.scoring.compare import PairedDifference
    from healthbench.store.records import RunSummary

_PLOTS = {
    "theme": "On which themes do the runs differ?",
    "axis": "On which axes do the runs differ?",
    "category": "On which physician categories do the runs differ?",
}
_FORMATS = {
    "other": score,
    "this": score,
    "difference": difference,
    "low": difference,
    "high": difference,
    "p (Holm)": p_value,
    "n": count,
}


class Others(NamedTuple):
    """The runs that the current one is compared with: one in full, further ones as columns."""

    first: str
    further: tuple[str, ...]


def pickers(run: RunSummary) -> Others | None:
    """Let the reader choose the runs to compare with; None where there is no other run."""
    others = [other.id for other in data.runs() if other.id != run.id]
    if not others:
        return None
    against = [chosen for chosen in state.view().against if chosen in others]
    if not against:
        against = [_likeliest(run, others)]
        state.change(against=tuple(against))
    st.session_state["against"] = against[0]
    st.session_state["against_further"] = against[1:]
    with st.container(horizontal=True, vertical_alignment="bottom", key="pickers"):
        st.selectbox(
            "This run, less the run",
            others,
            key="against",
            format_func=data.label,
            on_change=_choose,
            width=340,
        )
        st.button(
            "Swap",
            key="swap",
            icon=":material/swap_horiz:",
            on_click=_swap,
            args=(run.id,),
            help="Make the other run the current one.",
        )
        st.multiselect(
            "Further runs, as columns",
            [other for other in others if other != against[0]],
            key="against_further",
            format_func=data.label,
            on_change=_choose,
            placeholder="None",
            width=340,
        )
    return Others(against[0], tuple(against[1:]))


def _likeliest(run: RunSummary, others: Sequence[str]) -> str:
    """Return the other run that most likely shares prompts: the same benchmark and number of prompts."""
    known = {other.id: other for other in data.runs()}
    return max(
        others,
        key=lambda other: (
            known[other].info.benchmark == run.info.benchmark,
            known[other].n_prompts == run.n_prompts,
        ),
    )


def _choose() -> None:
    first = st.session_state["against"]
    further = [other for other in st.session_state["against_further"] if other != first]
    state.change(against=(first, *further))


def _swap(current: str) -> None:
    first, *further = state.view().against
    state.choose_run(first)
    state.change(against=(current, *(other for other in further if other != first)))


def compared(run: RunSummary, other: str, *, as_stored: bool = False) -> Comparison | None:
    """Return the current run less another on the slice, or show in a sentence why there is none."""
    try:
        return compare_data.comparison(other, run.id, state.in_slice(), as_stored=as_stored)
    except InputRefusedError as refused:
        st.warning(escaped(str(refused)), icon=":material/block:")
        return None


def gate_panel(found: Comparison) -> None:
    """Show what differs between the runs before any number."""
    checked = found.gate
    with st.container(border=True, key="gate", gap="xsmall"):
        same = "same rubrics" if checked.first.rubric == checked.second.rubric else "rubric differs"
        if not checked.other_rubric and not checked.dropped:
            same = "the same prompts and rubrics"
        st.markdown(
            f"Compared on **{some(len(checked.kept), 'shared prompt')}** · {escaped(same)} · {escaped(checked.graders)}"
        )
        for finding in checked.findings:
            st.markdown(f"- {escaped(finding.sentence)}")
        if checked.dropped or checked.outside_slice:
            _own_scores(found)
        with st.expander("Fingerprints of both runs"):
            _fingerprints(checked)


def _own_scores(found: Comparison) -> None:
    for name, own in zip(found.gate.names, found.own, strict=True):
        st.markdown(
            f"- {escaped(name)}: {score(own.whole)} over its {some(own.n_examples, 'example')} becomes "
            f"{score(own.compared)} over the compared prompts ({difference(own.change)})."
        )


def _fingerprints(checked: Gate) -> None:
    sides = checked.first, checked.second
    table = pd.DataFrame(
        {
            "": [
                "prompts",
                "rubrics and tags",
                "benchmark",
                "grader",
                "replies a prompt",
                "unknown verdicts",
            ],
            **{
                name: [
                    f"{count(side.run.n_prompts)} · {side.prompt_set}",
                    side.rubric,
                    side.run.info.benchmark or "not recorded",
                    side.run.info.grader or "not recorded",
                    side.replies_in_words,
                    f"{count(side.run.n_unknown)} of {count(side.run.n_items)}",
                ]
                for name, side in zip(checked.names, sides, strict=True)
            },
        }
    ).rename(columns={"": "condition"})
    show_table(table, key="fingerprints", alt="Conditions of both runs side by side")
    st.caption("Equal hashes mean equal content, whichever file or machine a run comes from.")


def headline(found: Comparison) -> None:
    """Show the difference with its interval, in words whether it is decisive, and who won where."""
    overall, names = found.overall, found.gate.names
    with st.container(border=True, key="headline"), st.grid(2, min_column_width=330) as grid:
        with grid.cell():
            st.metric(
                "Difference of unclipped means, points of 100",
                difference(overall.difference),
                help="This run less the other, on the prompts both have a score for; repeats of a prompt are averaged first.",
            )
            st.markdown(
                f"95 % interval **{difference_interval(overall.low, overall.high)}** · {p_value(overall.p)} · "
                f"{some(overall.n_prompts, 'prompt')} · {escaped(found.gate.graders)}"
            )
            st.markdown(f"**{verdict(overall).capitalize()}.**")
        with grid.cell():
            st.table(
                {
                    f"{escaped(names[1])} (this run)": score(overall.second),
                    escaped(names[0]): score(overall.first),
                    "Better, worse, same": f"{count(overall.wins)} · {count(overall.losses)} · {count(overall.ties)} prompts",
                    "Smallest difference this n could show": score(overall.smallest_detectable),
                },
                border="horizontal",
            )
            st.caption(
                "Interval: 1,000 resamples over prompts. p: signs of the prompts' differences flipped. The smallest difference "
                "is the true one that 80 % of such comparisons would find at 5 %."
            )


def plots(found: Comparison) -> None:
    """Show the differences by theme, axis and category."""
    shown = [kind for kind in _PLOTS if _of_kind(found, kind)]
    with st.grid(2, min_column_width=430, gap="medium") as grid:
        for kind in shown:
            if kind != "category":
                with grid.cell():
                    _plot(found, kind)
    if "category" in shown:
        _plot(found, "category")
    if not shown:
        st.markdown("Neither run has themes or axes: attach the data set on the page *Runs*.")
    st.caption(
        "Filled and coloured only where the interval excludes 0 and p stays below 5 % after Holm's correction over the "
        f"chart's rows; hollow and grey is not decisive. Means of fewer than {FEW} prompts are marked. "
        f"{escaped(found.gate.graders.capitalize())}."
    )


def _plot(found: Comparison, kind: str) -> None:
    st.subheader(_PLOTS[kind])
    rows = _of_kind(found, kind)
    said = (
        f"{plain(display_name(row.name))} {difference(row.difference)}, "
        f"{'decisive' if row.decisive else 'not decisive'}"
        for row in rows
    )
    chart(
        differences(rows, palette()),
        key=f"differences_{kind}",
        alt=f"{_PLOTS[kind]} {', '.join(said)}.",
        table=_table(rows),
        formats=_FORMATS,
    )
    st.caption(_in_words(rows))


def _in_words(rows: Sequence[PairedDifference]) -> str:
    decisive = sum(row.decisive for row in rows)
    open_rows = [row.smallest_detectable for row in rows if not row.decisive]
    known = [value for value in open_rows if value is not None]
    text = f"{count(decisive) if decisive else 'None'} of {count(len(rows))} is decisive."
    if decisive > 1:
        text = f"{count(decisive)} of {count(len(rows))} are decisive."
    if known:
        text += (
            f" With so many prompts, the smallest difference that the others could show is {score(min(known))} "
            f"to {score(max(known))} points."
        )
    if len(known) < len(open_rows):
        text += " Fewer than 6 prompts cannot be decisive, whatever their difference."
    return text


def _of_kind(found: Comparison, kind: str) -> list[PairedDifference]:
    names = sorted((name for name in found.differences if kind_of(name) == kind), key=sort_key)
    return [found.differences[name] for name in names]


def _table(rows: Sequence[PairedDifference]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [display_name(row.name) for row in rows],
            "other": [row.first for row in rows],
            "this": [row.second for row in rows],
            "difference": [row.difference for row in rows],
            "low": [row.low for row in rows],
            "high": [row.high for row in rows],
            "p (Holm)": [row.p_holm for row in rows],
            "decisive": ["decisive" if row.decisive else "not decisive" for row in rows],
            "n": [row.n_prompts for row in rows],
        }
    )


def columns(found: Comparison, further: Sequence[Comparison]) -> None:
    """Show every metric as a row and every compared run as a column."""
    st.subheader("All runs and metrics in one table")
    every = [found, *further]
    tags = [name for name in found.differences if kind_of(name) in (*_PLOTS, "tag")]
    names = [OVERALL, *sorted(tags, key=sort_key)]
    table = pd.DataFrame(
        {
            "metric": [display_name(name) for name in names],
            "this run": [found.differences[name].second for name in names],
            **{
                f"less {_other(one)}": [_cell(one.differences.get(name)) for name in names]
                for one in every
            },
        }
    )
    show_table(
        table,
        key="columns",
        alt="Differences of this run to each other run, one metric a row",
        formats={"this run": score},
        height="content" if len(table) <= 16 else 590,
    )
    st.caption(
        "This run less each other run, with the 95 % interval and n prompts; ✓ decisive. "
        + "; ".join(f"{escaped(_other(one))}: {escaped(one.gate.graders)}" for one in every)
        + "."
    )


def _other(found: Comparison) -> str:
    return data.label(found.gate.first.run.id)


def _cell(row: PairedDifference | None) -> str | None:
    if row is None:
        return None
    mark = "✓" if row.decisive else "not decisive"
    return f"{difference(row.difference)} {mark} {difference_interval(row.low, row.high)} n = {count(row.n_prompts)}"


def agreement_panel(graders: GraderAgreement) -> None:
    """Show how two gradings of the same replies agree: the difference is the grader's alone."""
    st.subheader("Same replies, two gradings")
    st.markdown(
        "Every compared reply is the same text in both runs, so what differs is the grading. "
        f"The verdicts agree on **{percent(graders.table.agreement)}** of {some(int(graders.table.total), 'criterion', 'criteria')}."
    )
    with st.container(horizontal=True):
        st.metric("Cohen's kappa", fraction(graders.kappa, 3))
        st.metric("Gwet's AC1", fraction(graders.ac1, 3))
        st.metric("Macro F1", fraction(graders.macro_f1, 3), help="The other run as the labels.")
    intervals = [
        f"{name} {fraction(found.low, 3)} to {fraction(found.high, 3)}"
        for name, found in (("kappa", graders.kappa_interval), ("AC1", graders.ac1_interval))
        if found
    ]
    if intervals:
        st.caption(f"95 % intervals by prompt: {', '.join(intervals)}.")
    signs = {"all": graders.table, **graders.by_sign}
    table = pd.DataFrame(
        {
            "criteria": list(signs),
            "both met": [cells.both_met for cells in signs.values()],
            "only the other": [cells.only_first for cells in signs.values()],
            "only this run": [cells.only_second for cells in signs.values()],
            "neither": [cells.neither for cells in signs.values()],
            "agreement": [cells.agreement for cells in signs.values()],
        }
    )
    show_table(
        table,
        key="confusion",
        alt="Verdicts of both gradings by the sign of the criterion",
        formats={
            **dict.fromkeys(("both met", "only the other", "only this run", "neither"), count),
            "agreement": percent,
        },
    )
