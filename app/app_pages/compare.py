"""Two runs on the prompts they share."""

from __future__ import annotations

from components.frame import run_line, run_or_stop

run_line(run_or_stop())
