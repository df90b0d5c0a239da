"""What becomes of a graded reply: its score beside the stored replies to the same prompt, and a run of its own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import data
import grade_data
import pandas as pd
import state
import streamlit as st

from components.chart import show_table
from components.text import escaped
from healthbench.errors import HealthBenchError
from healthbench.formatting import DASH, characters, count, fraction
from healthbench.model import GradedExample, RunInfo
from healthbench.scoring.example import tally
from healthbench.store.same_prompt import sorted_rubric

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from components.grade_subject import Subject
    from healthbench.model import Verdict
    from healthbench.scoring.example import Tally
    from healthbench.store.same_prompt import StoredReply

_SAVED = "grade_saved"
_REPLY_MODEL = "grade_reply_model"
_HERE = "this reply"


def beside(subject: Subject, reply: str, met: Sequence[bool | None], key: str) -> None:
    """Show the reply's score among those of the stored replies to this prompt that were graded on the same rubric."""
    stored = grade_data.stored_replies(subject.prompt_id)
    rubric = sorted_rubric(subject.criteria)
    same = [one for one in stored if one.rubric == rubric]
    if not same:
        return
    st.markdown("**Beside the stored replies to this prompt**")
    result = tally([criterion.points for criterion in subject.criteria], met)
    table = pd.DataFrame(
        [_line(_HERE, "", result, reply), *(_stored_line(one, reply) for one in same)]
    )
    order = table["middle"].sort_values(ascending=False, kind="stable").index
    show_table(
        table.loc[order].drop(columns="middle"),
        key=f"{key}_beside",
        alt="This reply and the stored replies to the same prompt, one a row",
        formats={"score": lambda value: fraction(value, 3), "characters": count},
        height="content",
    )
    left_out = len(stored) - len(same)
    note = "Sorted by score, or by the middle of the bounds. The stored ones have their own graders' verdicts."
    if left_out:
        note += f" {count(left_out)} more were graded on another rubric and are left out."
    st.caption(note)


def _stored_line(one: StoredReply, reply: str) -> dict[str, object]:
    number = f"example {one.example + 1}" + (f", reply {one.repeat + 1}" if one.repeat else "")
    same = " (the same text)" if one.reply == reply else ""
    return _line(data.label(one.run), number + same, one.points, one.reply)


def _line(who: str, which: str, result: Tally, reply: str) -> dict[str, object]:
    bounds = result.bounds
    missing = bounds is not None and result.n_unknown
    return {
        "reply of": who,
        "which": which,
        "score": result.score,
        "bounds": f"{fraction(bounds.low, 2)} to {fraction(bounds.high, 2)}" if missing else DASH,
        "characters": len(reply),
        "middle": (bounds.low + bounds.high) / 2 if bounds is not None else None,
    }


def save(
    subject: Subject,
    reply: str,
    verdicts: Sequence[Verdict],
    describe: Callable[[str], RunInfo],
    key: str,
) -> None:
    """Offer to keep a graded reply as a run of its own, which then opens in every page.

    Args:
        subject: Conversation and rubric.
        reply: The reply.
        verdicts: One a criterion; unknown ones stay unknown.
        describe: Makes the run's description from the name of its file.
        key: Prefix of the session keys.
    """
    saved = st.session_state.setdefault(_SAVED, {})
    mark = (key, tuple(verdicts))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = _reply_model(subject, reply, key)
        pressed = st.button("Save as a run", key=f"{key}_save", icon=":material/save:")
        if pressed:
            try:
                saved[mark] = _write(subject, reply, verdicts, describe, model)
            except HealthBenchError as error:
                st.error(escaped(str(error)), icon=":material/block:")
        run_id = saved.get(mark)
        if run_id in {run.id for run in data.runs()}:
            st.page_link(
                "app_pages/example.py",
                label=f"Open {escaped(data.label(run_id))}",
                icon=":material/arrow_forward:",
                query_params=state.query_for("example", run=run_id, example=1),
            )
    if subject.canary:
        st.caption("The conversation carries the benchmark's canary: the run keeps the mark.")


def _reply_model(subject: Subject, reply: str, key: str) -> str | None:
    field = f"{_REPLY_MODEL}_{key}"
    if subject.model and reply == subject.reply:
        st.session_state.setdefault(field, subject.model)
    name = st.text_input(
        "Model that replied (optional)", key=field, persist_state="session", width=280
    )
    return (name or "").strip() or None


def _write(
    subject: Subject,
    reply: str,
    verdicts: Sequence[Verdict],
    describe: Callable[[str], RunInfo],
    model: str | None,
) -> str | None:
    now = datetime.now(UTC)
    name = f"graded_{now:%Y%m%d_%H%M%S_%f}.jsonl"
    info = describe(name)
    info.model, info.benchmark, info.synthetic = model, subject.benchmark, subject.synthetic
    example = GradedExample(
        prompt_id=subject.prompt_id,
        prompt=list(subject.prompt),
        # What a browser may hand over and no file can hold.
        reply=reply.encode(errors="replace").decode(),
        criteria=list(subject.criteria),
        verdicts=list(verdicts),
        example_tags=subject.example_tags,
    )
    outcome = grade_data.save_run(name, info, [example], subject.canary or None)
    if outcome.run is None:
        st.error(escaped(outcome.refusal or "The run could not be read."), icon=":material/block:")
        return None
    st.toast(f"Saved as a run: {characters(len(reply))}.", icon=":material/check:")
    return outcome.run.id
