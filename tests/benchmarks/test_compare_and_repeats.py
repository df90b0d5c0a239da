"""How long a comparison, the leaderboard and the page of a run with 16 repeats take.

Prints seconds; asserts none. Sizes: HEALTHBENCH_BENCHMARK_PROMPTS (default 5,000). A page is run in process by Streamlit's
own test harness, on cold caches: what it takes on the server, without the browser's share.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks import synthetic
from healthbench.comparison.flips import by_axis, flips, grader_agreement
from healthbench.comparison.leaderboard import boards, standing
from healthbench.comparison.pair import compare, side
from healthbench.store.library import Library

pytestmark = pytest.mark.benchmark

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = int(os.environ.get("HEALTHBENCH_BENCHMARK_PROMPTS", "5000"))
RUNS = 24


def timed(work, *arguments):
    started = time.perf_counter()
    result = work(*arguments)
    return result, time.perf_counter() - started


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two different runs over the same prompts, with their themes."""
    folder = tmp_path_factory.mktemp("comparison")
    files = [
        synthetic.write_run(
            folder / f"healthbench_model-{model}_20260101_00000{model}_allresults.json",
            PROMPTS,
            model=model,
            bulk=False,
        )
        for model in range(2)
    ]
    with closing(Library(folder / "store")) as library:
        library.attach_dataset(synthetic.write_dataset(folder / "data.jsonl", PROMPTS))
        ids = [outcome.run.id for outcome in library.import_paths(files)]
    return folder / "store", ids


def first_view(store, page, **query):
    """Seconds of the first run of a page and of the next one; the caches are empty before."""
    st.cache_data.clear()
    st.cache_resource.clear()
    os.environ["HEALTHBENCH_HOME"] = str(store)
    nothing = store.parent / "nothing"
    nothing.mkdir(exist_ok=True)
    os.environ["HEALTHBENCH_OPEN"] = json.dumps([str(nothing)])
    app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=120)
    if page != "runs":
        app.switch_page(f"app_pages/{page}.py")
    for name, value in query.items():
        app.query_params[name] = value
    _, first = timed(app.run)
    assert not app.exception, app.exception
    _, again = timed(app.run)
    return first, again


def test_comparison(store):
    home, ids = store
    with closing(Library(home)) as library:
        sides, reading = timed(lambda: [side(library, run_id) for run_id in ids])
        results = [timed(compare, *sides) for _ in range(3)]
        result = results[0][0]
        rows, pairing = timed(flips, library, result, sides[0])
        _, counting = timed(by_axis, rows)
        _, agreeing = timed(grader_agreement, library, result, rows)
    print(
        f"\ncompare two runs of {PROMPTS}: {min(seconds for _, seconds in results):.2f} s for {len(result.differences)} "
        f"metrics (goal < 1); reading both {reading:.2f} s, pairing {len(rows)} criteria {pairing:.2f} s, "
        f"flips {counting:.2f} s, same replies {agreeing:.2f} s"
    )


@pytest.mark.parametrize("part", ["", "criteria", "prompts", "example"])
def test_page_compare(store, part):
    home, ids = store
    first_view(home, "runs")
    first, again = first_view(home, "compare", run=ids[1], against=ids[0], part=part)
    print(
        f"\npage Compare, {part or 'difference'}: first view {first:.2f} s (goal < 2), again {again:.2f} s"
    )


def test_leaderboard_of_many_runs(store, tmp_path):
    home, ids = store
    for number in range(RUNS):
        # Copies under other ids: the same work as other runs, without writing 24 files.
        run_id = f"{number:016x}"
        shutil.copytree(home / "runs" / ids[number % 2], tmp_path / "runs" / run_id)
        record = tmp_path / "runs" / run_id / "run.json"
        record.write_text(
            json.dumps({**json.loads(record.read_text(encoding="utf-8")), "id": run_id}),
            encoding="utf-8",
        )
    with closing(Library(tmp_path)) as library:
        runs = [run.id for run in library.runs()]
        standings, reading = timed(lambda: [standing(library, run_id) for run_id in runs])
        _, ranking = timed(boards, standings)
    print(
        f"\nleaderboard of {len(runs)} runs of {PROMPTS}: {reading + ranking:.2f} s cold (goal < 3), "
        f"of it reading {reading:.2f} s"
    )
    first, again = first_view(tmp_path, "runs")
    print(
        f"page Runs with {len(runs)} runs: first view {first:.2f} s, again {again:.2f} s (goal < 0.3)"
    )


def test_page_repeats(tmp_path):
    path = synthetic.write_run(
        tmp_path / "healthbench_repeated_20260101_000000_allresults.json", PROMPTS, 16, bulk=False
    )
    with closing(Library(tmp_path / "store")) as library:
        (outcome,) = library.import_paths([path])
    path.unlink()
    first_view(tmp_path / "store", "runs")
    first, again = first_view(tmp_path / "store", "repeats", run=outcome.run.id)
    print(
        f"\npage Repeats, 16 repeats of {PROMPTS}: first view {first:.2f} s (goal < 3), again {again:.2f} s"
    )
