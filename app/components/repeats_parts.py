"""The parts of the page Repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import compare_data
import data
import numpy as np
import pandas as pd
import state
import streamlit as st

from components.chart import chart, palette, show_table
from components.text import escaped, some
from healthbench.charts.repeats import (
    Curve,
    Part,
    mean_and_worst,
    repeat_scores,
    variance_parts,
    worst_at_k,
)
from healthbench.errors import InputRefusedError
from healthbench.formatting import count, fraction, interval, percent, score
from healthbench.published import RUN_SPREAD
from healthbench.scoring.reliability import prompt_spread, repeat_spread, variance_split
from healthbench.scoring.run_scores import OVERALL
from healthbench.store.records import ExampleFilter
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthbench.comparison.repeats import PromptRepeats
    from healthbench.scoring.reliability import PromptSpread, WorstAtK
    from healthbench.store.records import RunSummary

PAGE_SIZE = 15
_SHOWN_K = (1, 2, 3, 4, 6, 8, 12, 16)


def pickers(run: RunSummary) -> tuple[str, ...]:
    """Let the reader join further runs and name a regrade; return the ids of the joined runs, this one first."""
    others = [other.id for other in data.runs() if other.id != run.id]
    if not others:
        return (run.id,)
    joined = [chosen for chosen in state.view().joined if chosen in others]
    st.session_state["joined"] = joined
    regrade = state.view().regrade
    st.session_state["regrade"] = regrade if regrade in others else None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.multiselect(
            "Join further runs of the same model as repeats",
            others,
            key="joined",
            format_func=data.label,
            on_change=_join,
            placeholder="None",
            width=420,
        )
        st.selectbox(
            "The same replies graded again in",
            others,
            key="regrade",
            format_func=data.label,
            on_change=_regrade,
            placeholder="No regrade",
            width=340,
        )
    return (run.id, *joined)


def _join() -> None:
    state.change(joined=tuple(st.session_state["joined"]))


def _regrade() -> None:
    state.change(regrade=st.session_state["regrade"])


def remarks(run_ids: tuple[str, ...], *, as_stored: bool) -> bool:
    """Say what joining the runs rests on; False where they cannot be joined."""
    try:
        joint = compare_data.joint(run_ids, as_stored=as_stored)
    except InputRefusedError as refused:
        st.warning(escaped(str(refused)), icon=":material/block:")
        return False
    for sentence in joint.remarks:
        st.caption(escaped(sentence))
    return True


def spread_panel(found: PromptRepeats) -> None:
    """Show the score of each repeat with mean, SD and range, as the paper's Table 7 has them."""
    spread = repeat_spread(found.repeats)
    st.subheader("How far do the repeats differ?")
    if spread is None:
        st.markdown("No repeat has a score.")
        return
    with st.container(horizontal=True):
        st.metric("Mean of the repeats' scores", score(spread.mean))
        st.metric("SD over repeats", score(spread.sd), help="ddof 0, as the reference has it")
        st.metric("Range", f"{score(spread.low)} to {score(spread.high)}")
    chart(
        repeat_scores(spread, palette()),
        key="repeat_scores",
        alt=f"Run scores of {some(len(spread.scores), 'repeat')}, from {score(spread.low)} to {score(spread.high)}.",
        table=pd.DataFrame(
            {
                "repeat": range(1, len(spread.scores) + 1),
                "score": spread.scores,
                "prompts": spread.n_prompts,
            }
        ),
        formats={"score": score, "prompts": count},
    )
    prompts = sorted(set(spread.n_prompts.tolist()))
    over = (
        some(prompts[0], "prompt")
        if len(prompts) == 1
        else f"{prompts[0]} to {prompts[-1]} prompts"
    )
    st.caption(
        f"n = {some(len(spread.scores), 'repeat')} over {over}. "
        "This SD mixes the noise of answering and of grading on the same prompts. It says nothing about other prompts: "
        "the standard error below does."
    )
    if len(prompts) > 1:
        st.caption(
            "The repeats stand on different numbers of prompts, so part of their spread is the prompts."
        )
    with st.expander("What the paper printed for 16 repeats"):
        show_table(
            pd.DataFrame(RUN_SPREAD.rows, columns=["model", "mean", "smallest", "largest", "SD"]),
            key="published_spread",
            alt="Published spread over 16 runs",
            formats=dict.fromkeys(("mean", "smallest", "largest", "SD"), lambda v: fraction(v, 4)),
        )
        st.caption(f"HealthBench, {RUN_SPREAD.place}. {RUN_SPREAD.conditions}")


