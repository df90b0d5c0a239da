"""Every page on no run, one run and many runs."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("runs", "score", "examples", "example", "method")


@pytest.mark.parametrize("page", PAGES)
def test_without_a_run_a_page_says_what_to_do(open_page, texts, page):
    app = open_page(page)
    if page != "method":
        assert "There is no graded run yet." in texts(app)


@pytest.mark.parametrize("page", PAGES)
def test_one_run(open_page, one_run, page):
    open_page(page, one_run)


@pytest.mark.parametrize("page", PAGES)
def test_each_of_many_runs(open_page, many_runs, page):
    app = open_page(page, *many_runs)
    runs = app.sidebar.selectbox(key="run_picker").options
    assert len(runs) == 4
    for place in range(4):
        picker = app.sidebar.selectbox(key="run_picker")
        picker.select_index(place).run()
        assert not app.exception


def test_a_page_that_a_stranger_links_to_names_the_missing_run(open_page, texts, one_run):
    app = open_page("score", one_run, run="0123456789abcdef")
    assert "This link names a run that is not in this store." in texts(app)
    assert "No run is chosen." in texts(app)


@pytest.mark.parametrize("page", PAGES)
def test_the_sample_runs_say_what_they_are(open_page, page):
    app = open_page(page, ROOT / "sample_runs")
    assert app.sidebar.selectbox(key="run_picker").options[0].startswith("sample-")
    if page in ("score", "examples", "example"):
        assert any("SYNTHETIC SAMPLE" in str(mark.value) for mark in app.markdown)
