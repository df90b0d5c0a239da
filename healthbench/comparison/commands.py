"""What ``healthbench compare`` prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from healthbench.comparison.flips import flips, grader_agreement
from healthbench.comparison.output import as_json as figures_json
from healthbench.comparison.output import in_words
from healthbench.comparison.pair import compare, side

if TYPE_CHECKING:
    from healthbench.scoring.length import LengthAdjustment
    from healthbench.store.library import Library


def compare_in_words(
    library: Library,
    first: str,
    second: str,
    adjustment: LengthAdjustment | None = None,
    *,
    as_json: bool = False,
    as_stored: bool = False,
) -> str:
    """Compare two stored runs, the second less the first, and return the text to print.

    Raises:
        InputRefusedError: Nothing can be compared.
    """
    one, two = (side(library, run_id, as_stored=as_stored) for run_id in (first, second))
    compared = compare(one, two, adjustment=adjustment)
    rows = flips(library, compared, one)
    graders = grader_agreement(library, compared, rows)
    if as_json:
        return json.dumps(figures_json(compared, rows, graders), indent=1, allow_nan=False)
    return in_words(compared, rows, graders)
