"""The parts of the Clipping page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import numpy as np
import pandas as pd
import state
import streamlit as st

from components.chart import chart, palette, show_table
from components.frame import empty
from components.rules import in_words
from components.text import escaped, some
from healthbench.charts.clipping import two_treatments
from healthbench.charts.dumbbells import Pair, dumbbells
from healthbench.errors import InputRefusedError
from healthbench.formatting import (
    DASH,
    count,
    difference,
    fraction,
    move,
    percent,
    plain_points,
    score,
)
from healthbench.scoring.aggregate import RULES, early_late_gap
from healthbench.scoring.length import PRESETS
from healthbench.scoring.run_scores import OVERALL
from healthbench.scoring.which_rule import (
    LENGTH_LATE,
    LENGTH_UNCLIPPED,
    Figure,
    Match,
    closest,
    read_number,
)
from healthbench.store.records import ExampleFilter
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from healthbench.scoring.aggregate import Gap, MetricResult
    from healthbench.scoring.run_scores import FloatArray, RunScores
    from healthbench.scoring.uncertainty import Interval
    from healthbench.store.records import RunSummary

_SHOWN_EXAMPLES = 8
_SHOWN_MATCHES = 40
_JUST_BELOW_ZERO = -0.0001
"""The filter's bounds are inclusive; no score of the benchmark lies between this and 0."""
_SANDBOX = [0.7, -1.6, 0.0]
_SANDBOX_ROUND = "sandbox_round"
_KIND_TITLES = {"theme": "How large is the gap by theme?", "axis": "How large is the gap by axis?"}
_POLICIES = {"unknown": "unknown", "as stored": "as the file counts them"}
_LENGTH_RULES = {
    LENGTH_LATE: "Length-adjusted, one clip",
    LENGTH_UNCLIPPED: "Length-adjusted, no clip",
}


def numbers(gap: Gap) -> None:
    """Show both scores and the parts their difference is made of."""
    with st.container(border=True, key="gap"):
        with st.container(horizontal=True):
            st.metric(
                "Late (official)",
                score(gap.late),
                help="The mean of the example scores, clipped once at the end.",
            )
            st.metric(
                "Early",
                score(gap.early),
                help="Every example score is clipped to 0-1 first; then the mean.",
            )
            st.metric("Gap, early minus late", difference(gap.shown_gap))
            st.metric(
                "Unclipped mean", score(gap.unclipped), help="The official mean before its clip."
            )
        st.markdown(_parts(gap))


def _parts(gap: Gap) -> str:
    lifted = f"**{score(gap.lifted_below_zero)}** lifted from below zero ({count(gap.n_below_zero)} of {count(gap.n)} examples)"
    cut = f"**{score(gap.cut_above_one)}** cut above one ({count(gap.n_above_one)})"
    text = f"{difference(gap.shown_gap)} = {lifted} less {cut}"
    if gap.final_clip:
        which = "lifts the mean to 0" if gap.final_clip > 0 else "cuts the mean to 1"
        text += f", less **{score(gap.final_clip)}** by which the one official clip itself {which}"
    return text + "."


def distribution(scores: FloatArray, gap: Gap, *, key: str) -> None:
    """Show the example scores under both treatments."""
    chart(
        two_treatments(scores, palette()),
        key=key,
        alt=f"Example scores as they are, with mean {fraction(gap.unclipped, 3)}, above the same scores each clipped to "
        f"0 to 1, with mean {fraction(gap.early, 3)}; {count(gap.n_below_zero)} were moved up to 0.",
    )


def by_tag(results: Mapping[str, MetricResult], kind: str, *, inferred: bool = False) -> None:
    """Show late and early scores of themes or axes."""
    names = sorted((name for name in results if kind_of(name) == kind), key=sort_key)
    known = [results[name] for name in names if results[name].score is not None]
    st.subheader(_KIND_TITLES[kind])
    if not known:
        what = "theme" if kind == "theme" else "axis"
        empty(
            f"This run has no {what} tags.",
            "Attach the benchmark's data set on the page *Runs* for themes; axes are tags of the rubric.",
        )
        return
    pairs = [Pair(display_name(r.name), r.score or 0.0, r.early_clipped or 0.0, r.n) for r in known]
    chart(
        dumbbells(pairs, "late (official)", "early", palette(), "score, points of 100"),
        key=f"dumbbells_{kind}",
        alt=f"{_KIND_TITLES[kind]} Late and early score: "
        + ", ".join(f"{pair.name} {score(pair.first)} and {score(pair.second)}" for pair in pairs)
        + ".",
        table=pd.DataFrame(
            {
                "name": [pair.name for pair in pairs],
                "late": [pair.first for pair in pairs],
                "early": [pair.second for pair in pairs],
                "gap": [pair.second - pair.first for pair in pairs],
                "unclipped": [result.unclipped for result in known],
                "n": [pair.n for pair in pairs],
            }
        ),
        formats={
            "late": score,
            "early": score,
            "gap": difference,
            "unclipped": score,
            "n": count,
        },
    )
    if inferred:
        st.caption("The themes are only inferred from consensus criteria: attach the data set.")


