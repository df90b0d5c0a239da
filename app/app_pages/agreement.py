"""Agreement: how far the grader can be trusted, as far as people have looked."""

from __future__ import annotations

from components.frame import run_line, run_or_stop
from components.reviewed_score import reviewed_score

run = run_or_stop()
run_line(run)
reviewed_score(run)
