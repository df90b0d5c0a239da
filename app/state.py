"""Every session key and URL parameter of the app.

What a link must carry (run, example, filters) is a ``View``. The URL and the session both hold it: a URL that names a
run is followed, whatever the session held; a URL without one (the sidebar's links have none) takes the session's view.
So a copied link opens the same view in another browser, and moving between pages loses nothing.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import streamlit as st
from page_table import BY_NAME, PAGES

from healthbench.store.filters import ORDERS, TEXT_PLACES
from healthbench.store.records import ExampleFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

# Session keys.
VIEW = "view"
PAGE = "page_name"
RENDERED = "rendered"
EXPLAIN = "explain"
LEDGER_ORDER = "ledger_order"
OUTCOMES = "import_outcomes"
STOPPED = "import_stopped"
KEPT_UPLOADS = "kept_uploads"
RUN_PICKER = "run_picker"
UPLOADS = "uploads_round"
LISTED = "listed_examples"
REVIEWER = "reviewer_name"
ROLE = "reviewer_role"
REVIEW_ADVANCE = "review_goes_on"
REVIEW_CLOCK = "review_clock"

_TEXT_LIMIT = 500
"""Longest text taken from a URL; nobody searches for more, and the URL is echoed back."""


_NUMBER_LIMIT = 10**9
"""Largest number taken from a URL; it is far beyond any run and within what the store can count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a link names. A field is added here, and to ``uses`` of the pages whose URL shall carry it.

    Attributes:
        run: Id of the run, None where none is chosen.
        example: Number of the example in its file, from 1, as the screen shows it.
        filters: Which examples are listed.
        order: In which order (a key of ``store.filters.ORDERS``).
        page: Page of the list, from 1.
        as_stored: Count verdicts of failed gradings as the file does.
        length: Length adjustment, a preset or ``CENTER,PENALTY``; "" for the one published for the run's benchmark.
        sliced: The filters are a slice: pages that compute figures compute them on its examples.
        against: Runs compared with this one, the first of them in full.
        part: What the page Compare shows of the comparison.
        joined: Runs joined with this one as further repeats.
        regrade: A run in which the same replies were graded again.
        queue: Id of the review queue that is open, None where none is.
    """

    run: str | None = None
    example: int | None = None
    filters: ExampleFilter = field(default_factory=ExampleFilter)
    order: str = "example"
    page: int = 1
    as_stored: bool = False
    length: str = ""
    sliced: bool = False
    against: tuple[str, ...] = ()
    part: str = ""
    joined: tuple[str, ...] = ()
    regrade: str | None = None
    queue: str | None = None


def _number(kind: Callable[[str], Any]) -> Callable[[Sequence[str]], Any]:
    def read(values: Sequence[str]) -> Any:
        value = kind(values[-1])
        if not abs(value) <= _NUMBER_LIMIT:
            raise ValueError("not a number a view can have")
        return value

    return read


def _text(values: Sequence[str]) -> str:
    return values[-1][:_TEXT_LIMIT]


_READERS: dict[str, Callable[[Sequence[str]], Any]] = {
    "str": _text,
    "str | None": _text,
    "int": _number(int),
    "int | None": _number(int),
    "float | None": _number(float),
    "bool": lambda values: values[-1] == "1",
    "tuple[str, ...]": lambda values: tuple(value[:_TEXT_LIMIT] for value in values),
}


_ALLOWED: dict[str, Collection[Any]] = {
    "order": ORDERS,
    "text_in": TEXT_PLACES,
    "page": range(1, _NUMBER_LIMIT),
    "example": range(1, _NUMBER_LIMIT),
}


def to_query(record: View | ExampleFilter, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the fields of a record that are not at their default, as query parameters.

    Args:
        record: A view or a filter; a view's filter is spread out, because its field names are its parameters.
        names: Fields wanted, None for all.
    """
    query: dict[str, Any] = {}
    default = type(record)()
    for item in dataclasses.fields(record):
        value = getattr(record, item.name)
        if (names is not None and item.name not in names) or value == getattr(default, item.name):
            continue
        if isinstance(value, ExampleFilter):
            query |= to_query(value)
        elif isinstance(value, tuple):
            query[item.name] = list(value)
        else:
            query[item.name] = _written(value)
    return query


