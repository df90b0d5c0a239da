"""Pages are run in process, each test on a store of its own."""

from __future__ import annotations

import json
from pathlib import Path

import graded
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _fresh_caches():
    """The caches belong to the process, the store to the test."""
    st.cache_data.clear()
    st.cache_resource.clear()
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture
def open_page(tmp_path, monkeypatch):
    """Return a function that opens a page on given files, with query parameters as a link would have them."""

    def start(page, *files, **query):
        nothing = tmp_path / "nothing"
        nothing.mkdir(exist_ok=True)
        monkeypatch.setenv("HEALTHBENCH_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("HEALTHBENCH_OPEN", json.dumps([str(f) for f in files or (nothing,)]))
        app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
        app.run()
        if page != "runs":
            app.switch_page(f"app_pages/{page}.py")
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, app.exception
        return app

    return start


@pytest.fixture
def one_run(tmp_path):
    """Three examples with scores 0.7, -1.6 and 0."""
    return graded.allresults(
        tmp_path / "healthbench_model-one_20260101_100000_allresults.json", *graded.three_examples()
    )


@pytest.fixture
def many_runs(tmp_path, one_run):
    """One run, one with repeats and unknown verdicts, one of a single example, one of 60."""
    repeated = [*graded.three_examples(), *graded.three_examples()]
    repeated[0]["rubric_items"][0]["criteria_met"] = None
    single = graded.three_examples()[:1]
    sixty = [
        graded.example(
            f"q{number}",
            graded.item(10, number % 3 == 0, "level:example", "axis:accuracy"),
            graded.item(-9, number % 4 == 0, "level:example", "axis:completeness"),
        )
        for number in range(60)
    ]
    names = ("model-two", "model-three", "model-four")
    return [
        one_run,
        *(
            graded.allresults(
                tmp_path / f"healthbench_{name}_2026010{place + 2}_100000_allresults.json",
                *examples,
            )
            for place, (name, examples) in enumerate(
                zip(names, (repeated, single, sixty), strict=True)
            )
        ),
    ]


@pytest.fixture
def texts():
    """Return all the text our own Markdown, captions and messages show."""

    def collect(app):
        kinds = ("markdown", "caption", "info", "warning", "error", "success", "title", "subheader")
        return "\n".join(str(element.value) for kind in kinds for element in app.get(kind))

    return collect
