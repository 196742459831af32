"""CPU time of the broker beside an earlier version's: both in turn, in every round.

`EARLIER=/folder make bench ARGS=earlier` runs it, where the folder is a checkout of the earlier
version in which `make setup` was run. It uses the cases of `broker`, `latency`, `table` and
`durability`, and replaces its part of benches/RESULTS.md.
"""

import math
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benches import broker, durability, latency, sizes, table
from benches.durable_brokers import DISK, PROCESS
from benches.generator import ROOT, Generator
from benches.measured_brokers import (
    EARLIER,
    EARLIER_JOURNALED,
    JOURNALED,
    MEMORY,
    SLIPRING,
    MeasuredBroker,
    earlier_checkout,
    started,
    versions,
)
from benches.results import machine, record
from benches.rounds import Numbers, head, row, verdict

ROUNDS = 7
TABLE_ROUNDS = 3
WORSE_BAR = 1.03
"""No row is to cost more than so many times as before."""
REPEATS_MAX = 4
"""How often the rounds of a row over the bar are repeated: runs of one version differ by more."""

Measure = Callable[[bool], float]
"""CPU time of one run, of the earlier version or of this one."""


def compared(name: str, rounds: int, measure: Measure) -> str:
    """A row of the table: each version's cheapest run, in rounds with a turn for both.

    A busy machine only ever adds to a run, so that the cheapest of several is the least disturbed.
    Only rows over the bar are repeated, which favours them: read the table together with another.
    """
    measure(True)
    measure(False)
    pairs: list[tuple[float, float]] = []
    before, now = 1.0, math.inf
    while now / before > WORSE_BAR and len(pairs) <= REPEATS_MAX * rounds:
        pairs += [_pair(measure, earlier_first=number % 2 == 0) for number in range(rounds)]
        before, now = (min(column) for column in zip(*pairs, strict=True))
    cells = (name, f"{before:.3f}", f"{now:.3f}", f"{now / before:.3f}", f"{len(pairs)}")
    line = row((*cells, verdict(now / before <= WORSE_BAR)))
    print(line, end="", flush=True)
    return line


def _pair(measure: Measure, *, earlier_first: bool) -> tuple[float, float]:
    first = measure(earlier_first)
    second = measure(not earlier_first)
    return (first, second) if earlier_first else (second, first)


def _forwarding(generator: Generator) -> Iterator[tuple[str, Callable[[MeasuredBroker], Numbers]]]:
    """Messages carried, as `broker` and `latency` measure them."""
    for case in broker.CASES:
        yield case.name, partial(broker.measure, generator, case)
    for size in sizes.SIZES:
        for shape in sizes.SHAPES:
            run = partial(sizes.measure, generator, size, shape)
            yield f"{size.name}, {shape.name}", run
    for paced in latency.CASES:
        yield paced.name, partial(_paced, generator, paced)


def _paced(generator: Generator, case: latency.PacedLoad, one: MeasuredBroker) -> Numbers:
    before = one.cpu_s()
    report = generator.run("latency", one.address, *case.options)
    return {"cpu_us": (one.cpu_s() - before) * 1e6 / int(report["delivered"])}


def _forwarded_us(
    measure: Callable[[MeasuredBroker], Numbers],
    earlier: MeasuredBroker,
    now: MeasuredBroker,
    is_earlier: bool,
) -> float:
    return measure(earlier if is_earlier else now)["cpu_us"]


def _acknowledging(generator: Generator) -> Iterator[tuple[str, Measure]]:
    """Messages acknowledged, as `durability` measures them."""
    for case in (durability.SMALL, durability.LARGE):
        for name in (MEMORY, PROCESS, DISK):
            yield f"{case.name}; {name}", partial(_acknowledged_us, generator, case, name)


def _acknowledged_us(
    generator: Generator, case: durability.DurableLoad, name: str, is_earlier: bool
) -> float:
    checkout = earlier_checkout() if is_earlier else ROOT
    with tempfile.TemporaryDirectory() as folder:
        return durability.measure(generator, case, name, Path(folder), checkout)["cpu_us"]


def _table_ms(generator: Generator, case: table.TableLoad, is_earlier: bool) -> float:
    """CPU time for each second of the table's load."""
    return 1e3 * table.measure(generator, case, EARLIER if is_earlier else SLIPRING).broker_cores


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    checkout = earlier_checkout()
    command = ["git", "log", "-1", "--format=%h"]
    earlier = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
    lines = []
    for label, names in (
        ("", (EARLIER, SLIPRING)),
        ("; journaled", (EARLIER_JOURNALED, JOURNALED)),
    ):
        for name, measure in _forwarding(generator):
            # New brokers for each case: their journals of all cases together would fill a disk.
            with started(generator, *names) as (before, now):
                run = partial(_forwarded_us, measure, before, now)
                lines.append(compared(f"{name}{label}, us for each delivery", ROUNDS, run))
    for name, acknowledge in _acknowledging(generator):
        lines.append(compared(f"{name}, us for each message", ROUNDS, acknowledge))
    for case in table.CASES:
        name = f"table: {case.name}, ms for each second"
        lines.append(compared(name, TABLE_ROUNDS, partial(_table_ms, generator, case)))
    text = (
        f"{where}; {versions()} beside {earlier.stdout.strip()}. CPU time of the broker's process: "
        "the cheapest run of each version, in turn. Runs of one version differ by more than the "
        f"bar, so the {ROUNDS} rounds of a row over it ({TABLE_ROUNDS} for the table) are repeated "
        f"up to {REPEATS_MAX} times. "
        "`EARLIER=/folder make bench ARGS=earlier`.\n\n"
    )
    columns = ("case", "earlier", "now", "now by earlier", "rounds", f"at most {WORSE_BAR:g}")
    record("earlier", text + head(columns) + "".join(lines))


if __name__ == "__main__":
    main()
