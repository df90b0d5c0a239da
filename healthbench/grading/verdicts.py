"""Read a grader's words the way the reference evaluator reads them; anything else is no verdict."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

_FENCE = re.compile(r"^```json\s*|\s*```$")


class Grade(NamedTuple):
    """What a grader said about one criterion."""

    met: bool
    explanation: str | None


class BadReplyError(Exception):
    """A grader's words hold no verdict; the message says why and quotes nothing."""


def parse_grade(text: str) -> Grade:
    """Read ``{"explanation": ..., "criteria_met": true}``, bare or in a json fence.

    Source: ``parse_json_to_dict`` and the grading loop of openai/simple-evals ``healthbench_eval.py``: one leading
    json fence and one trailing fence are removed, the rest must be JSON, and ``criteria_met`` must be a true boolean.

    Raises:
        BadReplyError: It is anything else.
    """
    try:
        answer = json.loads(_FENCE.sub("", text.strip()))
    except (ValueError, RecursionError):
        raise BadReplyError("the grader's reply is not JSON") from None
    if not isinstance(answer, dict):
        raise BadReplyError("the grader's reply is JSON but no object")
    met = answer.get("criteria_met")
    if not isinstance(met, bool):
        what = "is missing" if "criteria_met" not in answer else "is neither true nor false"
        raise BadReplyError(f"criteria_met {what} in the grader's reply")
    explanation = answer.get("explanation")
    if not isinstance(explanation, str):
        return Grade(met, None)
    # JSON can escape half a surrogate pair, which neither UTF-8 files nor SQLite can hold.
    return Grade(met, explanation.encode(errors="replace").decode())
