"""Requests and answers beside NATS and Mosquitto: CPU time of the broker, latency, and durability.

`make bench ARGS=requests` runs it. It replaces its part of benches/RESULTS.md. A service answers
with the payload it got, so a request is two messages of that size, whoever carries them.
"""

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benches.durable_brokers import DISK, DURABLE_BROKERS, nats_version
from benches.generator import Generator, RunFailed
from benches.measured_brokers import (
    MEMORY,
    MOSQUITTO,
    NATS,
    MeasuredBroker,
    started,
    versions,
)
from benches.results import machine, record
from benches.rounds import Numbers, head, median, medians, row, verdict

ROUNDS = 3
BROKERS = (MOSQUITTO, NATS, MEMORY)
PROTOCOLS = {MOSQUITTO: "mqtt", NATS: "nats"}
"""How each takes requests; what is not named is Slipring."""
SCALES = {MOSQUITTO: 1, NATS: 5, MEMORY: 10}
"""The faster brokers get more requests, so that every run takes about a second."""
CHEAPER_BAR = 5
P50_BAR_US = 1_000
DISK_RATE_BAR, DISK_P99_BAR_US = 50_000, 20_000
DISK_SHAPE = ("--pairs=10", "--qos=1", "--kept")


@dataclass(frozen=True)
class SaturatedLoad:
    """Askers that always have a window of open requests."""

    size: str
    payload_bytes: int
    pairs: int
    window: int
    burst: int
    requests: int
    """Requests of all askers together in a run of Mosquitto."""

    @property
    def name(self) -> str:
        """A row's name."""
        pairs = "1 pair" if self.pairs == 1 else f"{self.pairs} pairs"
        return f"{self.size}, {pairs}, {self.window} open requests of each"

    def options(self, broker: str) -> tuple[str | int, ...]:
        """The generator's options; all brokers have the same but for the number of requests."""
        each = max(1, self.requests * SCALES[broker] // self.pairs)
        shape = ("--bytes", self.payload_bytes, "--pairs", self.pairs, "--requests", each)
        return (*shape, "--window", self.window, "--burst", self.burst)


SATURATED = (
    SaturatedLoad("64 B", 64, 1, 1_000, 100, 30_000),
    SaturatedLoad("64 B", 64, 10, 100, 10, 30_000),
    SaturatedLoad("64 B", 64, 200, 3, 3, 15_000),
    SaturatedLoad("1 kB", 1_000, 1, 1_000, 100, 30_000),
    SaturatedLoad("1 kB", 1_000, 10, 100, 10, 30_000),
    SaturatedLoad("1 kB", 1_000, 200, 3, 3, 15_000),
    SaturatedLoad("16 kB", 16_000, 1, 100, 10, 6_000),
    SaturatedLoad("16 kB", 16_000, 10, 10, 2, 6_000),
    SaturatedLoad("16 kB", 16_000, 200, 1, 1, 6_000),
)


def protocol(broker: MeasuredBroker) -> str:
    """The option that says how this broker takes requests."""
    return f"--by={PROTOCOLS.get(broker.name, 'slipring')}"


def saturated(generator: Generator, case: SaturatedLoad, broker: MeasuredBroker) -> Numbers:
    """One run: CPU time for each request, and requests per second."""
    broker.settle()
    before = broker.cpu_s()
    options = case.options(broker.name)
    report = generator.run("requests", broker.address, protocol(broker), *options)
    used_us = (broker.cpu_s() - before) * 1e6
    return {"cpu_us": used_us / report["answered"], "rate": report["per_second"]}


def saturated_row(case: SaturatedLoad, costs: dict[str, Numbers]) -> str:
    """A case's line: we are to be cheaper than NATS, and five times cheaper than Mosquitto."""
    cells = [
        f"{costs[name]['cpu_us']:.2f} us, {costs[name]['rate']:,.0f}/s" if name in costs else "-"
        for name in BROKERS
    ]
    ours = costs.get(MEMORY)
    ratios = {
        peer: costs[peer]["cpu_us"] / ours["cpu_us"] if ours and peer in costs else None
        for peer in (MOSQUITTO, NATS)
    }
    bars = {MOSQUITTO: CHEAPER_BAR, NATS: 1}
    shown = [_ratio_cell(ratios[peer], bars[peer]) for peer in (MOSQUITTO, NATS)]
    return row((case.name, *cells, *shown))


def _ratio_cell(ratio: float | None, bar: float) -> str:
    return "-" if ratio is None else f"{ratio:.2f}, {verdict(ratio >= bar)}"


def paced(generator: Generator, pairs: int, broker: MeasuredBroker) -> Numbers:
    """One run of the open loop: percentiles, and how many requests had no answer."""
    broker.settle()
    shape = ("--pairs", pairs, "--rate=10", "--requests=30", "--warm-up=5", "--may-miss")
    report = generator.run("requests", broker.address, protocol(broker), *shape)
    names = ("mean_us", "p50_us", "p99_us", "lost", "failed")
    return {name: report[name] for name in names}


def paced_rows(generator: Generator) -> list[str]:
    """200 pairs and 1,000 pairs."""
    lines = []
    asking = generator.in_real_time()
    for pairs in (200, 1_000):
        with started(generator, *BROKERS, nodelay=True) as brokers:
            found = medians(brokers, ROUNDS, partial(paced, asking, pairs))
        cells = [_paced_cell(found.get(name)) for name in BROKERS]
        bar = "no worse than NATS, p50 under 1 ms" if pairs == 200 else "none lost"
        reached = _is_soon(found) if pairs == 200 else _is_complete(found.get(MEMORY))
        lines.append(row((f"{pairs:,} pairs", *cells, bar, verdict(reached))))
        print(lines[-1], end="", flush=True)
    return lines


def _paced_cell(numbers: Numbers | None) -> str:
    if numbers is None:
        return "-"
    missing = numbers["lost"] + numbers["failed"]
    return f"p50 {numbers['p50_us']:,.0f} us, p99 {numbers['p99_us']:,.0f} us, {missing:.0f} lost"


def _is_soon(found: dict[str, Numbers]) -> bool | None:
    ours, peer = found.get(MEMORY), found.get(NATS)
    if ours is None or peer is None:
        return None
    is_no_worse = all(ours[name] <= peer[name] for name in ("p50_us", "p99_us"))
    return is_no_worse and ours["p50_us"] < P50_BAR_US


def _is_complete(numbers: Numbers | None) -> bool | None:
    return numbers["lost"] + numbers["failed"] == 0 if numbers else None


@dataclass(frozen=True)
class JournaledLoad:
    """Requests that are stored before they are acknowledged."""

    name: str
    options: tuple[str, ...]
    requests: dict[str, int]
    """Requests of each asker, by broker."""


JOURNALED_CASES = (
    JournaledLoad(
        "10 pairs, 50 open requests of each",
        (*DISK_SHAPE, "--window=50", "--burst=10"),
        {MOSQUITTO: 3_000, DISK: 20_000},
    ),
    JournaledLoad(
        f"10 pairs, {DISK_RATE_BAR:,} requests/s offered",
        (*DISK_SHAPE, "--window=1000", f"--rate={DISK_RATE_BAR // 10}", "--warm-up=500"),
        {DISK: 15_000},
    ),
)


def journaled(generator: Generator, case: JournaledLoad, name: str, folder: Path) -> Numbers:
    """Start a broker, and make one run."""
    with DURABLE_BROKERS[name].started(folder, generator) as running:
        broker = running.broker
        broker.settle()
        before = broker.cpu_s()
        options = (protocol(broker), *case.options, f"--requests={case.requests[name]}")
        report = generator.run("requests", broker.address, *options)
        used_us = (broker.cpu_s() - before) * 1e6
    rate, p50_us, p99_us = report["per_second"], report["p50_us"], report["p99_us"]
    cpu_us = used_us / report["answered"]
    return {"rate": rate, "p50_us": p50_us, "p99_us": p99_us, "cpu_us": cpu_us}


def journaled_row(generator: Generator, case: JournaledLoad) -> str:
    """A line: every broker in turn, in a new folder each time."""
    found: dict[str, list[Numbers]] = {name: [] for name in case.requests}
    for _ in range(ROUNDS):
        for name, runs in found.items():
            with tempfile.TemporaryDirectory() as folder:
                try:
                    runs.append(journaled(generator, case, name, Path(folder, "broker")))
                except RunFailed as failure:
                    print(f"  {name}: {failure}", flush=True)
    numbers = {name: median(runs) for name, runs in found.items() if len(runs) == ROUNDS}
    cells = [_journaled_cell(numbers.get(name)) for name in (MOSQUITTO, DISK)]
    bar = f"{DISK_RATE_BAR:,}/s, p99 under {DISK_P99_BAR_US // 1000} ms"
    line = row((case.name, *cells, bar, verdict(_is_durable_and_quick(numbers.get(DISK)))))
    print(line, end="", flush=True)
    return line


def _journaled_cell(numbers: Numbers | None) -> str:
    if numbers is None:
        return "-"
    wait = f"p50 {numbers['p50_us'] / 1e3:,.1f} ms, p99 {numbers['p99_us'] / 1e3:,.1f} ms"
    return f"{numbers['rate']:,.0f}/s; {wait}; {numbers['cpu_us']:.2f} us of CPU"


def _is_durable_and_quick(numbers: Numbers | None) -> bool | None:
    if numbers is None:
        return None
    return numbers["rate"] >= 0.99 * DISK_RATE_BAR and numbers["p99_us"] <= DISK_P99_BAR_US


def saturated_rows(generator: Generator) -> list[str]:
    """All sizes and numbers of pairs."""
    lines = []
    with started(generator, *BROKERS) as brokers:
        for case in SATURATED:
            costs = medians(brokers, ROUNDS, partial(saturated, generator, case))
            lines.append(saturated_row(case, costs))
            print(lines[-1], end="", flush=True)
    return lines


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    first = head(
        ("closed loop, QoS 0", *BROKERS, "Mosquitto by us (at least 5)", "NATS by us (at least 1)")
    )
    text = (
        f"{where}; {versions()}, {nats_version()}; median of {ROUNDS} rounds, `make bench "
        "ARGS=requests`. CPU time of the broker's process for each request with its answer, and "
        "requests per second. A pair is one asker and one service with a topic of their own; the "
        "service answers with the payload it got. Mosquitto carries plain MQTT 5 with Response "
        "Topic and Correlation Data; NATS has an inbox for each answer, as its clients do it; "
        "Slipring looks after each request: who has it, its time-out, its one end.\n\n"
    )
    first += "".join(saturated_rows(generator))
    second_text = (
        "\nOpen loop: each asker sends 10 requests/s at their time, whatever the broker does; from "
        "that time to the answer. The generator runs at real-time priority.\n\n"
    )
    second = head(("10 requests/s of each", *BROKERS, "to reach", "in this run"))
    second += "".join(paced_rows(generator))
    third_text = (
        "\nJournaled: QoS 1, sessions that are kept. Slipring syncs each request before it "
        "acknowledges it; Mosquitto saves every second; NATS does not store such requests.\n\n"
    )
    third = head(("QoS 1", MOSQUITTO, DISK, "to reach", "in this run"))
    third += "".join(journaled_row(generator, case) for case in JOURNALED_CASES)
    record("requests", text + first + second_text + second + third_text + third)


if __name__ == "__main__":
    main()
