"""Requests that wait for a service: the memory of each, and how soon a restart has them again.

`make bench ARGS=requests_memory` runs it. It replaces its part of benches/RESULTS.md.
"""

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.durable_brokers import PROCESS, DurableBroker, Running, slipring_at
from benches.generator import Generator
from benches.measured_brokers import versions
from benches.results import machine, record
from benches.rounds import head, row, rows_of, verdict

COUNTS = (100_000, 1_000_000)
ASKERS = 10
PAYLOAD_BYTES = 16
MEMORY_BAR_BYTES = 1_000
RECOVERY_BAR_S = 2.0
ROOM = """\
requests = 2000000
owner_requests_percent = 100
memory_bytes = 16000000000
"""
"""Limits with room for all of them, from one address."""


@dataclass(frozen=True)
class StoredResult:
    """What so many stored requests cost."""

    count: int
    bytes_each: float
    bytes_each_after: float
    """After a restart, when nothing but the requests is in memory."""
    recovery_s: float
    """By how much longer the start took than an empty one."""
    ended: int
    failed: int
    lost: int


def store(generator: Generator, running: Running, count: int) -> tuple[float, Sequence[int]]:
    """Store them. Returns the growth of the resident set for each, and how many each asker has."""
    broker = running.broker
    broker.settle()
    before = broker.memory_bytes()
    shape = ("--v5", "--stored-requests", "--publishers", ASKERS, "--bytes", PAYLOAD_BYTES)
    report = generator.run("acked", broker.address, *shape, "--messages", count, "--window=200")
    broker.settle()
    each = [int(number) for number in report["each"].split(",")]
    return (broker.memory_bytes() - before) / count, each


def measure(generator: Generator, count: int) -> StoredResult:
    """Store, kill, start again, and let a service answer all."""
    durable = DurableBroker(PROCESS, slipring_at("process", ROOM))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "stored")
        with durable.started(folder, generator) as running:
            empty_s, empty_bytes = running.ready_s, running.broker.memory_bytes()
            bytes_each, each = store(generator, running, count)
            running.kill()
        os.sync()
        with durable.started(folder, generator) as running:
            recovery_s = max(0.0, running.ready_s - empty_s)
            running.broker.settle()
            after = (running.broker.memory_bytes() - empty_bytes) / count
            stored = "--stored=" + ",".join(map(str, each))
            began = time.perf_counter()
            report = generator.run("collect", running.broker.address, stored)
            print(f"  {count:,} answered in {time.perf_counter() - began:.1f} s", flush=True)
    ends = (report["ended"], report["failed"], report["lost"])
    return StoredResult(count, bytes_each, after, recovery_s, *ends)


def stored_row(found: StoredResult) -> str:
    """A line of the table."""
    is_small = max(found.bytes_each, found.bytes_each_after) < MEMORY_BAR_BYTES
    is_quick = found.recovery_s <= RECOVERY_BAR_S
    is_whole = found.ended == found.count and not found.failed
    return row(
        (
            f"{found.count:,}",
            f"{found.bytes_each:,.0f} B",
            f"{found.bytes_each_after:,.0f} B",
            f"{found.recovery_s:.2f} s",
            f"{found.ended - found.failed:,} answered, {found.failed + found.lost:,} not",
            verdict(is_small and is_quick and is_whole),
        )
    )


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    rows = rows_of(COUNTS, lambda count: stored_row(measure(generator, count)))
    columns = (
        "stored requests",
        "memory of each",
        "after a restart",
        "recovery",
        "then a service comes",
        "in this run",
    )
    text = (
        f"{where}; {versions()}, durability `process`; once, `make bench ARGS=requests_memory`. "
        f"{ASKERS} askers store requests of {PAYLOAD_BYTES} bytes that wait for a service; memory "
        "is the growth of the resident set. Then the broker is killed and started again: recovery "
        "is how much longer that takes than the start of an empty one. To reach: under "
        f"{MEMORY_BAR_BYTES:,} B each, {RECOVERY_BAR_S:g} s for a million, all answered.\n\n"
    )
    record("requests_memory", text + head(columns) + rows)


if __name__ == "__main__":
    main()
