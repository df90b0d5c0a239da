"""What two runs are asked together: what each prompt was graded on, and paired replies and criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from healthbench.store.hub import schema
from healthbench.store.tables import sql

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    import duckdb
    import pandas as pd

    from healthbench.scoring.run_scores import IntArray
    from healthbench.store.library import Library

HashArray = npt.NDArray[np.uint64]

UNKNOWN = -1
"""How an unknown verdict is written in ``criterion_pairs``; 1 is met, 0 not met."""


class PromptHashes(NamedTuple):
    """What each prompt of a run was graded on, a row a prompt in the order of their ids.

    Attributes:
        prompt_ids: The prompts, length p.
        scored: Hash of the rubric's texts and points in any order, shape (p,).
        tagged: The same with the tags, shape (p,).
        conversation: Hash of the turns before the reply, shape (p,).
        replies: Number of replies to the prompt, shape (p,).
    """

    prompt_ids: list[str]
    scored: HashArray
    tagged: HashArray
    conversation: HashArray
    replies: IntArray


def prompt_hashes(library: Library, run_id: str) -> PromptHashes:
    """Hash the rubrics and conversations of a run; equal hashes mean equal content in any store."""
    with library.cursor(run_id) as cursor:
        columns = cursor.execute(sql("fingerprint")).fetchnumpy()
    return PromptHashes(
        list(map(str, columns["prompt_id"])),
        np.asarray(columns["scored"]),
        np.asarray(columns["tagged"]),
        np.asarray(columns["conversation"]),
        np.asarray(columns["replies"], dtype=np.int64),
    )


def prompt_ids(library: Library, run_id: str) -> list[str]:
    """Return the prompt_id of each example of a run, in its order."""
    with library.cursor(run_id) as cursor:
        rows = cursor.execute("SELECT prompt_id FROM examples ORDER BY example").fetchall()
    return [prompt_id for (prompt_id,) in rows]


def criterion_pairs(
    library: Library, first: str, second: str, pairs: IntArray, *, as_stored: bool = False
) -> pd.DataFrame:
    """Pair the criteria of paired examples: the k-th of the same text and points with the k-th.

    Where two rubrics are equal this pairs by position.

    Args:
        library: Where the runs are.
        first: Id of the first run.
        second: Id of the second run.
        pairs: Rows of paired examples, as ``Matching.pairs`` has them, shape (n, 2).
        as_stored: Count verdicts with a producer's mark of failure as the file does, as not met.

    Returns:
        A row a pair of criteria: first, second (rows of the examples), position_first, position_second, criterion (id
        in the first run), points, axis, met_first, met_second (1, 0 or ``UNKNOWN``). Criteria that only one of the
        two has are left out.
    """
    with _both(library, first, second) as cursor:
        query = sql(
            "criterion_pairs",
            first=schema(first),
            second=schema(second),
            met="stored" if as_stored else "met",
        )
        return cursor.execute(query, [pairs[:, 0].tolist(), pairs[:, 1].tolist()]).df()


def same_replies(
    library: Library, first: str, second: str, pairs: IntArray
) -> npt.NDArray[np.bool_]:
    """Tell which paired examples have the very same reply text, shape (n,)."""
    with _both(library, first, second) as cursor:
        query = sql("same_replies", first=schema(first), second=schema(second))
        places = list(range(len(pairs)))
        found = cursor.execute(query, [pairs[:, 0].tolist(), pairs[:, 1].tolist(), places])
        return np.asarray(found.fetchnumpy()["same"], dtype=np.bool_)


def criterion_texts(library: Library, run_id: str, criteria: Sequence[int]) -> dict[int, str]:
    """Return the texts of some criteria of a run by their ids."""
    with library.cursor(run_id) as cursor:
        rows = cursor.execute(
            "SELECT criterion, text FROM criteria WHERE list_contains(?, criterion)",
            [list(criteria)],
        ).fetchall()
    return dict(rows)


def _both(
    library: Library, first: str, second: str
) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    """Give a cursor from which the tables of both runs are reached by their schemas."""
    library.ready(first)
    library.ready(second)
    return library.cursor(first)
