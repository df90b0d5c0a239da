"""Reviews to and from files, so that reviewers on several machines can be brought together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import review_data
import streamlit as st

from components.text import escaped, some
from healthbench.errors import HealthBenchError
from healthbench.review.transfer import as_csv, as_jsonl, from_text

if TYPE_CHECKING:
    from healthbench.store.records import RunSummary


def transfer(run: RunSummary) -> None:
    """Show what exports the reviews of a run and merges those of a file."""
    with st.expander("Reviews as files", icon=":material/swap_horiz:", key="transfer"):
        found = review_data.events(run.id)
        st.caption(
            f"This run has {some(len(found), 'event')}: decisions, revisions and undos. A file holds no text of the "
            "benchmark; notes are as you wrote them."
        )
        with st.container(horizontal=True):
            for name, write in (("jsonl", as_jsonl), ("csv", as_csv)):
                st.download_button(
                    f"Export {name.upper()}",
                    data=lambda write=write: write(found),
                    file_name=f"reviews-{run.id}.{name}",
                    disabled=not found,
                    on_click="ignore",
                    key=f"export_{name}",
                )
        given = st.file_uploader(
            "Merge reviews from a file (JSONL or CSV)",
            type=["jsonl", "csv"],
            key="merge",
        )
        if given is not None:
            _merge(given.name, given.getvalue())


def _merge(name: str, content: bytes) -> None:
    try:
        merged = review_data.journal().merge(from_text(content.decode("utf-8"), name))
    except UnicodeDecodeError:
        st.error(f"{escaped(name)} is no UTF-8 text: give a file that an export wrote.")
    except HealthBenchError as error:
        st.error(escaped(str(error)))
    else:
        known = f", {some(merged.known, 'event')} known already" if merged.known else ""
        st.success(f"{some(merged.added, 'event')} added{known}.")
