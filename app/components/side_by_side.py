"""One prompt in two runs: both replies, their ledgers aligned by criterion, and what differs in the text."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import compare_data
import data
import numpy as np
import pandas as pd
import state
import streamlit as st

from components.chart import chart, palette, show_table
from components.frame import empty
from components.text import escaped, foreign, some, turns
from healthbench.charts.ledger import waterfall
from healthbench.charts.theme import STATE_MARKS
from healthbench.comparison.align import AlignedRow, aligned
from healthbench.comparison.text_diff import text_difference
from healthbench.formatting import (
    DASH,
    characters,
    count,
    difference,
    fraction,
    plain_points,
    points,
)
from healthbench.scoring.example import State
from healthbench.taxonomy import display_name, kind_of

if TYPE_CHECKING:
    from healthbench.comparison.pair import Comparison, PromptScores, Side
    from healthbench.store.records import ExampleView

ORDERS = {
    "largest losses": "this run less the other, smallest first",
    "largest gains": "this run less the other, largest first",
    "as in the file": "in the order of this run",
}
HEIGHT = 460
PAGE_SIZE = 15

# textContent never parses anything; del and ins carry the meaning for screen readers, line and underline for the eye.
_SHOW = """
export default function ({ data, parentElement }) {
  let root = parentElement.querySelector("div.difference")
  if (!root) {
    root = document.createElement("div")
    root.className = "difference"
    root.dir = "auto"
    parentElement.appendChild(root)
  }
  const kinds = { same: "span", removed: "del", added: "ins" }
  root.replaceChildren(...data.map((segment) => {
    const part = document.createElement(kinds[segment.kind])
    part.textContent = segment.text
    return part
  }))
}
"""
_STYLE = """
.difference { font-family: var(--st-font); font-size: var(--st-base-font-size); color: var(--st-text-color);
  white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.6; max-width: 75ch; }
del { color: var(--st-orange-text-color); background: var(--st-orange-background-color); text-decoration: line-through; }
ins { color: var(--st-blue-text-color); background: var(--st-blue-background-color); text-decoration: underline; }
"""
_DIFFERENCE = st.components.v2.component("healthbench_difference", js=_SHOW, css=_STYLE)


def side_by_side(found: Comparison, listed: list[int]) -> None:
    """Show the example the link names, or the first of the list, in both runs.

    Args:
        found: The comparison.
        listed: Rows of the current run to step through, in order.
    """
    this, other = found.gate.second.run.id, found.gate.first.run.id
    row = state.view().example
    row = listed[0] if row is None or row > found.gate.second.run.n_examples else row - 1
    second = data.example(this, row)
    _steps(row, listed)
    partner = _partner(other, second)
    if partner is None:
        empty(
            f"The other run has no reply to example {count(row + 1)}.",
            "Step on, or compare with another run.",
        )
        return
    first = data.example(other, partner)
    if second.prompt_id not in found.gate.kept:
        st.warning(
            "This prompt is not part of the comparison: its rubric differs, or it lies outside the slice.",
            icon=":material/warning:",
        )
    _facts(first, second)
    with st.expander("Conversation before the replies"):
        turns(second.prompt, key=f"pair_prompt_{row}")
    rows = aligned(first.ledger, second.ledger)
    in_order = [line.first["position"] for line in rows if line.first is not None]
    first = dataclasses.replace(first, ledger=first.ledger.iloc[in_order])
    _replies(found, first, second)
    _criteria(rows, row)


def listed_rows(found: Comparison, sides: tuple[Side, Side], order: str) -> list[int]:
    """Return the rows of the current run's paired examples in the chosen order."""
    pairs = found.matching.pairs
    if order == "as in the file":
        return sorted(pairs[:, 1].tolist())
    first, second = (
        side.scores.overall.scores[pairs[:, place]] for place, side in enumerate(sides)
    )
    change = second - first
    ranked = np.argsort(change if order == "largest losses" else -change, kind="stable")
    return pairs[ranked, 1].tolist()


def _partner(other: str, example: ExampleView) -> int | None:
    """Return the row of the other run's k-th reply to the same prompt."""
    ids = compare_data.side(other).prompt_ids
    rows = [row for row, prompt_id in enumerate(ids) if prompt_id == example.prompt_id]
    return rows[example.repeat] if example.repeat < len(rows) else None


