"""What simple-evals and its forks write into a file's name: benchmark, model and time.

The pattern is ``{eval}_{model}_{YYYYmmdd}_{HHMMSS}{suffixes}{_allresults}``. Model names contain underscores, so the name
is taken apart from both ends. Forks leave the seconds out, add suffixes, or name a custom data set and no model.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import PurePath
from typing import NamedTuple

_BENCHMARKS = {
    "healthbench": "HealthBench",
    "healthbench_hard": "HealthBench Hard",
    "healthbench_consensus": "HealthBench Consensus",
    "healthbench_meta": "HealthBench meta-evaluation",
    "healthbench_professional": "HealthBench Professional",
}
_EXTENSIONS = re.compile(r"(?:\.(?:json|jsonl|html|gz))+$", re.IGNORECASE)
_COPY = re.compile(r" ?\(\d+\)$")
_EVAL = re.compile(r"healthbench(?:_(?:hard|consensus|meta|professional))?(?=_|$)")
_TIME = re.compile(r"(?:^|_)(?P<date>\d{8})(?:_(?P<time>\d{6}|\d{4}))?(?P<suffixes>(?:_[^_]+)*)$")
_PHYSICIANS = {
    "humanbaseline": "physicians (human baseline)",
    "referencecompletions": "reference completions",
}


_NO_MODELS = {"", "results", "result", "graded", "run"}


class FileName(NamedTuple):
    """What a file's name says; None where it does not.

    Attributes:
        benchmark: As shown, for example ``HealthBench Hard``, or the stem of a custom data set.
        model: The model that replied.
        created: Local time of the run, ISO 8601, to the second or minute or day.
        suffixes: What forks append after the time, for example ``DEBUG`` or ``temp0.7``.
    """

    benchmark: str | None = None
    model: str | None = None
    created: str | None = None
    suffixes: tuple[str, ...] = ()


def parse_file_name(name: str) -> FileName:
    """Take a simple-evals file name apart; a name of another pattern gives an empty result."""
    stem = _COPY.sub("", _EXTENSIONS.sub("", PurePath(name).name))
    stem = _COPY.sub("", stem.removesuffix("_allresults"))
    if stem.startswith("results_"):
        return FileName(model=stem.removeprefix("results_") or None)
    found = _EVAL.match(stem)
    if not found:
        return FileName()
    rest, created, suffixes = _split_time(stem[found.end() :].removeprefix("_"))
    if rest == "custom" or rest.startswith("custom_"):
        return FileName(rest.removeprefix("custom").strip("_") or None, None, created, suffixes)
    benchmark = _BENCHMARKS[found.group()]
    last = rest.rpartition("_")[2]
    model = None if rest in _NO_MODELS else _PHYSICIANS.get(last, rest)
    return FileName(benchmark, model, created, suffixes)


def _split_time(rest: str) -> tuple[str, str | None, tuple[str, ...]]:
    """Cut the last date that is one, and what follows it, off the end."""
    for found in reversed(list(re.finditer(r"(?:^|_)\d{8}(?=_|$)", rest))):
        parts = _TIME.match(rest, found.start())
        created = parts and _moment(parts["date"], parts["time"])
        if parts and created:
            suffixes = tuple(s for s in parts["suffixes"].split("_") if s)
            return rest[: found.start()], created, suffixes
    return rest, None, ()


def _moment(date: str, time: str | None) -> str | None:
    pattern = "%Y%m%d" + {0: "", 4: "%H%M", 6: "%H%M%S"}[len(time or "")]
    try:
        moment = datetime.strptime(date + (time or ""), pattern)  # noqa: DTZ007 - the name gives local time
    except ValueError:
        return None
    return moment.date().isoformat() if time is None else moment.isoformat(timespec="auto")
