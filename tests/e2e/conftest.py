"""A real browser on a real server: started once, on a free port, over a store of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)
NO_BROWSER = "No Chromium was found for the browser tests: install chromium or google-chrome, or set HEALTHBENCH_CHROMIUM."


def find_chromium(playwright):
    """Return the path of a browser, None where there is none."""
    named = os.environ.get("HEALTHBENCH_CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    found = shutil.which("chromium") or shutil.which("google-chrome")
    own = playwright.chromium.executable_path
    return found or (own if Path(own).exists() else None)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args, playwright):
    chromium = find_chromium(playwright)
    if chromium is None:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(NO_BROWSER, pytrace=False)
        pytest.skip(NO_BROWSER)
    return {**browser_type_launch_args, "executable_path": chromium, "args": list(QUIET)}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args):
    return {**browser_context_args, "viewport": {"width": 1440, "height": 1000}}


@contextmanager
def serving(home):
    """Start the dashboard as ``healthbench`` does, on the sample runs and a store; give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "HEALTHBENCH_HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "STREAMLIT_CLIENT_SHOW_ERROR_DETAILS": "full",
    }
    environment.pop("HEALTHBENCH_OPEN", None)
    written = home / f"server-{port}.log"
    log = written.open("wb")
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from healthbench.cli import main; main()",
            "app",
            "--port",
            str(port),
        ],
        cwd=ROOT,
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_healthy(address, process, written)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=20)
        log.close()


@pytest.fixture(scope="session")
def serve():
    """Return what starts a dashboard on a store, for tests that change one."""
    return serving


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """Start a dashboard for all tests that only look; return its address."""
    with serving(tmp_path_factory.mktemp("store")) as address:
        yield address


def _wait_until_healthy(address, process, log):
    for _ in range(300):
        if process.poll() is not None:
            pytest.fail(
                f"The server ended at once:\n{log.read_text(errors='replace')}", pytrace=False
            )
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"The server did not answer:\n{log.read_text(errors='replace')}", pytrace=False)


@pytest.fixture
def watched():
    """Return a function that notes every request of a page that leaves this machine."""
    remote = []

    def watch(page):
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(
                    ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
                )
                else remote.append(request.url)
            ),
        )
        return page

    yield watch
    assert remote == []


@pytest.fixture
def visit(server, watched):
    """Return a function that opens an address of the app and waits until it is drawn."""

    def go(page, address="/"):
        watched(page)
        page.goto(address if address.startswith("http") else server + address)
        settle(page)
        return page

    return go


@pytest.fixture
def settled():
    return settle


def settle(page):
    """Wait until the script has run and drawn; fail on an exception box."""
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=60_000)
    page.wait_for_selector("[data-testid=stSkeleton]", state="detached", timeout=30_000)
    page.wait_for_timeout(400)
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=60_000)
    exceptions = page.get_by_test_id("stException")
    assert exceptions.all_inner_texts() == []
