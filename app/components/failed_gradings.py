"""Whether failed gradings are unknown or count as the file has them; one choice for every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import state
import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Collection


def failed_gradings(run_ids: Collection[str]) -> bool:
    """Offer to count failed gradings as the file does, where one of the runs has any; tell whether they are."""
    if not any(run.n_marked for run in data.runs() if run.id in run_ids):
        return False
    st.session_state["as_stored"] = state.view().as_stored
    return st.toggle(
        "Count failed gradings as the file does, as not met", key="as_stored", on_change=_switch
    )


def _switch() -> None:
    state.change(as_stored=st.session_state["as_stored"])
