"""All the page Grade asks for: conversations and stored replies, the grader's instructions, prices, the grade cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import streamlit as st
from pydantic import SecretStr

from healthbench.config import ProviderSettings, Settings
from healthbench.grading.cache import FILE_NAME as CACHE
from healthbench.grading.cache import GradeCache
from healthbench.grading.cost import FILE_NAME as PRICES
from healthbench.grading.cost import load_prices
from healthbench.grading.run_file import write_run
from healthbench.grading.template import load_template
from healthbench.store import same_prompt
from healthbench.store.records import ExampleFilter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from healthbench.grading.cost import PriceTable
    from healthbench.grading.template import Template
    from healthbench.model import GradedExample, Message, RunInfo
    from healthbench.readers.dataset import DatasetRow
    from healthbench.store.records import ImportOutcome
    from healthbench.store.same_prompt import StoredReply

KEY_NAME = "OPENAI_API_KEY"
LISTED = 50
"""Conversations offered at once; a search finds the others."""


@st.cache_resource(show_spinner=False)
def cache() -> GradeCache:
    """Return the grade cache of this process."""
    return GradeCache(Settings().home / CACHE)


def prices_path() -> Path:
    """Return where the user's own price table is, or would be."""
    return Settings().home / PRICES


def prices() -> PriceTable:
    """Return the price table in force.

    Raises:
        GradingError: The user's own table cannot be used.
    """
    return load_prices(prices_path())


def template(path: Path | None) -> Template:
    """Return the grader's instructions.

    Raises:
        GradingError: The file cannot be used.
    """
    return _reference_template() if path is None else load_template(path)


@st.cache_resource(show_spinner=False)
def _reference_template() -> Template:
    return load_template()


def base_url() -> str | None:
    """Return the address in OPENAI_BASE_URL, None where there is none."""
    return ProviderSettings().openai_base_url or None


def configured_key() -> tuple[SecretStr, str] | None:
    """Return the key the program was started with and where it is from; None where there is none."""
    key = ProviderSettings().openai_api_key
    if key is not None and key.get_secret_value().strip():
        return key, KEY_NAME
    if st.secrets.load_if_toml_exists():
        value = st.secrets.get(KEY_NAME)
        if isinstance(value, str) and value.strip():
            return SecretStr(value), "st.secrets"
    return None


def find_examples(run_id: str, text: str) -> pd.DataFrame:
    """Return the first examples of a run whose conversation holds a text, or whose prompt_id or number it is."""
    text = text.strip()
    wanted = ExampleFilter(text=text, text_in="conversation")
    found, _ = data.examples(run_id, wanted, "example", LISTED, 0)
    if not found.empty or not text:
        return found
    if text.isdecimal() and 0 < int(text) <= data.library().summary(run_id).n_examples:
        return data.examples(run_id, ExampleFilter(), "example", 1, int(text) - 1)[0]
    return data.examples(run_id, ExampleFilter(prompt_ids=(text,)), "example", LISTED, 0)[0]


def find_rows(dataset_id: str, text: str) -> list[tuple[str, list[Message]]]:
    """Return the first conversations of a data set that hold a text, by prompt_id; asked anew each time."""
    return same_prompt.find_rows(data.library(), dataset_id, text.strip(), LISTED)


@st.cache_data(show_spinner=False, max_entries=20)
def dataset_row(dataset_id: str, prompt_id: str) -> DatasetRow:
    """Return one conversation of a data set with its rubric.

    Raises:
        StoreError: It is not there.
    """
    return same_prompt.dataset_row(data.library(), dataset_id, prompt_id)


def stored_replies(prompt_id: str) -> list[StoredReply]:
    """Return every reply to a prompt that the store holds."""
    return _stored_replies(tuple(run.id for run in data.runs()), prompt_id)


@st.cache_data(show_spinner=False, max_entries=50)
def _stored_replies(run_ids: tuple[str, ...], prompt_id: str) -> list[StoredReply]:
    return same_prompt.stored_replies(data.library(), run_ids, prompt_id)


def save_run(
    name: str, info: RunInfo, examples: Sequence[GradedExample], canary: str | None
) -> ImportOutcome:
    """Write a graded reply as a run beside the store and import it.

    Raises:
        HealthBenchError: It cannot be written.
    """
    path = Settings().home / "graded" / name
    write_run(path, info, examples, canary)
    (outcome,) = data.import_paths([path])
    return outcome
