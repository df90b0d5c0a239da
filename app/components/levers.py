"""The end of the Score page: consensus criteria, counterfactual levers, and how far one verdict can move the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import pandas as pd
import state
import streamlit as st

from components.chart import show_table
from components.text import escaped
from healthbench.formatting import DASH, count, difference, move, percent, points, score
from healthbench.scoring.levers import MORE_MET, levers
from healthbench.scoring.run_scores import OVERALL
from healthbench.store.records import ExampleFilter
from healthbench.taxonomy import display_name, kind_of, parse_cluster, sort_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from healthbench.scoring.aggregate import MetricResult
    from healthbench.scoring.levers import Lever
    from healthbench.scoring.uncertainty import Interval
    from healthbench.store.records import RunSummary

_TITLES = {
    "level": "Levels",
    "category": "Physician categories",
    "cluster": "Consensus clusters",
    "tag": "Other tags",
}
_SHOWN_VERDICTS = 6


def tag_tables(
    run: RunSummary,
    results: Mapping[str, MetricResult],
    intervals: Mapping[str, Interval],
    *,
    as_stored: bool,
) -> None:
    """Show levels, physician categories, consensus clusters and other tags; as error rates for a Consensus run."""
    clusters = data.run_scores(run.id, as_stored=as_stored).metrics.get("level:cluster")
    as_errors = clusters is not None and int(clusters.n_items.sum()) == run.n_items
    with st.expander("Levels, physician categories, consensus clusters"):
        if as_errors:
            st.markdown(
                "Every criterion of this run is a consensus criterion, so these are **error rates**: 100 minus the score."
            )
        shown = False
        for kind, title in _TITLES.items():
            names = sorted((name for name in results if kind_of(name) == kind), key=sort_key)
            if names:
                shown = True
                st.markdown(f"**{title}**")
                _tag_table(kind, names, results, intervals, as_errors=as_errors)
        if not shown:
            st.markdown("This run has none of these tags.")


def _tag_table(
    kind: str,
    names: list[str],
    results: Mapping[str, MetricResult],
    intervals: Mapping[str, Interval],
    *,
    as_errors: bool,
) -> None:
    rows = []
    for name in names:
        result, spread = results[name], intervals.get(name)
        ends = (spread.low, spread.high) if spread else (None, None)
        value = result.score
        if as_errors:
            value = None if value is None else 1 - value
            ends = (1 - spread.high, 1 - spread.low) if spread else ends
        cluster = parse_cluster(name)
        theme = display_name(cluster.theme) if cluster else None
        rows.append((theme, display_name(name), value, *ends, result.n, result.n_scorable))
    what = "error rate" if as_errors else "score"
    table = pd.DataFrame(rows, columns=["theme", "name", what, "low", "high", "n", "of"])
    # Numbers, so that a missing one is shown as a dash.
    table[[what, "low", "high"]] = table[[what, "low", "high"]].astype(float)
    if kind != "cluster":
        table = table.drop(columns="theme")
    show_table(
        table,
        key=f"table_{kind}",
        alt=_TITLES[kind],
        formats={what: score, "low": score, "high": score, "n": count, "of": count},
    )


def counterfactuals(run: RunSummary, mean: float | None, *, as_stored: bool) -> None:
    """Show what would move the score, and how far one verdict can."""
    if mean is None:
        return
    with st.expander("Levers: what would move the score"):
        st.markdown(
            "What the arithmetic would give for the same replies, all else equal. It says what weighs how much, not what a "
            "model could do."
        )
        found = levers(mean, data.lost_by_axis(run.id, as_stored=as_stored))
        show_table(
            pd.DataFrame(
                {
                    "suppose": [_supposed(lever) for lever in found],
                    "unclipped mean": [lever.unclipped for lever in found],
                    "gain": [lever.gain for lever in found],
                    "score": [lever.score for lever in found],
                    "verdicts changed": [lever.n_verdicts for lever in found],
                }
            ),
            key="levers",
            alt="Counterfactual levers of the run",
            formats={
                "unclipped mean": score,
                "gain": _gain,
                "score": score,
                "verdicts changed": count,
            },
        )
        st.caption(
            f"Unclipped mean now: {score(mean)}. The gains of the axes and this mean add up to 100, because every point "
            "missing from 100 is a missed or an incurred one on some axis."
        )
        _leverage(run, as_stored=as_stored)


def _supposed(lever: Lever) -> str:
    if lever.name == "penalties":
        return "all penalties avoided"
    if lever.name == "more met":
        return f"{percent(MORE_MET, 0)} more of the positive criteria met, at random"
    return f"{display_name(lever.axis) if lever.axis else 'Criteria without an axis'} perfect"


def _gain(value: float) -> str:
    return DASH if value == 0 else difference(value)


def _leverage(run: RunSummary, *, as_stored: bool) -> None:
    found = data.leverage(run.id, as_stored=as_stored)
    if found.median is None:
        return
    st.markdown("**How far one verdict can move the run**")
    spread = data.intervals(run.id, as_stored=as_stored).get(OVERALL)
    text = (
        f"Turning the median verdict round moves the unclipped mean by {move(found.median)} points of 100, the "
        f"farthest by {move(float(found.farthest['move'].iloc[0]))}."
    )
    if spread and found.median > 0:
        needed = spread.standard_error / found.median
        text += (
            f" About {count(needed)} median verdicts, all in one direction, move it by one standard error "
            f"({score(spread.standard_error)}), of {count(found.n_verdicts)} in all."
        )
    st.markdown(text)
    for row in found.farthest.head(_SHOWN_VERDICTS).to_dict("records"):
        st.page_link(
            "app_pages/example.py",
            label=f"**{move(row['move'])}** · example {count(row['example'] + 1)}, criterion {row['position'] + 1} · "
            f"{points(row['points'])} {row['state']} · {_short(row['criterion'])}",
            icon="",
            query_params=state.query_for(
                "example", example=int(row["example"]) + 1, filters=ExampleFilter()
            ),
        )


def _short(text: str, width: int = 50) -> str:
    return escaped(text if len(text) <= width else text[: width - 1] + "…")
