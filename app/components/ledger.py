"""The ledger: the signed points of one example as a chart, as rows, and as the equation they make.

The verdicts can be turned round to see what that would do to the score. It is recomputed at once and stored nowhere.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import pandas as pd
import state
import streamlit as st

from components.chart import chart, palette, show_table
from components.review_marks import review_mark, with_reviews
from components.text import escaped, foreign, some
from healthbench.charts.ledger import waterfall, with_running_total
from healthbench.charts.theme import STATE_MARKS
from healthbench.formatting import count, equation, fraction, plain_points, points
from healthbench.scoring.example import State, tally
from healthbench.taxonomy import display_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from healthbench.review.effective import HumanVerdict
    from healthbench.scoring.example import Tally

ORDERS = {"in the file": "file", "by points": "points", "by state": "state"}
_STATE_COLORS = {
    State.EARNED: "blue",
    State.MISSED: "blue",
    State.INCURRED: "orange",
    State.AVOIDED: "orange",
    State.UNKNOWN: "gray",
}
_NAME_WIDTH = 100
OPEN_VERDICTS = ("met", "not met")


class Switches(Enum):
    """What the switches beside the criteria do: suppose another verdict, give the verdict, or are not there."""

    WHAT_IF = auto()
    BY_HAND = auto()
    NONE = auto()


def ledger(
    rows: pd.DataFrame,
    *,
    key: str,
    height: int | None = None,
    reviews: Mapping[int, HumanVerdict] | None = None,
    switches: Switches = Switches.WHAT_IF,
) -> list[bool | None]:
    """Show a ledger with its equation, chart, rows and switches.

    Args:
        rows: One row a criterion, as ``ExampleView.ledger`` has it.
        key: Prefix of the session keys. What is supposed is forgotten when the page is left; verdicts given by hand are
            kept for the session.
        height: Height in pixels of the part that scrolls; the equation stays above it. None: all is shown.
        reviews: What people said, by position of the criterion; None where nobody looked.
        switches: What the switches beside the criteria do; where they give the verdicts, ``rows`` has none.

    Returns:
        The verdicts shown, one a row, those that were switched included.
    """
    reviews = reviews or {}
    graded = [None if pd.isna(met) else bool(met) for met in rows["met"]]
    assumed = graded if switches is Switches.NONE else _assumed(graded, key)
    if switches is Switches.BY_HAND:
        graded = assumed
    _equations(rows["points"].tolist(), graded, assumed, with_reviews(graded, reviews), key)
    shown = _sorted(rows.assign(met=pd.array(assumed, dtype="boolean"), graded=graded))
    shown = with_running_total(shown)
    with st.container(height=height or "content", border=height is not None, key=f"{key}_scroll"):
        _chart(shown, assumed, key)
        for row in shown.to_dict("records"):
            _row(row, key, reviews.get(row["position"]), switches)
        with st.expander("As a table"):
            _table(shown, key)
    return assumed


def _assumed(graded: Sequence[bool | None], key: str) -> list[bool | None]:
    """Return the verdicts with those the reader has turned round."""
    assumed = []
    for position, verdict in enumerate(graded):
        chosen = st.session_state.get(switch_key(key, position), verdict)
        if isinstance(chosen, str):
            chosen = chosen == OPEN_VERDICTS[0]
        assumed.append(verdict if chosen is None else chosen)
    return assumed


def _equations(
    signed: list[float],
    graded: list[bool | None],
    assumed: list[bool | None],
    reviewed: list[bool | None],
    key: str,
) -> None:
    actual = tally(signed, graded)
    with st.container(border=True, gap="xsmall", key=f"{key}_equation"):
        st.markdown(f"#### {_equation(signed, graded, actual)}")
        explained = _withheld(actual)
        if explained:
            st.caption(explained)
        if reviewed != graded:
            changed = sum(a != b for a, b in zip(reviewed, graded, strict=True))
            st.markdown(
                f"**With reviews:** {_equation(signed, reviewed, tally(signed, reviewed))} "
                f"({some(changed, 'verdict')} overridden)"
            )
        if assumed != graded:
            supposed = tally(signed, assumed)
            turned = sum(a != b for a, b in zip(assumed, graded, strict=True))
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(
                    f"**What if:** {_equation(signed, assumed, supposed)} "
                    f"({some(turned, 'verdict')} changed, nothing stored)"
                )
                st.button("Reset", key=f"{key}_reset", on_click=_reset, args=(key, graded))


def _equation(signed: list[float], met: list[bool | None], result: Tally) -> str:
    counted = [value for value, verdict in zip(signed, met, strict=True) if verdict]
    return escaped(equation(counted, result.possible, result.score))


def _withheld(result: Tally) -> str:
    """Return why there is no score, or "" where there is one."""
    if result.possible == 0:
        return "No score: the rubric has no positive points, so there is nothing to divide by."
    if result.n_unknown and result.bounds:
        unknown = f"{count(result.n_unknown)} of {count(result.n_items)} verdicts"
        return (
            f"Score withheld: {unknown} unknown. It lies between {fraction(result.bounds.low, 3)} and "
            f"{fraction(result.bounds.high, 3)}, whatever they would have been."
        )
    return ""


def _sorted(rows: pd.DataFrame) -> pd.DataFrame:
    order = ORDERS.get(st.session_state.get(state.LEDGER_ORDER) or "", "file")
    if order == "points":
        return rows.sort_values(["points", "position"], ascending=[False, True])
    if order == "state":
        ranks = {name: place for place, name in enumerate(State)}
        rank = with_running_total(rows)["state"].map(ranks)
        return rows.assign(rank=rank).sort_values(["rank", "position"])
    return rows


def _chart(shown: pd.DataFrame, met: list[bool | None], key: str) -> None:
    result = tally(shown.sort_values("position")["points"].tolist(), met)
    chart(
        waterfall(shown, result.possible, palette()),
        key=f"{key}_chart",
        alt=f"Waterfall of {len(shown)} criteria ending at {plain_points(result.achieved)} of "
        f"{plain_points(result.possible)} possible points; the rows below say the same.",
    )


def _row(row: dict[str, Any], key: str, review: HumanVerdict | None, switches: Switches) -> None:
    position = row["position"]
    mark = STATE_MARKS[row["state"]]
    color = _STATE_COLORS[row["state"]]
    with st.container(border=True, gap="xsmall", key=f"{key}_row_{position}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{position + 1}** · :{color}[**{points(row['points'])}** {mark.symbol} {row['state']}]"
            )
            st.space("stretch")
            _switch(row, key, switches)
        foreign(row["criterion"], key=f"{key}_criterion_{position}")
        st.caption(f"{_kinds(row)} · points so far {plain_points(row['running'])}")
        if isinstance(row.get("failure"), str):
            st.caption(
                f"Unknown: the file says not met, but the grading failed ({escaped(row['failure'])})."
            )
        review_mark(review, row["graded"], f"{key}_review_{position}")
        _details(row, key)


def _kinds(row: dict[str, Any]) -> str:
    """Return axis and level of a criterion in words."""
    named = [
        display_name(row[kind]) for kind in ("axis", "level") if isinstance(row.get(kind), str)
    ]
    return " · ".join(escaped(name, _NAME_WIDTH) for name in named) or "no axis"


def _details(row: dict[str, Any], key: str) -> None:
    position = row["position"]
    explanation = row.get("explanation")
    label = "Explanation and tags" if isinstance(explanation, str) else "Tags (no explanation)"
    with st.expander(label, type="compact", expanded=bool(st.session_state.get(state.EXPLAIN))):
        if isinstance(explanation, str):
            foreign(explanation, key=f"{key}_why_{position}", kind="quiet")
        st.caption(" · ".join(escaped(str(tag), _NAME_WIDTH) for tag in row["tags"]) or "no tags")


def _switch(row: dict[str, Any], key: str, switches: Switches) -> None:
    switch = switch_key(key, row["position"])
    by_hand = switches is Switches.BY_HAND
    name = f"criterion {row['position'] + 1}"
    label = f"Verdict on {name}" if by_hand else f"What if {name} were met"
    if switches is Switches.NONE:
        return
    if by_hand or row["graded"] is None:
        st.segmented_control(
            label,
            OPEN_VERDICTS,
            key=switch,
            label_visibility="collapsed",
            persist_state="session" if by_hand else None,
        )
        return
    st.session_state.setdefault(switch, row["graded"])
    st.toggle("met", key=switch, help=label + "? Changes nothing that is stored.")


def switch_key(key: str, position: int) -> str:
    """Return the session key of the verdict that was switched at a position."""
    return f"{key}_met_{position}"


def _reset(key: str, graded: Sequence[bool | None]) -> None:
    for position, verdict in enumerate(graded):
        st.session_state[switch_key(key, position)] = verdict


def _table(shown: pd.DataFrame, key: str) -> None:
    table = pd.DataFrame(
        {
            "number": shown["position"] + 1,
            "points": shown["points"],
            "state": [str(value) for value in shown["state"]],
            "running total": shown["running"],
            "axis": [
                display_name(axis) if isinstance(axis, str) else None for axis in shown["axis"]
            ],
            "criterion": shown["criterion"],
            "explanation": shown["explanation"],
        }
    )
    show_table(
        table,
        key=f"{key}_table",
        alt="The ledger, one row a criterion",
        formats={"points": points, "running total": plain_points},
    )
