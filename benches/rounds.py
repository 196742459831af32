"""Rounds: every broker in turn, then again, so that a busy moment of the machine meets them all."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from benches.generator import RunFailed
from benches.measured_brokers import MeasuredBroker

Case = TypeVar("Case")
Numbers = Mapping[str, float]
"""What one run found, by name."""


def medians(
    brokers: Sequence[MeasuredBroker], rounds: int, measure: Callable[[MeasuredBroker], Numbers]
) -> dict[str, Numbers]:
    """The median of each number over all rounds, by broker; a broker that fails is left out."""
    found: dict[str, list[Numbers]] = {broker.name: [] for broker in brokers}
    failed: set[str] = set()
    for _ in range(rounds):
        for broker in brokers:
            if broker.name in failed:
                continue
            try:
                found[broker.name].append(measure(broker))
            except RunFailed as failure:
                print(f"  {broker.name}: {failure}", flush=True)
                failed.add(broker.name)
    return {name: median(runs) for name, runs in found.items() if name not in failed}


def median(runs: Sequence[Numbers]) -> Numbers:
    """The median of each number."""
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def row(cells: Iterable[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |\n"


def rows_of(cases: Iterable[Case], row_of: Callable[[Case], str]) -> str:
    """The lines of a table; each is shown as soon as its case was measured."""
    rows = []
    for case in cases:
        rows.append(row_of(case))
        print(rows[-1], end="", flush=True)
    return "".join(rows)


def head(cells: Sequence[str]) -> str:
    """The first two lines of a table."""
    return row(cells) + row("---" for _ in cells)


def verdict(is_reached: bool | None) -> str:
    """Whether a row's bar was reached in this run; `None` if nothing was measured."""
    return {True: "reached", False: "missed", None: "not measured"}[is_reached]
