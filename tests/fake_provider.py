"""An OpenAI-compatible server on loopback that answers by script: chat completions, responses, files and batches.

A question is known by the last ``item-<number>`` in its text. ``script`` gives an item's answers in order: True or False
for a verdict, or the name of a fault; the last one repeats. An item without a script is met when its number is even.

In a test: ``with FakeProvider() as provider: ... provider.url``. As a process: ``python fake_provider.py --latency 0.02``
prints its address on the first line of its output.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import threading
import time
import uuid
from collections import Counter
from typing import Any, NamedTuple

ITEM = re.compile(rb"item-(\d+)")

# Faults of the transport and of the provider, and faults in what the model says.
STATUSES = {
    "rate_limit": (429, "rate_limit_exceeded"),
    "server_error": (500, "server_error"),
    "bad_gateway": (502, ""),
    "overloaded": (503, ""),
    "quota": (429, "insufficient_quota"),
    "bad_key": (401, "invalid_api_key"),
    "no_model": (404, "model_not_found"),
    "too_long": (400, "context_length_exceeded"),
}
SAYINGS = {
    "prose": "The criterion is met.",
    "string": '{"explanation": "yes", "criteria_met": "true"}',
    "number": '{"explanation": "yes", "criteria_met": 1}',
    "missing": '{"explanation": "yes"}',
    "list": '[{"explanation": "yes", "criteria_met": true}]',
    "broken": '```json\n{"explanation": "yes", "criteria_met": tr\n```',
}
OTHERS = ("hang", "reset", "html", "half", "truncated", "refusal", "null")
# Two more for files and batches: "redirect" points elsewhere, "lost" does what was asked and breaks off unanswered.


class Received(NamedTuple):
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    item: int | None
    at: float

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)


class FakeProvider:
    """The server, in a thread of its own.

    Args:
        script: Item number -> answers in order.
        latency: Seconds before each answer.
        retry_after: Value of that header on a 429, None for none.
        polls: How often a batch is asked for before it is complete.
    """

    def __init__(self, script=None, *, latency=0.0, retry_after=None, polls=1):
        self.script: dict[int, list[bool | str]] = dict(script or {})
        self.latency = latency
        self.retry_after = retry_after
        self.polls = polls
        self.batch_end = "completed"
        self.faults: dict[
            str, list[str]
        ] = {}  # "GET batches", "POST files", "GET content" -> faults in order
        self.elsewhere = "http://127.0.0.1:9/v1"
        self.batch_share = 1.0
        self.requests: list[Received] = []
        self.asked: Counter[int] = Counter()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.url = ""
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self):
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def serve(self, port=0):
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._handlers: set[asyncio.Task] = set()
        server = await asyncio.start_server(self._connection, "127.0.0.1", port, limit=2**26)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._handlers:
            task.cancel()

    @property
    def questions(self):
        """The requests that asked for a verdict."""
        return [r for r in self.requests if r.path in {"/v1/chat/completions", "/v1/responses"}]

    async def _connection(self, reader, writer):
        self._handlers.add(asyncio.current_task())
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                method, path, _ = lines[0].split(" ", 2)
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in lines[1:] if line)
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if headers.get("transfer-encoding") == "chunked":
                    body = await _chunks(reader)
                if not await self._answer(writer, method, path, headers, body):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._handlers.discard(asyncio.current_task())
            writer.close()

    async def _answer(self, writer, method, path, headers, body):
        """Answer one request; False closes the connection."""
        is_question = path in {"/v1/chat/completions", "/v1/responses"}
        item = _item(body) if is_question else None
        self.requests.append(Received(method, path, headers, body, item, time.monotonic()))
        step = self._step(item) if is_question else self._fault(method, path)
        if self.latency and is_question:
            await asyncio.sleep(self.latency)
        if step == "hang":
            await asyncio.sleep(3600)
        if step == "reset":
            writer.transport.abort()
            return False
        if step == "html":
            return await _send(writer, 200, b"<html>Please sign in</html>", kind="text/html")
        if step == "half":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b'{"choices": [')
            await writer.drain()
            return False
        if step == "redirect":
            extra = f"Location: {self.elsewhere}\r\n".encode()
            return await _send(writer, 307, b"", extra=extra)
        if is_question or step in STATUSES:
            status, content = self._content(step, path.rsplit("/", 1)[1])
        else:
            status, content = self._files_and_batches(method, path, headers, body)
        if step == "lost":
            writer.transport.abort()
            return False
        extra = b""
        if status == 429 and self.retry_after is not None:
            extra = f"Retry-After: {self.retry_after}\r\n".encode()
        return await _send(writer, status, content, extra=extra)

    def _step(self, item):
        steps = self.script.get(item, [item % 2 == 0] if item is not None else [True])
        place = self.asked[item]
        self.asked[item] += 1
        return steps[min(place, len(steps) - 1)]

    def _fault(self, method, path):
        parts = path.split("?")[0].removeprefix("/v1/").split("/")
        faults = self.faults.get(f"{method} {'content' if 'content' in parts else parts[0]}")
        return faults.pop(0) if faults else None

    def _content(self, step, api):
        if step in STATUSES:
            status, code = STATUSES[step]
            error = {"message": "scripted", "type": code, "param": None, "code": code}
            return status, json.dumps({"error": error}).encode()
        said = SAYINGS.get(step) if isinstance(step, str) else _verdict(step)
        if step == "truncated":
            said = '```json\n{"explanation": "This reply goes on and'
        build = _completion if api == "completions" else _response
        return 200, json.dumps(build(said, step)).encode()

    def _files_and_batches(self, method, path, headers, body):
        kind, *rest = path.split("?")[0].removeprefix("/v1/").split("/")
        if kind == "files" and method == "POST":
            boundary = headers["content-type"].split("boundary=")[1].strip('"')
            part = next(p for p in body.split(f"--{boundary}".encode()) if b"filename=" in p)
            file_id = f"file-{uuid.uuid4().hex[:12]}"
            self.files[file_id] = part.split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n")
            return 200, json.dumps({"id": file_id, "object": "file", "purpose": "batch"}).encode()
        if kind == "files":
            return 200, self.files[rest[0]]
        if method == "POST" and rest[1:] == ["cancel"]:
            self.batches[rest[0]]["status"] = "cancelled"
            return 200, json.dumps(self.batches[rest[0]]).encode()
        if method == "POST":
            return 200, json.dumps(self._new_batch(json.loads(body))).encode()
        if not rest:
            return 200, json.dumps(
                {"data": list(self.batches.values()), "has_more": False}
            ).encode()
        return 200, json.dumps(self._poll(self.batches[rest[0]])).encode()

    def _new_batch(self, wish):
        lines = self.files[wish["input_file_id"]].decode().splitlines()
        batch = {
            "id": f"batch_{uuid.uuid4().hex[:12]}",
            "object": "batch",
            "status": "validating",
            "polls": 0,
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            **wish,
        }
        self.batches[batch["id"]] = batch
        return batch

    def _poll(self, batch):
        if batch["status"] in {"validating", "in_progress"}:
            batch["polls"] += 1
            batch["status"] = "in_progress" if batch["polls"] <= self.polls else self.batch_end
            if batch["status"] == self.batch_end:
                self._run(batch)
        return batch

    def _run(self, batch):
        """Answer a batch's requests, in an order of its own, and write its two files."""
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        answered = requests[: round(len(requests) * self.batch_share)]
        out, errors = [], []
        for request in reversed(answered):
            assert request["url"] == batch["endpoint"]
            body = json.dumps(request["body"]).encode()
            step = self._step(_item(body))
            status, content = self._content(step, request["url"].rsplit("/", 1)[1])
            response = {"status_code": status, "request_id": "r", "body": json.loads(content)}
            line = {
                "id": "x",
                "custom_id": request["custom_id"],
                "response": response,
                "error": None,
            }
            (out if status == 200 else errors).append(json.dumps(line))
        for name, lines in (("output_file_id", out), ("error_file_id", errors)):
            if lines:
                batch[name] = f"file-{uuid.uuid4().hex[:12]}"
                self.files[batch[name]] = "\n".join(lines).encode()
        batch["request_counts"] |= {"completed": len(out), "failed": len(errors)}