def makers(scores: FloatArray) -> None:
    """List the examples that make the gap, each a link."""
    st.subheader("Which examples make the gap?")
    below = np.flatnonzero(scores < 0)
    if len(below) == 0:
        st.markdown("No example score is below 0, so clipping early changes nothing.")
        return
    scored = int((~np.isnan(scores)).sum())
    worst = below[np.argsort(scores[below], kind="stable")][:_SHOWN_EXAMPLES]
    share = float(scores[worst].sum() / scores[below].sum())
    if len(below) > len(worst):
        st.markdown(
            f"The {count(len(worst))} lowest of {count(len(below))} make {percent(share)} of what is lifted."
        )
    else:
        st.markdown(f"{some(len(below), 'example')} below 0 can be lifted.")
    wanted = ExampleFilter(max_score=_JUST_BELOW_ZERO)
    for row in worst:
        st.page_link(
            "app_pages/example.py",
            label=f"example {count(row + 1)} · score **{fraction(scores[row], 2)}** · "
            f"early clipping adds {move(-scores[row] / scored)} to the mean",
            icon="",
            query_params=state.query_for(
                "example", example=int(row) + 1, filters=wanted, order="score"
            ),
        )
    st.page_link(
        "app_pages/examples.py",
        label="List the examples below 0, lowest first",
        icon=":material/list:",
        query_params=state.query_for("examples", filters=wanted, order="score", page=1),
    )


def errors(interval: Interval | None, late: float, early: float) -> None:
    """Show what clipping does to the standard error.

    Args:
        interval: Our own, of the unclipped mean.
        late: The reference's bootstrap_std.
        early: The same of scores that are each clipped first.
    """
    st.subheader("What does clipping do to the standard error?")
    st.table(
        {
            "Unclipped mean, over prompts (ours)": move(
                interval.standard_error if interval else None
            ),
            "Each resampled mean clipped, over rows (the reference's)": move(late),
            "Each example clipped first, over rows": move(early),
        },
        border="horizontal",
    )
    st.caption(
        "Points of 100. The reference's figure shrinks to 0 as the mean nears 0, because resampled means below 0 all "
        "become 0: near the floor a small error is no sign of certainty. Clipping examples first cuts off the tail, and "
        "with it most of the spread."
    )


@st.fragment
def rules(scores: RunScores) -> None:
    """Show every named rule on the same verdicts."""
    st.subheader("What does each rule make of the same verdicts?")
    names = sorted(
        (name for name in scores.metrics if kind_of(name) in ("overall", "theme", "axis", "tag")),
        key=lambda name: (name != OVERALL, sort_key(name)),
    )
    metric = st.selectbox("Figure", names, key="rules_metric", format_func=display_name)
    official = RULES["simple-evals"](scores, metric)
    rows = []
    for rule in RULES.values():
        value = rule(scores, metric)
        apart = None if value is None or official is None else value - official
        rows.append(
            {
                "rule": in_words(rule),
                "figure": score(value),
                "to official": difference(apart),
            }
        )
    st.table(pd.DataFrame(rows), hide_index=True, border="horizontal", alt="Every rule's figure")
    st.caption(
        "Verdicts are the same in every row; only the arithmetic differs. The length-adjusted rule uses the "
        f"Professional penalty of {PRESETS['professional'].penalty} a 500 characters here; the page *Length* has the others."
    )


