"""Worked examples for the Method page, with the numbers of a run that is in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import data
import numpy as np
import state
import streamlit as st

from components.text import escaped
from healthbench.formatting import (
    characters,
    count,
    difference,
    equation,
    fraction,
    interval,
    percent,
    points,
    score,
)
from healthbench.scoring.aggregate import early_late_gap
from healthbench.scoring.example import tally
from healthbench.scoring.length import PRESETS, adjust
from healthbench.scoring.run_scores import OVERALL
from healthbench.taxonomy import display_name, kind_of, sort_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from healthbench.scoring.run_scores import RunScores
    from healthbench.store.records import ExampleView, RunSummary


class Case(NamedTuple):
    """The run whose numbers are shown, and its first example that has a score."""

    run: RunSummary
    example: ExampleView
    scores: RunScores


def case() -> Case | None:
    """Return the sample run with the lowest mean, else the current run; None without a scored example."""
    runs = [run for run in data.runs() if run.headline.unclipped is not None]
    samples = [run for run in runs if run.info.synthetic]
    current = [run for run in runs if run.id == state.view().run]
    if not samples and not current:
        return None
    run = min(samples or current, key=lambda run: run.headline.unclipped or 0.0)
    scores = data.run_scores(run.id)
    first = int(np.flatnonzero(~np.isnan(scores.overall.scores))[0])
    return Case(run, data.example(run.id, first), scores)


def show(found: Case | None, explain: Callable[[Case], str]) -> None:
    """Show one worked example in a frame; nothing where there is no such case."""
    text = explain(found) if found else ""
    if found and text:
        with st.container(border=True):
            st.markdown(f"**For example**, in *{escaped(found.run.name)}*: {text}")


def example_score(found: Case) -> str:
    """Work out the score of one example."""
    example = found.example
    met = example.ledger[example.ledger["met"].fillna(value=False).astype(bool)]
    sum_ = escaped(equation(met["points"].tolist(), example.tally.possible, example.tally.score))
    return f"example {count(example.example + 1)} met {count(len(met))} of {count(example.tally.n_items)} criteria, and scores {sum_}."


def run_score(found: Case) -> str:
    """Work out the score of the run, late and early."""
    gap = early_late_gap(found.scores.overall.scores)
    if gap is None:
        return ""
    return (
        f"{count(gap.n)} example scores have the mean {fraction(gap.unclipped)}; clipped once, the score is "
        f"**{score(gap.late)}**. Clipping each example first would give {score(gap.early)}, because {count(gap.n_below_zero)} "
        f"of them are below 0, which lifts the mean by {score(gap.lifted_below_zero)}."
    )


def tags(found: Case) -> str:
    """Work out one axis in one example, and a theme."""
    example = found.example
    ledger = example.ledger
    sentences = []
    for axis in sorted({axis for axis in ledger["axis"] if isinstance(axis, str)}, key=sort_key):
        rows = ledger[ledger["axis"] == axis]
        result = tally(rows["points"].tolist(), [bool(met) for met in rows["met"]])
        if result.score is not None and len(rows) > 1:
            met = rows[rows["met"].astype(bool)]["points"].tolist()
            sentences.append(
                f"on {escaped(display_name(axis))}, example {count(example.example + 1)} has {count(len(rows))} criteria and the "
                f"score {escaped(equation(met, result.possible, result.score))}."
            )
            break
    results = data.metrics(found.run.id)
    theme = next((name for name in results if kind_of(name) == "theme" and results[name].n), None)
    if theme:
        result = results[theme]
        sentences.append(
            f"The theme {escaped(display_name(theme))} is the mean of {count(result.n)} example scores, {fraction(result.unclipped)}."
        )
    blind = data.blind_spot(found.run.id)
    if blind.share:
        sentences.append(f"{percent(blind.share)} of its penalty points are in no axis score.")
    return " ".join(sentences)


def unknown(found: Case) -> str:
    """Work out the bounds of an example whose largest verdict were unknown."""
    example = found.example
    signed = example.ledger["points"].tolist()
    met: list[bool | None] = [bool(verdict) for verdict in example.ledger["met"]]
    largest = int(np.argmax(np.abs(signed)))
    met[largest] = None
    result = tally(signed, met)
    if result.bounds is None:
        return ""
    return (
        f"were the verdict on criterion {largest + 1} ({points(signed[largest])}) of example {count(example.example + 1)} "
        f"unknown, its score of {fraction(example.tally.score, 2)} would be withheld, and lie between "
        f"{fraction(result.bounds.low, 2)} and {fraction(result.bounds.high, 2)}."
    )


def uncertainty(found: Case) -> str:
    """Give the interval of the run."""
    spread = data.intervals(found.run.id).get(OVERALL)
    if spread is None:
        return ""
    return (
        f"{count(spread.n_prompts)} prompts give the unclipped mean {score(found.run.headline.unclipped)} with a standard "
        f"error of {score(spread.standard_error)} and the interval {interval(spread.low, spread.high)}."
    )


def length(found: Case) -> str:
    """Work out the length adjustment of one example."""
    example = found.example
    if example.tally.score is None:
        return ""
    preset = PRESETS["healthbench"]
    adjusted = adjust(example.tally.score, example.characters, preset)
    return (
        f"the reply to example {count(example.example + 1)} has {characters(example.characters)}; at {preset.penalty} a 500 "
        f"characters from {count(preset.center)} its {fraction(example.tally.score, 3)} becomes {fraction(adjusted, 3)} "
        f"({difference(adjusted - example.tally.score)} points of 100)."
    )
