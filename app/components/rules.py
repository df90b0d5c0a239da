"""The named aggregation rules in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from healthbench.scoring.aggregate import Rule


def in_words(rule: Rule) -> str:
    """Return what a rule computes and who uses it, as Markdown."""
    used_by = f" *Used by {', '.join(rule.used_by)}.*" if rule.used_by else ""
    return f"**{rule.title}** (`{rule.name}`): {rule.description}{used_by}"
