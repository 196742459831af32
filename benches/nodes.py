"""Publishers and subscribers of the table's benchmarks, as processes of their own.

`python -m benches.nodes ROLE ...` runs some of one kind on one event loop; it says "ready" on a
line, runs until it reads a line, and then prints what it counted as JSON. Their CPU time is their
own.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import slipring

FULL = {
    "f32": 8000,
    "f64": 2000,
    "u16": 3000,
    "i16": 1000,
    "u8": 2000,
    "u32": 300,
    "i32": 200,
    "bool": 3500,
}
"""The types of an aircraft's 20,000 parameters."""
DTYPES = {"f32": "f4", "f64": "f8", "u16": "u2", "i16": "i2", "u8": "u1", "u32": "u4", "i32": "i4"}
AGES_KEPT = 200_000
"""Ages that one process keeps; later ones are left out."""


def scaled(parameters: int) -> dict[str, int]:
    """How many parameters of each kind, in the mix of an aircraft."""
    whole = sum(FULL.values())
    mix = {kind: count * parameters // whole for kind, count in FULL.items()}
    mix["f32"] += parameters - sum(mix.values())
    return {kind: count for kind, count in mix.items() if count}


async def publish(url: str, prefix: str, options: argparse.Namespace, stop: asyncio.Event) -> float:
    """Publish rows at a steady rate; returns the samples sent per second."""
    mix = scaled(options.parameters)
    rows = {kind: row(kind, count) for kind, count in mix.items()}
    parameters = {
        f"{kind}/{number}": slipring.Parameter(kind, rate_hz=options.rate)
        for kind, count in mix.items()
        for number in range(count)
    }
    sent = 0
    async with slipring.connect(url) as bus:
        declared = await bus.declare(prefix, parameters, beat_ms=options.beat)
        ready(options, 1)
        begun = due = time.monotonic()
        period = 1 / options.rate
        while not stop.is_set():
            rows["f32"][0] = sent
            declared.write_row(rows if len(rows) > 1 else next(iter(rows.values())))
            sent += options.parameters
            due += period
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        await declared.flush()
        return sent / (time.monotonic() - begun)


def row(kind: str, count: int) -> Any:
    """Values that look like measurements."""
    random = np.random.default_rng(7)
    if kind == "bool":
        return random.random(count) > 0.5
    return (random.random(count) * 100).astype(DTYPES[kind])


@dataclass
class ReceivedFrames:
    """What one subscriber received."""

    samples: int = 0
    frames: int = 0
    gaps: int = 0
    """Missing frames, by their sequence numbers."""
    begun_s: float = 0.0
    ended_s: float = 0.0

    @property
    def per_s(self) -> float:
        """Samples in a second, from its first frame to its last."""
        return self.samples / max(self.ended_s - self.begun_s, 1e-9)


async def subscribe(
    urls: list[str],
    number: int,
    options: argparse.Namespace,
    heard: ReceivedFrames,
    ages: list[float],
) -> None:
    """Select from each broker: everything, or a part that no other subscriber has."""
    await asyncio.gather(*(follow(url, number, options, heard, ages) for url in urls))


async def follow(
    url: str, number: int, options: argparse.Namespace, heard: ReceivedFrames, ages: list[float]
) -> None:
    """One selection at one broker."""
    expected = None
    chosen, needs = selection(number, options)
    async with slipring.connect(url) as bus, bus.select(chosen, **needs) as frames:
        ready(options, options.count * len(options.url))
        async for frame in frames:
            if expected is not None:
                heard.gaps += frame.sequence - expected
            expected = frame.sequence + 1
            heard.frames += 1
            heard.samples += len(frame)
            heard.ended_s = time.monotonic()
            heard.begun_s = heard.begun_s or heard.ended_s
            if len(ages) < AGES_KEPT and heard.frames > options.warm:
                ages.append(frame.age_s)


def selection(number: int, options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """What a subscriber chooses; with `--various` each has its own choice and rate."""
    if not options.various:
        return "#", {"rate_hz": options.rate or None}
    kinds = list(FULL)
    kind = kinds[number % len(kinds)]
    rate_hz = [1, 2, 5, 10, 20, 25, 50][number % 7]
    deadband = None if number % 3 else 0.5 + number / 10
    return f"+/{kind}/#", {"rate_hz": rate_hz + number / 100, "deadband": deadband}


def ready(options: argparse.Namespace, expected: int) -> None:
    """Print "ready" once all nodes of this process are."""
    options.ready += 1
    if options.ready == expected:
        print("ready", flush=True)


async def run(options: argparse.Namespace) -> dict[str, Any]:
    """Run until a line comes on standard input; returns what was counted."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), stop.set)
    if options.role == "publish":
        per_s = await publish(options.url[0], options.prefix, options, stop)
        return {"per_s": per_s, "cpu_s": time.process_time()}
    heard = [ReceivedFrames() for _ in range(options.count)]
    ages: list[float] = []
    tasks = [
        asyncio.create_task(subscribe(options.url, number, options, one, ages))
        for number, one in enumerate(heard)
    ]
    await stop.wait()
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    points = np.percentile(ages, [50, 99, 100]).tolist() if ages else [0.0, 0.0, 0.0]
    return {
        "per_s": sum(one.per_s for one in heard),
        "frames": sum(one.frames for one in heard),
        "gaps": sum(one.gaps for one in heard),
        "age_s": points,
        "cpu_s": time.process_time(),
    }


class Node:
    """A running process with nodes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.pid = process.pid

    def wait_ready(self) -> None:
        """Returns once all its nodes are declared or subscribed."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line == "ready\n", f"a node does not start: {line!r}"

    def stop(self) -> Mapping[str, Any]:
        """End it; returns what it counted."""
        out, _ = self._process.communicate("stop\n", timeout=60)
        found: Mapping[str, Any] = json.loads(out.splitlines()[-1])
        return found


@contextmanager
def node(*arguments: str) -> Iterator[Node]:
    """Nodes in a process of their own."""
    command = [sys.executable, "-m", "benches.nodes", *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Node(process)
        finally:
            if process.poll() is None:
                process.kill()


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=["publish", "subscribe"])
    parser.add_argument("--url", action="append", required=True)
    parser.add_argument("--prefix", default="aircraft")
    parser.add_argument("--parameters", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--beat", type=int, default=20)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--warm", type=int, default=5)
    parser.add_argument("--various", action="store_true")
    parser.set_defaults(ready=0)
    return parser.parse_args()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(parse()))), flush=True)
