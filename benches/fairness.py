"""What one client costs the others: a bystander's latency while each attack runs.

`make bench ARGS=fairness` runs it. It replaces its part of benches/RESULTS.md.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from benches.attacks import under_attack
from benches.generator import Generator, RunFailed
from benches.measured_brokers import (
    JOURNALED,
    MOSQUITTO,
    SLIPRING,
    MeasuredBroker,
    started,
    versions,
)
from benches.nodes import node
from benches.results import machine, record
from benches.rounds import head, row, rows_of, verdict

ROUNDS = 3
RATE = ("--rate=1000",)
BYSTANDER = (*RATE, "--messages=3000")
FACTOR_BAR = 5
P99_BAR_US = 20_000
PATIENCE_S = 30
"""If three seconds of messages take longer, the bystander counts as not served."""
CLIENTS = 10_000


@dataclass(frozen=True)
class AttackCase:
    """One attack, and whether Mosquitto can be attacked in the same way."""

    attack: str
    name: str
    is_for_all: bool = True
    ours: str = SLIPRING
    """How Slipring runs. If everything is journaled, the bystander waits for acknowledgements."""


CASES = (
    AttackCase("pings", "pings, pipelined"),
    AttackCase("messages", "small messages that nobody wants"),
    AttackCase("exactly_once", "QoS 2 exchanges, pipelined"),
    AttackCase("subscriptions", "100 filters subscribed to and given up, pipelined"),
    AttackCase("retained", "`#` subscribed to again, pipelined, 20,000 retained messages"),
    AttackCase("takeovers", "one client identifier that connects again and again"),
    AttackCase("half_connects", "half a CONNECT, 500 connections at a time"),
    AttackCase("connect", f"{CLIENTS:,} clients connect at once"),
    AttackCase("stalled", "150 subscribers of a flood that read nothing"),
    AttackCase("large", "1 MB messages to 20 readers"),
    AttackCase("plain_readers", "an aircraft, 10 plain readers of `#`", is_for_all=False),
    AttackCase("lists", "`list` of 190,000 parameters, pipelined", is_for_all=False),
    AttackCase("unread_lists", "the same, answers not read", is_for_all=False),
    AttackCase("values", "`values` of 190,000 parameters, pipelined", is_for_all=False),
    AttackCase("selections", "`#` selected again, pipelined, 190,000 parameters", is_for_all=False),
    AttackCase("declarations", "500 parameters declared and removed, pipelined", is_for_all=False),
    AttackCase("deflated", "deflated frames of 32,768 samples", is_for_all=False),
    AttackCase(
        "journal_flood",
        "16 kB messages for the journal; the wait for a PUBACK at `disk`",
        is_for_all=False,
        ours=JOURNALED,
    ),
)


@contextmanager
def attacked(generator: Generator, case: AttackCase, broker: MeasuredBroker) -> Iterator[None]:
    """The attack runs."""
    with ExitStack() as stack:
        if case.attack == "connect":
            arriving = ("connect", broker.address, "--clients", CLIENTS, "--hold")
            stack.enter_context(generator.hold(*arriving))
        elif case.attack == "plain_readers":
            url = f"mqtt://{broker.address}"
            aircraft = stack.enter_context(node("publish", "--url", url, "--rate=50"))
            aircraft.wait_ready()
            stack.enter_context(under_attack(case.attack, broker.address))
        else:
            stack.enter_context(under_attack(case.attack, broker.address))
        yield


def p99_us(generator: Generator, broker: MeasuredBroker) -> float:
    """The bystander's 99th percentile."""
    bystander = generator.in_real_time()
    command = ("acked", "--publishers=1") if broker.name == JOURNALED else ("latency",)
    options = (*command[1:], *BYSTANDER)
    report = bystander.run(command[0], broker.address, *options, timeout_s=PATIENCE_S)
    found: float = report["p99_us"]
    return found


def arriving_p99_us(generator: Generator, case: AttackCase, broker: MeasuredBroker) -> float:
    """The same for a burst, which is over soon: only while it lasts."""
    with (
        generator.in_real_time().hold("latency", broker.address, *RATE, "--hold") as traffic,
        attacked(generator, case, broker),
    ):
        found: float = traffic.finish()["p99_us"]
        return found


def measure(generator: Generator, case: AttackCase, name: str) -> tuple[float, float] | None:
    """The bystander alone and under attack, in a new broker: medians. None if a run fails."""
    alone, meanwhile = list[float](), list[float]()
    try:
        for _ in range(ROUNDS):
            with started(generator, name, nodelay=True) as (broker,):
                alone.append(p99_us(generator, broker))
                if case.attack == "connect":
                    meanwhile.append(arriving_p99_us(generator, case, broker))
                else:
                    with attacked(generator, case, broker):
                        meanwhile.append(p99_us(generator, broker))
    except RunFailed as failure:
        print(f"  {name}, {case.name}: {failure}", flush=True)
        return None
    return sorted(alone)[ROUNDS // 2], sorted(meanwhile)[ROUNDS // 2]


def shown(found: tuple[float, float] | None) -> str:
    """A cell of the table."""
    if found is None:
        return "not served"
    alone, meanwhile = found
    return f"{alone:,.0f} us alone, {meanwhile:,.0f} us meanwhile"


def case_row(generator: Generator, case: AttackCase) -> str:
    """A line of the table."""
    peer = shown(measure(generator, case, MOSQUITTO)) if case.is_for_all else "-"
    ours = measure(generator, case, case.ours)
    reached = ours is not None and ours[1] <= min(FACTOR_BAR * ours[0], P99_BAR_US)
    return row((case.name, peer, shown(ours), verdict(reached)))


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    rows = rows_of(CASES, partial(case_row, generator))
    text = (
        f"{where}; {versions()}; median of {ROUNDS} rounds, each in a new broker, `make bench "
        "ARGS=fairness`. The 99th percentile of a bystander's 1,000 messages/s, 64 bytes at QoS 0, "
        "alone and while one attacker does as much as the broker lets it; attacker, bystander and "
        "broker share the machine, and the bystander runs at real-time priority: its time is the "
        "broker's, not the scheduler's. "
        f"To reach: at most {FACTOR_BAR} times its p99 alone, and never over "
        f"{P99_BAR_US // 1000} ms.\n\n"
    )
    table = head(("attack", MOSQUITTO, SLIPRING, "in this run")) + rows
    record("fairness", text + table)


if __name__ == "__main__":
    main()
