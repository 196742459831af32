"""Acknowledged means safe, and what it costs: rate, wait, what is kept after a kill, recovery.

`make bench ARGS=durability` runs it. It replaces its part of benches/RESULTS.md.
"""

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benches.durable_brokers import DISK, DURABLE_BROKERS, PROCESS, nats_version
from benches.generator import ROOT, Generator, RunFailed
from benches.measured_brokers import MEMORY, MOSQUITTO, NATS, versions
from benches.results import machine, record
from benches.rounds import Numbers, head, median, row, verdict

ROUNDS = 3
BROKERS = (MOSQUITTO, NATS, MEMORY, PROCESS, DISK)
RATE_BAR, WAIT_BAR_US = 100_000, 5_000
BYTES_BAR = 200e6
RECOVERY_BAR_S = 1.0
KILLED_AFTER = 50_000
LARGE_BYTES = 16_384
GIB = 1 << 30


@dataclass(frozen=True)
class DurableLoad:
    """One shape of load."""

    name: str
    options: tuple[str, ...]
    messages: dict[str, int]
    """How many messages make a run of some seconds; a broker that is not named is left out."""
    payload_bytes: int = 64


SMALL = DurableLoad(
    "64 B, 10 publishers, 200 messages of each not acknowledged",
    ("--publishers=10", "--window=200"),
    {MOSQUITTO: 60_000, NATS: 30_000, MEMORY: 1_000_000, PROCESS: 1_000_000, DISK: 500_000},
)
PACED = DurableLoad(
    f"64 B, 10 publishers, {RATE_BAR:,} messages/s offered",
    ("--publishers=10", "--window=1000", f"--rate={RATE_BAR}"),
    {MEMORY: 300_000, PROCESS: 300_000, DISK: 300_000},
)
LARGE = DurableLoad(
    "16 kB, 4 publishers, 64 messages of each not acknowledged",
    ("--publishers=4", "--window=64", f"--bytes={LARGE_BYTES}"),
    {MOSQUITTO: 20_000, NATS: 20_000, MEMORY: 60_000, PROCESS: 60_000, DISK: 60_000},
    LARGE_BYTES,
)


def measure(
    generator: Generator, case: DurableLoad, name: str, folder: Path, checkout: Path = ROOT
) -> Numbers:
    """Start a broker, and make one run."""
    durable = replace(DURABLE_BROKERS[name], checkout=checkout)
    with durable.started(folder / name, generator) as running:
        running.broker.settle()
        before = running.broker.cpu_s()
        count = f"--messages={case.messages[name]}"
        report = generator.run("acked", running.broker.address, *case.options, count)
        used_us = (running.broker.cpu_s() - before) * 1e6
    return {
        "rate": report["per_second"],
        "bytes": report["per_second"] * case.payload_bytes,
        "p50_us": report["p50_us"],
        "p99_us": report["p99_us"],
        "cpu_us": used_us / report["acknowledged"],
    }


def measured(generator: Generator, case: DurableLoad) -> dict[str, Numbers]:
    """The median of all rounds, every broker in turn in each."""
    found: dict[str, list[Numbers]] = {}
    for _ in range(ROUNDS):
        for name in case.messages:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    numbers = measure(generator, case, name, Path(folder))
                except RunFailed as failure:
                    print(f"  {name}: {failure}", flush=True)
                else:
                    found.setdefault(name, []).append(numbers)
    return {name: median(runs) for name, runs in found.items() if len(runs) == ROUNDS}


