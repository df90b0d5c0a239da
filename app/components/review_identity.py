"""Who reviews: the signed-in user where a login is configured, else a name and role typed once a session."""

from __future__ import annotations

import review_data
import state
import streamlit as st

from components.text import escaped
from healthbench.store.journal import Reviewer, known_as

ROLES = ("physician", "nurse", "pharmacist", "other clinician", "researcher")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def reviewer_or_stop() -> Reviewer:
    """Return who reviews, or ask for it and end the page."""
    signed_in = _signed_in()
    if signed_in is None and _login_configured():
        st.info("Reviews carry a name: log in first.", icon=":material/login:")
        st.button("Log in", on_click=st.login, type="primary")
        st.stop()
    known = {reviewer.name: reviewer.role for reviewer in review_data.journal().reviewers()}
    name = signed_in or st.session_state.get(state.REVIEWER)
    role = st.session_state.get(state.ROLE)
    if not name or not role:
        _warn_if_open()
        _ask(signed_in, known)
        st.stop()
    return Reviewer(name, role)


def identity_line(reviewer: Reviewer) -> None:
    """Show who reviews, and a way to change it."""
    label = f"{escaped(reviewer.name)}, {escaped(reviewer.role)}"
    with st.popover(label, icon=":material/person:", type="tertiary"):
        if _signed_in():
            st.button("Log out", on_click=st.logout)
        st.button("Change name or role", on_click=_forget)


def _ask(signed_in: str | None, known: dict[str, str]) -> None:
    """Ask for a name (unless signed in) and a role; both are kept with every decision."""
    with st.form("who", width=520):
        st.markdown("**Who reviews?** Your name and role are kept with every decision.")
        name = signed_in
        if signed_in is None:
            name = st.selectbox(
                "Name",
                list(known),
                index=None,
                accept_new_options=True,
                placeholder="Type your name or choose it",
                key="who_name",
            )
        role = st.selectbox(
            "Role",
            list(dict.fromkeys([*ROLES, *known.values()])),
            accept_new_options=True,
            key="who_role",
        )
        if st.form_submit_button("Start", type="primary"):
            if name and known_as(name) and role and role.strip():
                st.session_state[state.REVIEWER] = known_as(name)
                st.session_state[state.ROLE] = role.strip()
                st.rerun()
            st.error("Give a name and a role.")


def _forget() -> None:
    for key in (state.REVIEWER, state.ROLE):
        st.session_state.pop(key, None)


def _signed_in() -> str | None:
    """Return the signed-in user's address or name, None where nobody is signed in."""
    if not st.user.get("is_logged_in"):
        return None
    named = st.user.get("email") or st.user.get("name")
    return known_as(str(named)) if named else None


def _login_configured() -> bool:
    try:
        return "auth" in st.secrets
    except FileNotFoundError:
        return False


def _warn_if_open() -> None:
    """Warn where others can reach the dashboard and nobody has to log in: any name could be typed."""
    if st.get_option("server.address") not in _LOOPBACK and not _login_configured():
        st.warning(
            "This dashboard can be reached from other machines and has no login, so anybody can review under any name. "
            "Set up a login (docs/review.md) or serve it on 127.0.0.1 only.",
            icon=":material/lock_open:",
        )
