"""The review card: one verdict, its conversation, reply and criterion, and after the decision what the grader said.

Before the reviewer has decided, nothing of the grader's verdict or explanation leaves the server.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import data
import state
import streamlit as st

from components.review_desk import Desk, grader_met, line_of, verdicts_of
from components.review_keys import BOXES, CONFIRM, NOTE, key_list, listen
from components.text import escaped, foreign, turns
from healthbench.formatting import count, difference, fraction, points
from healthbench.model import Message
from healthbench.scoring.example import example_score
from healthbench.store.journal import Decision
from healthbench.taxonomy import display_name

if TYPE_CHECKING:
    from healthbench.store.journal import Event, Item
    from healthbench.store.records import ExampleView

REASONS = (
    "grader misread the reply",
    "grader misread the criterion",
    "reply meets it in part only",
    "criterion is ambiguous",
    "medical judgement differs",
    "criterion seems wrong",
    "other",
)
CONFIDENCE = ("low", "medium", "high")
WIDTH = 880
"""Width in pixels of the card and of the buttons under it."""
GRADER = "review_grader"
_TALL = 360
"""Height in pixels of the box a long text scrolls in, so that criterion and buttons stay near."""
_LONG = 1100
_NAMES = {True: "met", False: "not met", None: "unknown (never given)"}


def card(desk: Desk) -> None:
    """Show the verdict the reviewer is at, with all that can be done to it."""
    entry = desk.entry
    example = data.example(entry.item.run, entry.item.example)
    desk.show()
    head(desk)
    conversation(example)
    with st.container(border=True, key="review_criterion"):
        criterion(line_of(example, entry.item))
    decided = desk.own(entry.item)
    seen = desk.seen(entry.item)
    if seen:
        grader_view(example, entry.item, decided)
    additions(desk)
    buttons(desk, decided)
    listen(str(tuple(entry.item)), show=f"st-key-{GRADER}" if seen else None)


def head(desk: Desk) -> None:
    """Show the queue's name and progress."""
    decisions = [event for event in desk.decisions() if event is not None]
    done, n = len(decisions), len(desk.entries)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{escaped(desk.queue.name)}** · {count(desk.place + 1)} of {count(n)}")
        st.space("stretch")
        # Not a switch: keys do nothing while one has the focus.
        st.pills(
            "Pace",
            ["Go on by itself"],
            key=state.REVIEW_ADVANCE,
            persist_state="session",
            label_visibility="collapsed",
            help="After a decision that is the grader's too, the next open verdict comes at once.",
        )
        key_list()
    times = [event.seconds for event in decisions if event.seconds is not None]
    pace = f" · {median(times):.0f} s a verdict (median)" if times else ""
    if said := desk.said():
        st.toast(said)
    st.progress(done / n, f"{count(done)} decided · {count(n - done)} left{pace}")


def conversation(example: ExampleView, tall: int = _TALL) -> None:
    """Show the last user turn, the earlier ones folded, and the reply; what is long scrolls in ``tall`` pixels."""
    last = max(
        (place for place, turn in enumerate(example.prompt) if turn.role == "user"),
        default=len(example.prompt) - 1,
    )
    earlier, latest = example.prompt[:last], example.prompt[last:]
    if earlier:
        with st.expander(f"Earlier turns ({count(len(earlier))})"):
            turns(earlier, key="review_earlier")
    _box(latest, "asked", tall)
    _box([Message("reply", example.reply)], "reply", tall)


def _box(messages: list[Message], name: str, tall: int) -> None:
    long = sum(len(message.content) for message in messages) > _LONG
    with st.container(height=tall if long else "content", border=long, key=f"{BOXES}_{name}"):
        turns(messages, key=f"review_{name}")


def criterion(line: dict[str, Any], suffix: str = "") -> None:
    """Show a criterion with its sign in words, axis and cluster; ``suffix`` tells keys apart where there are several."""
    st.markdown(sign_in_words(line["points"]))
    foreign(line["criterion"], key=f"review_criterion_text{suffix}")
    kinds = [line[kind] for kind in ("axis", "cluster") if isinstance(line.get(kind), str)]
    if kinds:
        st.caption(" · ".join(escaped(display_name(kind)) for kind in kinds))


def sign_in_words(value: float) -> str:
    """Return what met means for a criterion of so many points."""
    if value > 0:
        return f":blue[**{points(value)}**] Wanted: met means the reply did this."
    return f":orange[**{points(value)}**] A penalty: met means the reply did this, and it should not have."


