"""Latency at a fixed rate, from publishing to arrival, beside Mosquitto and the floor.

`make bench ARGS=latency` runs it. It replaces its part of benches/RESULTS.md.
"""

from dataclasses import dataclass
from functools import partial

from benches.generator import Generator
from benches.measured_brokers import (
    FORWARDER,
    MOSQUITTO,
    SLIPRING,
    MeasuredBroker,
    started,
    versions,
)
from benches.results import machine, record
from benches.rounds import Numbers, head, medians, row, verdict

ROUNDS = 5
BROKERS = (MOSQUITTO, FORWARDER, SLIPRING)


@dataclass(frozen=True)
class PacedLoad:
    """One shape of load; its bar is a time, or Mosquitto's."""

    name: str
    options: tuple[str, ...]
    bars: tuple[tuple[str, float | None], ...]


CASES = (
    PacedLoad(
        "1 publisher at 1,000 messages/s, 1 subscriber",
        ("--rate=1000", "--messages=2000"),
        (("p50_us", None), ("p99_us", None)),
    ),
    PacedLoad(
        "10 publishers at 100 messages/s, each of 10 subscribers gets all",
        ("--publishers=10", "--subscribers=10", "--rate=100", "--messages=200", "--warm-up=20"),
        (("p99_us", 500),),
    ),
)


def measure(generator: Generator, case: PacedLoad, broker: MeasuredBroker) -> Numbers:
    """One run: its percentiles."""
    return generator.run("latency", broker.address, *case.options)


def case_rows(case: PacedLoad, times: dict[str, Numbers]) -> str:
    """A line for each percentile that has a bar."""
    lines = []
    for name, limit_us in case.bars:
        bar_us = limit_us or times[MOSQUITTO][name]
        cells = [f"{times[broker][name]:,.0f} us" for broker in BROKERS]
        bar = f"{limit_us:.0f} us" if limit_us else "no worse than Mosquitto"
        reached = verdict(times[SLIPRING][name] <= bar_us)
        lines.append(row((case.name, name.removesuffix("_us"), *cells, bar, reached)))
    return "".join(lines)


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    rows = []
    with started(generator, *BROKERS, nodelay=True) as brokers:
        for case in CASES:
            times = medians(brokers, ROUNDS, partial(measure, generator, case))
            rows.append(case_rows(case, times))
            print(rows[-1], end="", flush=True)
    text = (
        f"{where}; {versions()}; median of {ROUNDS} rounds of two seconds, `make bench "
        "ARGS=latency`. From the publisher's write to the subscriber's read; 64-byte payloads, "
        "QoS 0, open loop: a message is sent at its time, whatever the broker does. Mosquitto has "
        "set_tcp_nodelay, with which it is quicker.\n\n"
    )
    columns = ("case", "", *BROKERS, "to reach", "in this run")
    record("latency", text + head(columns) + "".join(rows))


if __name__ == "__main__":
    main()
