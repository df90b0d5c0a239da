"""The names that tools give the same thing: one table for JSON, JSON lines and tables.

Seen in public files of some thirty tools. A dotted name is a path into nested objects. Names are compared without
regard to case, and with spaces and hyphens as underscores. The order is the order of preference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

# What an example, or a row that stands for one criterion of one, may carry.
ROW: dict[str, tuple[str, ...]] = {
    "prompt_id": (
        "prompt_id", "promptid", "items.prompt_id", "conversation_id", "sample_id", "case_id", "question_id",
        "source_id", "example_id", "task_id", "id",
    ),
    "prompt": (
        "prompt", "conversation", "conversations", "messages", "input", "question", "user_message", "user_prompt", "query",
        "transcript",
    ),
    "reply": (
        "completion", "prompt_response", "model_response", "response_text", "bot_response", "assistant_response",
        "response", "reply", "output.completion", "model_output", "candidate_response", "generation", "answer", "output",
    ),
    "example_tags": ("example_tags", "metadata.example_tags"),
    "theme": ("theme", "example_theme", "category.theme"),
    "score": ("score", "overall_score", "individual_score", "healthbench_score", "example_score"),
    "model": (
        "model", "model_id", "model_name", "candidate_id", "candidate_model", "candidate", "response_model", "target_model",
    ),
    "grader": ("judge_id", "judge_model", "grader_model", "grader", "judge", "grader_id", "judge_name"),
    "repeat": (
        "repeat", "repeat_index", "rollout_index", "rollout", "epoch", "trial", "sample_index", "attempt", "run_index",
    ),
    "completion_id": ("completion_id", "response_id"),
    "error": ("error", "error_message"),
    "canary": ("canary", "canary_string"),
}  # fmt: skip

# What one criterion with its verdict may carry.
ITEM: dict[str, tuple[str, ...]] = {
    "criterion": (
        "criterion", "criterion_text", "rubric_text", "rubric_item", "rubric_criterion", "criteria", "criterion_description",
        "rubric",
    ),
    "points": ("points", "rubric_points", "points_possible", "criterion_points", "weight"),
    "verdict": (
        "criteria_met", "criterion_met", "is_met", "met", "response_dict.criteria_met", "parsed_value.criteria_met",
        "verdict", "judge_binary",
    ),
    "explanation": (
        "explanation", "response_dict.explanation", "parsed_value.explanation", "judge_explanation", "grader_explanation",
        "rationale", "reason", "reasoning", "justification",
    ),
    "tags": ("tags", "rubric_tags", "criterion_tags"),
    "axis": ("axis", "criterion_axis"),
    "failure": ("failure_mark",),
    "index": ("rubric_index", "criterion_index", "criterion_id", "item_index", "rubric_id"),
}  # fmt: skip

# Where an example may keep its graded criteria, and where its rubric without verdicts.
ITEM_LISTS = (
    "rubric_items", "rubric_results", "rubric_grades", "rubric_scores", "detailed_results", "criteria_results", "grades",
    "responses", "judge_attempts", "rubrics", "rubric", "criteria", "items", "performance_by_rubric",
)  # fmt: skip
# Objects that wrap one of these one level down.
WRAPPERS = (
    "evaluation",
    "evaluation_results",
    "evaluation_result",
    "grading",
    "judgment",
    "result",
    "info",
    "metadata",
)
# Where a document keeps its list of examples.
ROW_LISTS = (
    "example_results", "evaluations", "per_example_results", "examples", "results", "samples", "conversations", "records",
    "rows", "data", "cases", "graded", "graded_outputs", "outputs",
)  # fmt: skip


def plain(name: object) -> str:
    """Return a name as it is compared."""
    return re.sub(r"[\s\-]+", "_", str(name).strip()).lower()


def look_up(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the value under the first of the names that a row has; None where it has none of them."""
    found = find(row, names)
    return None if found is None else found[1]


def find(row: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Any] | None:
    """Return the first of the names that a row has, and its value."""
    for name in names:
        first, _, rest = name.partition(".")
        if first not in row:
            continue
        if not rest:
            return name, row[first]
        inner = row[first]
        if isinstance(inner, list) and inner:
            inner = inner[0]
        if isinstance(inner, Mapping) and rest in inner:
            return name, inner[rest]
    return None


def plain_keys(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with its names as they are compared; the first of equal names counts."""
    named: dict[str, Any] = {}
    for key, value in row.items():
        named.setdefault(plain(key), value)
    return named


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Which column of a table holds what.

    Attributes:
        columns: Field of ROW or ITEM, or ``items`` for a column with a list of graded criteria -> column name.
        names: All column names of the tables it was made for; empty for any table that has the mapped ones.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    names: frozenset[str] = frozenset()

    def fits(self, names: Sequence[str]) -> bool:
        """Tell whether a table is one it was made for."""
        if self.names and self.names != set(names):
            return False
        return bool(self.columns) and set(self.columns.values()) <= set(names)

    @property
    def complete(self) -> bool:
        """Whether it is enough to score: points and verdicts by row, or a column with lists of both."""
        return "items" in self.columns or {"points", "verdict"} <= self.columns.keys()


def match_columns(names: Sequence[str]) -> ColumnMapping:
    """Match a table's columns by alias; each column is used once, for the field that prefers it most."""
    by_plain = {plain(name): name for name in reversed(names)}
    used: set[str] = set()
    columns: dict[str, str] = {}
    row_of_criterion = any(n in by_plain for n in ITEM["verdict"]) and any(
        n in by_plain for n in ITEM["points"]
    )
    if not row_of_criterion:
        wrapped = next((n for n in ITEM_LISTS if n in by_plain), None)
        if wrapped:
            columns["items"] = by_plain[wrapped]
            used.add(wrapped)
    tables = ({**ITEM, **ROW},) if row_of_criterion else (ROW,)
    for fields in tables:
        for name, aliases in fields.items():
            alias = next((a for a in aliases if a in by_plain and a not in used), None)
            if alias:
                columns[name] = by_plain[alias]
                used.add(alias)
    return ColumnMapping(columns)
