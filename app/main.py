"""The frame of the app: page configuration, navigation, run picker. Pages are in ``page_table``."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import data
import state
import streamlit as st
from components.frame import empty, notice
from components.text import escaped
from page_table import PAGES

from healthbench.charts.theme import DARK, LIGHT
from healthbench.errors import HealthBenchError

HERE = Path(__file__).resolve().parent


def _pick_run() -> None:
    state.choose_run(st.session_state[state.RUN_PICKER])


# An emoji, because a Material icon as favicon is fetched from a font server.
st.set_page_config(page_title="HealthBench workbench", page_icon="🩺", layout="wide")
# Streamlit writes the chosen option in the primary color, which in the dark must be too deep for that: white text stands
# on it elsewhere. There is no setting for it, nor for the width of a column of text: about 75 characters can be read well.
st.html(
    f"<style>button[data-variant][data-selected=true] p {{color: light-dark({LIGHT.accent}, {DARK.accent})}}"
    ":is([data-testid=stMarkdownContainer], [data-testid=stCaptionContainer]) :is(p, li) {max-width: 66ch}</style>"
)
st.logo(str(HERE / "logo.svg"), size="large")
# Hidden, because Streamlit's own list of pages is no valid list to a screen reader and its links drop the run.
page = st.navigation(
    [
        st.Page(
            entry.path,
            title=entry.title,
            icon=entry.icon,
            url_path=entry.name,
            help=entry.help,
            default=entry is PAGES[0],
        )
        for entry in PAGES
    ],
    position="hidden",
)

data.open_given()
runs = {run.id: run for run in data.runs()}
missing = state.begin(page.url_path or PAGES[0].name, list(runs))

with st.sidebar:
    if runs:
        chosen = state.view().run
        st.session_state[state.RUN_PICKER] = chosen if chosen in runs else None
        st.selectbox(
            "Run",
            list(runs),
            key=state.RUN_PICKER,
            format_func=data.label,
            placeholder="Choose a run",
            on_change=_pick_run,
        )
    for group, entries in groupby(PAGES, key=lambda entry: entry.group):
        with st.container(gap="xsmall", key=f"pages_{group}"):
            st.caption(group)
            for entry in entries:
                st.page_link(
                    entry.path,
                    icon=entry.icon,
                    width="stretch",
                    query_params=state.query_for(entry.name),
                )
    notice()
if missing:
    empty(
        "This link names a run that is not in this store.",
        "Import its file on the page *Runs*, or choose another run in the sidebar.",
    )
try:
    page.run()
except HealthBenchError as error:
    st.error(escaped(str(error)), icon=":material/block:")
