"""Which model grades and how it is asked, with what sets it apart from the reference; and the editable price table."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import grade_data
import pandas as pd
import streamlit as st

from components.text import escaped
from healthbench.errors import GradingError
from healthbench.grading.choice import choose, standing
from healthbench.grading.cost import Price, save_prices
from healthbench.grading.settings import PRESETS, reference_of

if TYPE_CHECKING:
    from healthbench.grading.cost import PriceTable
    from healthbench.grading.settings import GraderSettings
    from healthbench.grading.template import Template

_PRESET = "grade_preset"
_MODEL = "grade_model"
_BASE_URL = "grade_base_url"
_TEMPLATE = "grade_template"
_HIDE = "grade_hide_points"
_PRESET_NAMES = {"reference": "HealthBench", "professional": "HealthBench Professional"}


def grader() -> tuple[GraderSettings, Template]:
    """Show the choice of the grader and return it with its instructions.

    Raises:
        GradingError: It cannot be used.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        preset = st.segmented_control(
            "Grader as for",
            list(PRESETS),
            default="reference",
            key=_PRESET,
            required=True,
            format_func=_PRESET_NAMES.get,
            persist_state="session",
        )
        st.toggle(
            "Hide the points from the grader",
            key=_HIDE,
            persist_state="session",
            help="The reference's grader sees each item's points. Without them it cannot be swayed by the sign.",
        )
    with st.expander("Another model, address or wording"):
        _others(PRESETS[preset])
    settings = choose(
        preset,
        model=st.session_state.get(_MODEL),
        base_url=st.session_state.get(_BASE_URL) or grade_data.base_url(),
        show_points=not st.session_state.get(_HIDE),
    )
    path = (st.session_state.get(_TEMPLATE) or "").strip()
    template = grade_data.template(Path(path).expanduser() if path else None)
    _say(settings, template)
    return settings, template


def _others(preset: GraderSettings) -> None:
    st.text_input("Model", key=_MODEL, placeholder=preset.model, persist_state="session")
    st.text_input(
        "Base URL",
        key=_BASE_URL,
        placeholder=grade_data.base_url() or preset.base_url,
        persist_state="session",
        help="Any OpenAI-compatible server, up to and with its version: http://127.0.0.1:8000/v1 for vLLM,"
        " http://127.0.0.1:11434/v1 for Ollama.",
    )
    st.text_input(
        "File with the grader's instructions",
        key=_TEMPLATE,
        placeholder="the reference's",
        persist_state="session",
        help="A text file on this machine with <<conversation>> and <<rubric_item>> in it.",
    )


def _say(settings: GraderSettings, template: Template) -> None:
    is_reference = reference_of(settings, template) is not None
    st.badge(
        standing(settings, template),
        icon=":material/verified:" if is_reference else ":material/info:",
        color="blue" if is_reference else "orange",
    )
    st.caption(
        f"{escaped(settings.model)} at {escaped(settings.host)}, one call a criterion. Instructions:"
        f" {escaped(wording(template))}, sha256 {template.sha256[:12]}…"
    )


def wording(template: Template) -> str:
    """Say where a grader's instructions are from and whether they are the reference's, which their hash decides."""
    whose = (
        "the text of the reference" if template.is_reference else "not the text of the reference"
    )
    return f"{template.origin}, {whose}"


def price_table(prices: PriceTable) -> None:
    """Show the price table and let it be changed; a changed one is kept in the user's own folder."""
    with st.expander(f"Prices of {escaped(prices.as_of)}"):
        st.caption(
            f"US dollars a million tokens. {escaped(prices.source)} Kept in {escaped(str(grade_data.prices_path()))}."
        )
        table = pd.DataFrame(
            [{"model": name, **price._asdict()} for name, price in prices.models.items()]
        )
        edited = st.data_editor(
            table,
            # A key of its own for every table, so that what was edited is not edited once more.
            key=f"grade_prices_{hash((prices.as_of, *prices.models.items()))}",
            num_rows="dynamic",
            hide_index=True,
            alt="Prices of grader models, one a row",
        )
        if st.button("Keep these prices", key="grade_keep_prices") and not edited.equals(table):
            try:
                _keep(prices, edited)
            except GradingError as error:
                st.error(escaped(str(error)), icon=":material/block:")
            else:
                st.rerun()


def _keep(prices: PriceTable, edited: pd.DataFrame) -> None:
    rows = edited.fillna({"model": ""}).to_dict("records")
    models = {
        str(row["model"]): Price(*(float(row[name]) for name in Price._fields)) for row in rows
    }
    changed = replace(
        prices,
        models=models,
        as_of=datetime.now(UTC).date().isoformat(),
        source="As entered on the page Grade.",
    )
    save_prices(grade_data.prices_path(), changed)
