"""The length adjustment as a calculator: its inputs, its result and what it trades; usable without a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import state
import streamlit as st

from healthbench.errors import InputRefusedError
from healthbench.formatting import MINUS, count, fraction
from healthbench.formatting import characters as characters_in_words
from healthbench.scoring.length import (
    CHARACTERS_PER_PENALTY,
    FITTED_UP_TO,
    POINTS,
    PRESETS,
    LengthAdjustment,
    adjust,
    characters_bought,
    characters_for_score,
    parse_adjustment,
    preset_for,
    score_for_characters,
)

if TYPE_CHECKING:
    from healthbench.store.records import RunSummary

OWN = "own"
TIMES = "\N{MULTIPLICATION SIGN}"
PRESET_NAMES = {
    "professional": "Professional",
    "healthbench": "HealthBench",
    "hard": "Hard",
    "consensus": "Consensus",
    OWN: "Own values",
}
_POINTS_UNIT = "points of 100"
_FRACTION_UNIT = "fraction of 1"
_SCORE = "calculator_score"
_START = 0.6


def preset_of(run: RunSummary | None) -> str:
    """Return the preset published for a run's benchmark; Professional's where there is none."""
    if run is None:
        return preset_for(None, ())
    return preset_for(run.info.benchmark, data.run_scores(run.id).metrics)


def adjustment(default: str) -> LengthAdjustment:
    """Show the choice of a preset and return the adjustment in force, which the link carries.

    Args:
        default: Preset in force as long as the reader has chosen nothing.
    """
    try:
        current = parse_adjustment(state.view().length or default)
    except InputRefusedError:
        current = PRESETS[default]
    preset = next((name for name, known in PRESETS.items() if known == current), OWN)
    st.session_state["length_preset"] = preset
    st.session_state["length_center"] = current.center
    st.session_state["length_penalty"] = current.penalty
    st.segmented_control(
        "Penalty published for",
        [name for name in PRESET_NAMES if name in PRESETS or name == preset],
        key="length_preset",
        required=True,
        format_func=PRESET_NAMES.get,
        on_change=_choose_preset,
        wrap=True,
    )
    return current


def _choose_preset() -> None:
    chosen = st.session_state["length_preset"]
    if chosen in PRESETS:
        state.change(length=chosen)


def _choose_values() -> None:
    center, penalty = st.session_state["length_center"], st.session_state["length_penalty"]
    state.change(length=f"{center:g},{penalty:g}")


def calculator(chosen: LengthAdjustment) -> None:
    """Show the calculator: four inputs, the result, and the break-even both ways."""
    unit = st.segmented_control(
        "Unit of the score",
        [_POINTS_UNIT, _FRACTION_UNIT],
        default=_POINTS_UNIT,
        required=True,
        key="calculator_unit",
    )
    with st.grid(4, min_column_width=190):
        score = _score_input(unit)
        length = _length_input()
        st.number_input(
            "Center, characters",
            key="length_center",
            min_value=0.0,
            step=100.0,
            format="%.0f",
            on_change=_choose_values,
            help="Length at which nothing changes.",
        )
        st.number_input(
            "Penalty, fraction of 1",
            key="length_penalty",
            min_value=0.0,
            max_value=0.9999,
            step=0.001,
            format="%.4f",
            on_change=_choose_values,
            help=f"For each {CHARACTERS_PER_PENALTY} characters. A fraction, never points: 0.0147 are 1.47 points of 100.",
        )
    if st.toggle("Count the characters of a pasted reply", key="calculator_paste"):
        st.text_area(
            "Reply",
            key="calculator_reply",
            height=140,
            help="Counted as the reference counts: Unicode code points. The text stays in this session.",
        )
    _result(score, length, chosen, unit)
    _break_even(chosen)


def _score_input(unit: str) -> float:
    """Return the score as a fraction of 1, whichever unit it is typed in."""
    known = st.session_state.setdefault(_SCORE, _START)
    in_points = unit == _POINTS_UNIT
    key = "calculator_points" if in_points else "calculator_fraction"
    scale = POINTS if in_points else 1
    # Rounded, because 0.57 * 100 would show as 56.99999999999999.
    st.session_state[key] = round(known * scale, 10)
    st.number_input(
        f"Score, {unit}",
        key=key,
        step=1.0 if in_points else 0.01,
        format="%.2f" if in_points else "%.4f",
        on_change=_keep_score,
        args=(key, scale),
    )
    return float(st.session_state[_SCORE])


def _keep_score(key: str, scale: int) -> None:
    st.session_state[_SCORE] = st.session_state[key] / scale


def _length_input() -> int:
    pasted = bool(st.session_state.get("calculator_paste"))
    text = st.session_state.get("calculator_reply") or ""
    if pasted:
        st.session_state["calculator_counted"] = len(text)
        st.number_input("Characters, counted", key="calculator_counted", disabled=True)
        return len(text)
    return int(
        st.number_input(
            "Characters of the reply",
            min_value=0,
            value=3000,
            step=100,
            key="calculator_characters",
            help="A mean score and a mean length may be given, too: the adjustment is linear.",
        )
    )


def _result(score: float, length: int, chosen: LengthAdjustment, unit: str) -> None:
    adjusted = adjust(score, length, chosen)
    in_points = f"{fraction(POINTS * adjusted, 2)} points"
    with st.container(border=True, key="calculator_result"):
        st.metric(
            "Length-adjusted score", in_points if unit == _POINTS_UNIT else fraction(adjusted, 4)
        )
        st.markdown(
            f"{fraction(score, 4)} {MINUS} {chosen.penalty:g} {TIMES} ({count(length)} {MINUS} {count(chosen.center)}) / "
            f"{CHARACTERS_PER_PENALTY} = **{fraction(adjusted, 4)}**, a fraction of 1 = **{in_points}** of 100"
        )
        note = "Not clipped: only the mean of a run is, once."
        if length > FITTED_UP_TO:
            note += f" The penalty was fitted on mean lengths up to {characters_in_words(FITTED_UP_TO)}; this is outside."
        st.caption(note)


def _break_even(chosen: LengthAdjustment) -> None:
    st.markdown("**Break-even**")
    with st.grid(3, min_column_width=250, gap="medium") as grid:
        with grid.cell():
            extra = st.number_input("Extra characters", value=500, step=100, key="extra_characters")
            cost = POINTS * score_for_characters(extra, chosen)
            st.markdown(f"pay off from **{fraction(cost, 2)} points** more of raw score.")
        with grid.cell():
            gain = st.number_input(
                "Gain in raw score, points of 100", value=1.0, step=0.5, key="gain_points"
            )
            worth = characters_for_score(gain / POINTS, chosen)
            st.markdown(f"pays for **{characters_in_words(worth)}** more.")
        with grid.cell():
            with st.container(horizontal=True):
                item = st.number_input("Criterion, points", value=5, step=1, key="item_points")
                possible = st.number_input(
                    "of possible", value=50, min_value=1, step=1, key="possible"
                )
            bought = characters_bought(item, possible, chosen)
            st.markdown(f"Meeting it buys **{characters_in_words(bought)}**.")
