"""Who may know whom, read from the imports themselves; and what a published tree must not contain."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# What each part of the library may import of the others.
ALLOWED = {
    "model": set(),
    "errors": set(),
    "taxonomy": set(),
    "formatting": set(),
    "scoring": {"model", "errors", "taxonomy"},
    "readers": {"model", "errors", "taxonomy", "scoring"},
    "charts": {"model", "errors", "taxonomy", "scoring", "formatting", "published"},
}


def imported(path):
    """Names of modules a file imports anywhere in it, type checking included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def library_files():
    return sorted((ROOT / "healthbench").rglob("*.py"))


@pytest.mark.parametrize("path", library_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_library_imports_no_streamlit_and_parts_import_only_what_they_may(path):
    modules = set(imported(path))
    assert not any(name.split(".")[0] == "streamlit" for name in modules)
    part = path.relative_to(ROOT / "healthbench").parts[0].removesuffix(".py")
    if part in ALLOWED:
        others = {name.split(".")[1] for name in modules if name.startswith("healthbench.")}
        assert others - {part} <= ALLOWED[part]


def test_readers_and_charts_know_no_database():
    for part in ("readers", "charts", "scoring"):
        for path in (ROOT / "healthbench" / part).rglob("*.py"):
            if path.name != "tables.py":
                assert "duckdb" not in {name.split(".")[0] for name in imported(path)}, path


def test_pages_ask_data_and_never_the_database():
    for path in (ROOT / "app").rglob("*.py"):
        assert not {"duckdb", "sqlite3"} & {name.split(".")[0] for name in imported(path)}, path


def tracked():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_no_benchmark_canary_and_no_registry_host_is_published():
    canary = re.compile(r"healthbench:[0-9a-f]{8}-[0-9a-f]{4}")
    hosts = re.compile("|".join(("py" + r"pi\.org", "python" + "hosted", r"registry\." + "npmjs")))
    for path in tracked():
        text = path.read_text(encoding="utf-8", errors="replace")
        assert not canary.search(text), path
        assert not hosts.search(text), path


def test_every_run_time_dependency_is_pinned():
    pins = {
        line.partition("==")[0].lower()
        for line in (ROOT / "constraints.txt").read_text().splitlines()
    }
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL)[1]
    names = re.findall(r'"([A-Za-z0-9_.-]+)', block)
    assert names
    assert {name.lower() for name in names} <= pins
