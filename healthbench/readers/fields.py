"""Conversions of single foreign values, with the sentence a reader of the error needs.

Every reader turns points, verdicts, texts, messages and tags into the model's types here, so that a value means the
same whichever tool wrote it. Nothing is decided by truthiness.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from healthbench.errors import InputRefusedError
from healthbench.model import Message, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from healthbench.model import ImportReport

MAX_POINTS = 1000
MIN_POINTS = 1e-6
"""Least size of points; an example score over smaller ones could leave the range of numbers."""


class Where(NamedTuple):
    """The place of a value in a file, for error sentences; numbers count from 1."""

    source: str
    example: int | None = None
    criterion: int | None = None

    def __str__(self) -> str:
        """Name the place: ``run.json, example 3, criterion 2``."""
        example = "" if self.example is None else f", example {self.example}"
        criterion = "" if self.criterion is None else f", criterion {self.criterion}"
        return f"{self.source}{example}{criterion}"

    def refuse(self, field: str, problem: str, remedy: str) -> InputRefusedError:
        """Build the one-sentence refusal of a value."""
        return InputRefusedError(f"{self}: {field} {problem}; {remedy}.")


class Marks(NamedTuple):
    """How a producer marks a grade that failed, where it stores such a grade as "not met".

    Attributes:
        start: Matches the beginning of such an explanation.
        empty: Whether a missing or empty explanation is such a mark.
    """

    start: re.Pattern[str]
    empty: bool


_ALWAYS = (
    r"failed to parse|invalid grading response format|judge returned invalid response"
    r"|grading parse error|could not parse"
)
# In simple-evals "No explanation provided" can come with a valid verdict, so it is no mark there.
SIMPLE_EVALS_MARKS = Marks(re.compile(rf"\W*(?:{_ALWAYS})", re.IGNORECASE), empty=False)
INSPECT_MARKS = Marks(
    re.compile(rf"\W*(?:{_ALWAYS}|no explanation provided)", re.IGNORECASE), empty=True
)
VERIFIERS_MARKS = INSPECT_MARKS
OPENBENCH_MARKS = INSPECT_MARKS
DEFAULT_MARKS = SIMPLE_EVALS_MARKS

_VERDICT_WORDS = {
    "true": True,
    "met": True,
    "false": False,
    "unmet": False,
    "not met": False,
    "not_met": False,
}


def kind_name(value: object) -> str:
    """Name a JSON value's type in words, for error sentences."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return type(value).__name__


def points_of(value: object, where: Where, field: str = "points") -> float:
    """Return a criterion's points.

    Returns:
        A number between a millionth and 1000 in size.

    Raises:
        InputRefusedError: Anything else, text that looks like a number included.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        what = "is missing" if value is None else f"is {kind_name(value)}, not a number"
        raise where.refuse(field, what, "write it as a number without quotes")
    if not _is_finite(value):
        what = f"is {value}" if isinstance(value, float) else "has hundreds of digits"
        raise where.refuse(field, f"{what}, not a finite number", "correct it in the file")
    if value == 0:
        raise where.refuse(
            field, "is 0, so the criterion counts for nothing", "correct or remove it"
        )
    if abs(value) > MAX_POINTS:
        raise where.refuse(
            field,
            f"is {value:g}, beyond the {MAX_POINTS} that a criterion can carry (HealthBench uses -10 to 10)",
            "correct it in the file",
        )
    if abs(value) < MIN_POINTS:
        raise where.refuse(
            field, f"is {value:g}, too little to count for anything", "correct it in the file"
        )
    return value


def verdict_of(
    value: object,
    explanation: object,
    report: ImportReport,
    marks: Marks | None = DEFAULT_MARKS,
    failure: str | None = None,
) -> Verdict:
    """Read one verdict and count its kind in the report.

    Args:
        value: As stored. true and false are verdicts; so are 1 and 0, and the words true, false, met, unmet and
            not met in any case, which are counted apart. Null, absent or anything else is unknown.
        explanation: As stored; text, or anything else for none.
        report: Its ``verdicts`` gets one more of ``bool``, ``0/1``, ``string``, ``null``, ``unreadable`` or
            ``failure mark``.
        marks: The producer's signs of a failed grade, which make a stored false unknown; None for a format that
            says so itself.
        failure: Why a stored false is no verdict, where the file says so itself.
    """
    words = explanation if isinstance(explanation, str) and explanation else None
    stored, kind = _stored(value)
    if stored is not False:
        failure = None
    elif failure is None and marks is not None:
        failure = failure_of(words, marks)
    report.verdicts[kind if failure is None else "failure mark"] += 1
    return Verdict(stored, words, failure)


def _stored(value: object) -> tuple[bool | None, str]:
    if isinstance(value, bool):
        return value, "bool"
    if value is None:
        return None, "null"
    if isinstance(value, int | float) and value in (0, 1):
        return value == 1, "0/1"
    if isinstance(value, str):
        stored = _VERDICT_WORDS.get(value.strip().lower())
        return stored, "unreadable" if stored is None else "string"
    return None, "unreadable"


def failure_of(explanation: str | None, marks: Marks) -> str | None:
    """Return why a stored "not met" with this explanation is no verdict, None where it is one."""
    if explanation is None or not explanation.strip():
        return "no explanation was stored" if marks.empty else None
    if found := marks.start.match(explanation):
        return f'the explanation begins "{found.group().strip()}"'
    return None


def text_of(value: object) -> str:
    """Return the text of a message's content: text, a list of parts, one part, or None (as "").

    Parts that are not text (images, audio) are named in square brackets, so that the reader sees they were there.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(text for part in value if (text := text_of(part)))
    if isinstance(value, dict):
        for key in ("text", "content"):
            if key in value:
                return text_of(value[key])
        return f"[{value.get('type', 'part')}]"
    return str(value)


