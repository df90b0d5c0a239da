"""Choose a grader as a person does, by a preset and what is to differ from it, and say how far it is the reference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from healthbench.errors import GradingError
from healthbench.grading.settings import PRESETS, reference_of

if TYPE_CHECKING:
    from healthbench.grading.settings import GraderSettings
    from healthbench.grading.template import Template

_NAMES = {
    "reference": "the reference grader",
    "professional": "the reference grader of HealthBench Professional",
}
_DIFFERENCES = {
    "model": "another model",
    "base_url": "another address",
    "show_points": "the points are hidden from it",
}


def choose(
    preset: str = "reference",
    *,
    model: str | None = None,
    base_url: str | None = None,
    show_points: bool = True,
) -> GraderSettings:
    """Return a preset with what is to differ from it.

    Args:
        preset: A key of ``PRESETS``.
        model: Another model; None or blank keeps the preset's.
        base_url: Another OpenAI-compatible address; None or blank keeps the preset's.
        show_points: Whether the grader sees an item's points.

    Raises:
        GradingError: There is no such preset, or the grader cannot be used.
    """
    if preset not in PRESETS:
        raise GradingError(
            f"There is no grader preset {preset!r}: choose one of {', '.join(PRESETS)}."
        )
    chosen = PRESETS[preset]
    return replace(
        chosen,
        model=(model or "").strip() or chosen.model,
        base_url=(base_url or "").strip() or chosen.base_url,
        show_points=show_points,
    )


def standing(settings: GraderSettings, template: Template) -> str:
    """Say whether this is a reference grader, and if not, what differs from the nearest one."""
    name = reference_of(settings, template)
    if name is not None:
        return _NAMES[name]
    own = settings.parameters()
    nearest = min(
        (preset.parameters() for preset in PRESETS.values()),
        key=lambda preset: sum(own[key] != value for key, value in preset.items()),
    )
    differing = [key for key, value in nearest.items() if own[key] != value]
    reasons = [words for key, words in _DIFFERENCES.items() if key in differing]
    if set(differing) - _DIFFERENCES.keys():
        reasons.append("other parameters")
    if not template.is_reference:
        reasons.append("another wording of the instructions")
    return f"not the reference grader ({', '.join(reasons)})"