def _written(value: object) -> str:
    whole = isinstance(value, bool) or (isinstance(value, float) and value.is_integer())
    return str(int(value)) if whole else str(value)


def from_query(kind: type[Any], query: Mapping[str, Sequence[str]]) -> Any:
    """Return a record from query parameters; what is missing or cannot be read is at its default."""
    values: dict[str, Any] = {}
    for item in dataclasses.fields(kind):
        if item.type == "ExampleFilter":
            values[item.name] = from_query(ExampleFilter, query)
        elif query.get(item.name):
            try:
                values[item.name] = _READERS[str(item.type)](query[item.name])
            except ValueError:
                continue
            allowed = _ALLOWED.get(item.name)
            if allowed is not None and values[item.name] not in allowed:
                del values[item.name]
    return kind(**values)


def view() -> View:
    """Return the current view."""
    return st.session_state.setdefault(VIEW, View())


def begin(page_name: str, run_ids: Sequence[str]) -> str | None:
    """Settle the view at the start of a run of the script: the URL's where it names a run, else the session's.

    Args:
        page_name: Name of the page in ``page_table``.
        run_ids: Runs in the store, oldest first; the first is taken where none is named.

    Returns:
        The id of a run that the link names but the store does not have, else None.
    """
    st.session_state[PAGE] = page_name
    current = view()
    query = {name: st.query_params.get_all(name) for name in st.query_params}
    if "run" in query:
        named = from_query(View, query)
        carried = ("run", *_carried(page_name, sliced=named.sliced))
        current = dataclasses.replace(current, **{name: getattr(named, name) for name in carried})
    missing = None
    if current.run is None and run_ids:
        current = dataclasses.replace(current, run=run_ids[0])
    elif current.run is not None and current.run not in run_ids:
        missing = current.run
    st.session_state[VIEW] = current
    _write_url()
    return missing


def change(**fields: Any) -> None:
    """Change the view and the URL with it; for callbacks, which run before the script."""
    st.session_state[VIEW] = dataclasses.replace(view(), **fields)
    _write_url()


def choose_run(run_id: str | None) -> None:
    """Change to another run; its examples are others, its filters stay."""
    kept = dataclasses.replace(view().filters, criterion=None)
    change(run=run_id, example=None, page=1, filters=kept, queue=None)


def in_slice() -> ExampleFilter | None:
    """Return the slice on which figures are computed, None for the whole run."""
    current = view()
    wanted = dataclasses.replace(current.filters, criterion=None)
    return wanted if current.sliced and wanted != ExampleFilter(text_in=wanted.text_in) else None


def filter_examples(**fields: Any) -> None:
    """Change conditions of the filter; the list starts at its first page again."""
    change(filters=dataclasses.replace(view().filters, **fields), page=1)


def open_page(name: str, **fields: Any) -> None:
    """Go to a page, with changes to the view; for callbacks and page bodies."""
    st.session_state[VIEW] = dataclasses.replace(view(), **fields)
    st.switch_page(BY_NAME[name].path, query_params=query_for(name))


def query_for(name: str, **fields: Any) -> dict[str, Any]:
    """Return the query parameters of a page for the current view with changes; for links."""
    wanted = dataclasses.replace(view(), **fields)
    return to_query(wanted, ("run", *_carried(name, sliced=wanted.sliced)))


def _carried(name: str, *, sliced: bool) -> tuple[str, ...]:
    """Return the fields that the URL of a page carries: filters that are no slice only where they make a list."""
    uses = BY_NAME[name].uses
    idle = "sliced" in uses and not sliced
    return tuple(field for field in uses if not (idle and field == "filters"))


def link(name: str, **fields: Any) -> str:
    """Return the whole address of a page for the current view with changes, to be copied."""
    base = (st.context.url or "").partition("?")[0].rstrip("/")
    current = st.session_state.get(PAGE, "")
    root = base.removesuffix(f"/{current}") if current else base
    path = "" if name == PAGES[0].name else name
    return f"{root}/{path}?{urlencode(query_for(name, **fields), doseq=True)}"


def _write_url() -> None:
    query = query_for(st.session_state[PAGE])
    shown = {name: st.query_params.get_all(name) for name in st.query_params}
    wanted = {name: value if isinstance(value, list) else [value] for name, value in query.items()}
    if shown != wanted:
        st.query_params.from_dict(query)
