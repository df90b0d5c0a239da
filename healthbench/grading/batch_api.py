"""The provider's Files and Batches endpoints, each call repeated a bounded number of times."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import aiohttp

from healthbench.errors import GradingError
from healthbench.grading.provider import (
    AttemptFailedError,
    ItemRefusedError,
    Provider,
    failure_of,
    json_object,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from healthbench.grading.settings import GraderSettings

_TRANSFER_SECONDS = 3600.0


class BatchApi:
    """Files and batches of one provider.

    Args:
        provider: An entered connection.
        settings: Its settings, for the address, the attempts and the waits.
    """

    def __init__(self, provider: Provider, settings: GraderSettings) -> None:
        self._provider = provider
        self._settings = settings
        self._base = settings.base_url.rstrip("/")

    async def upload(self, path: Path) -> str:
        """Upload a file of requests and return its id."""

        async def send() -> dict[str, Any]:
            with path.open("rb") as file:
                form = aiohttp.FormData()
                form.add_field("purpose", "batch")
                form.add_field(
                    "file", file, filename="requests.jsonl", content_type="application/jsonl"
                )
                return await self._once("POST", "/files", data=form, seconds=_TRANSFER_SECONDS)

        return str((await self._repeated(send))["id"])

    async def download(self, file_id: str, sink: BinaryIO) -> None:
        """Write the content of a file to ``sink``, which is emptied before each attempt."""

        async def fetch() -> dict[str, Any]:
            sink.seek(0)
            sink.truncate()
            return await self._once(
                "GET", f"/files/{file_id}/content", sink=sink, seconds=_TRANSFER_SECONDS
            )

        await self._repeated(fetch)

    async def create(self, file_id: str, endpoint: str, marks: Mapping[str, str]) -> str:
        """Create a batch and return its id; one that carries the same marks already is taken instead.

        A creation whose answer was lost may have happened, so the batches are looked through before every attempt.
        """
        wish = {
            "input_file_id": file_id,
            "endpoint": endpoint,
            "completion_window": "24h",
            "metadata": dict(marks),
        }

        async def make() -> dict[str, Any]:
            found = await self.find(marks)
            if found is not None:
                return found
            return await self._once("POST", "/batches", data=json.dumps(wish).encode())

        return str((await self._repeated(make))["id"])

    async def find(self, marks: Mapping[str, str]) -> dict[str, Any] | None:
        """Find a batch by its marks; None where there is none."""
        after = ""
        while True:
            page = await self._repeated(partial(self._once, "GET", f"/batches?limit=100{after}"))
            for batch in page.get("data", []):
                if (batch.get("metadata") or {}).items() >= marks.items():
                    return dict(batch)
            if not page.get("has_more") or not page.get("data"):
                return None
            after = f"&after={page['data'][-1]['id']}"

    async def batch(self, batch_id: str) -> dict[str, Any]:
        """Return a batch as it stands."""
        return await self._repeated(lambda: self._once("GET", f"/batches/{batch_id}"))

    async def _once(
        self,
        method: str,
        path: str,
        *,
        data: bytes | aiohttp.FormData | None = None,
        sink: BinaryIO | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        status, headers, content = await self._provider.request(
            method, self._base + path, data=data, sink=sink, seconds=seconds
        )
        if status != 200:
            raise failure_of(status, headers, content, self._settings.longest_asked)
        return {} if sink is not None else json_object(content)

    async def _repeated(self, call: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        wait = self._settings.first_wait
        for attempt in range(1, self._settings.attempts + 1):
            try:
                return await call()
            except ItemRefusedError as problem:
                raise GradingError(
                    f"The Batch API refused a request: {problem}; check that the provider offers it."
                ) from None
            except AttemptFailedError as problem:
                if attempt == self._settings.attempts:
                    raise GradingError(
                        f"The Batch API could not be used: {problem}; try again later, nothing is lost."
                    ) from None
                await asyncio.sleep(wait if problem.wait is None else problem.wait)
                wait = min(self._settings.longest_wait, 2 * wait)
        raise AssertionError("a settings object allows at least one attempt")
