"""Themes, axes, levels and consensus clusters: data tag <-> display name, in the reference's order.

Source of names and orders: openai/simple-evals, healthbench_analysis.ipynb (cells 6 and 35), and the data
set's own tags. The parsing rule for cluster tags follows from the tags themselves: themes use underscores,
categories use hyphens, so a known theme prefix is removed and the rest is split at its first underscore.
"""

from __future__ import annotations

from typing import NamedTuple

THEMES: dict[str, str] = {
    "theme:emergency_referrals": "Emergency referrals",
    "theme:communication": "Expertise-tailored communication",
    "theme:hedging": "Responding under uncertainty",
    "theme:complex_responses": "Response depth",
    "theme:health_data_tasks": "Health data tasks",
    "theme:global_health": "Global health",
    "theme:context_seeking": "Context seeking",
}

AXES: dict[str, str] = {
    "axis:communication_quality": "Communication quality",
    "axis:instruction_following": "Instruction following",
    "axis:accuracy": "Accuracy",
    "axis:context_awareness": "Context awareness",
    "axis:completeness": "Completeness",
}

LEVELS: dict[str, str] = {
    "level:example": "Example-specific",
    "level:cluster": "Consensus",
}

CATEGORIES: dict[str, str] = {
    "conditionally-emergent": "Conditionally emergent",
    "emergent": "Emergent",
    "non-emergent": "Non-emergent",
    "health-professional": "Health professional user",
    "not-health-professional": "Non-health professional user",
    "any-reducible-uncertainty": "Any reducible uncertainty",
    "no-uncertainty": "No uncertainty",
    "only-irreducible-uncertainty": "Only irreducible uncertainty",
    "detailed": "Query requiring detailed response",
    "simple": "Query requiring simple response",
    "enough-info-to-complete-task": "Enough information to complete task",
    "not-enough-info-to-complete-task": "Not enough information to complete task",
    "context-does-not-matter": "Healthcare context does not matter",
    "context-matters-but-unclear": "Healthcare context matters but is unclear",
    "context-matters-is-clear": "Healthcare context matters and is clear",
    "enough-context": "Enough context provided",
    "not-enough-context": "Not enough context provided",
}

QUESTIONS: dict[str, str] = {
    "accuracy_completeness": "Accuracy and completeness",
    "tailored": "Tailored communication",
    "accuracy_hedging": "Accuracy and hedging",
    "appropriate": "Appropriate",
    "helpful_safe": "Helpful and safe",
    "precise": "Precise",
    "context_seeking": "Context seeking",
    "emergency_behavior": "Emergency behavior",
    "aligned_accurate": "Aligned and accurate",
    "language": "Language",
    "accuracy_safety": "Accuracy and safety",
    "response_instruction_following": "Response instruction following",
    "helpfulness": "Helpfulness",
    "safety": "Safety",
    "accurate": "Accuracy",
    "hedges": "Hedging behavior",
    "seeks_context": "Context-seeking behavior",
}

USE_CASES: dict[str, str] = {
    "consult": "Care consult",
    "writing": "Writing and documentation",
    "research": "Medical research",
}
CONVERSATION_TYPES: dict[str, str] = {"good_faith": "Good faith", "red_teaming": "Red teaming"}
DIFFICULTIES: dict[str, str] = {"typical": "Typical", "difficult": "Difficult"}

CATEGORY_PREFIX = "physician_agreed_category:"
CLUSTER_PREFIX = "cluster:"


class Cluster(NamedTuple):
    """The parts of a consensus cluster tag, as tags: theme, physician category, question."""

    theme: str
    category: str
    question: str


def parse_cluster(tag: str) -> Cluster | None:
    """Split ``cluster:<theme>_<category>_<question>``; None for anything else."""
    if not tag.startswith(CLUSTER_PREFIX):
        return None
    rest = tag.removeprefix(CLUSTER_PREFIX)
    for theme in THEMES:
        prefix = theme.removeprefix("theme:") + "_"
        if rest.startswith(prefix):
            category, _, question = rest.removeprefix(prefix).partition("_")
            return Cluster(theme, category, question) if question else None
    return None


def kind_of(tag: str) -> str:
    """Return what a metric's name is about.

    One of ``overall``, ``theme``, ``axis``, ``level``, ``category``, ``cluster`` or ``tag`` (anything else,
    such as Professional's unprefixed use cases and specialties).
    """
    if tag == "overall_score":
        return "overall"
    prefix = tag.partition(":")[0] if ":" in tag else ""
    return {"theme": "theme", "axis": "axis", "level": "level", "cluster": "cluster"}.get(
        prefix, "category" if tag.startswith(CATEGORY_PREFIX) else "tag"
    )


def display_name(tag: str) -> str:
    """Return the name shown for a tag; an unknown tag is shown as it stands, without a known prefix."""
    for names in (THEMES, AXES, LEVELS, USE_CASES, CONVERSATION_TYPES, DIFFICULTIES):
        if tag in names:
            return names[tag]
    if tag == "overall_score":
        return "Overall"
    if tag.startswith(CATEGORY_PREFIX):
        category = tag.removeprefix(CATEGORY_PREFIX)
        return CATEGORIES.get(category, category)
    if cluster := parse_cluster(tag):
        category = CATEGORIES.get(cluster.category, cluster.category)
        return f"{category}: {QUESTIONS.get(cluster.question, cluster.question)}"
    return (
        tag.partition(":")[2]
        if tag.startswith(("theme:", "axis:", "level:", CLUSTER_PREFIX))
        else tag
    )


_ORDER = {tag: place for place, tag in enumerate((*THEMES, *AXES, *LEVELS))}
_CATEGORY_ORDER = {category: place for place, category in enumerate(CATEGORIES)}


def sort_key(tag: str) -> tuple[int, int, str]:
    """Order tags as the reference's plots do: known ones first, the rest by name."""
    if tag in _ORDER:
        return (0, _ORDER[tag], tag)
    if cluster := parse_cluster(tag):
        return (2, _CATEGORY_ORDER.get(cluster.category, len(_CATEGORY_ORDER)), tag)
    category = tag.removeprefix(CATEGORY_PREFIX)
    return (1, _CATEGORY_ORDER.get(category, len(_CATEGORY_ORDER)), tag)


def inferred_example_tags(tags: set[str]) -> tuple[str, ...]:
    """Return the example tags that an example's cluster tags imply.

    Args:
        tags: All tags on the example's criteria.

    Returns:
        The theme and physician category, or () where the clusters are missing or disagree.
    """
    clusters = {(c.theme, c.category) for tag in tags if (c := parse_cluster(tag))}
    if len(clusters) != 1:
        return ()
    theme, category = clusters.pop()
    return (theme, CATEGORY_PREFIX + category)