def worst_panel(run_ids: tuple[str, ...], wanted: ExampleFilter | None, *, as_stored: bool) -> None:
    """Show worst-at-k overall and by theme."""
    st.subheader("If the worst of k replies counted")
    overall = compare_data.worst_at_k(run_ids, wanted, as_stored=as_stored)
    if len(overall) < 2:
        st.markdown("With one reply a prompt there is nothing to take the worst of.")
        return
    themes = sorted(
        (name for name in compare_data.side(run_ids[0]).scores.metrics if kind_of(name) == "theme"),
        key=sort_key,
    )
    theme = st.selectbox(
        "Beside all prompts",
        themes,
        index=None,
        key="worst_theme",
        format_func=display_name,
        placeholder="No theme",
        width=340,
    )
    curves = {
        OVERALL: overall,
        **{
            name: compare_data.worst_at_k(run_ids, wanted, name, as_stored=as_stored)
            for name in themes
        },
    }
    beside = Curve(display_name(theme), curves[theme]) if theme else None
    table = _worst_table(curves)
    chart(
        worst_at_k(Curve("all prompts", overall), beside, palette()),
        key="worst_chart",
        alt=f"Expected worst of k replies: {score(overall[0].unclipped)} for one, "
        f"{score(overall[-1].unclipped)} for {overall[-1].k}.",
        table=table,
        formats={name: score for name in table.columns if name.startswith("worst")},
    )
    last = overall[-1]
    single = overall[0].unclipped
    lost = (
        f"{percent(1 - last.unclipped / single, 0)} less than"
        if 0 < last.unclipped <= single
        else "against"
    )
    unclipped = "" if last.score == last.unclipped else f" (unclipped {score(last.unclipped)})"
    st.markdown(
        f"Worst of **{last.k}**: **{score(last.score)}**{unclipped} {interval(last.low, last.high)}, {lost} the "
        f"{score(single)} of a single reply, over {some(last.n_prompts, 'prompt')}."
    )
    st.caption(
        "Closed form: the mean of the smallest score over all choices of k of a prompt's replies, averaged over prompts, "
        "then clipped once; the chart and intervals are unclipped, by bootstrap over prompts."
    )


def _worst_table(curves: dict[str, list[WorstAtK]]) -> pd.DataFrame:
    most = max(len(curve) for curve in curves.values())
    shown = [k for k in _SHOWN_K if k <= most]
    return pd.DataFrame(
        [
            {
                "prompts": "All" if name == OVERALL else display_name(name),
                "n": curve[0].n_prompts if curve else 0,
                **{
                    f"worst of {k}": curve[k - 1].unclipped if len(curve) >= k else None
                    for k in shown
                },
            }
            for name, curve in curves.items()
        ]
    )


def variance_panel(run: RunSummary, found: PromptRepeats, *, as_stored: bool) -> None:
    """Show where the variance comes from, and what would halve the standard error."""
    st.subheader("Where does the variance come from?")
    grading, sentence = _grading(run, as_stored=as_stored)
    split = variance_split(found.repeats, grading)
    if split is None:
        st.markdown("This takes at least two prompts and one prompt with two scored replies.")
        return
    parts = [Part("between prompts", split.between_prompts)]
    if split.gradings is None or split.between_replies is None:
        parts.append(Part("between replies and gradings", split.within))
    else:
        parts += [
            Part("between replies", split.between_replies),
            Part("between gradings", split.gradings),
        ]
    chart(
        variance_parts(parts, palette()),
        key="variance_chart",
        alt="Parts of the variance of example scores: "
        + ", ".join(f"{part.name} {fraction(part.variance)}" for part in parts)
        + ".",
        table=pd.DataFrame(parts, columns=["part", "variance"]).assign(
            sd=[part.variance**0.5 for part in parts]
        ),
        formats={"variance": fraction, "sd": score},
    )
    st.caption(sentence)
    n, k = split.n_prompts, split.mean_repeats
    more = split.repeats_to_halve
    st.markdown(
        f"Standard error of the mean with {some(n, 'prompt')} and {count(k) if k == int(k) else fraction(k, 1)} replies each: "
        f"**{score(split.standard_error)}** points, an interval of ±{score(1.96 * split.standard_error)}. "
        f"To halve it: **{some(split.prompts_to_halve, 'prompt')}** with as many replies each, or "
        + (
            f"**{some(more, 'reply', 'replies')}** to each of these prompts."
            if more is not None
            else "no number of replies to these prompts, because what is left is between prompts."
        )
    )
    table = _errors(split.standard_error_with, n, k)
    with st.expander("Standard error for other numbers of prompts and replies"):
        show_table(
            table,
            key="errors",
            alt="Standard error by number of prompts and replies",
            formats={name: score for name in table.columns if name != "prompts"}
            | {"prompts": count},
        )


