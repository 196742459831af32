"""What rights cost: messages with and without rules, a policy that is replaced, passwords guessed.

`make bench ARGS=access` runs it. It replaces its part of benches/RESULTS.md.
"""

import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benches.access_names import names_row
from benches.access_policies import RULES, USERS, swapped_configs
from benches.broker import CASES, ROUNDS, ThroughputLoad, measure
from benches.generator import Generator
from benches.measured_brokers import (
    RIGHTS,
    SLIPRING,
    MeasuredBroker,
    raise_descriptor_limit,
    started,
    versions,
)
from benches.results import machine, record
from benches.rounds import Numbers, head, medians, row, rows_of, verdict
from slipring.control.plan import make_plan
from slipring.native import Engine, Listener

COST_BAR = 1.03
SWAP_BAR_S = 0.1
STALL_BAR_US = 5_000
SWAPS = 20
GUESSES = (0, 1_000, 10_000)
"""Wrong passwords a second."""
BYSTANDER = ("--rate=1000", "--messages=5000")


def cost_row(generator: Generator, brokers: Sequence[MeasuredBroker], case: ThroughputLoad) -> str:
    """One shape of load, without rules and with them."""
    found = medians(brokers, ROUNDS, partial(measure, generator, case))
    without, within = found[SLIPRING]["cpu_us"], found[RIGHTS]["cpu_us"]
    ratio = within / without
    return row(
        (
            case.name,
            f"{without:.3f} us",
            f"{within:.3f} us",
            f"{ratio:.3f} times",
            f"{COST_BAR:g} times",
            verdict(ratio <= COST_BAR),
        )
    )


def swap_rows(generator: Generator) -> str:
    """Policies of many rules, replaced while messages flow."""
    configs = swapped_configs()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        listener = Listener("mqtt", "127.0.0.1:0")
        engine = Engine(
            make_plan(configs[0]),
            listeners=[listener],
            journal=folder / "journal",
            segment_bytes=1 << 26,
            threads=1,
            console_connections=0,
        )
        stack.callback(engine.stop)
        address = engine.addresses[0]
        alone = _max_us(generator, address)
        took = list[float]()
        with generator.in_real_time().hold("latency", address, "--rate=1000", "--hold") as traffic:
            for number in range(SWAPS):
                # A new one each time: nobody else keeps the old one, so its end is measured, too.
                plan = make_plan(configs[(number + 1) % len(configs)])
                began = time.perf_counter()
                engine.apply(plan)
                took.append(time.perf_counter() - began)
            stalled = float(traffic.finish()["max_us"])
    swap_s = statistics.median(took)
    rules = f"{100_000:,} rules for {10_000:,} users"
    return row(
        (
            f"the plan is replaced, {rules}",
            f"{swap_s * 1e3:.1f} ms, at most {max(took) * 1e3:.1f} ms",
            f"{SWAP_BAR_S * 1e3:.0f} ms",
            verdict(max(took) <= SWAP_BAR_S),
        )
    ) + row(
        (
            "the latest of 1,000 messages/s meanwhile",
            f"{stalled:,.0f} us; {alone:,.0f} us alone",
            f"{STALL_BAR_US:,} us",
            verdict(stalled <= STALL_BAR_US),
        )
    )


def _max_us(generator: Generator, address: str) -> float:
    report = generator.in_real_time().run("latency", address, *BYSTANDER)
    return float(report["max_us"])


def guess_row(generator: Generator, rate: int) -> str:
    """A bystander's messages while passwords are guessed, in a new broker."""
    found = list[Numbers]()
    for _ in range(3):
        with started(generator, RIGHTS, nodelay=True) as (broker,), ExitStack() as stack:
            if rate:
                stack.enter_context(generator.hold("guess", broker.address, "--rate", rate))
            before = broker.cpu_s()
            began = time.perf_counter()
            report = generator.in_real_time().run("latency", broker.address, *BYSTANDER)
            cores = (broker.cpu_s() - before) / (time.perf_counter() - began)
            found.append({"p99_us": report["p99_us"], "cores": cores})
    p99_us = statistics.median(one["p99_us"] for one in found)
    cores = statistics.median(one["cores"] for one in found)
    return row((f"{rate:,}", f"{p99_us:,.0f} us", f"{cores:.2f}"))


def main() -> None:
    """Measure and record."""
    raise_descriptor_limit()
    generator, where = Generator.build(), machine()
    with started(generator, SLIPRING, RIGHTS) as brokers:
        costs = rows_of(CASES, partial(cost_row, generator, brokers))
    swaps = swap_rows(generator)
    print(swaps, end="", flush=True)
    guesses = rows_of(GUESSES, partial(guess_row, generator))
    with started(generator, RIGHTS) as (broker,):
        names = names_row(broker)
    print(names, end="", flush=True)
    record(
        "access",
        f"{where}; {versions()}; median of {ROUNDS} rounds, `make bench ARGS=access`. CPU time of "
        f"the broker for each delivered message, without users and with {USERS:,} users and "
        f"{RULES:,} rules, in the same run.\n\n"
        + head(("case", "without", "with rules", "cost", "to reach", "in this run"))
        + costs
        + "\nThe engine in this process, with a journal.\n\n"
        + head(("what", "measured", "to reach", "in this run"))
        + swaps
        + "\nPasswords that are guessed from 200 addresses, each on a connection of its own, and "
        "what a bystander notices.\n\n"
        + head(("wrong passwords a second", "p99 of a bystander", "cores of the broker"))
        + guesses
        + "\nGuesses at the password of a user, and of a name that nobody has, in turn: CPU time "
        "of the broker for each.\n\n"
        + head(("known", "unknown", "difference", "answers", "to reach", "in this run"))
        + names,
    )


if __name__ == "__main__":
    main()
