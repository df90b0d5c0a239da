"""The pages of the app: one line a page.

``uses`` names the fields of ``state.View`` that the page's URL carries beside the run.
"""

from __future__ import annotations

from typing import NamedTuple

EXAMPLE_LIST = ("filters", "order", "page")
SLICE = ("filters", "sliced")


class Entry(NamedTuple):
    """One page: its place in the sidebar, its file (without ``.py``), and what its URL carries."""

    group: str
    name: str
    title: str
    icon: str
    help: str
    uses: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Path of the page's script, relative to ``main.py``."""
        return f"app_pages/{self.name}.py"


PAGES = (
    Entry(
        "Inspect",
        "runs",
        "Runs",
        ":material/folder_open:",
        "Import graded runs and see them side by side, each with its interval and whether it agrees with its file.",
    ),
    Entry(
        "Inspect",
        "score",
        "Score",
        ":material/target:",
        "One run: its score and how it comes about, the distribution of example scores, themes, axes and penalties.",
        ("as_stored", *SLICE),
    ),
    Entry(
        "Inspect",
        "examples",
        "Examples",
        ":material/list:",
        "Search and filter the examples of a run.",
        EXAMPLE_LIST,
    ),
    Entry(
        "Inspect",
        "example",
        "Example",
        ":material/receipt_long:",
        "One conversation and reply with its ledger: every signed point of its score.",
        ("example", *EXAMPLE_LIST),
    ),
    Entry(
        "Understand",
        "coverage",
        "Coverage",
        ":material/grid_view:",
        "Which conversations a run contains, what its criteria ask for, and the penalties that no axis score shows.",
        ("as_stored",),
    ),
    Entry(
        "Understand",
        "clipping",
        "Clipping",
        ":material/content_cut:",
        "Clipping the mean once or every example first: both numbers, every named rule, and a sandbox.",
        ("as_stored",),
    ),
    Entry(
        "Understand",
        "length",
        "Length",
        ":material/straighten:",
        "A calculator of the length adjustment, and what it does to a run.",
        ("as_stored", "length"),
    ),
    Entry(
        "Understand",
        "method",
        "Method",
        ":material/menu_book:",
        "What every number means, how it is computed, and what it does not say.",
    ),
    Entry(
        "Compare",
        "compare",
        "Compare",
        ":material/compare_arrows:",
        "Two runs on the prompts they share: the difference, whether it is noise, and the criteria behind it.",
        ("as_stored", "against", "part", "example", "length", *SLICE),
    ),
    Entry(
        "Compare",
        "repeats",
        "Repeats",
        ":material/repeat:",
        "How far to trust a repeat: spread, worst of k replies, and where the variance comes from.",
        ("as_stored", "joined", "regrade", *SLICE),
    ),
    Entry(
        "Work",
        "grade",
        "Grade",
        ":material/grading:",
        "Grade a reply by hand or with a model, and see its ledger fill criterion by criterion.",
        ("example",),
    ),
    Entry(
        "Work",
        "review",
        "Review",
        ":material/rate_review:",
        "Judge single verdicts without seeing the grader's first, and see what your correction does to the score.",
        ("queue",),
    ),
    Entry(
        "Work",
        "agreement",
        "Agreement",
        ":material/handshake:",
        "How far grader and reviewers agree, what to adjudicate, and the score to expect after full review.",
    ),
)
BY_NAME = {entry.name: entry for entry in PAGES}
