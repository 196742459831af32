"""Throughput: CPU time of the broker for each delivered message, beside Mosquitto and the floor.

`make bench ARGS=broker` runs it. It replaces its part of benches/RESULTS.md.
"""

from dataclasses import dataclass
from functools import partial

from benches.generator import Generator
from benches.measured_brokers import (
    FORWARDER,
    JOURNALED,
    MOSQUITTO,
    SLIPRING,
    MeasuredBroker,
    started,
    versions,
)
from benches.results import machine, record
from benches.rounds import Numbers, head, medians, row, verdict
from benches.sizes import ROUNDS as SIZES_ROUNDS
from benches.sizes import paced_table, sizes_table

ROUNDS = 5
BROKERS = (MOSQUITTO, FORWARDER, SLIPRING, JOURNALED)
SCALE = 5
"""The other brokers get this many times the messages: they are at least that much faster."""


@dataclass(frozen=True)
class ThroughputLoad:
    """One shape of load, and how many times cheaper than Mosquitto we are to be."""

    name: str
    options: tuple[str, ...]
    messages: int
    bar: float | None


CASES = (
    ThroughputLoad("1 publisher, 1 subscriber", ("throughput",), 100_000, 15),
    ThroughputLoad("1 publisher, 20 subscribers", ("throughput", "--subscribers=20"), 8_000, 30),
    ThroughputLoad("20 publishers, 1 subscriber", ("throughput", "--publishers=20"), 100_000, 12),
    ThroughputLoad(
        "1 publisher, 1 subscriber, QoS 1", ("throughput", "--qos=1", "--window=1000"), 40_000, 15
    ),
    ThroughputLoad(
        "1 publisher, 1 subscriber, QoS 2", ("throughput", "--qos=2", "--window=500"), 20_000, None
    ),
    ThroughputLoad("200 pairs, 3 messages at a time", ("pairs", "--pairs=200"), 150, 2.2),
)


def measure(generator: Generator, case: ThroughputLoad, broker: MeasuredBroker) -> Numbers:
    """One run: CPU time for each message, and messages per second."""
    command, *options = case.options
    messages = case.messages * (SCALE if broker.is_fast else 1)
    before = broker.cpu_s()
    report = generator.run(command, broker.address, *options, "--messages", messages)
    used_us = (broker.cpu_s() - before) * 1e6
    return {"cpu_us": used_us / report["delivered"], "rate": report["per_second"]}


def case_row(case: ThroughputLoad, costs: dict[str, Numbers]) -> str:
    """A case's line of the table."""
    peer, ours = costs.get(MOSQUITTO), costs.get(SLIPRING)
    ratio = peer["cpu_us"] / ours["cpu_us"] if peer and ours else None
    return row(
        (
            case.name,
            *(show(costs.get(name)) for name in BROKERS),
            f"{ratio:.1f} times" if ratio else "-",
            *bar_cells(case.bar, ratio),
        )
    )


def bar_cells(bar: float | None, ratio: float | None) -> tuple[str, str]:
    """The bar, and whether it was reached."""
    if bar is None:
        return "-", "-"
    return f"{bar:g} times", verdict(ratio >= bar if ratio else None)


def show(cost: Numbers | None) -> str:
    """A broker's cell; it is empty where the broker cannot do that."""
    return f"{cost['cpu_us']:.2f} us, {cost['rate']:,.0f}/s" if cost else "-"


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    rows = []
    with started(generator, *BROKERS) as brokers:
        for case in CASES:
            rows.append(case_row(case, medians(brokers, ROUNDS, partial(measure, generator, case))))
            print(rows[-1], end="", flush=True)
        sizes = sizes_table(generator, brokers)
        paced = paced_table(generator, brokers)
    columns = ("case", *BROKERS, "cheaper than Mosquitto", "to reach", "in this run")
    text = (
        f"{where}; {versions()}; median of {ROUNDS} rounds, `make bench ARGS=broker`. CPU time of "
        "the broker's process for each delivered message, and messages per second; 64-byte "
        "payloads, QoS 0 if nothing else is said, closed loop so that nothing is dropped.\n\n"
    )
    sizes_text = (
        f"\nThe same by size of payload: median of {SIZES_ROUNDS} rounds, QoS 0, closed loop with "
        "about 4 MB on their way at most. CPU time of the broker's process for each delivery, and "
        "what is to be reached. Before each run the journal leaves the page cache, so that its "
        "memory is used again: what a virtual machine gets new from its host costs many times as "
        "much to write to.\n\n"
    )
    paced_text = "\nOpen loop: sent at its time, whatever the broker does.\n\n"
    record(
        "broker",
        text + head(columns) + "".join(rows) + sizes_text + sizes + paced_text + paced,
    )


if __name__ == "__main__":
    main()
