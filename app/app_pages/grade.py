"""Grade: a reply is graded by hand or with a model, and its ledger fills criterion by criterion."""

from __future__ import annotations

import grade_data
import streamlit as st
from components.frame import notice
from components.grade_attempts import attempts
from components.grade_hand import by_hand
from components.grade_live import with_a_model
from components.grade_subject import choose_subject, reply_key
from components.grade_typing import listen_to_typing, typed
from components.text import escaped

from healthbench.formatting import characters

HAND, MODEL = "By hand", "With a model"

listen_to_typing()
st.subheader("1 · Conversation and rubric")
subject = choose_subject()
if subject is None:
    st.stop()

st.subheader("2 · Reply")
key = reply_key(subject)
if subject.reply and st.session_state.get(key) != subject.reply:
    st.button(
        f"Take the reply of {escaped(subject.model or 'this run')} ({characters(len(subject.reply))})",
        key="grade_take_reply",
        icon=":material/content_paste:",
        on_click=st.session_state.__setitem__,
        args=(key, subject.reply),
    )
reply = typed("The reply to grade", key, height=200, placeholder="Write or paste a reply.")
st.caption(characters(len(reply)))

st.subheader("3 · Verdicts")
preferred = MODEL if grade_data.configured_key() or attempts() else HAND
hand, model = st.tabs([HAND, MODEL], default=preferred, key="grade_tab", on_change="rerun")
with hand:
    if hand.open:
        by_hand(subject, reply)
with model:
    if model.open:
        with_a_model(subject, reply)
notice()
