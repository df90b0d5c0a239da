"""What some tools write into files beside the verdicts: the replies, and which model answered and which graded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from healthbench.errors import InputRefusedError
from healthbench.readers.aliases import ROW, look_up, plain_keys
from healthbench.readers.fields import fraction_of, id_of
from healthbench.readers.head import json_rows, look
from healthbench.readers.rows import Row, row_from_json

if TYPE_CHECKING:
    from pathlib import Path

_AVERAGES = ("overall_score", "avg_score", "average_score", "mean_score")


@dataclass(slots=True)
class Companions:
    """What the files beside a file of verdicts say.

    Attributes:
        files: The files that were used.
        replies: Prompt and reply of a conversation, by prompt_id, fields named as in ROW.
        model, grader: Who replied and who graded, None where not said.
        stated: Figures of the run.
    """

    files: tuple[Path, ...] = ()
    replies: dict[str, Row] = field(default_factory=dict)
    model: str | None = None
    grader: str | None = None
    stated: dict[str, float] = field(default_factory=dict)

    def complete(self, row: Row) -> Row:
        """Return the row with the prompt and reply that another file holds."""
        key = id_of(row.get("prompt_id"))
        beside = self.replies.get(key) if key is not None else None
        return row if beside is None else {**beside, **row}


def companions_of(path: Path) -> Companions:
    """Find what belongs to a file of verdicts.

    llm-eval-framework writes ``scores.jsonl`` beside ``responses.jsonl`` and ``summary.json``; healthbench-psych writes
    ``grades/<model>__<judge>.jsonl`` beside ``responses/<model>.jsonl``.

    Raises:
        InputRefusedError: Such a file is there but cannot be read.
    """
    stem, _, rest = path.name.partition(".")
    if stem == "scores":
        found = Companions()
        _add_summary(found, path.with_name("summary.json"))
        _add_replies(found, path.with_name(f"responses.{rest}"))
        return found
    model, separator, judge = stem.partition("__")
    if separator and model and judge:
        found = Companions(model=model, grader=judge)
        _add_replies(found, path.parent.parent / "responses" / f"{model}.{rest}")
        return found
    return Companions()


def _add_replies(found: Companions, path: Path) -> None:
    if not path.is_file():
        return
    for _, value in json_rows(look(path)):
        row = row_from_json(value)
        key = id_of(row.get("prompt_id"))
        if key is not None:
            found.replies[key] = {
                name: row[name] for name in ("prompt", "reply", "theme") if name in row
            }
    found.files += (path,)


def _add_summary(found: Companions, path: Path) -> None:
    if not path.is_file():
        return
    summary = look(path).value
    if not isinstance(summary, dict):
        raise InputRefusedError(
            f"{path.name} beside the scores is no JSON object; remove it or copy it again."
        )
    named: dict[str, Any] = plain_keys(summary)
    found.model = id_of(look_up(named, ROW["model"]))
    found.grader = id_of(look_up(named, ROW["grader"]))
    score = fraction_of(look_up(named, _AVERAGES))
    if score is not None:
        found.stated["overall_score"] = score
    found.files += (path,)
