"""How long an import takes beside Python's own parser, what it holds in memory, and how fast a run is scored.

Prints ratios of times measured in one run; asserts no time. Sizes: HEALTHBENCH_BENCHMARK_PROMPTS (default 5,000).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from benchmarks import synthetic

pytestmark = pytest.mark.benchmark

PROMPTS = int(os.environ.get("HEALTHBENCH_BENCHMARK_PROMPTS", "5000"))

MEASURE = """
    import json, os, shutil, sys, tempfile, threading, time
    from pathlib import Path
    from healthbench.store.library import Library
    import pandas  # the dashboard has it loaded before the first import

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    path, warm_up = Path(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as home:
        library = Library(Path(home))
        library.import_paths([warm_up])
        before, peak, done = resident(), [0.0], threading.Event()
        def watch():
            while not done.wait(0.02):
                peak[0] = max(peak[0], resident())
        watcher = threading.Thread(target=watch)
        watcher.start()
        started = time.perf_counter()
        (outcome,) = library.import_paths([path])
        seconds = time.perf_counter() - started
        done.set()
        watcher.join()
        assert outcome.run is not None, outcome.refusal
    load = None
    if len(sys.argv) > 3:
        started = time.perf_counter()
        with path.open() as file:
            json.load(file)
        load = time.perf_counter() - started
    print(json.dumps({"import": seconds, "load": load, "growth": peak[0] - before}))
"""


def measured(*arguments):
    command = [sys.executable, "-c", textwrap.dedent(MEASURE), *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmark")
    return {
        "run": synthetic.write_run(
            folder / "healthbench_made-up_20260101_000000_allresults.json", PROMPTS
        ),
        "warm_up": synthetic.write_run(folder / "warm_up.json", 20, seed=1, bulk=False),
        "folder": folder,
    }


def test_import_beside_json_load(files):
    rounds = [measured(files["run"], files["warm_up"], "load") for _ in range(5)]
    best = {key: min(one[key] for one in rounds) for key in ("import", "load")}
    print(
        f"\nimport, scored and queryable: {files['run'].stat().st_size / 1e6:.0f} MB in {best['import']:.2f} s, "
        f"{best['import'] / best['load']:.2f} x json.load ({best['load']:.2f} s; best of 5; goal 1.5); "
        f"memory growth {max(one['growth'] for one in rounds):.0f} MB (goal < 150)"
    )


def test_import_of_sixteen_repeats_stays_bounded(files):
    path = synthetic.write_run(files["folder"] / "repeats.json", PROMPTS, 16, bulk=False)
    one = measured(path, files["warm_up"])
    print(
        f"\n16 repeats: {path.stat().st_size / 1e6:.0f} MB in {one['import']:.1f} s, "
        f"memory growth {one['growth']:.0f} MB (goal < 400)"
    )


def test_bootstrap_beside_the_reference_loop(files):
    from contextlib import closing

    from healthbench.scoring import uncertainty
    from healthbench.store.library import Library

    dataset = synthetic.write_dataset(files["folder"] / "dataset.jsonl", PROMPTS)
    with closing(Library(files["folder"] / "store")) as library:
        library.attach_dataset(dataset)
        (outcome,) = library.import_paths([files["run"]])
        run = library.run_scores(outcome.run.id)
    columns = [metric.scores[~np.isnan(metric.scores)] for metric in run.metrics.values()]
    started = time.perf_counter()
    for scores in columns:
        # The reference draws rows with replacement, clips each mean and takes the standard deviation.
        np.std([np.clip(np.mean(np.random.choice(scores, len(scores))), 0, 1) for _ in range(1000)])  # noqa: NPY002
    reference = time.perf_counter() - started
    ours = []
    for _ in range(5):
        uncertainty.draw_counts.cache_clear()
        started = time.perf_counter()
        uncertainty.bootstrap(run)
        ours.append(time.perf_counter() - started)
    print(
        f"\nbootstrap of {len(columns)} metrics, 1,000 resamples: {min(ours) * 1e3:.0f} ms, "
        f"{reference / min(ours):.0f} x the reference's loop ({reference:.2f} s; goal 50)"
    )
