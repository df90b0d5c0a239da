"""What the length adjustment does to a run: the parts of the Length page below the calculator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import numpy as np
import pandas as pd
import state
import streamlit as st

from components.chart import chart, palette
from components.frame import empty
from components.text import escaped, some
from healthbench.charts.dumbbells import Pair, dumbbells
from healthbench.charts.intervals import Mean
from healthbench.charts.length import before_and_after, length_histogram, score_by_length
from healthbench.errors import InputRefusedError
from healthbench.formatting import (
    DASH,
    characters,
    count,
    difference,
    fraction,
    interval,
    percent,
    score,
)
from healthbench.scoring.aggregate import RULES
from healthbench.scoring.length import FITTED_UP_TO, adjust, mean_adjusted
from healthbench.scoring.run_scores import OVERALL
from healthbench.store.coverage import tag_order
from healthbench.store.records import ExampleFilter
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from healthbench.scoring.length import AdjustedMean, LengthAdjustment
    from healthbench.scoring.run_scores import FloatArray, RunScores
    from healthbench.store.records import RunSummary

_SHOWN_EXAMPLES = 5
_SMALLEST_SHARE = 0.001
"""Below this difference of two runs (a fraction) a share of it says nothing."""


def raw_and_adjusted(
    run: RunSummary,
    scores: RunScores,
    mean: AdjustedMean,
    adjustment: LengthAdjustment,
    *,
    as_stored: bool,
) -> None:
    """Show the raw and the adjusted score, with the lengths they come from beside them."""
    raw = data.intervals(run.id, as_stored=as_stored).get(OVERALL)
    adjusted = data.adjusted_interval(run.id, adjustment, as_stored=as_stored)
    pair = [
        Mean("raw", mean.raw, *((raw.low, raw.high) if raw else (None, None)), mean.n),
        Mean(
            "adjusted",
            mean.unclipped,
            *((adjusted.low, adjusted.high) if adjusted else (None, None)),
            mean.n,
        ),
    ]
    with st.container(horizontal=True):
        st.metric("Raw score", score(min(max(mean.raw, 0.0), 1.0)))
        st.metric(
            "Adjusted score",
            score(mean.score),
            delta=difference(mean.unclipped - mean.raw),
            delta_color="off",
            delta_arrow="off",
            delta_description="by length",
        )
        st.metric("Mean length", characters(mean.mean_characters))
    st.caption(
        f"Unclipped means {score(mean.raw)} {interval(pair[0].low, pair[0].high)} and {score(mean.unclipped)} "
        f"{interval(pair[1].low, pair[1].high)}, {some(mean.n, 'example')}; intervals by prompt, in points of 100. "
        f"Mean length of {some(mean.n, 'scored reply', 'scored replies')}."
    )
    if mean.mean_characters > FITTED_UP_TO:
        st.warning(
            f"The mean length is outside the range the penalty was fitted on (settings up to {characters(FITTED_UP_TO)} "
            "on average): the adjusted score of such long replies is an extrapolation, and often low.",
            icon=":material/warning:",
        )
    with st.grid(2, min_column_width=430, gap="medium") as panels:
        with panels.cell():
            chart(
                before_and_after(*pair, palette()),
                key="before_and_after",
                alt=f"Raw mean {score(mean.raw)}, adjusted mean {score(mean.unclipped)}, with 95 % intervals.",
            )
        with panels.cell():
            chart(
                length_histogram(scores.characters, adjustment.center, FITTED_UP_TO, palette()),
                key="lengths",
                alt=f"Distribution of {count(scores.n_examples)} reply lengths, mean {characters(mean.mean_characters)}, "
                f"center {characters(adjustment.center)}.",
            )


def correlation(scores: RunScores, adjustment: LengthAdjustment) -> None:
    """Show score against length, and the correlation of both."""
    st.subheader("Do longer replies score higher?")
    overall = scores.overall.scores
    known = ~np.isnan(overall)
    chart(
        score_by_length(overall, scores.characters, adjustment.center, palette()),
        key="score_by_length",
        alt=f"Example score against reply length for {count(int(known.sum()))} examples.",
        on_select=_open_selected,
    )
    r = _pearson(overall[known], scores.characters[known])
    st.caption(
        f"Pearson r = {fraction(r, 3)}, n = {count(int(known.sum()))}. Within one model it says how longer replies to other "
        "prompts score, not what a longer reply to the same prompt would."
    )


def _open_selected() -> None:
    selected = st.session_state["score_by_length"]["selection"]["points"]
    if selected and "customdata" in selected[0]:
        state.open_page(
            "example", example=int(selected[0]["customdata"][1]), filters=ExampleFilter()
        )


def _pearson(first: FloatArray, second: FloatArray) -> float | None:
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def by_theme(scores: RunScores, adjustment: LengthAdjustment) -> None:
    """Show raw and adjusted means by theme, or by Professional's tags."""
    kind = "theme" if scores.named("theme") else "tag"
    st.subheader(
        "By theme: what does the adjustment change?"
        if kind == "theme"
        else "By tag: what does the adjustment change?"
    )
    order = sort_key if kind == "theme" else tag_order
    names = sorted((name for name in scores.metrics if kind_of(name) == kind), key=order)
    means = {name: mean_adjusted(scores, adjustment, name) for name in names}
    known = {name: mean for name, mean in means.items() if mean}
    if not known:
        empty(
            "This run's file does not say which theme an example has.",
            "Attach the benchmark's data set on the page *Runs*.",
        )
        return
    pairs = [
        Pair(display_name(name), mean.raw, mean.unclipped, mean.n) for name, mean in known.items()
    ]
    chart(
        dumbbells(pairs, "raw", "adjusted", palette(), "unclipped mean, points of 100"),
        key="by_theme",
        alt="Raw and adjusted mean by theme: "
        + ", ".join(f"{pair.name} {score(pair.first)} and {score(pair.second)}" for pair in pairs)
        + ".",
        table=pd.DataFrame(
            {
                "name": [pair.name for pair in pairs],
                "raw": [pair.first for pair in pairs],
                "adjusted": [pair.second for pair in pairs],
                "mean length": [mean.mean_characters for mean in known.values()],
                "n": [pair.n for pair in pairs],
            }
        ),
        formats={"raw": score, "adjusted": score, "mean length": count, "n": count},
    )
    st.caption("Recomputed example by example: results files keep their tags raw.")