def _errors(error: object, n: int, k: float) -> pd.DataFrame:
    replies = sorted({1, 2, 4, 8, 16, max(1, round(k))})
    return pd.DataFrame(
        [
            {
                "prompts": prompts,
                **{
                    f"{some(number, 'reply', 'replies')}": error(prompts, number)
                    for number in replies
                },
            }
            for prompts in sorted({n, 2 * n, 4 * n, max(2, n // 2)})
        ]
    )


def _grading(run: RunSummary, *, as_stored: bool) -> tuple[float | None, str]:
    """Return the variance of grading and a sentence on where it is from."""
    chosen = state.view().regrade
    known = {other.id for other in data.runs()} - {run.id}
    if chosen not in known:
        return None, (
            "Answering and grading cannot be told apart without a regrade: a second run in which the same replies were graded again."
        )
    try:
        found = compare_data.regrade(run.id, chosen, as_stored=as_stored)
    except InputRefusedError as refused:
        return None, escaped(str(refused))
    if found.variance is None:
        return None, f"{escaped(data.label(chosen))} shares no scored reply with this run."
    return (
        found.variance,
        f"Grading: half the mean squared difference over {some(found.n_replies, 'reply', 'replies')} graded in both runs.",
    )


def prompt_panel(run_ids: tuple[str, ...], found: PromptRepeats) -> None:
    """Show the prompts that are good on average and bad at worst."""
    st.subheader("Which prompts are good on average, bad at worst?")
    spread = prompt_spread(found.repeats)
    if not len(spread.mean):
        st.markdown("No prompt has a score.")
        return
    chart(
        mean_and_worst(spread, palette()),
        key="mean_and_worst",
        alt=f"Mean and worst score of {some(len(spread.mean), 'prompt')}; the table below lists the widest.",
        on_select=lambda: _open_selected(run_ids, found, spread),
    )
    order = np.argsort(spread.worst - spread.mean, kind="stable")
    pages = -(-len(order) // PAGE_SIZE)
    page = (st.pagination(pages, key="spread_page") or 1) if pages > 1 else 1
    part = order[PAGE_SIZE * (page - 1) : PAGE_SIZE * page]
    table = pd.DataFrame(
        {
            "open": "Open",
            "prompt": [found.prompt_ids[spread.prompts[place]] for place in part],
            "mean": spread.mean[part],
            "worst": spread.worst[part],
            "best": spread.best[part],
            "SD": spread.sd[part],
            "replies": spread.n[part],
        }
    )
    show_table(
        table,
        key="spread_list",
        alt="Prompts by how far their worst reply falls below their mean",
        formats=dict.fromkeys(("mean", "worst", "best", "SD"), _fraction) | {"replies": count},
        column_config={
            "open": st.column_config.ButtonColumn(
                "open",
                key="open_worst",
                on_click=_open_listed,
                args=(run_ids, found, spread, part),
                width=62,
                help="Opens the worst reply",
            )
        },
        height="content",
    )
    st.caption(
        "Widest fall from the mean first. A click in the chart or list opens the worst reply."
    )


def _fraction(value: float) -> str:
    return fraction(value, 3)


def _open_selected(run_ids: tuple[str, ...], found: PromptRepeats, spread: PromptSpread) -> None:
    selected = st.session_state["mean_and_worst"]["selection"]["points"]
    if selected and "customdata" in selected[0]:
        _open_worst(run_ids, found, int(spread.prompts[int(selected[0]["customdata"])]))


def _open_listed(
    run_ids: tuple[str, ...], found: PromptRepeats, spread: PromptSpread, part: Sequence[int]
) -> None:
    place = part[st.session_state["open_worst"]["row"]]
    _open_worst(run_ids, found, int(spread.prompts[place]))


def _open_worst(run_ids: tuple[str, ...], found: PromptRepeats, prompt: int) -> None:
    repeat = int(np.nanargmin(found.repeats.scores[prompt]))
    state.open_page(
        "example",
        run=run_ids[found.run[repeat]],
        example=int(found.rows[prompt, repeat]) + 1,
        filters=ExampleFilter(prompt_ids=(found.prompt_ids[prompt],)),
        order="score",
    )
