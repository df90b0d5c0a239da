"""Ask an OpenAI-compatible server one question at a time, and name every way in which that can fail.

One request is one attempt: nothing is repeated here, the grader counts and spaces the attempts. aiohttp carries these
requests, and the official SDK only those of the Batch API, because the time of a bulk grading is otherwise spent in the
client: the SDK takes 1.6 ms of one core for each call, aiohttp 0.2 ms. No message of this module holds a key, a
provider's own words or any text sent.
"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from healthbench.errors import GradingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import SecretStr

    from healthbench.grading.settings import GraderSettings

MAX_ANSWER = 4 * 2**20
_STOP_CODES = {
    "insufficient_quota": "the account's quota is used up; add credit or use another key",
    "billing_hard_limit_reached": "the account's billing limit is reached; raise it or use another key",
    "billing_not_active": "the account's billing is not active; activate it or use another key",
    "account_deactivated": "the account is deactivated; use another key",
    "invalid_api_key": "the key was not accepted; check OPENAI_API_KEY",
    "model_not_found": "the model does not exist there or the key may not use it; check the model's name",
    "unsupported_parameter": "the model does not take one of the grader's parameters; change them",
    "unsupported_value": "the model does not take the value of one of the grader's parameters; change it",
}
_STOP_STATUS = {
    401: "the key was not accepted; check OPENAI_API_KEY",
    402: "payment is required; add credit or use another key",
    403: "the key may not use this model; check its rights",
    404: "there is no such model or address; check the model's name and the base URL",
    405: "the address does not take this request; check the base URL",
}
_AGAIN_STATUS = {408, 409, 425, 429}
TOO_LATE = "the provider did not answer in time"
BROKEN = "the connection to the provider broke"
NO_JSON = "the provider's answer is not JSON"


class Usage(NamedTuple):
    """Tokens a request was charged for; ``cached`` are those of ``input`` at the lower price."""

    input: int = 0
    cached: int = 0
    output: int = 0

    def plus(self, other: Usage) -> Usage:
        """Add up two usages."""
        return Usage(
            self.input + other.input, self.cached + other.cached, self.output + other.output
        )


NO_USAGE = Usage()


class AttemptFailedError(Exception):
    """A request gave no verdict and may be tried again.

    Attributes:
        wait: Seconds the provider asks to wait, None where it does not say.
        usage: What the attempt was charged for.
    """

    def __init__(self, reason: str, *, wait: float | None = None, usage: Usage = NO_USAGE) -> None:
        super().__init__(reason)
        self.wait = wait
        self.usage = usage


class ItemRefusedError(Exception):
    """The provider will not answer this one question, however often it is asked."""


class GradingStoppedError(GradingError):
    """The provider will answer no question of this grading; the message is one sentence for the user."""


class Answer(NamedTuple):
    """A grader's words and what they were charged for."""

    text: str
    usage: Usage


class Provider:
    """A connection to one grader; use it as an async context manager.

    Args:
        settings: The grader.
        key: Its API key; None for a server that needs none.
        connections: Most requests at a time.

    Raises:
        GradingError: The key cannot be used.
    """

    def __init__(
        self, settings: GraderSettings, key: SecretStr | None, connections: int = 32
    ) -> None:
        self._settings = settings
        self._headers = {"Content-Type": "application/json"}
        if (value := usable_key(settings, key)) is not None:
            self._headers["Authorization"] = f"Bearer {value}"
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections),
            # Asked once: aiohttp's own look at the environment takes two threads a request.
            proxy=proxy_for(self._settings.base_url),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def ask(self, body: Mapping[str, Any]) -> Answer:
        """Send one question.

        Raises:
            AttemptFailedError: No usable answer came, and another attempt may bring one.
            ItemRefusedError: The provider refuses this question.
            GradingStoppedError: The provider refuses this grading.
        """
        if self._session is None:
            raise RuntimeError("Provider.ask: enter the provider as a context manager first")
        try:
            # A redirect is never followed: it would carry the key and the texts to another address.
            async with self._session.post(
                self._settings.url,
                data=json.dumps(body).encode(),
                headers=self._headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=self._settings.timeout),
            ) as response:
                content = await _read(response)
        except TimeoutError:
            raise AttemptFailedError(TOO_LATE) from None
        except aiohttp.ClientConnectorError:
            raise AttemptFailedError("the provider could not be reached") from None
        except (aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError):
            raise AttemptFailedError(BROKEN) from None
        if response.status != 200:
            raise failure_of(
                response.status, response.headers, content, self._settings.longest_asked
            )
        return read_answer(json_object(content))


