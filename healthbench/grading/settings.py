"""Which model grades, how it is asked, and when that is the reference's own way."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import SplitResult, urlsplit

from healthbench.errors import GradingError

if TYPE_CHECKING:
    from healthbench.grading.template import Template

OPENAI_URL = "https://api.openai.com/v1"
PATHS = {"chat": "/chat/completions", "responses": "/responses"}
_PACE = {"attempts", "timeout", "first_wait", "longest_wait", "longest_asked"}
_REFUSED = re.compile(r"(?:^|/)gpt-5(?:\.\d+)?-mini\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class GraderSettings:
    """A grader and the way it is asked. The defaults are the reference's.

    Attributes:
        model: Name of the model at the provider.
        base_url: Address of an OpenAI-compatible server, up to and with its version.
        api: ``chat`` (chat completions, which every compatible server speaks) or ``responses``.
        system_message: Sent before the question; None sends none.
        temperature: None leaves it to the provider.
        max_tokens: Most tokens of an answer; None leaves it to the provider.
        reasoning_effort: For reasoning models; None sends none.
        show_points: Whether the grader sees an item's points, as the reference's does.
        attempts: Most requests for one criterion, at least 1.
        timeout: Seconds one request may take.
        first_wait: Seconds before the second attempt; each later wait is twice as long.
        longest_wait: Seconds, the most a wait grows to.
        longest_asked: Seconds; a provider that asks to wait longer ends the grading.

    Raises:
        GradingError: A value is out of range, or the model is not to be used as a grader.
    """

    model: str = "gpt-4.1-2025-04-14"
    base_url: str = OPENAI_URL
    api: Literal["chat", "responses"] = "chat"
    system_message: str | None = "You are a helpful assistant."
    temperature: float | None = 0.5
    max_tokens: int | None = 2048
    reasoning_effort: str | None = None
    show_points: bool = True
    attempts: int = 6
    timeout: float = 120.0
    first_wait: float = 1.0
    longest_wait: float = 60.0
    longest_asked: float = 600.0

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise GradingError("The grader has no model name; give one.")
        if _REFUSED.search(self.model):
            raise GradingError(
                f"{self.model} is not accepted as a grader: models of the gpt-5-mini family are too unlike the"
                " reference's; choose gpt-4.1-2025-04-14 or another model."
            )
        parts = urlsplit(self.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or not _has_port(parts):
            raise GradingError(
                "The grader's base URL is no http(s) address; write one like http://127.0.0.1:8000/v1."
            )
        if parts.username or parts.password or parts.query:
            raise GradingError(
                "The grader's base URL carries a user name, password or query; give the key on its own."
            )
        if self.api not in PATHS:
            raise GradingError(f"The grader's API is {self.api!r}; choose chat or responses.")
        if self.attempts < 1 or self.timeout <= 0 or self.first_wait < 0:
            raise GradingError(
                "A grader needs at least 1 attempt, a timeout above 0 and waits of 0 or more."
            )

    @property
    def url(self) -> str:
        """Where a question is sent."""
        return self.base_url.rstrip("/") + PATHS[self.api]

    @property
    def host(self) -> str:
        """Host the texts go to, for the notice beside the button."""
        return urlsplit(self.base_url).netloc

    def parameters(self) -> dict[str, Any]:
        """Everything that can change a verdict, for cache keys, receipts and run files."""
        values = {name: value for name, value in asdict(self).items() if name not in _PACE}
        return values | {"base_url": self.base_url.rstrip("/")}

    def body(self, question: str) -> dict[str, Any]:
        """Build the request for one criterion.

        The Responses API keeps answers by default; ``store`` false asks it not to.
        """
        turns = [{"role": "user", "content": question}]
        if self.system_message:
            role = "system" if self.api == "chat" else "developer"
            turns.insert(0, {"role": role, "content": self.system_message})
        body: dict[str, Any]
        if self.api == "chat":
            body = {
                "model": self.model,
                "messages": turns,
                "temperature": self.temperature,
                "max_tokens": self.max_tokens,
                "reasoning_effort": self.reasoning_effort,
            }
        else:
            effort = {"effort": self.reasoning_effort} if self.reasoning_effort else None
            body = {
                "model": self.model,
                "input": turns,
                "temperature": self.temperature,
                "max_output_tokens": self.max_tokens,
                "reasoning": effort,
                "store": False,
            }
        return {name: value for name, value in body.items() if value is not None}


def _has_port(parts: SplitResult) -> bool:
    """Whether the port, if one is written, is a number a port can be."""
    try:
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


# gpt-4.1 as simple-evals calls it; gpt-5.4 as its HealthBench Professional option does (no system message, no limits).
PRESETS: dict[str, GraderSettings] = {
    "reference": GraderSettings(),
    "professional": GraderSettings(
        model="gpt-5.4-2026-03-05",
        api="responses",
        system_message=None,
        temperature=None,
        max_tokens=None,
        reasoning_effort="low",
    ),
}


def reference_of(settings: GraderSettings, template: Template) -> str | None:
    """Name the preset these settings and this text are, None where they are not a reference grader."""
    if not template.is_reference:
        return None
    for name, preset in PRESETS.items():
        if preset.parameters() == settings.parameters():
            return name
    return None
