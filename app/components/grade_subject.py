"""What is to be graded: a conversation with its rubric, taken from a run or a data set, or written on the page."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import data
import grade_data
import state
import streamlit as st

from components.frame import empty
from components.grade_own import copy_to_own, own_conversation, own_rubric
from components.text import escaped, some, turns
from healthbench.errors import InputRefusedError, StoreError
from healthbench.formatting import plain_points
from healthbench.model import Criterion, Message
from healthbench.readers.fields import content_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.store.records import RunSummary

SOURCE = "grade_source"
FROM_RUN, FROM_DATASET, OWN = "From a run", "From a data set", "My own"
_SEARCH = "grade_search"
_EXAMPLE = "grade_example"
_DATASET = "grade_dataset"
_ROW = "grade_row"
_SCROLL = 260
_LONG = 700
_LABEL = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A conversation with its rubric.

    Attributes:
        prompt: The turns before the reply.
        criteria: The rubric.
        prompt_id: Its identity in the benchmark; one of its content where it has none.
        example_tags: Theme and category, None where nothing is known of them.
        benchmark: As the run names it, None where unknown.
        canary: The benchmark's canary string where its source carries it, else "".
        synthetic: Whether it was made up for demonstration.
        reply: The reply the run holds to it, None where it is from no run.
        model: Who gave that reply.
    """

    prompt: tuple[Message, ...]
    criteria: tuple[Criterion, ...]
    prompt_id: str
    example_tags: tuple[str, ...] | None = None
    benchmark: str | None = None
    canary: str = ""
    synthetic: bool = False
    reply: str | None = None
    model: str | None = None

    def digest(self, reply: str) -> str:
        """Return a short name of all the texts, for session keys."""
        return _digest([self.prompt, self.criteria, reply])

    def talk(self, *reply: str) -> str:
        """Return a short name of the conversation, with its reply where one is given."""
        return _digest([self.prompt, reply])


