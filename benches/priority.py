"""What a high priority is worth: its latency alone, and while normal messages saturate the broker.

`make bench ARGS=priority` runs it. It replaces its part of benches/RESULTS.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from benches.generator import Generator, RunFailed
from benches.measured_brokers import MEMORY, MOSQUITTO, MeasuredBroker, started, versions
from benches.results import machine, record
from benches.rounds import head, row, rows_of, verdict

ROUNDS = 3
FACTOR_BAR = 3
RATE = ("--v5", "--rate=1000", "--messages=3000")
FLOODED = "bench/flood"
PATIENCE_S = 60
"""If three seconds of messages take longer, they count as not served."""


@dataclass(frozen=True)
class PriorityCase:
    """Who gets the messages that are measured, and how."""

    name: str
    qos: int
    is_same_subscriber: bool
    """Whether their subscriber is also the one that the normal messages saturate."""

    def measured(self, level: str) -> tuple[str, ...]:
        """Options of the messages that are measured, with this priority."""
        return (*RATE, f"--qos={self.qos}", *((f"--priority={level}",) if level else ()))


CASES = (
    PriorityCase("QoS 0, to the saturated subscriber", 0, is_same_subscriber=True),
    PriorityCase("QoS 0, to another subscriber", 0, is_same_subscriber=False),
    PriorityCase("QoS 1, to the saturated subscriber", 1, is_same_subscriber=True),
    PriorityCase("QoS 1, to another subscriber", 1, is_same_subscriber=False),
)


@contextmanager
def flood(generator: Generator, case: PriorityCase, broker: MeasuredBroker) -> Iterator[None]:
    """Normal messages, as many as the broker takes."""
    subscribers = 0 if case.is_same_subscriber else 1
    options = (f"--qos={case.qos}", f"--subscribers={subscribers}", "--publishers=2")
    with generator.hold("flood", broker.address, *options):
        yield


@dataclass(frozen=True)
class PriorityRun:
    """What was found about the messages that are measured."""

    p99_us: float
    missing: float


def run(
    generator: Generator, case: PriorityCase, broker: MeasuredBroker, level: str
) -> PriorityRun:
    """One run of the messages that are measured."""
    options = (*case.measured(level), "--may-miss")
    if case.is_same_subscriber:
        options += ("--beside", FLOODED)
    asking = generator.in_real_time()
    report = asking.run("latency", broker.address, *options, timeout_s=PATIENCE_S)
    return PriorityRun(report["p99_us"], report["messages"] - report["delivered"])


def measure(
    generator: Generator, case: PriorityCase, name: str, level: str
) -> tuple[PriorityRun, PriorityRun] | None:
    """Alone and meanwhile: the runs with the median p99, every time in a new broker."""
    alone, meanwhile = list[PriorityRun](), list[PriorityRun]()
    try:
        for _ in range(ROUNDS):
            with started(generator, name, nodelay=True) as (broker,):
                alone.append(run(generator, case, broker, level))
                with flood(generator, case, broker):
                    meanwhile.append(run(generator, case, broker, level))
    except RunFailed as failure:
        print(f"  {name}, {case.name}, {level or 'no priority'}: {failure}", flush=True)
        return None
    return _middle(alone), _middle(meanwhile)


def _middle(found: list[PriorityRun]) -> PriorityRun:
    return sorted(found, key=lambda one: one.p99_us)[len(found) // 2]


def shown(found: tuple[PriorityRun, PriorityRun] | None) -> str:
    """A cell: both times and their ratio."""
    if found is None:
        return "not served"
    alone, meanwhile = found
    ratio = meanwhile.p99_us / alone.p99_us
    missing = f", {meanwhile.missing:,.0f} lost" if meanwhile.missing else ""
    return f"{alone.p99_us:,.0f} us alone, {meanwhile.p99_us:,.0f} us: {ratio:.1f} times{missing}"


def case_row(generator: Generator, case: PriorityCase) -> str:
    """A line of the table."""
    peer = measure(generator, case, MOSQUITTO, "")
    normal = measure(generator, case, MEMORY, "normal")
    high = measure(generator, case, MEMORY, "high")
    return row((case.name, shown(peer), shown(normal), shown(high), verdict(_is_reached(high))))


def _is_reached(found: tuple[PriorityRun, PriorityRun] | None) -> bool:
    if found is None:
        return False
    alone, meanwhile = found
    return not meanwhile.missing and meanwhile.p99_us <= FACTOR_BAR * alone.p99_us


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    rows = rows_of(CASES, partial(case_row, generator))
    text = (
        f"{where}; {versions()}; median of {ROUNDS} rounds, each in a new broker, `make bench "
        "ARGS=priority`. The 99th percentile of 1,000 messages/s of 64 bytes, alone and while two "
        "publishers send as many normal messages of that size as the broker takes, to one "
        "subscriber that reads them all. Publishers, subscribers and broker share the machine; "
        "the measuring process runs at real-time priority. Mosquitto has no priorities. To reach: "
        f"at most {FACTOR_BAR} times the p99 alone.\n\n"
    )
    columns = ("messages", MOSQUITTO, "Slipring, normal", "Slipring, high", "in this run")
    record("priority", text + head(columns) + rows)


if __name__ == "__main__":
    main()
