"""Throughput by size of message: a delivery's cost beside Mosquitto, the floor and our own journal.

`benches/broker.py` runs it. A second table counts what is missing when large messages come at a
fixed rate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from benches.generator import Generator
from benches.measured_brokers import FORWARDER, JOURNALED, MOSQUITTO, SLIPRING, MeasuredBroker
from benches.rounds import Numbers, head, medians, row, verdict

ROUNDS = 7
BROKERS = (MOSQUITTO, FORWARDER, SLIPRING, JOURNALED)
CHEAPER_BAR = 1.5
"""At every size, a delivery is to cost Mosquitto at least this many times our cost."""
FLOOR_BAR = 1.3
"""Large messages are to cost at most this many times the bare forwarder's cost."""
FLOOR_BYTES_MIN = 16_000
JOURNALED_BAR = 1.6
"""With a journal, at most this many times our cost without one."""
PACED_RATE = 50


@dataclass(frozen=True)
class Size:
    """Messages of one size, and how many are out at a time: about 4 MB, which no outbox drops."""

    name: str
    payload_bytes: int
    window: int
    burst: int
    deliveries: int
    """Deliveries of one run of Mosquitto; the others get `scale` times as many."""
    scale: int


@dataclass(frozen=True)
class Shape:
    """Who publishes, and who subscribes to all of it."""

    name: str
    publishers: int
    subscribers: int


SIZES = (
    Size("64 B", 64, 2_000, 100, 60_000, 5),
    Size("1 kB", 1_000, 2_000, 100, 40_000, 5),
    Size("16 kB", 16_000, 200, 20, 20_000, 1),
    Size("160 kB", 160_000, 20, 2, 4_000, 1),
    Size("1 MB", 1_000_000, 4, 1, 800, 1),
)
SHAPES = (Shape("1 to 1", 1, 1), Shape("1 to 20", 1, 20), Shape("20 to 1", 20, 1))


def measure(generator: Generator, size: Size, shape: Shape, broker: MeasuredBroker) -> Numbers:
    """One run: CPU time for each delivery."""
    messages = size.deliveries * (size.scale if broker.is_fast else 1) // shape.subscribers
    broker.release_cache()
    before = broker.cpu_s()
    report = generator.run(
        "throughput",
        broker.address,
        *("--bytes", size.payload_bytes, "--messages", messages),
        *("--publishers", shape.publishers, "--subscribers", shape.subscribers),
        *("--window", size.window, "--burst", size.burst),
    )
    return {"cpu_us": (broker.cpu_s() - before) * 1e6 / report["delivered"]}


def size_row(size: Size, shape: Shape, costs: dict[str, Numbers]) -> str:
    """One line of the table."""
    cheaper = ratio(costs, MOSQUITTO, SLIPRING)
    floor = ratio(costs, SLIPRING, FORWARDER)
    journaled = ratio(costs, JOURNALED, SLIPRING)
    has_floor_bar = size.payload_bytes >= FLOOR_BYTES_MIN
    return row(
        (
            size.name,
            shape.name,
            *(show(costs.get(name)) for name in BROKERS),
            cell(cheaper, is_reached=cheaper is not None and cheaper >= CHEAPER_BAR),
            cell(floor, is_reached=floor is not None and floor <= FLOOR_BAR)
            if has_floor_bar
            else cell(floor),
            cell(journaled, is_reached=journaled is not None and journaled <= JOURNALED_BAR),
        )
    )


def ratio(costs: dict[str, Numbers], above: str, below: str) -> float | None:
    """The cost of one broker divided by that of another; None if one of them failed."""
    if above not in costs or below not in costs:
        return None
    return costs[above]["cpu_us"] / costs[below]["cpu_us"]


def cell(times: float | None, *, is_reached: bool | None = None) -> str:
    """A ratio, and whether its bar was reached if it has one."""
    if times is None:
        return verdict(None)
    return f"{times:.2f}" if is_reached is None else f"{times:.2f}, {verdict(is_reached)}"


def show(cost: Numbers | None) -> str:
    """A broker's cell; it is empty if the broker failed."""
    return f"{cost['cpu_us']:.2f} us" if cost else "-"


def sizes_table(generator: Generator, brokers: Sequence[MeasuredBroker]) -> str:
    """Every size in every shape."""
    columns = (
        *("size", "publishers to subscribers", *BROKERS),
        f"Mosquitto by us (at least {CHEAPER_BAR:g})",
        f"we by the forwarder (from 16 kB at most {FLOOR_BAR:g})",
        f"journaled by not (at most {JOURNALED_BAR:g})",
    )
    text = head(columns)
    for size in SIZES:
        for shape in SHAPES:
            measured = medians(brokers, ROUNDS, partial(measure, generator, size, shape))
            line = size_row(size, shape, measured)
            print(line, end="", flush=True)
            text += line
    return text


def missing(generator: Generator, broker: MeasuredBroker, *, seconds: int = 4) -> tuple[int, int]:
    """160 kB at 50 Hz to 20 subscribers: how many deliveries were due, and how many are missing."""
    report = generator.run(
        "latency",
        broker.address,
        *("--bytes=160000", "--subscribers=20", "--rate", PACED_RATE, "--warm-up=0"),
        *("--messages", PACED_RATE * seconds, "--may-miss"),
    )
    due = report["messages"] * 20
    return due, due - report["delivered"]


def paced_table(generator: Generator, brokers: Sequence[MeasuredBroker]) -> str:
    """What each broker drops at a fixed rate."""
    lost: dict[str, int] = {}
    due = 0
    for broker in brokers:
        broker.settle()
        due, lost[broker.name] = missing(generator, broker)
    text = row(
        (
            f"160 kB at {PACED_RATE} Hz, 1 to 20",
            *(f"{lost[broker.name]:,} of {due:,} missing" for broker in brokers),
            "none missing",
            verdict(lost[SLIPRING] == 0),
        )
    )
    print(text, end="", flush=True)
    return head(("case", *(broker.name for broker in brokers), "to reach", "in this run")) + text
