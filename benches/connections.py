"""Many connections: a burst of them, other traffic during a burst, and the memory of idle ones.

`make bench ARGS=connections` runs it. It replaces its part of benches/RESULTS.md.
"""

from collections.abc import Callable, Sequence
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

ROUNDS = 3
BROKERS = (MOSQUITTO, FORWARDER, SLIPRING)
BURST_CLIENTS = 5_000
BURST_BAR = 10_000
ARRIVING_CLIENTS = 10_000
IDLE_CLIENTS = 10_000
IDLE_BAR_BYTES = 200e6


def burst(generator: Generator, broker: MeasuredBroker) -> Numbers:
    """Clients per second when all connect at once."""
    broker.settle()
    before = broker.cpu_s()
    report = generator.run("connect", broker.address, "--clients", BURST_CLIENTS)
    used_us = (broker.cpu_s() - before) * 1e6
    return {"rate": report["per_second"], "cpu_us": used_us / BURST_CLIENTS}


def undisturbed(generator: Generator, broker: MeasuredBroker) -> Numbers:
    """Percentiles of traffic with nothing beside it."""
    broker.settle()
    return generator.run("latency", broker.address, "--rate=1000", "--messages=1500")


def disturbed(generator: Generator, broker: MeasuredBroker) -> Numbers:
    """Percentiles of the same traffic, just while clients arrive in a burst."""
    broker.settle()
    arriving = ("connect", broker.address, "--clients", ARRIVING_CLIENTS, "--hold")
    with (
        generator.hold("latency", broker.address, "--rate=1000", "--hold") as traffic,
        generator.hold(*arriving),
    ):
        return traffic.finish()


def idle(generator: Generator, broker: MeasuredBroker) -> Numbers:
    """Memory that idle clients take, in a broker that has had none before."""
    broker.settle()
    before = broker.memory_bytes()
    with generator.hold("idle", broker.address, "--clients", IDLE_CLIENTS):
        broker.settle()
        return {"bytes": broker.memory_bytes() - before}


def burst_row(found: dict[str, Numbers]) -> str:
    """Connections per second, and what each costs."""
    cells = cell_of(
        found, lambda cost: f"{cost['rate']:,.0f}/s, {cost['cpu_us']:.0f} us of CPU each"
    )
    reached = verdict(found[SLIPRING]["rate"] >= BURST_BAR if SLIPRING in found else None)
    name = f"{BURST_CLIENTS:,} clients connect at once"
    return row((name, *cells, f"{BURST_BAR:,}/s", reached))


def disturbance_row(found: dict[str, Numbers], alone: dict[str, Numbers]) -> str:
    """The same traffic with and without the burst."""
    cells = [
        f"{alone[name]['p99_us']:,.0f} us alone, {found[name]['p99_us']:,.0f} us meanwhile"
        if name in found and name in alone
        else "-"
        for name in BROKERS
    ]
    name = f"p99 of 1,000 messages/s while {ARRIVING_CLIENTS:,} clients connect at once"
    return row((name, *cells, "-", "shown"))


def idle_row(found: dict[str, Numbers]) -> str:
    """Memory in all, and of each."""
    cells = cell_of(
        found,
        lambda memory: (
            f"{memory['bytes'] / 1e6:,.0f} MB, {memory['bytes'] / IDLE_CLIENTS:,.0f} B each"
        ),
    )
    reached = verdict(found[SLIPRING]["bytes"] < IDLE_BAR_BYTES if SLIPRING in found else None)
    name = f"memory of {IDLE_CLIENTS:,} idle clients"
    return row((name, *cells, f"under {IDLE_BAR_BYTES / 1e6:.0f} MB", reached))


def cell_of(found: dict[str, Numbers], show: Callable[[Numbers], str]) -> Sequence[str]:
    """A cell for each broker."""
    return [show(found[name]) if name in found else "-" for name in BROKERS]


def rows(generator: Generator) -> list[str]:
    """Measure everything: the memory in brokers that are new."""
    with started(generator, *BROKERS) as brokers:
        memory = idle_row(medians(brokers, 1, partial(idle, generator)))
    with started(generator, *BROKERS, nodelay=True) as brokers:
        rate = burst_row(medians(brokers, ROUNDS, partial(burst, generator)))
        alone = medians(brokers, ROUNDS, partial(undisturbed, generator))
        meanwhile = medians(brokers, ROUNDS, partial(disturbed, generator))
    return [rate, disturbance_row(meanwhile, alone), memory]


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    table = head(("case", *BROKERS, "to reach", "in this run")) + "".join(rows(generator))
    print(table, end="")
    text = (
        f"{where}; {versions()}; median of {ROUNDS} rounds, memory once, "
        "`make bench ARGS=connections`. A rate is clients by the time from the first connection to "
        "the last CONNACK; the generator shares the machine. Memory is the growth of the resident "
        "set.\n\n"
    )
    record("connections", text + table)


if __name__ == "__main__":
    main()