def order_of_steps(scores: RunScores, mean: AdjustedMean, adjustment: LengthAdjustment) -> None:
    """Show the official order of the steps and the variant that clips each example."""
    st.subheader("Does the order of the steps matter?")
    st.table(
        {
            "Adjust each example, mean, clip once (official)": score(mean.score),
            "The same before its clip": score(mean.unclipped),
            "Adjust each example, clip each, mean (MedARC medmarks)": score(
                RULES["medarc"](scores, OVERALL, adjustment)
            ),
        },
        border="horizontal",
    )
    adjusted = adjust(scores.overall.scores, scores.characters, adjustment)
    above, below = int((adjusted > 1).sum()), int((adjusted < 0).sum())
    st.caption(
        f"Adjusted example scores above 1: {count(above)}; below 0: {count(below)} "
        f"({count(int((scores.overall.scores < 0).sum()))} before the adjustment). The official order leaves them so."
    )
    _outside(scores, adjusted)


def _outside(scores: RunScores, adjusted: FloatArray) -> None:
    raw = scores.overall.scores
    left = np.flatnonzero(((adjusted < 0) | (adjusted > 1)) & (raw >= 0) & (raw <= 1))
    if len(left) == 0:
        return
    furthest = left[np.argsort(-np.abs(adjusted[left] - 0.5), kind="stable")][:_SHOWN_EXAMPLES]
    st.markdown(f"The adjustment takes {some(len(left), 'example')} out of 0 to 1; the furthest:")
    for row in furthest:
        st.page_link(
            "app_pages/example.py",
            label=f"example {count(row + 1)} · {fraction(raw[row], 2)} to **{fraction(adjusted[row], 2)}** · "
            f"{characters(int(scores.characters[row]))}",
            icon="",
            query_params=state.query_for(
                "example", example=int(row) + 1, filters=ExampleFilter(), order="example"
            ),
        )


def between_runs(run: RunSummary, adjustment: LengthAdjustment, *, as_stored: bool) -> None:
    """Show how much of the difference to another run is length."""
    st.subheader("How much of a difference is length?")
    others = [other.id for other in data.runs() if other.id != run.id]
    if not others:
        st.markdown("Import a second run over the same prompts to see it.")
        return
    chosen = st.selectbox(
        "Other run",
        others,
        index=None,
        key="length_other",
        format_func=data.label,
        placeholder="Choose a run over the same prompts",
    )
    if chosen is None:
        return
    try:
        part = data.length_part(chosen, run.id, adjustment, as_stored=as_stored)
    except InputRefusedError as refused:
        empty(escaped(str(refused)), "")
        return
    if part is None:
        empty("No prompt has a score in both runs.", "")
        return
    share = percent(part.length / part.raw) if abs(part.raw) >= _SMALLEST_SHARE else DASH
    st.markdown(
        f"This run minus *{escaped(data.label(chosen))}*, on shared prompts: raw **{difference(part.raw)}** = adjusted "
        f"**{difference(part.adjusted)}** + length **{difference(part.length)}** points. Share that is length: **{share}**."
    )
    st.caption(
        "A share above 100 % or below 0 says that length and the rest pull in opposite directions. Whether the "
        "difference is more than noise is on the page *Compare*."
    )
