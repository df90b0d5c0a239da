"""What a link carries and what happens to it."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthbench.scoring.example import State
from healthbench.store.filters import ORDERS
from healthbench.store.records import ExampleFilter

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "app"))
state = importlib.import_module("state")
page_table = importlib.import_module("page_table")

VALUES = {
    "str": st.text(max_size=20),
    "str | None": st.none() | st.text(min_size=1, max_size=20),
    "int": st.integers(1, 10**6),
    "int | None": st.none() | st.integers(0, 10**6),
    "float | None": st.none() | st.floats(-10, 10),
    "bool": st.booleans(),
    "tuple[str, ...]": st.lists(st.text(min_size=1, max_size=20), max_size=3).map(tuple),
}


CHOICES = {
    "order": st.sampled_from(sorted(ORDERS)),
    "text_in": st.sampled_from(state.TEXT_PLACES),
    "example": st.none() | st.integers(1, 10**6),
}


def records(kind):
    fields = {
        field.name: records(ExampleFilter)
        if field.type == "ExampleFilter"
        else CHOICES.get(field.name, VALUES[field.type])
        for field in dataclasses.fields(kind)
    }
    return st.builds(kind, **fields)


def as_url(query):
    return {name: value if isinstance(value, list) else [value] for name, value in query.items()}


@given(records(state.View))
def test_a_view_survives_its_link(view):
    assert state.from_query(state.View, as_url(state.to_query(view))) == view


def test_every_page_names_fields_of_the_view():
    fields = {field.name for field in dataclasses.fields(state.View)}
    for entry in page_table.PAGES:
        assert set(entry.uses) <= fields
        assert (ROOT / "app" / entry.path).is_file()


@pytest.mark.parametrize(
    "query",
    [
        {"example": ["seven"]},
        {"min_score": ["nan"]},
        {"max_points": ["inf"]},
        {"page": ["0"]},
        {"order": ["by magic"]},
        {"text_in": ["nowhere"]},
        {"example": ["9" * 50]},
    ],
)
def test_what_cannot_be_read_in_a_link_is_left_at_its_default(query):
    assert state.from_query(state.View, query) == state.View()


def test_a_filter_goes_to_the_url_and_comes_back_from_it(open_page, one_run):
    app = open_page("examples", one_run)
    app.multiselect(key="filter_states").select(State.INCURRED).run()
    app.number_input(key="filter_max_score").set_value(0.5).run()
    assert app.query_params["states"] == "incurred"
    assert app.query_params["max_score"] == "0.5"
    # Only the second example, 0 - 8 over 5, has an incurred penalty.
    assert [int(value) for value in app.dataframe[0].value["number"]] == [2]
    link = dict(app.query_params)

    fresh = open_page("examples", one_run, **link)
    assert fresh.multiselect(key="filter_states").value == ["incurred"]
    assert fresh.number_input(key="filter_max_score").value == 0.5
    assert [int(value) for value in fresh.dataframe[0].value["number"]] == [2]


def test_moving_between_pages_keeps_run_and_filters(open_page, many_runs):
    app = open_page("examples", *many_runs)
    app.sidebar.selectbox(key="run_picker").select_index(3).run()
    app.text_input(key="filter_text").set_value("earns 10").run()
    run = app.query_params["run"]
    app.query_params.clear()
    app.switch_page("app_pages/score.py").run()
    assert app.query_params["run"] == run
    assert "text" not in app.query_params
    app.query_params.clear()
    app.switch_page("app_pages/examples.py").run()
    assert app.query_params["run"] == run
    assert app.text_input(key="filter_text").value == "earns 10"


def test_clearing_brings_every_example_back(open_page, texts, one_run):
    app = open_page("examples", one_run)
    app.text_input(key="filter_text").set_value("nobody wrote this").run()
    assert "No example meets all these conditions." in texts(app)
    app.button(key="clear").click().run()
    assert len(app.dataframe[0].value) == 3
    assert "text" not in app.query_params


def test_a_page_beyond_the_list_shows_its_first(open_page, many_runs):
    app = open_page("examples", *many_runs)
    app.sidebar.selectbox(key="run_picker").select_index(3).run()
    assert len(app.dataframe[0].value) == 25
    app.query_params["page"] = "9"
    app.run()
    assert not app.exception
    assert app.dataframe[0].value["number"].iloc[0] == 1
    assert "page" not in app.query_params