def _digest(texts: Sequence[object]) -> str:
    text = json.dumps(texts, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()[:16]


def choose_subject() -> Subject | None:
    """Show where the conversation and the rubric come from and return them; None while they cannot be used."""
    sources = [
        *([FROM_RUN] if data.runs() else []),
        *([FROM_DATASET] if data.datasets() else []),
        OWN,
    ]
    if st.session_state.get(SOURCE) not in sources:
        st.session_state[SOURCE] = sources[0]
    source = st.segmented_control(
        "Conversation and rubric",
        sources,
        key=SOURCE,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    if source == OWN:
        return _own()
    chosen = _from_run() if source == FROM_RUN else _from_dataset()
    if chosen is not None:
        _show(chosen)
        if not chosen.criteria:
            empty("This conversation has no rubric.", "Choose another one, or edit a copy of it.")
            return None
    return chosen


def reply_key(subject: Subject) -> str:
    """Return the session key of the reply that is being written to a conversation."""
    own = st.session_state.get(SOURCE) == OWN
    return "grade_reply_own" if own else f"grade_reply_{subject.prompt_id}"


def _from_run() -> Subject | None:
    run = next((run for run in data.runs() if run.id == state.view().run), None)
    if run is None:
        empty("No run is chosen.", "Choose one under *Run* in the sidebar.")
        return None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = _search(lambda: _take_first_example(run.id))
        found = grade_data.find_examples(run.id, text)
        if found.empty:
            empty("No conversation of this run holds these words.", "Search for other ones.")
            return None
        labels = dict(zip(found["example"] + 1, found["snippet"], strict=True))
        number = _in_range(state.view().example, run, int(next(iter(labels))))
        if number not in labels:
            labels[number] = _last(data.example(run.id, number - 1).prompt)
        st.session_state[_EXAMPLE] = number
        st.selectbox(
            "Example",
            list(labels),
            key=_EXAMPLE,
            format_func=lambda number: f"{number} · {_short(labels[number])}",
            on_change=lambda: state.change(example=st.session_state[_EXAMPLE]),
        )
    return _subject_of(run, number)


def _in_range(number: int | None, run: RunSummary, first: int) -> int:
    return number if number is not None and number <= run.n_examples else first


def _take_first_example(run_id: str) -> None:
    found = grade_data.find_examples(run_id, st.session_state[_SEARCH])
    if not found.empty:
        state.change(example=int(found["example"].iloc[0]) + 1)


def _subject_of(run: RunSummary, number: int) -> Subject:
    example = data.example(run.id, number - 1)
    ledger = example.ledger
    tags = [tag for tag, source in example.tags.items() if source != "inferred"]
    return Subject(
        prompt=tuple(example.prompt),
        criteria=tuple(
            Criterion(text, float(points), tuple(its_tags))
            for text, points, its_tags in zip(
                ledger["criterion"], ledger["points"], ledger["tags"], strict=True
            )
        ),
        prompt_id=example.prompt_id,
        example_tags=tuple(sorted(tags)) or None,
        benchmark=run.info.benchmark,
        canary=data.canary(run.id),
        synthetic=run.info.synthetic,
        reply=example.reply,
        model=run.info.model,
    )


def _from_dataset() -> Subject | None:
    attached = {dataset.id: dataset for dataset in data.datasets()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.session_state.get(_DATASET) not in attached:
            st.session_state[_DATASET] = next(iter(attached))
        dataset = attached[
            st.selectbox(
                "Data set",
                list(attached),
                key=_DATASET,
                format_func=lambda i: f"{attached[i].source} · {i[:6]}",
            )
        ]
        labels = {
            prompt_id: _last(prompt)
            for prompt_id, prompt in grade_data.find_rows(dataset.id, _search(None))
        }
        if not labels:
            empty("No conversation of this data set holds these words.", "Search for other ones.")
            return None
        if st.session_state.get(_ROW) not in labels:
            st.session_state[_ROW] = next(iter(labels))
        prompt_id = st.selectbox(
            "Conversation",
            list(labels),
            key=_ROW,
            format_func=lambda i: f"{_short(labels[i])} · {i}",
            persist_state="session",
        )
    try:
        row = grade_data.dataset_row(dataset.id, prompt_id)
    except StoreError as error:
        st.error(escaped(str(error)), icon=":material/block:")
        return None
    return Subject(
        prompt=tuple(row.prompt),
        criteria=tuple(row.criteria),
        prompt_id=row.prompt_id,
        example_tags=row.example_tags or None,
        canary=dataset.canary,
        synthetic=dataset.synthetic,
    )


def _own() -> Subject | None:
    problems = []
    prompt: Sequence[Message] = ()
    criteria: Sequence[Criterion] = ()
    try:
        prompt = own_conversation()
    except InputRefusedError as error:
        problems.append(str(error))
    try:
        criteria = own_rubric()
    except InputRefusedError as error:
        problems.append(str(error))
    if problems:
        st.warning(escaped(problems[0]), icon=":material/edit:")
        return None
    st.caption(rubric_in_words(criteria))
    return Subject(
        prompt=tuple(prompt), criteria=tuple(criteria), prompt_id=content_id(list(prompt))
    )


def rubric_in_words(criteria: Sequence[Criterion]) -> str:
    """Say how many criteria a rubric has and what is possible."""
    wanted = [criterion.points for criterion in criteria if criterion.points > 0]
    penalties = len(criteria) - len(wanted)
    possible = (
        f"{plain_points(sum(wanted))} points possible"
        if wanted
        else "no positive points, so no reply to it can have a score"
    )
    return f"{some(len(criteria), 'criterion', 'criteria')}, {some(penalties, 'penalty', 'penalties')} among them; {possible}."


def _show(subject: Subject) -> None:
    long = sum(len(message.content) for message in subject.prompt) > _LONG
    with st.container(height=_SCROLL if long else "content", border=True, key="grade_conversation"):
        turns(subject.prompt, key="grade_turns_shown")
    with st.container(horizontal=True, vertical_alignment="center"):
        if subject.synthetic:
            st.badge("SYNTHETIC SAMPLE", icon=":material/science:", color="violet")
        st.caption(rubric_in_words(subject.criteria))
        st.space("stretch")
        st.button(
            "Edit a copy",
            key="grade_copy",
            icon=":material/edit:",
            help="Puts conversation and rubric under My own, where both can be changed.",
            on_click=_copy,
            args=(subject,),
        )


def _copy(subject: Subject) -> None:
    copy_to_own(subject.prompt, subject.criteria)
    st.session_state["grade_reply_own"] = st.session_state.get(reply_key(subject), "")
    st.session_state[SOURCE] = OWN


def _search(on_change: object) -> str:
    return (
        st.text_input(
            "Find",
            key=_SEARCH,
            type="search",
            placeholder="words of the conversation, a prompt_id, a number",
            on_change=on_change or "rerun",
        )
        or ""
    )


def _last(prompt: Sequence[Message]) -> str:
    return prompt[-1].content if prompt else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL else line[:_LABEL] + "…"