def _item(body):
    place = body.rfind(b"item-")
    found = ITEM.match(body, place) if place >= 0 else None
    return int(found[1]) if found else None


async def _chunks(reader):
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


async def _send(writer, status, content, *, kind="application/json", extra=b""):
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n"
    writer.write(head.encode() + extra + b"\r\n" + content)
    await writer.drain()
    return True


def _verdict(met):
    answer = {"explanation": "As scripted.", "criteria_met": met}
    return f"```json\n{json.dumps(answer)}\n```"


def _completion(said, step):
    message = {"role": "assistant", "content": said, "refusal": None}
    if step == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "finish_reason": "length" if step == "truncated" else "stop",
                "message": message,
            }
        ],
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "total_tokens": 1100,
            "prompt_tokens_details": {"cached_tokens": 200},
        },
    }


def _response(said, step):
    part = {"type": "output_text", "text": said or "", "annotations": []}
    if step == "refusal":
        part = {"type": "refusal", "refusal": "I cannot help with that."}
    return {
        "id": "resp_1",
        "object": "response",
        "status": "incomplete" if step == "truncated" else "completed",
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [part]},
        ],
        "usage": {
            "input_tokens": 1000,
            "output_tokens": 100,
            "total_tokens": 1100,
            "input_tokens_details": {"cached_tokens": 200},
        },
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    provider = FakeProvider(latency=parser.parse_args().latency)
    with provider:
        sys.stdout.write(f"{provider.url}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