def kept(generator: Generator, name: str) -> str:
    """Killed under load: how much was acknowledged, and how much of it is gone."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, name)
        load = ("--publishers=10", "--window=50", "--messages=100000000", "--until-closed")
        with DURABLE_BROKERS[name].started(folder, generator) as running:
            address = running.broker.address
            generator.run("keep", address)
            tell = f"--tell-after={KILLED_AFTER}"
            with generator.hold("acked", address, *load, tell) as traffic:
                running.kill()
                promised = traffic.finish()
        with DURABLE_BROKERS[name].started(folder, generator) as running:
            each = f"--acknowledged={promised['each']}"
            found = generator.run("kept", running.broker.address, each)
    return f"{promised['acknowledged']:,} acknowledged, {found['lost']:,} lost"


def recovery(generator: Generator, case: DurableLoad, messages: int) -> tuple[float, float]:
    """GiB in a journal whose broker was killed, and the seconds more that the next start takes."""
    durable = DURABLE_BROKERS[DISK]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "recovery")
        with durable.started(folder, generator) as running:
            empty_s = running.ready_s
            count = f"--messages={messages}"
            generator.run("acked", running.broker.address, *case.options, count)
            running.kill()
        journal = (folder / "data" / "journal").iterdir()
        stored = sum(file.stat().st_size for file in journal) / GIB
        with durable.started(folder, generator) as running:
            return stored, max(0.0, running.ready_s - empty_s)


def disk_floor() -> str:
    """What the disk itself does: append 32 KiB and sync, again and again."""
    times_us = []
    with tempfile.NamedTemporaryFile(buffering=0) as file:
        for _ in range(1_000):
            file.write(bytes(32 << 10))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times_us.append((time.perf_counter() - began) * 1e6)
    times_us.sort()
    return f"p50 {times_us[500]:,.0f} us, p99 {times_us[990]:,.0f} us"


def case_row(
    case: DurableLoad, found: dict[str, Numbers], bar: str, is_reached: bool | None
) -> str:
    """A line of the first table."""
    cells = [_cell(case, found.get(name)) for name in BROKERS]
    return row((case.name, *cells, bar, verdict(is_reached)))


def _cell(case: DurableLoad, numbers: Numbers | None) -> str:
    if numbers is None:
        return "-"
    rate = f"{numbers['rate']:,.0f}/s"
    if case.payload_bytes >= LARGE_BYTES:
        rate = f"{numbers['bytes'] / 1e6:,.0f} MB/s"
    wait = f"p50 {numbers['p50_us'] / 1_000:,.1f} ms, p99 {numbers['p99_us'] / 1_000:,.1f} ms"
    return f"{rate}; {wait}; {numbers['cpu_us']:.2f} us of CPU"


def traffic_rows(generator: Generator) -> list[str]:
    """Rates, waits and CPU time."""
    small, paced, large = (measured(generator, case) for case in (SMALL, PACED, LARGE))
    ours = (small.get(DISK), paced.get(DISK), large.get(DISK))
    return [
        case_row(SMALL, small, f"{RATE_BAR:,}/s at disk", _at_least(ours[0], "rate", RATE_BAR)),
        case_row(PACED, paced, "p99 5 ms at disk", _keeps_pace(ours[1])),
        case_row(LARGE, large, "200 MB/s at disk", _at_least(ours[2], "bytes", BYTES_BAR)),
    ]


def _at_least(numbers: Numbers | None, key: str, bar: float) -> bool | None:
    return numbers[key] >= bar if numbers else None


def _keeps_pace(numbers: Numbers | None) -> bool | None:
    """Whether all offered messages were acknowledged, and soon enough."""
    if numbers is None:
        return None
    return numbers["rate"] >= 0.99 * RATE_BAR and numbers["p99_us"] <= WAIT_BAR_US


def kept_row(generator: Generator) -> str:
    """What each has after `kill -9`."""
    cells = [_tried(generator, name) for name in BROKERS]
    is_reached = cells[-1].endswith(" 0 lost")
    return row(("`kill -9` under load, then started again", *cells, "0 lost", verdict(is_reached)))


def _tried(generator: Generator, name: str) -> str:
    try:
        return kept(generator, name)
    except RunFailed as failure:
        print(f"  {name}: {failure}", flush=True)
        return f"not measured: {failure}"


def recovery_rows(generator: Generator) -> list[str]:
    """Seconds for each GiB."""
    rows = []
    for case, messages in ((LARGE, 65_000), (SMALL, 4_000_000)):
        stored, seconds = recovery(generator, case, messages)
        name = f"recovery of {stored:.2f} GiB in messages of {case.payload_bytes:,} B"
        per_gib = seconds / stored
        reached = verdict(per_gib <= RECOVERY_BAR_S)
        cells: Sequence[str] = ["-"] * (len(BROKERS) - 1)
        rows.append(row((name, *cells, f"{per_gib:.2f} s per GiB", "1 s per GiB", reached)))
    return rows


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    floor = disk_floor()
    rows = [*traffic_rows(generator), kept_row(generator), *recovery_rows(generator)]
    columns = ("QoS 1, MQTT 3.1.1", *BROKERS, "to reach", "in this run")
    table = head(columns) + "".join(rows)
    print(table, end="")
    text = (
        f"{where}; {versions()}, {nats_version()}; median of {ROUNDS} rounds, kills and recovery "
        "once, `make bench ARGS=durability`. Acknowledgements per second, how long a message waits "
        "for its PUBACK, CPU time of the broker's process for each; closed loop if no rate is "
        "given. All are journaled. Mosquitto saves every second (if nothing is set, every "
        "half hour); NATS writes before it acknowledges, and syncs at intervals; so does Slipring "
        "at `process`, and at `disk` it syncs before it acknowledges. A kill takes what is not "
        "written, a power cut what is not synced. This "
        f"disk alone, 32 KiB appended and synced: {floor}.\n\n"
    )
    record("durability", text + table)


if __name__ == "__main__":
    main()