def prompt_list(scores: PromptScores) -> None:
    """Show the compared prompts one a row, this run's largest losses first, each with a button to both replies."""
    change = scores.second - scores.first
    order = np.argsort(np.where(np.isnan(change), np.inf, change), kind="stable")
    pages = -(-len(order) // PAGE_SIZE)
    page = st.pagination(pages, key="prompt_page") or 1 if pages > 1 else 1
    part = order[PAGE_SIZE * (page - 1) : PAGE_SIZE * page]
    table = pd.DataFrame(
        {
            "open": "Open",
            "example": scores.second_row[part] + 1,
            "other run": scores.first[part],
            "this run": scores.second[part],
            "difference": change[part],
            "characters, other": scores.first_characters[part],
            "characters, this": scores.second_characters[part],
        }
    )
    show_table(
        table,
        key="prompt_list",
        alt="Scores of both runs on each prompt, largest losses first",
        formats={
            "example": count,
            "other run": lambda value: fraction(value, 3),
            "this run": lambda value: fraction(value, 3),
            "difference": difference,
            "characters, other": count,
            "characters, this": count,
        },
        column_config={
            "open": st.column_config.ButtonColumn(
                "open",
                key="open_prompt",
                on_click=_open,
                args=(table["example"].tolist(),),
                width="small",
            )
        },
        height="content",
    )


def _open(examples: list[int]) -> None:
    state.change(part="example", example=int(examples[st.session_state["open_prompt"]["row"]]))


def _steps(row: int, listed: list[int]) -> None:
    place = listed.index(row) if row in listed else None
    before = listed[place - 1] if place else None
    after = listed[place + 1] if place is not None and place + 1 < len(listed) else None
    with st.container(horizontal=True, vertical_alignment="bottom", key="pair_steps"):
        st.button(
            "Previous",
            key="pair_previous",
            icon=":material/chevron_left:",
            shortcut="K",
            disabled=before is None,
            on_click=state.change,
            kwargs={"example": None if before is None else before + 1},
        )
        where = (
            "outside the comparison"
            if place is None
            else f"{count(place + 1)} of {count(len(listed))}"
        )
        st.markdown(f"Example **{count(row + 1)}** · {where}")
        st.button(
            "Next",
            key="pair_next",
            icon=":material/chevron_right:",
            icon_position="right",
            shortcut="J",
            disabled=after is None,
            on_click=state.change,
            kwargs={"example": None if after is None else after + 1},
        )
        st.page_link(
            "app_pages/example.py",
            label="Ledger of this run alone",
            icon=":material/receipt_long:",
            query_params=state.query_for("example", example=row + 1),
        )


def _facts(first: ExampleView, second: ExampleView) -> None:
    scores = first.tally.score, second.tally.score
    change = DASH if None in scores else difference(scores[1] - scores[0])  # type: ignore[operator]
    tags = [
        escaped(display_name(tag))
        for tag in sorted(second.tags, key=lambda tag: kind_of(tag) != "theme")
    ]
    st.markdown(
        f"Score **{fraction(scores[0], 3)}** in the other run, **{fraction(scores[1], 3)}** in this one: "
        f"**{change}** points of 100."
    )
    st.caption(
        " · ".join(
            [*tags, some(len(second.prompt), "message"), f"prompt {escaped(second.prompt_id)}"]
        )
    )


def _replies(found: Comparison, first: ExampleView, second: ExampleView) -> None:
    names = found.gate.names
    with st.grid(2, min_column_width=430, gap="medium") as grid:
        for name, example, role in ((names[0], first, "other run"), (names[1], second, "this run")):
            with grid.cell():
                st.subheader(f"{escaped(name)} ({role})")
                st.caption(f"Reply of {characters(example.characters)}")
                with st.container(
                    height=HEIGHT, border=True, key=f"reply_{role.replace(' ', '_')}"
                ):
                    foreign(example.reply, key=f"pair_reply_{role}_{example.example}", kind="reply")
                chart(
                    waterfall(example.ledger, example.tally.possible, palette()),
                    key=f"pair_ledger_{role.replace(' ', '_')}",
                    alt=f"Ledger of the {role}: {plain_points(example.tally.achieved)} of "
                    f"{plain_points(example.tally.possible)} possible points; the rows below say the same.",
                )
    with st.expander("What differs in the text of the replies"):
        if first.reply == second.reply:
            st.markdown("Nothing: both replies are the same text.")
        else:
            segments = [segment._asdict() for segment in text_difference(first.reply, second.reply)]
            shared = sum(len(segment["text"]) for segment in segments if segment["kind"] == "same")
            st.caption(
                f"Struck through: only in the other run. Underlined: only in this run. {characters(shared)} are in both."
            )
            _DIFFERENCE(data=segments, key=f"pair_difference_{second.example}")


def _criteria(rows: list[AlignedRow], row: int) -> None:
    st.subheader("Criterion by criterion")
    only_changes = st.toggle("Only criteria whose verdict differs", key="only_changes")
    shown = [one for one in rows if not only_changes or _state(one.first) != _state(one.second)]
    if not shown:
        st.info("Both runs have the same verdict on every criterion.", icon=":material/info:")
    for number, one in enumerate(shown):
        _criterion(one, key=f"pair_{row}_{number}")


def _criterion(one: AlignedRow, key: str) -> None:
    either = one.either
    moved = _moved(one)
    with st.container(border=True, gap="xsmall", key=f"{key}_row"):
        st.markdown(
            f"**{points(either['points'])}** · other run {_marked(one.first)} · this run {_marked(one.second)}"
            + (f" · **{points(moved)}** points" if moved else "")
        )
        foreign(either["criterion"], key=f"{key}_text")
        explained = [
            (label, ledger_row["explanation"])
            for label, ledger_row in (("other run", one.first), ("this run", one.second))
            if ledger_row is not None and isinstance(ledger_row["explanation"], str)
        ]
        if explained:
            with st.expander("Explanations"):
                for label, text in explained:
                    foreign(text, key=f"{key}_why_{label}", label=label, kind="quiet")


def _state(ledger_row: dict[str, Any] | None) -> str:
    return "" if ledger_row is None else str(ledger_row["state"])


def _marked(ledger_row: dict[str, Any] | None) -> str:
    """Write a state with its mark and the colour of its sign."""
    if ledger_row is None:
        return ":gray[not in its rubric]"
    found = State(ledger_row["state"])
    color = "gray" if found is State.UNKNOWN else "blue" if ledger_row["points"] > 0 else "orange"
    return f":{color}[**{STATE_MARKS[found].symbol} {found}**]"


def _moved(one: AlignedRow) -> float:
    """Return the points this run gains over the other by a criterion."""
    met = [None if row is None or pd.isna(row["met"]) else bool(row["met"]) for row in one]
    if None in met:
        return 0.0
    return float(one.either["points"]) * (int(bool(met[1])) - int(bool(met[0])))
