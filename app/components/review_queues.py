"""The list of queues with what is left of each, and the form that makes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import review_data
import state
import streamlit as st

from components.text import escaped, some
from healthbench.errors import HealthBenchError
from healthbench.formatting import count
from healthbench.review.queues import SAMPLES, TELLING, Plan, QueueKind
from healthbench.store.records import ExampleFilter

if TYPE_CHECKING:
    from healthbench.review.saved import SavedQueue
    from healthbench.store.journal import Reviewer
    from healthbench.store.records import RunSummary

KINDS = {
    QueueKind.LEVERAGE: (
        "By leverage, the largest first",
        "The verdicts that can move the run's score most. They say nothing about the rest.",
    ),
    QueueKind.LEVERAGE_SAMPLE: (
        "A sample drawn by leverage",
        "Drawn at random, the more a verdict can move the score the likelier. The best for an estimate of the score.",
    ),
    QueueKind.RANDOM: (
        "A sample of themes, axes and signs",
        "Drawn at random from every theme, axis and sign in proportion to its size.",
    ),
    QueueKind.PENALTIES: (
        "All penalties incurred",
        "Penalties the grader called met, the gravest first.",
    ),
    QueueKind.CONSENSUS: (
        "Consensus criteria",
        "Criteria that several physicians agreed on beforehand.",
    ),
    QueueKind.DISAGREEMENTS: (
        "Disagreements with another run",
        "Criteria on which two runs got different verdicts; where the replies are equal, two graders disagree.",
    ),
    QueueKind.FLICKERING: (
        "Flickering verdicts",
        "Criteria whose verdict differs between the replies to one prompt.",
    ),
    QueueKind.SLIPS: (
        "Suspected slips",
        "Verdicts that their own explanation seems to contradict, the clearest first. A rule of thumb for English.",
    ),
    QueueKind.SLICE: (
        "The filter of the page Examples",
        "The criteria that the filter on the page Examples means.",
    ),
}
_SIZED = {QueueKind.LEVERAGE, *SAMPLES}


def queue_list(run: RunSummary, reviewer: Reviewer) -> None:
    """Show the queues of a run that are for a reviewer, each with what is left."""
    queues = [
        queue for queue in review_data.saved_queues().all(run.id) if queue.is_for(reviewer.name)
    ]
    for queue in queues:
        _queue(queue, reviewer)
    if not queues:
        st.info(
            "No queue is waiting for you in this run. Make one below, or open an example and review all its criteria.",
            icon=":material/info:",
        )


def _queue(queue: SavedQueue, reviewer: Reviewer) -> None:
    entries = review_data.open_queue(queue.id, queue.plan.run).entries
    done = {name: _done(entries, name) for name in dict.fromkeys([reviewer.name, *queue.assigned])}
    left = queue.n - done[reviewer.name]
    with (
        st.container(border=True, key=f"queue_{queue.id}"),
        st.container(horizontal=True, vertical_alignment="center"),
    ):
        st.markdown(f"**{escaped(queue.name)}** · {some(queue.n, 'verdict')}")
        others = [
            f"{escaped(name)} {count(n)}" for name, n in done.items() if name != reviewer.name
        ]
        progress = f"{count(left)} left for you" + (
            f" · decided: {', '.join(others)}" if others else ""
        )
        st.caption(progress)
        st.space("stretch")
        st.button(
            "Review" if left else "Look again",
            key=f"open_{queue.id}",
            type="primary" if left else "secondary",
            on_click=state.change,
            kwargs={"queue": queue.id},
        )
        with st.popover("", icon=":material/more_vert:", help="Assign or remove", type="tertiary"):
            _manage(queue)


def _done(entries: tuple[review_data.Entry, ...], name: str) -> int:
    return sum(entry.item in review_data.own(entry.item.run, name).decided for entry in entries)


def _manage(queue: SavedQueue) -> None:
    names = st.multiselect(
        "For these reviewers (empty: everyone)",
        sorted(
            {reviewer.name for reviewer in review_data.journal().reviewers()} | set(queue.assigned)
        ),
        default=queue.assigned,
        accept_new_options=True,
        key=f"assigned_{queue.id}",
    )
    if tuple(names) != queue.assigned:
        review_data.saved_queues().assign(queue.id, names)
        st.rerun()
    st.button(
        "Remove the queue (decisions stay)",
        key=f"remove_{queue.id}",
        on_click=review_data.saved_queues().remove,
        args=(queue.id,),
    )


def queue_form(run: RunSummary, others: dict[str, str]) -> None:
    """Show the form that makes a queue.

    Args:
        run: The run.
        others: Name by id of the runs that it can be compared with.
    """
    with st.expander("Make a queue", icon=":material/playlist_add:", key="make_queue"):
        kind = st.selectbox(
            "Which verdicts", list(KINDS), format_func=lambda kind: KINDS[kind][0], key="make_kind"
        )
        st.caption(KINDS[kind][1])
        other = None
        if kind == QueueKind.DISAGREEMENTS:
            other = st.selectbox(
                "Other run", list(others), format_func=others.get, key="make_other"
            )
        if kind == QueueKind.SLICE:
            st.caption(f"At present: {_described(state.view().filters)}.")
        size, within = _size(kind)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            seed = st.number_input("Seed of the draw", 0, 10**6, 0, key="make_seed", width=160)
            mixed = st.toggle(
                "Mix in as many others",
                value=kind in TELLING,
                key=f"make_mixed_{kind}",
                help="So that knowing what the queue was made for does not give the grader's verdict away.",
            )
        number = len(review_data.saved_queues().all(run.id)) + 1
        name = st.text_input(
            "Name, as the reviewers will see it",
            value=f"Queue {number}",
            max_chars=80,
            key=f"make_name_{number}",
            help="A name that does not tell what it holds keeps the review blind.",
        )
        names = st.multiselect(
            "For these reviewers (empty: everyone)",
            [reviewer.name for reviewer in review_data.journal().reviewers()],
            accept_new_options=True,
            key="make_assigned",
        )
        if st.button("Make the queue", type="primary", key="make"):
            plan = Plan(
                kind=kind,
                run=run.id,
                other=other,
                size=size,
                within=within,
                seed=int(seed),
                mixed=mixed,
                filters=state.view().filters if kind == QueueKind.SLICE else ExampleFilter(),
            )
            _make(name, plan, names)


def _described(wanted: ExampleFilter) -> str:
    conditions = state.to_query(wanted)
    words = [
        f"{name.replace('_', ' ')} {', '.join(value) if isinstance(value, list) else value}"
        for name, value in conditions.items()
    ]
    return escaped("; ".join(words)) or "every criterion (no filter is set)"


def _size(kind: QueueKind) -> tuple[int | None, float | None]:
    """Ask how many; a size, or for leverage and samples the precision wanted."""
    choices = ["size", "precision"] if kind in _SIZED else ["size", "all"]
    words = {"size": "At most", "precision": "Until ± points", "all": "All there are"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        how = st.segmented_control(
            "How many",
            choices,
            format_func=words.get,
            default=choices[0] if kind in _SIZED else "all",
            required=True,
            key=f"make_how_{kind}",
        )
        if how == "size":
            return int(
                st.number_input("Verdicts", 1, 100_000, 50, key="make_size", width=160)
            ), None
        if how == "precision":
            points = st.number_input(
                "Points of 100 either way",
                0.1,
                50.0,
                3.0,
                0.5,
                key="make_within",
                width=200,
                help="Planned for one wrong verdict in four; the page Agreement shows the interval reached. By leverage: "
                "until the rest could not move the score further even if all of it were wrong.",
            )
            return None, points / 100
    return None, None


def _make(name: str, plan: Plan, assigned: list[str]) -> None:
    try:
        with st.spinner("Choosing the verdicts …"):
            entries = review_data.make(plan)
        queue = review_data.saved_queues().save(name, plan, entries, assigned)
    except HealthBenchError as error:
        st.error(str(error))
        return
    state.change(queue=queue.id)
    st.rerun()
