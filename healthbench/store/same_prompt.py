"""One conversation across the store: its row in an attached data set, and every reply that runs hold to it."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from healthbench.errors import StoreError
from healthbench.model import Criterion, Message
from healthbench.readers.dataset import DatasetRow
from healthbench.scoring.example import Tally, tally
from healthbench.store.tables import quoted, sql

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from healthbench.store.library import Library


class StoredReply(NamedTuple):
    """A graded reply of a run.

    Attributes:
        run: Id of the run.
        example: Row in the run, from 0.
        repeat: Number of the reply among the run's replies to this prompt, from 0.
        reply: Its text.
        points: The result by its own verdicts.
        rubric: What it was graded on, as (text, points), sorted.
    """

    run: str
    example: int
    repeat: int
    reply: str
    points: Tally
    rubric: tuple[tuple[str, float], ...]


def sorted_rubric(criteria: Sequence[Criterion]) -> tuple[tuple[str, float], ...]:
    """Return what a rubric asks, whatever its order and tags; equal rubrics give comparable scores."""
    return tuple(sorted((criterion.text, float(criterion.points)) for criterion in criteria))


def stored_replies(library: Library, run_ids: Sequence[str], prompt_id: str) -> list[StoredReply]:
    """Return every reply to one prompt that the named runs hold, in the runs' order."""
    found = []
    for run_id in run_ids:
        with library.cursor(run_id) as cursor:
            rows = cursor.execute(sql("same_prompt"), [prompt_id]).fetchall()
        items: defaultdict[tuple[int, int, str], list[tuple[str, float, bool | None]]]
        items = defaultdict(list)
        for example, repeat, reply, *item in rows:
            items[example, repeat, reply].append((item[0], float(item[1]), item[2]))
        found += [
            StoredReply(
                run_id,
                *key,
                tally([points for _, points, _ in graded], [met for _, _, met in graded]),
                tuple(sorted((text, points) for text, points, _ in graded)),
            )
            for key, graded in items.items()
        ]
    return found


def find_rows(
    library: Library, dataset_id: str, text: str, limit: int
) -> list[tuple[str, list[Message]]]:
    """Return the conversations of an attached data set whose words or prompt_id hold a text, in file order."""
    query = "SELECT prompt_id, prompt FROM read_parquet(?) WHERE prompt_id = ? OR contains(lower(prompt), lower(?)) LIMIT ?"
    # Conversations are kept as JSON, where quotes and line ends are escaped.
    sought = json.dumps(text, ensure_ascii=False)[1:-1]
    path = _folder(library, dataset_id) / "examples.parquet"
    with library.cursor() as cursor:
        rows = cursor.execute(query, [str(path), text, sought, limit]).fetchall()
    return [(prompt_id, _turns(prompt)) for prompt_id, prompt in rows]


def dataset_row(library: Library, dataset_id: str, prompt_id: str) -> DatasetRow:
    """Return one row of an attached data set with its rubric.

    Raises:
        StoreError: The data set is gone, or has no such row.
    """
    folder = _folder(library, dataset_id)
    with library.cursor() as cursor:
        rows = cursor.execute(
            f"SELECT prompt, example_tags FROM {quoted(folder / 'examples.parquet')} WHERE prompt_id = ?",
            [prompt_id],
        ).fetchall()
        criteria = cursor.execute(
            f"SELECT text, points, tags FROM {quoted(folder / 'criteria.parquet')} WHERE prompt_id = ? ORDER BY position",
            [prompt_id],
        ).fetchall()
    if not rows:
        raise StoreError(
            f"The data set {dataset_id} has no conversation {prompt_id}: choose one of its list."
        )
    ((prompt, tags),) = rows[:1]
    return DatasetRow(
        prompt_id,
        _turns(prompt),
        tuple(tags),
        [Criterion(text, points, tuple(its_tags)) for text, points, its_tags in criteria],
    )


def _turns(prompt: str) -> list[Message]:
    return [Message(turn["role"], turn["content"]) for turn in json.loads(prompt)]


def _folder(library: Library, dataset_id: str) -> Path:
    folder = library.home / "datasets" / dataset_id
    if not folder.exists():
        raise StoreError(
            "The data set is no longer in the store: attach it again on the page Runs."
        )
    return folder
