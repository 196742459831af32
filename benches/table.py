"""The current value table under an aircraft's load: what is lost, how old samples are, the cost.

`make bench ARGS=table` runs it. It replaces its part of benches/RESULTS.md.
"""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from benches.generator import Generator
from benches.measured_brokers import SLIPRING, MeasuredBroker, started, versions
from benches.nodes import FULL, Node, node
from benches.results import machine, record
from benches.rounds import head, row, verdict
from slipring.native import encode_frame

PARAMETERS, RATE_HZ, BEAT_MS = 20_000, 50, 20
SECONDS = float(os.environ.get("TABLE_SECONDS", "60"))
SHORT_SECONDS = min(SECONDS, 15)
AGE_BAR_S = BEAT_MS / 1e3 + 0.025
CORE_BAR = 0.5
DOCUMENT_BYTES = 24
"""A sample in the document's layout: index and count, time, and the value as a double."""
WIDTHS = {"f64": 8.1, "f32": 4.1, "bool": 0.2}
"""Bytes on the wire to stay below, by kind; other kinds have no bar."""


@dataclass(frozen=True)
class TableLoad:
    """One shape of load."""

    name: str
    brokers: int = 1
    subscribers: int = 20
    processes: int = 2
    seconds: float = SHORT_SECONDS
    various: bool = False
    has_bars: bool = False
    bar: str = "nothing lost"


CASES = (
    TableLoad(
        "20 subscribers of everything",
        seconds=SECONDS,
        has_bars=True,
        bar=f"nothing lost, half a core, p99 of {AGE_BAR_S * 1e3:.0f} ms",
    ),
    TableLoad("2 brokers, 30 subscribers of everything at both", brokers=2, subscribers=30),
    TableLoad("100 subscribers, each another selection and rate", subscribers=100, various=True),
)


@dataclass(frozen=True)
class TableResult:
    """What a run found."""

    sent_per_s: float
    heard_per_s: float
    lost: int
    age_p50_s: float
    age_p99_s: float
    broker_cores: float
    publisher_cores: float
    subscriber_cores: float


@contextmanager
def nodes(
    case: TableLoad, brokers: Sequence[MeasuredBroker]
) -> Iterator[tuple[list[Node], list[Node]]]:
    """Publishers of every broker, and subscribers, all ready."""
    with ExitStack() as stack:
        urls = [f"mqtt://{broker.address}" for broker in brokers]
        publishers = []
        for number, url in enumerate(urls):
            load = (f"--parameters={PARAMETERS}", f"--rate={RATE_HZ}", f"--beat={BEAT_MS}")
            prefix = f"--prefix=aircraft{number}"
            publishers.append(stack.enter_context(node("publish", "--url", url, prefix, *load)))
        for publisher in publishers:
            publisher.wait_ready()
        subscribers = []
        for part in range(case.processes):
            count = (case.subscribers + part) // case.processes
            where = [word for url in urls for word in ("--url", url)]
            various = ["--various"] if case.various else []
            count_words = (f"--count={count}", *various)
            subscribers.append(stack.enter_context(node("subscribe", *where, *count_words)))
        for subscriber in subscribers:
            subscriber.wait_ready()
        yield publishers, subscribers


def measure(generator: Generator, case: TableLoad, name: str = SLIPRING) -> TableResult:
    """One run with brokers of this name."""
    with started(generator, *[name] * case.brokers) as brokers, nodes(case, brokers) as all_:
        publishers, subscribers = all_
        before = [cpu_s(pid) for pid in pids(brokers, publishers, subscribers)]
        threading.Event().wait(case.seconds)
        after = [cpu_s(pid) for pid in pids(brokers, publishers, subscribers)]
        sent = [publisher.stop() for publisher in publishers]
        threading.Event().wait(1)
        heard = [subscriber.stop() for subscriber in subscribers]
    used = [(late - early) / case.seconds for early, late in zip(before, after, strict=True)]
    return found(case, used, sent, heard)


def pids(brokers: Sequence[MeasuredBroker], *groups: Sequence[Node]) -> list[int]:
    """The ids of all processes, brokers first."""
    return [broker.pid for broker in brokers] + [one.pid for group in groups for one in group]


