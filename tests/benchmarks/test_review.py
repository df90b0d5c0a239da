"""How long a queue of 500 on a full run takes to make and open, and a decision to the next verdict.

Prints seconds; asserts none. Sizes: HEALTHBENCH_BENCHMARK_PROMPTS (default 5,000). The page is run in process: what it
takes on the server, without the browser's share.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks import synthetic
from healthbench.review.queues import Plan, QueueKind, make_queue
from healthbench.review.saved import SavedQueues
from healthbench.store.library import Library
from healthbench.store.review_file import FILE_NAME, ReviewFile

pytestmark = pytest.mark.benchmark

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = int(os.environ.get("HEALTHBENCH_BENCHMARK_PROMPTS", "5000"))
DECISIONS = 20


def timed(what):
    started = time.perf_counter()
    result = what()
    return result, time.perf_counter() - started


def test_a_queue_of_500(tmp_path, monkeypatch):
    run = synthetic.write_run(
        tmp_path / "healthbench_made-up_20260101_000000_allresults.json", PROMPTS, bulk=False
    )
    with (
        closing(Library(tmp_path / "store")) as library,
        closing(ReviewFile(tmp_path / "store" / FILE_NAME)) as file,
    ):
        (outcome,) = library.import_paths([run])
        run_id = outcome.run.id
        sys.stdout.write("\n")
        for kind in (QueueKind.LEVERAGE, QueueKind.LEVERAGE_SAMPLE, QueueKind.RANDOM):
            plan = Plan(kind=kind, run=run_id, size=500)
            entries, seconds = timed(lambda plan=plan: make_queue(library, plan))
            sys.stdout.write(
                f"make {kind:16} {len(entries)} of {outcome.run.n_items}: {seconds:.3f} s\n"
            )
        queue = SavedQueues(file).save("Timed", plan, entries)
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    monkeypatch.setenv("HEALTHBENCH_HOME", str(tmp_path / "store"))
    monkeypatch.setenv("HEALTHBENCH_OPEN", json.dumps([str(nothing)]))
    st.cache_data.clear()
    st.cache_resource.clear()
    app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=120)
    app.session_state["reviewer_name"], app.session_state["reviewer_role"] = "Anna", "physician"
    app.run()
    app.switch_page("app_pages/review.py")
    app.query_params["run"], app.query_params["queue"] = run_id, queue.id
    _, opened = timed(app.run)
    assert not app.exception, app.exception
    steps = {"decide": [], "go on": []}
    for _ in range(DECISIONS):
        steps["decide"].append(timed(app.button(key="review_M").click().run)[1])
        steps["go on"].append(timed(app.button(key="review_confirm").click().run)[1])
    assert not app.exception, app.exception
    sys.stdout.write(f"open the queue: {opened:.3f} s\n")
    for name, seconds in steps.items():
        sys.stdout.write(
            f"{name}: median {statistics.median(seconds):.3f} s, worst {max(seconds):.3f} s\n"
        )
