"""The criteria behind a difference: which flipped, by sign and axis, and each in a list that opens its example."""

from __future__ import annotations

from typing import TYPE_CHECKING

import compare_data
import pandas as pd
import state
import streamlit as st

from components.chart import chart, palette, show_table
from components.text import some
from healthbench.charts.compare import flips_by_axis
from healthbench.comparison.flips import NO_AXIS, Flip, Sign, by_axis, by_axis_and_sign
from healthbench.formatting import count, difference, p_value, points
from healthbench.taxonomy import display_name

if TYPE_CHECKING:
    from healthbench.comparison.pair import Comparison

PAGE_SIZE = 20
_FORMATS = {
    **{flip.value: count for flip in Flip},
    "moved": points,
    "effect": difference,
    "p": p_value,
    "p (Holm)": p_value,
}
_HELP = {
    "effect": "What the flips are of the difference of the means, points of 100, over replies with a score in both runs",
    "moved": "Points this run gains by the flips",
    "p": "McNemar's exact test of fixed against regressed",
}


def summary(rows: pd.DataFrame) -> None:
    """Show in words, as a chart and as tables how many criteria flipped which way."""
    numbers = rows["flip"].value_counts()
    gained = rows.loc[rows["flip"] == Flip.FIXED.value, "effect"].sum()
    lost = rows.loc[rows["flip"] == Flip.REGRESSED.value, "effect"].sum()
    st.markdown(
        f"Of {some(len(rows), 'criterion', 'criteria')} in both runs, **{count(numbers.get(Flip.FIXED, 0))} were fixed** "
        f"and **{count(numbers.get(Flip.REGRESSED, 0))} regressed**; {count(numbers.get(Flip.BOTH_MET, 0))} are met and "
        f"{count(numbers.get(Flip.BOTH_NOT_MET, 0))} not met in both, {count(numbers.get(Flip.UNKNOWN, 0))} unknown in one. "
        f"Over paired replies the difference is {difference(gained)} by what was fixed and {difference(lost)} by what regressed."
    )
    by_sign = by_axis_and_sign(rows)
    chart(
        flips_by_axis(by_sign, palette()),
        key="flips_chart",
        alt="Fixed and regressed criteria by axis and sign; the tables below say the same.",
        table=by_sign,
        formats=_FORMATS,
    )
    table = by_axis(rows).rename(columns={"p_holm": "p (Holm)"})
    st.markdown("**By axis, with McNemar's test**")
    show_table(
        table,
        key="mcnemar",
        alt="Flips by axis with McNemar's test",
        formats=_FORMATS,
        column_config={
            name: st.column_config.Column(help=text)
            for name, text in _HELP.items()
            if name in table
        },
    )
    st.caption(
        "Fixed: a positive criterion newly met, or a penalty no longer incurred. The test takes criteria as independent; "
        "those of one conversation are not, so its p is somewhat too small."
    )


def flip_list(rows: pd.DataFrame, found: Comparison) -> None:
    """Show the criteria one a row, those that moved most points first, each with a button to its example."""
    st.subheader("Criteria, most points moved first")
    chosen = _chosen(rows)
    if chosen.empty:
        st.info("No criterion is of this kind. Choose another.", icon=":material/info:")
        return
    pages = -(-len(chosen) // PAGE_SIZE)
    page = min(st.session_state.get("flip_page", 1), pages)
    if pages > 1:
        page = st.pagination(pages, key="flip_page") or 1
    part = chosen.iloc[PAGE_SIZE * (page - 1) : PAGE_SIZE * page]
    texts = compare_data.criterion_texts(found.gate.first.run.id, part["criterion"].tolist())
    table = pd.DataFrame(
        {
            "open": "Open",
            "example": part["second"] + 1,
            "flip": part["flip"],
            "moved": part["moved"],
            "points": part["points"],
            "axis": [
                display_name(axis) if isinstance(axis, str) else NO_AXIS for axis in part["axis"]
            ],
            "criterion": [texts[number] for number in part["criterion"]],
        }
    )
    show_table(
        table,
        key="flip_list",
        alt="Criteria and what became of them, one a row",
        formats={"moved": points, "points": points, "example": count},
        column_config={
            "open": st.column_config.ButtonColumn(
                "open",
                key="open_flip",
                on_click=_open,
                args=(table["example"].tolist(),),
                width="small",
            ),
            "criterion": st.column_config.Column(width="large"),
        },
        height="content",
    )


def _chosen(rows: pd.DataFrame) -> pd.DataFrame:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        flip = st.segmented_control(
            "What became of it",
            [flip.value for flip in Flip],
            default=Flip.REGRESSED.value,
            required=True,
            key="flip_kind",
            wrap=True,
        )
        sign = st.segmented_control(
            "Sign", [sign.value for sign in Sign], key="flip_sign", selection_mode="multi"
        )
        axes = sorted(axis for axis in rows["axis"].dropna().unique())
        axis = st.multiselect("Axis", axes, key="flip_axis", format_func=display_name, width=280)
    kept = rows["flip"] == flip
    if sign:
        kept &= rows["sign"].isin(sign)
    if axis:
        kept &= rows["axis"].isin(axis)
    found = rows[kept]
    order = pd.DataFrame({"moved": found["moved"].abs(), "points": found["points"].abs()})
    return found.loc[order.sort_values(["moved", "points"], ascending=False, kind="stable").index]


def _open(examples: list[int]) -> None:
    row = st.session_state["open_flip"]["row"]
    state.change(part="example", example=int(examples[row]))