@st.fragment
def which_rule(run: RunSummary) -> None:
    """Find what gives a number that the reader has seen elsewhere."""
    st.subheader("Which rule gives this number?")
    typed = st.text_input(
        "I saw the number",
        key="seen_number",
        placeholder="50.0",
        help="As it was printed: its decimals say how far it was rounded. Read as 0-1 and as 0-100.",
        width=260,
    )
    if not typed.strip():
        st.caption(
            "Every rule, theme, axis and other tag, both ways to count failed gradings and every published length "
            "penalty are tried on this run's verdicts."
        )
        return
    try:
        readings = read_number(typed)
    except InputRefusedError as refused:
        st.error(escaped(str(refused)), icon=":material/error:")
        return
    matches = closest(data.figures(run.id), readings)
    exact = [match for match in matches if match.exact]
    if exact:
        first = exact[0].figure
        others = f", and {count(len(exact) - 1)} other ways" if len(exact) > 1 else ""
        st.success(
            f"{escaped(typed.strip())} is what *{_rule_title(first)}* gives for "
            f"{escaped(display_name(first.metric))}{_conditions(first)}{others}.",
            icon=":material/check:",
        )
    else:
        st.warning(
            f"Nothing tried gives {escaped(typed.strip())} within its rounding. The nearest are below; another "
            "subset of examples, grader or set of replies may be behind it.",
            icon=":material/search:",
        )
    _matches(exact or matches)
    st.caption(
        "A match is evidence, not proof: rules often agree, and a number with few decimals fits many."
    )


def _matches(matches: Sequence[Match]) -> None:
    together: dict[tuple[str, str, str | None, float], list[Figure]] = {}
    for match in matches:
        figure = match.figure
        key = (figure.metric, figure.policy, figure.preset, round(figure.value, 9))
        together.setdefault(key, []).append(figure)
    shown = list(together.values())[:_SHOWN_MATCHES]
    show_table(
        pd.DataFrame(
            {
                "figure": [figures[0].value for figures in shown],
                "of": [display_name(figures[0].metric) for figures in shown],
                "rule": [", ".join(figure.rule for figure in figures) for figures in shown],
                "length penalty": [figures[0].preset or DASH for figures in shown],
                "failed gradings": [_POLICIES[figures[0].policy] for figures in shown],
                "examples": [figures[0].n for figures in shown],
            }
        ),
        key="matches",
        alt="What gives the number",
        formats={"figure": lambda value: plain_points(100 * value), "examples": count},
    )
    if len(together) > len(shown):
        st.caption(f"{count(len(shown))} of {count(len(together))} are shown.")


def _rule_title(figure: Figure) -> str:
    return _LENGTH_RULES.get(figure.rule) or RULES[figure.rule].title


def _conditions(figure: Figure) -> str:
    parts = []
    if figure.preset:
        parts.append(f"with the {figure.preset} length penalty")
    if figure.policy != "unknown":
        parts.append("with failed gradings counted as the file does")
    return f" {' and '.join(parts)}" if parts else ""


@st.fragment
def sandbox() -> None:
    """Let the reader edit example scores and see both results at once."""
    st.subheader("Sandbox")
    st.markdown(
        "Change, add or remove example scores (fractions, at most 1 before a length adjustment) and see what each "
        "treatment makes of them. It needs no run."
    )
    turn = st.session_state.setdefault(_SANDBOX_ROUND, 0)
    with st.grid(2, min_column_width=380, gap="medium") as grid:
        with grid.cell():
            edited = st.data_editor(
                pd.DataFrame({"example score": _SANDBOX}),
                key=f"sandbox_{turn}",
                alt="Example scores to edit",
                num_rows="dynamic",
                hide_index=True,
                column_config={
                    "example score": st.column_config.NumberColumn(
                        min_value=-10.0, max_value=2.0, step=0.001, format="%.3f", required=True
                    )
                },
            )
            st.button("Start again", key="sandbox_reset", on_click=_reset_sandbox)
        values = edited["example score"].to_numpy(dtype=float, na_value=np.nan)
        with grid.cell():
            gap = early_late_gap(values)
            if gap is None:
                empty("There is no score.", "Add a row on the left.")
            else:
                numbers_of_sandbox(gap)
                distribution(values, gap, key="sandbox_chart")


def numbers_of_sandbox(gap: Gap) -> None:
    """Show the sandbox's results."""
    with st.container(horizontal=True, key="sandbox_result"):
        st.metric("Late", score(gap.late))
        st.metric("Early", score(gap.early))
        st.metric("Unclipped", score(gap.unclipped))
    st.markdown(_parts(gap))


def _reset_sandbox() -> None:
    st.session_state[_SANDBOX_ROUND] += 1
