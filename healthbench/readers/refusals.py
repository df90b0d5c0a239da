"""Name what a file is when it is no graded run, and say what would work instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from healthbench.errors import ColumnsUnknownError, InputRefusedError, NotAGradedRunError
from healthbench.readers import tables
from healthbench.readers.aliases import plain
from healthbench.readers.dataset import is_dataset_row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from healthbench.readers.head import Head

_KINDS = {
    "zip": "is a zip archive that holds no Inspect log; unpack it and give its files",
    "xlsx": "is a workbook without a table in it; export one row a criterion",
    "parquet": "is a Parquet file without rows; give one row a criterion",
    "sqlite": "is an SQLite database; export the graded rows as CSV, one row a criterion",
    "pdf": "is a PDF; give the file the evaluation tool wrote (for simple-evals, the _allresults.json)",
    "html": "is a web page but no simple-evals report; give the _allresults.json or the report itself",
    "binary": "is no text, table or archive of a known kind; give the file the evaluation tool wrote",
    "text": "is text without rows of a graded run; give JSON, JSON lines, or a table with one row a criterion",
}
_ASK = "give the file with the single verdicts (for simple-evals, the _allresults.json)"
_META_KEYS = {"model_agreement_metrics", "physician_agreement_metric_lists"}
_PHYSICIAN_KEYS = {"physician_oracle", "physician_label", "physician_labels", "binary_labels"}
_SCORES = {
    "score",
    "overall_score",
    "accuracy",
    "mean_score",
    "avg_score",
    "average_score",
    "grade",
}
_CHOICES = {"options", "choices", "alternatives", "option_a", "opa"}
_ANSWERS = {
    "answer",
    "correct",
    "correct_answer",
    "answer_key",
    "answer_idx",
    "cop",
    "label",
    "gold",
}


def refusal(head: Head) -> InputRefusedError:
    """Build the sentence for a file that no reader recognised."""
    name = head.path.name
    if head.kind == "empty":
        return InputRefusedError(f"{name} is empty; copy it again or give another file.")
    if head.kind in ("json", "jsonl"):
        return _json_refusal(head)
    if tables.is_table(head):
        return _table_refusal(head)
    return NotAGradedRunError(f"{name} {_KINDS.get(head.kind, _KINDS['binary'])}.")


def _table_refusal(head: Head) -> InputRefusedError:
    """Build the sentence for a table whose names do not say what it holds."""
    row = dict.fromkeys(map(plain, tables.column_names(head)))
    for test, words in _SHAPES_OF_TABLES:
        if test(None, row):
            return NotAGradedRunError(f"{head.path.name} {words}.")
    scores = " (it has scores, but no single verdicts)" if _is_score_list(None, row) else ""
    return ColumnsUnknownError(
        f"{head.path.name} is a table without columns of a graded run{scores}; map its columns on the page Runs, or give a"
        " row a criterion."
    )


def _json_refusal(head: Head) -> InputRefusedError:
    name, row = head.path.name, head.row
    if is_dataset_row(row):
        return NotAGradedRunError(
            f"{name} is a benchmark data set, which holds no replies or verdicts; attach it as a data set instead."
        )
    for test, words in _SHAPES:
        if test(head.value, row):
            return NotAGradedRunError(f"{name} {words}.")
    if isinstance(head.value, list | dict) and not head.value:
        return InputRefusedError(f"{name} is JSON without content; give a run that was graded.")
    keys = ", ".join(sorted(map(str, row))[:8])
    held = f"with the keys {keys}" if keys else "without objects"
    return NotAGradedRunError(
        f"{name} is JSON of another kind ({held}) and no graded run; give the file the evaluation tool wrote."
    )


def is_meta_evaluation(value: Any, row: dict[str, Any]) -> bool:
    """Tell whether this is grader-agreement data (simple-evals' healthbench_meta, or judge rows)."""
    del value
    metadata, metrics = row.get("metadata"), row.get("metrics", row)
    if isinstance(metadata, dict) and _META_KEYS & metadata.keys():
        return True
    if isinstance(metrics, dict) and any("pairwise_model_f1" in str(key) for key in metrics):
        return True
    return bool(_PHYSICIAN_KEYS & row.keys())


def _is_metrics(value: Any, row: dict[str, Any]) -> bool:
    metrics = row.get("metrics", row)
    return (
        isinstance(value, dict)
        and isinstance(metrics, dict)
        and any(str(key).endswith((":n_samples", ":bootstrap_std", ":std")) for key in metrics)
    )


def _is_listing(value: Any, row: dict[str, Any]) -> bool:
    del row
    return (
        isinstance(value, dict)
        and bool(value)
        and all(str(key).endswith((".eval", ".json")) for key in value)
    )


def _is_multiple_choice(value: Any, row: dict[str, Any]) -> bool:
    del value
    keys = {str(key).lower() for key in row}
    return bool(_CHOICES & keys and _ANSWERS & keys)


def _is_registry(value: Any, row: dict[str, Any]) -> bool:
    del row
    if not isinstance(value, dict):
        return False
    runs = next((value[key] for key in ("runs", "leaderboard", "models") if key in value), value)
    parts = list(runs.values()) if isinstance(runs, dict) else runs
    return (
        isinstance(parts, list)
        and bool(parts)
        and all(isinstance(p, dict) and _SCORES & p.keys() for p in parts)
    )


def _is_score_list(value: Any, row: dict[str, Any]) -> bool:
    del value
    return bool(_SCORES & row.keys())


_SHAPES = (
    (
        is_meta_evaluation,
        "is a meta-evaluation of a grader (its agreement with physicians); give a run's _allresults.json",
    ),
    (_is_multiple_choice, "is multiple choice, which has no rubric; give a run graded by rubrics"),
    (_is_metrics, f"holds metrics only, no single verdicts; {_ASK}"),
    (_is_listing, "is a listing of Inspect logs; give the logs it names"),
    (_is_registry, f"is a summary of runs, no single verdicts; {_ASK}"),
    (_is_score_list, f"holds scores only, no single verdicts; {_ASK}"),
)
_SHAPES_OF_TABLES = _SHAPES[:2]


def empty_folder(folder: Path, inside: Sequence[Any]) -> InputRefusedError:
    """Build the sentence for a folder in which no run was found."""
    if not inside:
        return InputRefusedError(
            f"{folder.name or folder} is a folder without files; give one with runs in it."
        )
    first = inside[0].refused
    reason = f"; the first, {first}" if first is not None else "."
    return NotAGradedRunError(
        f"{folder.name or folder} is a folder in which none of {len(inside)} entries is a graded run{reason}"
    )


def without_twins(paths: Sequence[Path]) -> list[Path]:
    """Leave out hidden files and, beside a simple-evals ``_allresults.json``, the same run's metrics and report."""
    stems = {
        p.name.removesuffix(".gz").removesuffix("_allresults.json")
        for p in paths
        if p.name.removesuffix(".gz").endswith("_allresults.json")
    }
    return [
        p
        for p in paths
        if not p.name.startswith(".") and not (p.suffix in (".json", ".html") and p.stem in stems)
    ]
