"""One run: its score and how it comes about."""

from __future__ import annotations

import data
import state
import streamlit as st
from components.chart import chart, palette
from components.downloads import report_button
from components.frame import run_line, run_or_stop
from components.levers import counterfactuals, tag_tables
from components.reviewed_score import reviewed_score
from components.score_parts import (
    headline,
    means,
    outside_axes,
    penalties,
    unknown_verdicts,
    verification,
)
from components.slices import slice_bar, slice_score

from healthbench.charts.distribution import example_scores
from healthbench.charts.points import where_points_went
from healthbench.formatting import count, fraction, points
from healthbench.scoring.run_scores import OVERALL


def _open_selected() -> None:
    """Follow a click in the distribution: a dot opens its example, a bar lists the examples in it."""
    selected = st.session_state["distribution"]["selection"]["points"]
    if not selected:
        return
    clicked = selected[0]["customdata"]
    if isinstance(clicked, list):
        filters = state.ExampleFilter(min_score=clicked[0], max_score=clicked[1])
        state.open_page("examples", filters=filters, page=1)
    else:
        state.open_page("example", example=int(clicked) + 1, filters=state.ExampleFilter())


run = run_or_stop()
run_line(run)
as_stored = state.view().as_stored and bool(run.n_marked)
scores = data.run_scores(run.id, as_stored=as_stored)
results = data.metrics(run.id, as_stored=as_stored)
intervals = data.intervals(run.id, as_stored=as_stored)
head = data.headline(run.id, as_stored=as_stored)

slice_bar("Its score comes first; what follows is the whole run.")
slice_score(run, head.unclipped, as_stored=as_stored)
headline(run, head, results[OVERALL], as_stored=as_stored)
reviewed_score(run, as_stored=as_stored)
unknown_verdicts(run)
report_button(run.id)

st.subheader("How are the example scores spread?")
chart(
    example_scores(scores.overall.scores, palette(), head.unclipped),
    key="distribution",
    alt=f"Distribution of {count(head.n_scored)} example scores with mean {fraction(head.unclipped, 3)}; "
    f"{count(head.below_zero)} are below 0.",
    on_select=_open_selected,
)
st.caption(
    f"{count(head.below_zero)} of {count(head.n_scored)} scores are below 0 and pull the mean down as they are. "
    "A dot is an example: click it to open its ledger, or a bar to list its examples."
)

with st.grid(2, min_column_width=430, gap="medium") as grid:
    with grid.cell():
        means(results, intervals, "theme", head.unclipped)
        if data.themes_from(run.id) == "inferred":
            st.caption(
                "Inferred from consensus clusters: only the examples that have one are in here."
            )
    with grid.cell():
        means(results, intervals, "axis", head.unclipped)
        outside_axes(run, as_stored=as_stored)
    with grid.cell():
        st.subheader("Where did the points go?")
        sums = data.points_by_axis(run.id, as_stored=as_stored)
        chart(
            where_points_went(sums, list(dict.fromkeys(sums["name"])), palette()),
            key="where",
            alt="Points earned, missed, incurred and avoided on each axis.",
            table=sums,
            formats={"points": points, "n": count},
        )
    with grid.cell():
        penalties(run, as_stored=as_stored)

verification(run)
tag_tables(run, results, intervals, as_stored=as_stored)
counterfactuals(run, head.unclipped, as_stored=as_stored)