def cpu_s(pid: int) -> float:
    """CPU time a process has used."""
    return MeasuredBroker("", pid, "").cpu_s()


def found(
    case: TableLoad,
    used: Sequence[float],
    sent: Sequence[Mapping[str, Any]],
    heard: Sequence[Mapping[str, Any]],
) -> TableResult:
    """The numbers of a run; `used` has the cores of brokers, publishers and subscribers."""
    split = case.brokers
    return TableResult(
        sent_per_s=sum(one["per_s"] for one in sent),
        heard_per_s=sum(one["per_s"] for one in heard),
        lost=sum(one["gaps"] for one in heard),
        age_p50_s=max(one["age_s"][0] for one in heard),
        age_p99_s=max(one["age_s"][1] for one in heard),
        broker_cores=sum(used[:split]) / split,
        publisher_cores=sum(used[split : 2 * split]) / split,
        subscriber_cores=sum(used[2 * split :]) / case.subscribers,
    )


def is_reached(case: TableLoad, result: TableResult) -> bool:
    """Whether a run keeps the bars of its case."""
    if result.lost:
        return False
    return not case.has_bars or (result.broker_cores <= CORE_BAR and result.age_p99_s <= AGE_BAR_S)


def load_table(results: Mapping[TableLoad, TableResult]) -> str:
    """The table of the loads."""
    text = head(
        (
            "case",
            "samples/s published",
            "samples/s delivered",
            "frames lost",
            "age p50",
            "age p99",
            "cores of a broker",
            "of a publisher",
            "of a subscriber",
            "to reach",
            "in this run",
        )
    )
    for case, one in results.items():
        cells = (
            case.name,
            f"{one.sent_per_s:,.0f}",
            f"{one.heard_per_s:,.0f}",
            f"{one.lost:,}",
            f"{one.age_p50_s * 1e3:.1f} ms",
            f"{one.age_p99_s * 1e3:.1f} ms",
            f"{one.broker_cores:.2f}",
            f"{one.publisher_cores:.2f}",
            f"{one.subscriber_cores:.3f}",
            case.bar,
            verdict(is_reached(case, one)),
        )
        text += row(cells)
    return text


def bytes_table() -> str:
    """Bytes of a sample on the wire, for a full table at one time."""
    import numpy as np

    from benches.nodes import row as values_of

    kinds = {"bool": 1, "u8": 2, "u16": 3, "u32": 4, "i16": 7, "i32": 8, "f32": 10, "f64": 11}
    text = head(
        ("type", "bytes for each sample", "the document's layout", "to reach", "in this run")
    )
    indices = np.arange(PARAMETERS, dtype=np.uint32)
    for kind in sorted(FULL, key=lambda kind: kinds[kind]):
        values = values_of(kind, PARAMETERS)
        packed = np.packbits(values, bitorder="little") if kind == "bool" else values
        frame = encode_frame(
            [("row", kinds[kind], indices, 0, packed, 0)], table=1, sequence=0, sent_ns=0
        )
        each = len(frame) / PARAMETERS
        bar = WIDTHS.get(kind)
        reached = verdict(each <= bar) if bar else "-"
        text += row((kind, f"{each:.3f}", f"{DOCUMENT_BYTES}", f"{bar or '-'}", reached))
    return text


def main() -> None:
    """Measures and records."""
    intro = (
        f"{machine()}; {versions()}. {PARAMETERS:,} parameters of an aircraft's types at "
        f"{RATE_HZ} Hz from each publisher, gathered for {BEAT_MS} ms there; the broker sends "
        f"about one frame in {BEAT_MS} ms; subscribers are this project's Python client, each "
        "frame decoded to arrays. "
        "The age of a sample is from its source time to when its reader has it. "
        "`make bench ARGS=table`.\n\n"
    )
    generator = Generator.build()
    results = {}
    for case in CASES:
        results[case] = measure(generator, case)
        print(f"  {case.name}: {results[case]}", flush=True)
    record("table", intro + load_table(results) + "\n" + bytes_table())


if __name__ == "__main__":
    main()