def additions(desk: Desk) -> None:
    """Show what may be added to a decision; what is added after it is kept at once."""
    item = desk.entry.item
    standing = desk.own(item)
    for name in ("reason", "note", "confidence"):
        if standing is not None and getattr(standing, name):
            st.session_state.setdefault(desk.field(name, item), getattr(standing, name))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.selectbox(
            "Reason (optional)",
            REASONS,
            index=None,
            key=desk.field("reason", item),
            on_change=desk.note_changed,
            args=(desk.place,),
            persist_state="page",
            width=260,
        )
        st.segmented_control(
            "Confidence (optional)",
            CONFIDENCE,
            key=desk.field("confidence", item),
            on_change=desk.note_changed,
            args=(desk.place,),
            persist_state="page",
        )
    with st.container(key=NOTE):
        st.text_area(
            "Note (optional)",
            key=desk.field("note", item),
            height=96,
            max_chars=2000,
            on_change=desk.note_changed,
            args=(desk.place,),
            persist_state="page",
        )


def grader_view(example: ExampleView, item: Item, decided: Event | None, suffix: str = "") -> None:
    """Show what the grader said, and what the reviewer's decision does to the example."""
    line = line_of(example, item)
    graded = grader_met(example, item)
    with st.container(border=True, key=f"{GRADER}{suffix}"):
        said = f"The grader: **{_NAMES[graded]}**"
        if decided is None:
            st.markdown(f"{said} · your decision was taken back")
        else:
            same = decided.met is not None and decided.met == graded
            mark = "✓ you agree" if same else "≠ you differ" if decided.met is not None else ""
            blind = "" if decided.blind else " (after seeing this)"
            st.markdown(f"{said} · you: **{decided.decision}**{blind}  {mark}")
        if isinstance(line["explanation"], str):
            foreign(line["explanation"], key=f"review_explanation{suffix}", kind="quiet")
        else:
            st.caption("The grader gave no explanation.")
        if decided is not None and decided.met is not None and decided.met != graded:
            st.caption(_moved(example, item, met=decided.met))


def _moved(example: ExampleView, item: Item, *, met: bool) -> str:
    """Say what one override does to the score of its example."""
    graded = verdicts_of(example)
    signed = example.ledger["points"].tolist()
    places = example.ledger["position"].tolist()
    overridden = [
        met if place == item.position else verdict
        for place, verdict in zip(places, graded, strict=True)
    ]
    before, after = example_score(signed, graded), example_score(signed, overridden)
    moved = "" if before is None or after is None else f" ({difference(after - before)} of 100)"
    return f"With your verdict this example scores {fraction(after, 3)} in place of {fraction(before, 3)}{moved}."


def buttons(desk: Desk, decided: Event | None) -> None:
    """Show the decisions and the way on, always in view at the foot of the page."""
    chosen = decided.decision if decided else None
    with (
        st.bottom,
        st.container(horizontal_alignment="center"),
        st.container(key="review_buttons", gap="xsmall", width=WIDTH),
    ):
        with st.container(horizontal=True, gap="small"):
            for decision, key in zip(Decision, "MNU", strict=True):
                st.button(
                    str(decision).capitalize(),
                    key=f"review_{key}",
                    shortcut=key,
                    type="primary" if chosen == decision else "secondary",
                    on_click=desk.decide,
                    args=(desk.place, decision),
                    width="stretch",
                )
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            _step("Previous", "K", desk, -1)
            _step("Next", "J", desk, 1)
            st.button(
                "Take back",
                key="review_undo",
                shortcut="Z",
                on_click=desk.undo,
                args=(desk.place,),
                disabled=decided is None,
            )
            st.space("stretch")
            st.button(
                "Confirm :gray[Enter]",
                key=CONFIRM,
                type="tertiary",
                on_click=_confirm,
                args=(desk, desk.place),
            )


def _step(label: str, key: str, desk: Desk, step: int) -> None:
    st.button(
        label,
        key=f"review_{key}",
        shortcut=key,
        on_click=desk.go_to,
        args=(desk.place + step,),
        disabled=not 0 <= desk.place + step < len(desk.entries),
    )


def _confirm(desk: Desk, place: int) -> None:
    if desk.decided_unseen(place):
        return
    if desk.own(desk.entries[place].item) is None:
        desk.say("Decide first: M met, N not met, U cannot judge.")
    elif None not in desk.decisions():
        desk.say("Every verdict of this queue is decided.")
    else:
        desk.go_on(place)
