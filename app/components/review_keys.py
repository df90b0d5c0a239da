"""Keys that Streamlit's buttons cannot have: ? opens the list of keys, E goes to the note, Escape leaves it.

Enter confirms, but only where no button or link has the focus: there it presses that one, as everywhere.

Like the buttons' own shortcuts they do nothing while something is being typed. A button pressed with the mouse gives
the focus up, so that Enter confirms and does not press it again. The component has no look of its own. It also scrolls: back to the start when the next verdict comes, because Streamlit keeps every box's place, and to what the
grader said when that has just been shown.
"""

from __future__ import annotations

import streamlit as st

KEYS = (
    ("M", "met"),
    ("N", "not met"),
    ("U", "cannot judge"),
    ("Enter", "confirm and go to the next open verdict"),
    ("J / K", "next and previous verdict"),
    ("E", "edit the note (Esc leaves it)"),
    ("Z", "take the last decision on this verdict back"),
    ("?", "this list"),
)
HELP = "review_keys"
NOTE = "review_note"
CONFIRM = "review_confirm"
BOXES = "review_box"

_LISTEN = """
const shown = new WeakMap()
const typing = (node) =>
  node.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName)
export default function ({ data, parentElement }) {
  const find = (wanted) => document.querySelector(wanted)
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === "Escape" && event.target.matches(data.note)) {
      event.target.blur()
      return
    }
    if (typing(event.target)) return
    if (event.key === "Enter") {
      if (!event.target.closest(data.pressable)) find(data.confirm)?.click()
      return
    }
    const target = event.key === "?" ? find(data.help) : event.key.toLowerCase() === "e" ? find(data.note) : null
    if (!target) return
    event.preventDefault()
    if (event.key === "?") target.click()
    else target.focus()
  }
  const release = (event) => {
    const pressed = event.target.closest("button")
    if (pressed) window.setTimeout(() => pressed.blur(), 0)
  }
  const before = shown.get(parentElement)
  if (before) before.stop()
  document.addEventListener("keydown", press)
  document.addEventListener("pointerup", release, true)
  const stop = () => {
    document.removeEventListener("keydown", press)
    document.removeEventListener("pointerup", release, true)
  }
  const later = (act) => window.requestAnimationFrame(() => window.setTimeout(act, 60))
  if (before && before.item !== data.item) {
    later(() => document.querySelectorAll(data.tops).forEach((box) => { box.scrollTop = 0 }))
  } else if (before && data.show && before.show !== data.show) {
    later(() => document.getElementsByClassName(data.show)[0]?.scrollIntoView({ block: "center" }))
  }
  shown.set(parentElement, { stop, item: data.item, show: data.show })
  return stop
}
"""

_KEYS = st.components.v2.component("healthbench_review_keys", js=_LISTEN)


def listen(item: str, show: str | None = None) -> None:
    """Listen to the keys while this is on the page.

    Args:
        item: Names the verdict that is shown; when it changes, everything is scrolled back to its start.
        show: Class of what to scroll to when it has just come.
    """
    _KEYS(
        key="review_listener",
        data={
            "item": item,
            "show": show,
            "help": f".st-key-{HELP} button",
            "note": f".st-key-{NOTE} textarea",
            "confirm": f".st-key-{CONFIRM} button",
            "pressable": "button, a, summary, [role=button], [role=option], [role=tab]",
            "tops": f"[data-testid=stMain], [class*=st-key-{BOXES}]",
        },
    )


def key_list() -> None:
    """Show a button that lists the keys."""
    with (
        st.container(key=HELP, width="content"),
        st.popover("Keys", icon=":material/keyboard:", type="tertiary"),
    ):
        st.markdown("\n".join(f"- **{key}** {what}" for key, what in KEYS))
