"""The provider's key: from the program's surroundings, or typed in for this session alone.

A typed key is taken out of its field at once, so that it is not part of the page; it is kept in memory only, for the
one host it was typed in for. A key from the surroundings is only ever sent to the host it is meant for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import grade_data
import streamlit as st
from pydantic import SecretStr

from components.text import escaped
from healthbench.grading.settings import OPENAI_URL

if TYPE_CHECKING:
    from healthbench.grading.settings import GraderSettings

_KEYS = "grade_keys"
_FIELD = "grade_key_field"


def key_for(settings: GraderSettings) -> SecretStr | None:
    """Return the key to send to a grader's host, None where there is none."""
    typed: dict[str, SecretStr] = st.session_state.get(_KEYS, {})
    if settings.host in typed:
        return typed[settings.host]
    configured = _configured(settings.host)
    return configured[0] if configured else None


def needs_key(settings: GraderSettings) -> bool:
    """Tell whether a grader cannot be asked without a key; a server of one's own may need none."""
    return settings.host == urlsplit(OPENAI_URL).netloc


def key_field(settings: GraderSettings) -> None:
    """Show where the key for a grader is from, and the field for one of this session."""
    host = settings.host
    typed = st.session_state.setdefault(_KEYS, {})
    configured = _configured(host)
    if host in typed:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":material/key: The key for {escaped(host)} is kept for this session alone."
            )
            st.button("Forget it", key="grade_forget_key", on_click=typed.pop, args=(host, None))
        return
    if configured:
        st.markdown(f":material/key: The key in {configured[1]} is used.")
        return
    st.text_input(
        f"API key for {host}" + ("" if needs_key(settings) else " (if it needs one)"),
        type="password",
        key=_FIELD,
        autocomplete="off",
        placeholder="kept in memory for this session, written nowhere",
        on_change=_take,
        args=(host,),
        width=420,
    )


def _take(host: str) -> None:
    value = (st.session_state[_FIELD] or "").strip()
    if value:
        st.session_state[_KEYS][host] = SecretStr(value)
    st.session_state[_FIELD] = ""


def _configured(host: str) -> tuple[SecretStr, str] | None:
    meant_for = urlsplit(grade_data.base_url() or OPENAI_URL).netloc
    return grade_data.configured_key() if host == meant_for else None
