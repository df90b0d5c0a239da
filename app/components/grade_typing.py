"""Text areas that take what is typed into them as it is typed.

Streamlit hands a text area's content over when it loses the focus or when Ctrl+Enter is pressed in it. A listener
without a look of its own presses Ctrl+Enter whenever the typing pauses.
"""

from __future__ import annotations

import streamlit as st

_CLASS = "grade_typed"
_PAUSE = 500

_LISTEN = """
const stops = new WeakMap()
export default function ({ data, parentElement }) {
  stops.get(parentElement)?.()
  let timer
  const hear = (event) => {
    const area = event.target
    if (!area.matches?.(data.areas)) return
    window.clearTimeout(timer)
    timer = window.setTimeout(
      () => area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true })),
      data.pause
    )
  }
  document.addEventListener("input", hear)
  const stop = () => {
    window.clearTimeout(timer)
    document.removeEventListener("input", hear)
  }
  stops.set(parentElement, stop)
  return stop
}
"""

_TYPING = st.components.v2.component("healthbench_grade_typing", js=_LISTEN)


def listen_to_typing() -> None:
    """Take over what is typed into the text areas of this page while it is typed."""
    _TYPING(
        key="grade_typing",
        data={"areas": f"[class*=st-key-{_CLASS}] textarea", "pause": _PAUSE},
    )


def typed(
    label: str,
    key: str,
    *,
    height: int = 120,
    placeholder: str | None = None,
    hidden_label: bool = False,
) -> str:
    """Show a text area that is listened to and return its text; it is kept for the session."""
    with st.container(key=f"{_CLASS}_{key}"):
        text = st.text_area(
            label,
            key=key,
            height=height,
            placeholder=placeholder,
            persist_state="session",
            label_visibility="collapsed" if hidden_label else "visible",
        )
    return text or ""
