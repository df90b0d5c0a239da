"""A conversation and a rubric written on the page: an editor of turns, and a table or a pasted text of criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from components.grade_typing import typed
from healthbench.errors import InputRefusedError
from healthbench.grading.rubric_text import criteria_of, parse_rubric
from healthbench.model import Criterion, Message
from healthbench.taxonomy import AXES, display_name

if TYPE_CHECKING:
    from collections.abc import Sequence

ROLES = ("user", "assistant", "system")
_TURNS = "grade_turns"
_NEXT = "grade_turns_made"
_MODE = "grade_rubric_mode"
_PASTED = "grade_pasted"
_BASE = "grade_rubric_base"
KEPT = "grade_rubric_kept"
_ROUND = "grade_rubric_round"
TABLE, PASTE = "Table", "Pasted JSON or CSV"
_EXAMPLE_PASTE = "points,criterion,axis\n7,Asks how long the fever has lasted,Context awareness\n-6,Names a dose for an infant,Accuracy"


def own_conversation() -> list[Message]:
    """Show the editor of turns and return the conversation.

    Raises:
        InputRefusedError: It cannot be replied to yet.
    """
    st.markdown("**Conversation**")
    turns = st.session_state.setdefault(_TURNS, [0])
    messages = []
    for place, turn in enumerate(turns):
        with st.container(border=True, gap="xsmall", key=f"grade_turn_{turn}"):
            role = f"grade_role_{turn}"
            st.session_state.setdefault(role, ROLES[place % 2])
            with st.container(horizontal=True, vertical_alignment="center"):
                st.segmented_control(
                    f"Role of turn {place + 1}",
                    ROLES,
                    key=role,
                    required=True,
                    persist_state="session",
                    label_visibility="collapsed",
                )
                st.space("stretch")
                if len(turns) > 1:
                    st.button(
                        "Remove",
                        key=f"grade_remove_{turn}",
                        type="tertiary",
                        icon=":material/delete:",
                        on_click=turns.remove,
                        args=(turn,),
                    )
            text = typed(f"Turn {place + 1}", f"grade_text_{turn}", hidden_label=True)
        messages.append(Message(st.session_state[role], text))
    st.button("Add a turn", key="grade_add_turn", icon=":material/add:", on_click=_add_turn)
    return _checked(messages)


def _add_turn(role: str | None = None, text: str = "") -> None:
    turn = st.session_state.get(_NEXT, 0) + 1
    st.session_state[_NEXT] = turn
    st.session_state[_TURNS].append(turn)
    if role is not None:
        st.session_state[f"grade_role_{turn}"] = role
    st.session_state[f"grade_text_{turn}"] = text


def _checked(messages: list[Message]) -> list[Message]:
    if not any(message.content.strip() for message in messages):
        raise InputRefusedError("The conversation is empty: write what the user asks.")
    for place, message in enumerate(messages, start=1):
        if not message.content.strip():
            raise InputRefusedError(f"Turn {place} is empty: write it, or remove it.")
    if messages[-1].role != ROLES[0]:
        raise InputRefusedError(
            "The conversation ends with a turn that is not the user's: add the user turn that the reply answers."
        )
    return messages


def own_rubric() -> list[Criterion]:
    """Show the rubric's editor and return its criteria.

    Raises:
        InputRefusedError: It cannot be used as it stands.
    """
    st.markdown("**Rubric**")
    st.session_state.setdefault(_MODE, TABLE)
    mode = st.segmented_control(
        "Form of the rubric",
        (TABLE, PASTE),
        key=_MODE,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    if mode == PASTE:
        text = typed("Rubric as JSON or CSV", _PASTED, height=260, placeholder=_EXAMPLE_PASTE)
        criteria = parse_rubric(text)
        st.button(
            "Put it into the table", key="grade_to_table", on_click=_to_table, args=(criteria,)
        )
        return criteria
    return criteria_of(_table().to_dict("records"))


def _table() -> pd.DataFrame:
    key = f"grade_rubric_{st.session_state.get(_ROUND, 0)}"
    if key not in st.session_state or _BASE not in st.session_state:
        # The editor is drawn for the first time, or again after another page: it starts from what was kept.
        kept = st.session_state.get(KEPT, _frame([]))
        st.session_state[_BASE] = kept.reset_index(drop=True)
    edited = st.data_editor(
        st.session_state[_BASE],
        key=key,
        num_rows="dynamic",
        hide_index=True,
        alt="The rubric, one criterion a row",
        column_config={
            "points": st.column_config.NumberColumn(
                "points",
                min_value=-1000,
                max_value=1000,
                width="small",
                help="HealthBench: -10 to 10",
            ),
            "criterion": st.column_config.TextColumn("criterion", width="large"),
            "axis": st.column_config.SelectboxColumn(
                "axis (optional)", options=list(AXES.values()), width="medium"
            ),
        },
    )
    st.session_state[KEPT] = edited
    return edited


def _frame(criteria: Sequence[Criterion]) -> pd.DataFrame:
    axes = [next((tag for tag in c.tags if tag in AXES), None) for c in criteria]
    return pd.DataFrame(
        {
            "points": pd.Series([float(c.points) for c in criteria], dtype="float64"),
            "criterion": pd.Series([c.text for c in criteria], dtype="str"),
            "axis": pd.Series([axis and display_name(axis) for axis in axes], dtype="str"),
        }
    )


def _to_table(criteria: Sequence[Criterion]) -> None:
    st.session_state[KEPT] = _frame(criteria)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.session_state[_MODE] = TABLE


def copy_to_own(prompt: Sequence[Message], criteria: Sequence[Criterion]) -> None:
    """Put a conversation and a rubric into the editors; for callbacks."""
    st.session_state[_TURNS] = []
    for message in prompt:
        _add_turn(message.role if message.role in ROLES else ROLES[0], message.content)
    _to_table(criteria)
