"""How far to trust a repeat."""

from __future__ import annotations

from components.frame import run_line, run_or_stop

run_line(run_or_stop())