def usable_key(settings: GraderSettings, key: SecretStr | None) -> str | None:
    """Return the key as it is sent, None for a server that needs none.

    Raises:
        GradingError: It is no key, or there is none where one is needed.
    """
    if key is not None:
        value = key.get_secret_value().strip()
        if not value or not value.isascii() or not value.isprintable():
            raise GradingError(
                "The API key is empty or holds characters no key has; copy it again."
            )
        return value
    if settings.host == "api.openai.com":
        raise GradingError(
            "No API key is set, so nothing can be graded by a model; set OPENAI_API_KEY, or grade by hand."
        )
    return None


def proxy_for(url: str) -> str | None:
    """Return the proxy the environment names for an address; a server on this machine is never behind one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in {"localhost", "127.0.0.1", "::1"} or proxy_bypass(host):
        return None
    return getproxies().get(parts.scheme)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    parts = bytearray()
    async for part in response.content.iter_any():
        parts += part
        if len(parts) > MAX_ANSWER:
            raise AttemptFailedError("the provider's answer is larger than any verdict")
    return bytes(parts)


def json_object(content: bytes) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        AttemptFailedError: It is something else, for example a sign-in page.
    """
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise AttemptFailedError(NO_JSON)
    return data


def failure_of(
    status: int, headers: Mapping[str, str], content: bytes, longest_asked: float
) -> Exception:
    """Decide what a status other than 200 means for the question and the grading."""
    code = _error_code(content)
    if stop := _STOP_CODES.get(code) or _STOP_STATUS.get(status):
        return GradingStoppedError(f"The provider refused the grading: {stop}.")
    if 300 <= status < 400:
        return GradingStoppedError(
            "The provider's address redirects elsewhere, and the texts were not sent on; check the base URL."
        )
    if status in _AGAIN_STATUS or status >= 500:
        wait = _asked_wait(headers)
        if wait is not None and wait > longest_asked:
            return GradingStoppedError(
                f"The provider asks to wait {wait:.0f} seconds; start again then, what came is kept."
            )
        return AttemptFailedError(f"the provider answered with status {status}", wait=wait)
    return ItemRefusedError(f"the provider refused the question (status {status})")


def _error_code(content: bytes) -> str:
    try:
        error = json_object(content).get("error")
    except AttemptFailedError:
        return ""
    return str(error.get("code") or error.get("type") or "") if isinstance(error, dict) else ""


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a Retry-After header asks for (a number or a date), None without one."""
    lower = {name.lower(): value for name, value in headers.items()}
    for name, scale in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(lower[name]) / scale)
        except (KeyError, ValueError):
            continue
    try:
        until = parsedate_to_datetime(lower["retry-after"])
    except (KeyError, ValueError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def read_answer(data: Mapping[str, Any]) -> Answer:
    """Take the grader's words out of a chat completion or a response.

    Raises:
        AttemptFailedError: It was cut off, refused or filtered, or holds no words.
    """
    usage = _usage_of(data.get("usage"))
    problem, text = _from_chat(data) if "choices" in data else _from_response(data)
    if problem is None and text.strip():
        return Answer(text, usage)
    raise AttemptFailedError(problem or "the grader's reply is empty", usage=usage)


def _from_chat(data: Mapping[str, Any]) -> tuple[str | None, str]:
    choices = data["choices"]
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return "the provider's answer has no message", ""
    if message.get("refusal"):
        return "the grader declined to answer", ""
    if choice.get("finish_reason") == "length":
        return "the grader's reply was cut off at its length limit", ""
    if choice.get("finish_reason") == "content_filter":
        return "the provider's filter removed the grader's reply", ""
    content = message.get("content")
    return None, content if isinstance(content, str) else ""


def _from_response(data: Mapping[str, Any]) -> tuple[str | None, str]:
    if data.get("status") == "incomplete":
        return "the grader's reply was cut off at its length limit", ""
    if data.get("status") not in {None, "completed"}:
        return "the provider did not complete the answer", ""
    output = data.get("output")
    parts = [
        part
        for item in (output if isinstance(output, list) else [])
        if isinstance(item, dict) and item.get("type") == "message"
        for part in item.get("content") or []
        if isinstance(part, dict)
    ]
    if any(part.get("type") == "refusal" for part in parts):
        return "the grader declined to answer", ""
    if not parts:
        return "the provider's answer has no message", ""
    return None, "".join(
        part["text"]
        for part in parts
        if part.get("type") == "output_text" and isinstance(part.get("text"), str)
    )


def _usage_of(usage: object) -> Usage:
    """Read the token counts of either API; what is missing counts as 0."""
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    return Usage(
        _count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        _count(details.get("cached_tokens") if isinstance(details, dict) else None),
        _count(usage.get("completion_tokens", usage.get("output_tokens"))),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
