"""A bulk grading spends its time waiting for the provider, not in the client."""

import asyncio
import os
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from healthbench.grading.cache import GradeCache
from healthbench.grading.cost import load_prices
from healthbench.grading.grader import Grader, questions_of
from healthbench.grading.provider import Provider
from healthbench.grading.settings import PRESETS
from healthbench.grading.template import load_template
from healthbench.model import Criterion, Message

GRADINGS, CONCURRENCY, LATENCY = 1000, 32, 0.02
SUBJECT = {
    "prompt": [Message("user", "Is it safe? " * 60)],
    "reply": "It depends on the dose. " * 80,
    "criteria": [Criterion(f"States item-{i}.", 5, ()) for i in range(GRADINGS)],
}


@contextmanager
def provider_process():
    """A provider in a process of its own, so that it takes no time of the client's."""
    program = Path(__file__).parents[1] / "fake_provider.py"
    command = [sys.executable, str(program), "--latency", str(LATENCY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


async def grade_all(settings, cache):
    provider = Provider(settings, SecretStr("sk-test-key"), CONCURRENCY)
    prices = load_prices()
    options = {"cache": cache, "prices": prices, "concurrency": CONCURRENCY, "run": "speed"}
    async with Grader(settings, load_template(), provider, **options) as grader:
        began = time.perf_counter()
        outcomes = [outcome async for outcome in grader.grade_items(**SUBJECT)]
        seconds = time.perf_counter() - began
    assert sum(outcome.met for outcome in outcomes) == GRADINGS / 2
    return seconds


async def ask_bare(url, size):
    """Time the same exchange over bare sockets: as fast as this machine and this provider can be at the moment."""
    host, port = urlsplit(url).hostname, urlsplit(url).port
    left = iter(range(GRADINGS))
    request = (
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size
    )

    async def ask():
        reader, writer = await asyncio.open_connection(host, port)
        for _ in left:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.rsplit(b":", 1)[1]))
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(CONCURRENCY)))
    return time.perf_counter() - began


def test_a_thousand_gradings_take_no_more_than_one_and_a_half_times_the_ideal(tmp_path):
    # 1,000 gradings, 32 at a time, 20 ms each: 0.625 s if nothing else took time.
    ideal = GRADINGS / CONCURRENCY * LATENCY
    size = len(
        questions_of(**SUBJECT, settings=PRESETS["reference"], template=load_template())[0].text
    )
    ratios, busy, processor = [], [], []
    with provider_process() as url:
        settings = replace(PRESETS["reference"], base_url=url)
        for place in range(5):
            busy.append(asyncio.run(ask_bare(url, size)) / ideal)
            with closing(GradeCache(tmp_path / f"{place}.sqlite")) as cache:
                began = time.process_time()
                ratios.append(asyncio.run(grade_all(settings, cache)) / ideal)
                processor.append(time.process_time() - began)
            if min(ratios) <= 1.5:
                break
    # Whatever else runs here, the client must need less of a core than the provider lets it have.
    assert min(processor) < ideal
    # Where even bare sockets take far longer than the ideal, or the cores are taken, the clock measures other work.
    if max(busy) < 1.25 and os.getloadavg()[0] < (os.cpu_count() or 1):
        assert min(ratios) <= 1.5, (ratios, busy)
