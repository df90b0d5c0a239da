"""Text written by others: models, graders, data sets, file names.

It is shown as it stands, never read as Markdown or HTML, and takes its direction from its own first letters. A reader
may ask for Markdown; images and diagrams are taken out of it first, because showing them would fetch or run something.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import streamlit as st

from healthbench.formatting import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.model import Message

LONG = 20_000
"""Characters of one text shown at once; more are shown on request, because the page has to stay usable."""

_WORD_JOINER = "\N{WORD JOINER}"
_FENCE = re.compile(r"^(\s*(?:>\s*)*(?:[-*+]\s+|\d+[.)]\s+)?)(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
# Where Markdown would make a link of an address although every sign of it is escaped.
_ADDRESS = re.compile(r"(?<=http)(?=s?://)|(?<=www)(?=\.)|(?<=\S)(?=@[-\w]+\.)", re.IGNORECASE)
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")

# textContent never parses anything; dir=auto is set on every text by itself, and each of its paragraphs goes its own way. A box that scrolls must be reached by
# keyboard, which Streamlit's are not.
_SHOW = """
export default function ({ data, parentElement }) {
  let root = parentElement.querySelector("div.texts")
  if (!root) {
    root = document.createElement("div")
    root.className = "texts"
    parentElement.appendChild(root)
  }
  const box = (parentElement.getRootNode().host ?? parentElement).closest("[overflow=auto]")
  if (box) box.tabIndex = 0
  root.replaceChildren(...data.map((block) => {
    const section = document.createElement("section")
    if (block.label) {
      const label = document.createElement("h4")
      label.textContent = block.label
      section.appendChild(label)
    }
    const text = document.createElement("p")
    text.dir = "auto"
    text.textContent = block.text
    section.appendChild(text)
    if (block.kind) section.className = block.kind
    return section
  }))
}
"""

_STYLE = """
.texts { font-family: var(--st-font); font-size: var(--st-base-font-size); color: var(--st-text-color); }
section { max-width: 75ch; margin: 0 0 0.9rem 0; }
section:last-child { margin-bottom: 0; }
section.reply, section.user { border-inline-start: 3px solid var(--st-border-color); padding-inline-start: 0.75rem; }
section.reply { border-color: var(--st-primary-color); }
h4 { font-size: 0.85em; font-weight: 600; margin: 0 0 0.15rem 0; }
p { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; margin: 0; text-align: start;
  unicode-bidi: plaintext; }
section.quiet p { font-size: 0.9em; }
"""

_TEXTS = st.components.v2.component("healthbench_texts", js=_SHOW, css=_STYLE)


def foreign(text: str, *, key: str, label: str = "", kind: str = "") -> None:
    """Show one foreign text as it stands."""
    _blocks([_block(label, text, kind)], key)


def turns(messages: Sequence[Message], *, key: str, rendered: bool = False, kind: str = "") -> None:
    """Show turns of a conversation in order, raw or rendered as Markdown without images."""
    blocks = [_block(message.role, message.content, kind or message.role) for message in messages]
    if not rendered:
        _blocks(blocks, key)
        return
    for place, block in enumerate(blocks):
        with st.container(key=f"{key}_{place}", gap="xsmall", width=720):
            st.markdown(f"**{escaped(block['label'])}**")
            st.markdown(harmless_markdown(block["text"]))


def escaped(text: str, width: int | None = None) -> str:
    """Return foreign text that shows as it stands inside our own Markdown: one line, every sign escaped.

    Args:
        text: The foreign text.
        width: Longest text shown, in characters; what is longer is cut.
    """
    line = " ".join(text.split())
    if width is not None and len(line) > width:
        line = line[: width - 1] + "…"
    return _PUNCTUATION.sub(r"\\\1", _ADDRESS.sub(_WORD_JOINER, line))


def some(n: int, thing: str, plural: str | None = None) -> str:
    """Return a number and what is counted: ``1 example``, ``21 examples``."""
    return f"{count(n)} {thing if n == 1 else plural or thing + 's'}"


def harmless_markdown(text: str) -> str:
    """Return foreign Markdown whose images are not loaded and whose code blocks are not run as diagrams."""
    without_images = text.replace("![", f"!{_WORD_JOINER}[")
    return _FENCE.sub(r"\1\2", without_images)


def _block(label: str, text: str, kind: str) -> dict[str, str]:
    return {"label": label, "text": text or "(empty)", "kind": kind}


def _blocks(blocks: list[dict[str, str]], key: str) -> None:
    long = sum(len(block["text"]) for block in blocks) > LONG
    whole = long and st.session_state.get(f"{key}_whole", False)
    shown: Any = blocks if whole or not long else [_cut(block) for block in blocks]
    _TEXTS(data=shown, key=key)
    if long:
        longest = max(len(block["text"]) for block in blocks)
        st.toggle(f"Show the whole text ({count(longest)} characters)", key=f"{key}_whole")


def _cut(block: dict[str, str]) -> dict[str, str]:
    text = block["text"]
    return block if len(text) <= LONG else {**block, "text": text[:LONG] + " …"}
