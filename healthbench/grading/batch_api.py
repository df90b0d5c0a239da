"""The provider's Files and Batches endpoints, spoken to through the official SDK.

Importing this module takes the SDK's 0.4 s, so it is imported only where a batch is sent, asked for or collected. The
SDK repeats what may be repeated, up to the grader's attempts. It cannot repeat two calls, which are repeated here: a
creation, which may have happened although its answer was lost, and a download that breaks off midway.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypeVar

import httpx2
import openai

from healthbench.errors import GradingError
from healthbench.grading.provider import (
    BROKEN,
    NO_JSON,
    TOO_LATE,
    AttemptFailedError,
    GradingStoppedError,
    ItemRefusedError,
    failure_of,
    json_object,
    proxy_for,
    usable_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from openai.types import Batch
    from pydantic import SecretStr

    from healthbench.grading.settings import GraderSettings

_T = TypeVar("_T")
# The SDK insists on a key; a server that needs none does not look at it.
_NO_KEY = "none"


class BatchApi:
    """Files and batches of one provider; use it as a context manager.

    Every method raises GradingError where the provider refuses or stays silent.

    Args:
        settings: The grader, for the address, the attempts and the waits.
        key: Its API key; None for a server that needs none.

    Raises:
        GradingError: The key cannot be used.
    """

    def __init__(self, settings: GraderSettings, key: SecretStr | None) -> None:
        self._settings = settings
        self._client = openai.OpenAI(
            base_url=settings.base_url,
            api_key=usable_key(settings, key) or _NO_KEY,
            timeout=settings.timeout,
            max_retries=settings.attempts - 1,
            http_client=httpx2.Client(
                # Given whole, because httpx2's own look at the environment would send loopback through a proxy too.
                transport=httpx2.HTTPTransport(proxy=proxy_for(settings.base_url)),
                # A redirect would carry the key and the texts to another address.
                follow_redirects=False,
                event_hooks={"response": [self._refuse_early]},
            ),
        )
        self._once = self._client.with_options(max_retries=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def upload(self, path: Path) -> str:
        """Upload a file of requests from the disk and return its id."""
        with path.open("rb") as file, self._sentences():
            form = ("requests.jsonl", file, "application/jsonl")
            return self._client.files.create(file=form, purpose="batch").id

    def download(self, file_id: str, path: Path) -> None:
        """Write the content of a file to the disk, whatever its size."""

        def fetch() -> None:
            with self._once.files.with_streaming_response.content(file_id) as response:
                response.stream_to_file(path)

        with self._sentences():
            self._repeated(fetch)

    def create(self, file_id: str, endpoint: str, marks: Mapping[str, str]) -> str:
        """Create a batch that carries the marks, and return its id.

        A creation whose answer was lost may have happened, so the batches are looked through before every attempt.
        """

        def make() -> str:
            found = self.find(marks)
            if found is None:
                # The SDK lists the endpoints it knows of; ours are two of them.
                found = self._once.batches.create(
                    input_file_id=file_id,
                    endpoint=endpoint,  # type: ignore[arg-type]
                    completion_window="24h",
                    metadata=dict(marks),
                )
            return found.id

        with self._sentences():
            return self._repeated(make)

    def find(self, marks: Mapping[str, str]) -> Batch | None:
        """Find a batch by its marks; None where there is none."""
        with self._sentences():
            for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).items() >= marks.items():
                    return batch
        return None

    def batch(self, batch_id: str) -> Batch:
        """Return a batch as it stands."""
        with self._sentences():
            return self._client.batches.retrieve(batch_id)

    def _refuse_early(self, response: httpx2.Response) -> None:
        """Refuse what the SDK would repeat in vain, such as a used-up quota, or take for an answer: a sign-in page."""
        kind = response.headers.get("content-type", "")
        if response.status_code >= 300:
            response.read()
            failure = self._failure(response)
            if isinstance(failure, GradingStoppedError):
                raise failure
        elif response.url.path.endswith("/content"):
            # A results file is not read here, it may be larger than memory.
            if "html" in kind:
                raise AttemptFailedError(NO_JSON)
        else:
            if "json" not in kind:
                raise AttemptFailedError(NO_JSON)
            json_object(response.read())

    def _failure(self, response: httpx2.Response) -> Exception:
        return failure_of(
            response.status_code,
            response.headers,
            response.content,
            self._settings.longest_asked,
        )

    @contextmanager
    def _named_failures(self) -> Iterator[None]:
        """Turn the SDK's errors into ours, which hold no words of the provider."""
        try:
            yield
        except openai.APIStatusError as error:
            raise self._failure(error.response) from None
        except (openai.APITimeoutError, httpx2.TimeoutException):
            raise AttemptFailedError(TOO_LATE) from None
        except (openai.APIConnectionError, httpx2.RequestError):
            raise AttemptFailedError(BROKEN) from None

    def _repeated(self, call: Callable[[], _T]) -> _T:
        """Repeat what the SDK cannot, with growing waits."""
        wait = self._settings.first_wait
        for _ in range(self._settings.attempts - 1):
            try:
                with self._named_failures():
                    return call()
            except AttemptFailedError as problem:
                time.sleep(wait if problem.wait is None else problem.wait)
                wait = min(self._settings.longest_wait, 2 * wait)
        return call()

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn the last failure into one sentence for the user."""
        try:
            with self._named_failures():
                yield
        except ItemRefusedError as problem:
            raise GradingError(
                f"The Batch API refused a request: {problem}; check that the provider offers it."
            ) from None
        except AttemptFailedError as problem:
            raise GradingError(
                f"The Batch API could not be used: {problem}; try again later, nothing is lost."
            ) from None
