"""Askers and services written with the Python client, as processes of their own.

`python -m benches.requests_python serve ...` says "ready" on a line and answers until it reads a
line. `... ask ...` asks at a rate, and prints what it found as JSON. A request is timed from its
call, as in the document: an asker that is too slow for its rate asks later.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager

import slipring
from benches.generator import RunFailed
from benches.measured_brokers import MeasuredBroker
from benches.rounds import Numbers

CONCURRENCY = 10_000
PAYLOAD = b"x" * 64
ANSWER_S = 60
"""A request without an answer for so long is lost."""
RUN_S = 300


def topic(number: int) -> str:
    """The topic of a pair."""
    return f"bench/python/{number:06}"


async def answer(request: slipring.Request) -> bytes:
    """The payload as it came."""
    return request.payload


async def serve(url: str, pairs: int) -> None:
    """A service for each pair, each with a connection of its own."""
    async with AsyncExitStack() as stack:
        for number in range(pairs):
            bus = await stack.enter_async_context(slipring.connect(url))
            service = bus.serve(topic(number), answer, concurrency=CONCURRENCY, qos=0)
            await stack.enter_async_context(service)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)


async def ask(url: str, pairs: int, rate: float, count: int) -> dict[str, float]:
    """Each asker asks so many requests at this rate; all take turns."""
    times_s, lost = list[float](), 0

    async def one(bus: slipring.Bus, number: int) -> None:
        nonlocal lost
        began = time.perf_counter()
        try:
            await bus.request(topic(number), PAYLOAD, timeout_s=ANSWER_S, qos=0)
        except slipring.RequestEnded:
            lost += 1
        else:
            times_s.append(time.perf_counter() - began)

    async with AsyncExitStack() as stack:
        buses = [await stack.enter_async_context(slipring.connect(url)) for _ in range(pairs)]
        began = time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for number in range(count * pairs):
                due = began + number / (rate * pairs)
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                tasks.create_task(one(buses[number % pairs], number % pairs))
        seconds = time.perf_counter() - began
    return {**percentiles(times_s), "missing": lost, "per_second": count * pairs / seconds}


def percentiles(times_s: list[float]) -> dict[str, float]:
    """In milliseconds."""
    times_ms = sorted(time_s * 1e3 for time_s in times_s) or [0.0]
    at = [times_ms[min(len(times_ms) - 1, len(times_ms) * share // 100)] for share in (50, 99)]
    return {"mean": statistics.fmean(times_ms), "p50": at[0], "p99": at[1]}


def measured(broker: MeasuredBroker, pairs: int, rate: float, count: int) -> Numbers:
    """One run, askers and services each in a process."""
    shape = ["--url", f"mqtt://{broker.address}", "--pairs", str(pairs)]
    with _services(shape):
        load = ["--rate", str(rate), "--requests", str(count)]
        command = [sys.executable, "-m", __name__, "ask", *shape, *load]
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S, check=False)
    if done.returncode:
        raise RunFailed(done.stderr.strip().splitlines()[-1])
    found: Numbers = json.loads(done.stdout)
    return found


@contextmanager
def _services(shape: list[str]) -> Iterator[None]:
    command = [sys.executable, "-m", __name__, "serve", *shape]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if process.stdout.readline() != b"ready\n":
            raise RunFailed("the services do not start")
        try:
            yield
        finally:
            process.communicate(b"\n")


def main() -> None:
    """One process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=("serve", "ask"))
    parser.add_argument("--url", required=True)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--rate", type=float, default=10)
    parser.add_argument("--requests", type=int, default=100)
    chosen = parser.parse_args()
    if chosen.role == "serve":
        asyncio.run(serve(chosen.url, chosen.pairs))
    else:
        found = asyncio.run(ask(chosen.url, chosen.pairs, chosen.rate, chosen.requests))
        print(json.dumps(found))


if __name__ == "__main__":
    main()