def messages_of(value: object, where: Where, field: str = "prompt") -> list[Message]:
    """Return a conversation's turns from a list of messages, an object with ``messages``, or one text (a user turn).

    Raises:
        InputRefusedError: It is none of these.
    """
    if isinstance(value, str):
        return [Message("user", value)]
    if isinstance(value, dict):
        return messages_of(value.get("messages", [value]), where, field)
    if not isinstance(value, list):
        raise where.refuse(
            field,
            f"is {kind_name(value)}, not a list of messages",
            "give the file its producer wrote",
        )
    turns = []
    for message in value:
        if isinstance(message, dict):
            turns.append(
                Message(str(message.get("role") or "user"), text_of(message.get("content")))
            )
        elif isinstance(message, str):
            turns.append(Message("user", message))
        else:
            raise where.refuse(
                field,
                f"holds {kind_name(message)} where a message belongs",
                "give the file its producer wrote",
            )
    return turns


def tags_of(value: object, where: Where, field: str = "tags") -> tuple[str, ...]:
    """Return tags from a list of texts; null or absent is none.

    Raises:
        InputRefusedError: It is not a list of texts.
    """
    if value is None:
        return ()
    if isinstance(value, list | tuple) and all(isinstance(tag, str) for tag in value):
        return tuple(value)
    raise where.refuse(
        field, f"is {kind_name(value)}, not a list of texts", "write it as a list of texts"
    )


def required_text(value: object, where: Where, field: str) -> str:
    """Return a text that must be there.

    Raises:
        InputRefusedError: It is missing, empty or no text.
    """
    if isinstance(value, str) and value.strip():
        return value
    problem = "is empty" if isinstance(value, str) else f"is {kind_name(value)}, not text"
    raise where.refuse(
        field, problem if value is not None else "is missing", "give the file its producer wrote"
    )


def id_of(value: object) -> str | None:
    """Return an identity as text; whole numbers are identities too. None where there is none."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def fraction_of(value: object) -> float | None:
    """Return a stated score as a finite number, None where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        return None
    return float(value)


def _is_finite(value: float) -> bool:
    """Tell whether a number is one that can be computed with; JSON has whole numbers beyond every float."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def stated_figures(metrics: object) -> dict[str, float]:
    """Return every finite number of a metrics object, by name."""
    if not isinstance(metrics, dict):
        return {}
    numbers = ((str(name), fraction_of(value)) for name, value in metrics.items())
    return {name: number for name, number in numbers if number is not None}


def canary_of(row: Mapping[str, Any]) -> str:
    """Return the benchmark's canary where a row carries it, as the data sets' rows do, else ""."""
    canary = row.get("canary") or row.get("canary_string")
    return "" if not canary or says_synthetic(row) else str(canary)


def says_synthetic(row: Mapping[str, Any]) -> bool:
    """Tell whether a row says, in a field of its own or in place of a canary, that it was made up."""
    return row.get("synthetic") is True or str(row.get("canary")).startswith("synthetic")


def content_id(prompt: Sequence[Message]) -> str:
    """Return an identity for a conversation that has none: the same turns always get the same one."""
    text = json.dumps(prompt, ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()[:32]
