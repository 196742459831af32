"""How the cost of a message grows with the subscriptions present, and with the topics in use.

`make bench ARGS=growth` runs it. It replaces its part of benches/RESULTS.md.
"""

from contextlib import ExitStack
from functools import partial

from benches.generator import Generator
from benches.measured_brokers import MOSQUITTO, SLIPRING, MeasuredBroker, started, versions
from benches.results import machine, record
from benches.rounds import Numbers, head, medians, row

ROUNDS = 3
BROKERS = (MOSQUITTO, SLIPRING)
SUBSCRIPTIONS = (10, 1_000, 100_000)
TOPICS = (1, 1_000, 100_000)
MESSAGES = {MOSQUITTO: 100_000, SLIPRING: 500_000}
"""Each topic comes at least once; the faster broker gets more."""


def measure(generator: Generator, topics: int, broker: MeasuredBroker) -> Numbers:
    """CPU time for each delivered message."""
    broker.settle()
    before = broker.cpu_s()
    shape = ("--topics", topics, "--messages", MESSAGES[broker.name])
    report = generator.run("throughput", broker.address, *shape)
    return {"cpu_us": (broker.cpu_s() - before) * 1e6 / report["delivered"]}


def with_subscriptions(
    generator: Generator, brokers: tuple[MeasuredBroker, ...], count: int
) -> str:
    """The row of one number of other subscriptions, which match none of the messages."""
    with ExitStack() as stack:
        for broker in brokers:
            others = generator.hold("subscribe-many", broker.address, "--filters", count)
            stack.enter_context(others)
        costs = medians(brokers, ROUNDS, partial(measure, generator, 1))
    return growth_row(f"1 topic, {count:,} other subscriptions", costs)


def with_topics(generator: Generator, brokers: tuple[MeasuredBroker, ...], count: int) -> str:
    """The row of one number of topics, published to in turn."""
    costs = medians(brokers, ROUNDS, partial(measure, generator, count))
    name = "1 topic" if count == 1 else f"{count:,} topics in turn"
    return growth_row(name, costs)


def growth_row(name: str, costs: dict[str, Numbers]) -> str:
    """One line of the table, also shown while it runs."""
    cells = [f"{costs[broker]['cpu_us']:.2f} us" if broker in costs else "-" for broker in BROKERS]
    line = row((name, *cells))
    print(line, end="", flush=True)
    return line


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    with started(generator, *BROKERS) as brokers:
        rows = [with_subscriptions(generator, brokers, count) for count in SUBSCRIPTIONS]
        rows += [with_topics(generator, brokers, count) for count in TOPICS]
    text = (
        f"{where}; {versions()}; median of {ROUNDS} rounds, `make bench ARGS=growth`. CPU time of "
        "the broker's process for each delivered message; 1 publisher, 1 subscriber, 64-byte "
        "payloads, QoS 0, closed loop. Of the other subscriptions a third is exact, a third ends "
        "in `#`, a third has a `+`; more than one topic are received through one `#`.\n\n"
    )
    record("growth", text + head(("case", *BROKERS)) + "".join(rows))


if __name__ == "__main__":
    main()
