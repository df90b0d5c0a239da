"""Mapping the columns of tables that were refused because their names do not say what they hold."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import import_data
import pandas as pd
import streamlit as st

from components.imports import import_files, last_outcomes
from components.text import escaped, some
from healthbench.errors import HealthBenchError
from healthbench.readers.aliases import ColumnMapping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.readers.tables import TableColumns
    from healthbench.store.records import ImportOutcome

# Field of the table of aliases -> what the reader is asked.
_FIRST = {
    "prompt_id": "Conversation: its id",
    "criterion": "Criterion: its text",
    "points": "Points, with their sign",
    "verdict": "Verdict: met or not met",
    "reply": "Reply",
    "explanation": "Grader's explanation",
}
_MORE = {
    "prompt": "Conversation: its text",
    "axis": "Axis of the criterion",
    "tags": "Tags of the criterion",
    "index": "Number of the criterion",
    "theme": "Theme of the conversation",
    "repeat": "Number of the repeat",
    "model": "Model that replied",
    "grader": "Model that graded",
    "items": "List of criteria, each with points and verdict",
}
_LONGEST_CELL = 120


def column_mappings() -> None:
    """Offer a mapping for each set of columns among the tables that were refused, and import them by it."""
    found = last_outcomes()
    shapes: dict[frozenset[str], list[ImportOutcome]] = {}
    for outcome in found:
        if outcome.columns is not None:
            shapes.setdefault(frozenset(outcome.columns.names), []).append(outcome)
    for names, outcomes in shapes.items():
        _offer(names, outcomes, [outcome for outcome in found if outcome not in outcomes])


def _offer(
    names: frozenset[str], outcomes: Sequence[ImportOutcome], others: Sequence[ImportOutcome]
) -> None:
    table = outcomes[0].columns
    if table is None:
        return
    more = f" and {some(len(outcomes) - 1, 'more table')} like it" if len(outcomes) > 1 else ""
    label = f"Map the columns of {escaped(outcomes[0].path.name)}{more}"
    key = hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:8]
    with (
        st.expander(label, icon=":material/table_chart:", expanded=True),
        st.form(f"mapping_{key}", border=False),
    ):
        st.markdown(
            "Say which column holds what. The mapping is remembered for tables with the same column names."
        )
        _preview(table)
        columns = _fields(table, _FIRST, key)
        with st.expander("What else the table holds"):
            columns |= _fields(table, _MORE, key)
        asked = st.form_submit_button("Import by this mapping", type="primary")
    if not asked:
        return
    try:
        problem = import_data.remember_mapping(ColumnMapping(columns, names), table)
    except HealthBenchError as error:
        problem = str(error)
    if problem is not None:
        st.error(escaped(problem), icon=":material/rule:")
        return
    import_files([outcome.path for outcome in outcomes], others)


def _preview(table: TableColumns) -> None:
    rows = [[_short(cell) for cell in row[: len(table.names)]] for row in table.preview]
    # Names may be missing or come twice, which a data frame does not take.
    seen: dict[str, int] = {}
    labels = []
    for name in table.names:
        seen[name] = seen.get(name, 0) + 1
        labels.append((name or "(no name)") + ("" if seen[name] == 1 else f" ({seen[name]})"))
    frame = pd.DataFrame(rows, columns=labels[: max(map(len, rows), default=0)])
    st.dataframe(frame, alt="The first rows of the table", hide_index=True, height="content")


def _short(cell: str) -> str:
    return cell if len(cell) <= _LONGEST_CELL else f"{cell[:_LONGEST_CELL]} …"


def _fields(table: TableColumns, asked: dict[str, str], key: str) -> dict[str, str]:
    """Ask for the columns of some fields, those first that their names suggest."""
    offered = list(dict.fromkeys(name for name in table.names if name))
    chosen = {}
    for place, (field, label) in enumerate(asked.items()):
        if place % 2 == 0:
            halves = st.columns(2)
        guess = table.matched.columns.get(field)
        column = halves[place % 2].selectbox(
            label,
            offered,
            index=offered.index(guess) if guess in offered else None,
            key=f"map_{field}_{key}",
            placeholder="none",
        )
        if column is not None:
            chosen[field] = column
    return chosen


def remembered() -> None:
    """List the remembered mappings, each with a button to forget it."""
    known = import_data.remembered_mappings()
    if not known:
        return
    with st.expander(f"Remembered column mappings: {len(known)}", icon=":material/table_chart:"):
        for place, mapping in enumerate(known):
            with st.container(horizontal=True, vertical_alignment="center"):
                told = {**_FIRST, **_MORE}
                st.markdown(
                    "; ".join(
                        f"{told.get(field, field)} in *{escaped(column)}*"
                        for field, column in mapping.columns.items()
                    )
                )
                st.button(
                    "Forget",
                    key=f"forget_{place}",
                    on_click=_forget,
                    args=(mapping.names,),
                )


def _forget(names: frozenset[str]) -> None:
    try:
        import_data.forget_mapping(names)
    except HealthBenchError as error:
        st.toast(escaped(str(error)), icon=":material/block:")
