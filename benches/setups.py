"""The six set-ups of the flight-test document's table 1.1, and its figures 5.4 and 5.5 (G2).

`make bench ARGS=setups` runs it. It replaces its part of benches/RESULTS.md and draws
docs/figures/round-trip-by-subscribers.svg and round-trip-by-publishers.svg. As in the document, a
subscriber measures the round trip to the broker 20 times in a row, four times, while all publishers
send and all subscribers receive everything.
"""

import asyncio
import statistics
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import slipring
from benches.generator import Generator
from benches.measured_brokers import SLIPRING, started, versions
from benches.nodes import node
from benches.plot import chart
from benches.results import machine, record
from benches.rounds import head, row, verdict

PARAMETERS, RATE_HZ, BEAT_MS = 1_000, 50, 20
PINGS, TESTS = 20, 4
STEPS = (1, 2, 4, 8, 12, 16, 20)
FIGURES = Path(__file__).parents[1] / "docs" / "figures"
VALIDITY_S = 0.2
"""Older samples are of no use to the document's control room."""


@dataclass(frozen=True)
class Setup:
    """A row of the document's table."""

    publishers: int
    subscribers: int
    document_ms: float | None = None
    """The mean round trip in the document, if it has one."""

    @property
    def name(self) -> str:
        """As the document words it."""
        publishers = "1 publisher" if self.publishers == 1 else f"{self.publishers} publishers"
        subscribers = "1 subscriber" if self.subscribers == 1 else f"{self.subscribers} subscribers"
        return f"1 broker, {publishers}, {subscribers}"


SETUPS = (
    Setup(1, 1),
    Setup(1, 2),
    Setup(2, 1),
    Setup(2, 2),
    Setup(1, 20, document_ms=6.9),
    Setup(20, 1, document_ms=10.4),
)


@dataclass(frozen=True)
class SetupResult:
    """What a set-up's measuring subscriber found."""

    pings_s: Sequence[float]
    ages_s: Sequence[float]
    list_s: Sequence[float]
    """How long the request for the list of parameters took."""
    gaps: int

    @property
    def mean_ms(self) -> float:
        """The mean round trip."""
        return statistics.fmean(self.pings_s) * 1e3

    @property
    def age_p99_s(self) -> float:
        """The age that one in a hundred frames exceeds."""
        return statistics.quantiles(self.ages_s, n=100)[98] if len(self.ages_s) > 1 else 0.0


@asynccontextmanager
async def reading(bus: slipring.Bus, ages: list[float], gaps: list[int]) -> AsyncIterator[None]:
    """Takes everything in the background."""

    async def read() -> None:
        expected = None
        async with bus.select("#") as frames:
            async for frame in frames:
                gaps.append(frame.sequence - expected if expected is not None else 0)
                expected = frame.sequence + 1
                ages.append(frame.age_s)

    task = asyncio.create_task(read())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def ask(url: str) -> SetupResult:
    """The measuring subscriber."""
    pings: list[float] = []
    lists: list[float] = []
    ages: list[float] = []
    gaps: list[int] = []
    async with slipring.connect(url) as bus, reading(bus, ages, gaps):
        await asyncio.sleep(1)
        ages.clear()
        for _ in range(TESTS):
            pings += [await bus.ping() for _ in range(PINGS)]
            begun = asyncio.get_running_loop().time()
            await bus.current("#")
            lists.append(asyncio.get_running_loop().time() - begun)
            await asyncio.sleep(0.5)
    return SetupResult(pings, ages, lists, sum(gaps))


def measure(generator: Generator, setup: Setup) -> SetupResult:
    """One set-up; the measuring subscriber is one of its subscribers."""
    with started(generator, SLIPRING) as (broker,), ExitStack() as stack:
        url = f"mqtt://{broker.address}"
        load = (f"--parameters={PARAMETERS}", f"--rate={RATE_HZ}", f"--beat={BEAT_MS}")
        publishers = [
            stack.enter_context(node("publish", "--url", url, f"--prefix=node{number}", *load))
            for number in range(setup.publishers)
        ]
        for publisher in publishers:
            publisher.wait_ready()
        if setup.subscribers > 1:
            others = stack.enter_context(
                node("subscribe", "--url", url, f"--count={setup.subscribers - 1}")
            )
            others.wait_ready()
        return asyncio.run(ask(url))


def table(results: dict[Setup, SetupResult]) -> str:
    """The set-ups as a table."""
    text = head(
        (
            "set-up",
            "round trip, mean",
            "least",
            "most",
            "the document's mean",
            "age of a sample, p99",
            "frames lost",
            "all current values asked for",
            "within 200 ms, nothing lost",
        )
    )
    for setup, found in results.items():
        reached = found.age_p99_s <= VALIDITY_S and not found.gaps
        told = "-" if setup.document_ms is None else f"{setup.document_ms} ms"
        text += row(
            (
                setup.name,
                f"{found.mean_ms:.2f} ms",
                f"{min(found.pings_s) * 1e3:.2f} ms",
                f"{max(found.pings_s) * 1e3:.2f} ms",
                told,
                f"{found.age_p99_s * 1e3:.1f} ms",
                f"{found.gaps}",
                f"{statistics.fmean(found.list_s) * 1e3:.1f} ms",
                verdict(reached),
            )
        )
    return text


def draw(
    name: str, title: str, x_name: str, found: dict[int, SetupResult], document_ms: float
) -> None:
    """One of the document's figures, ours beside its figure for 20 nodes."""
    lines = {
        "mean": [(nodes, one.mean_ms) for nodes, one in found.items()],
        "least": [(nodes, min(one.pings_s) * 1e3) for nodes, one in found.items()],
        "most": [(nodes, max(one.pings_s) * 1e3) for nodes, one in found.items()],
        "the document's mean": [(20, document_ms)],
    }
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / f"{name}.svg").write_text(chart(title, x_name, "ms", lines))


def main() -> None:
    """Measures, records and draws."""
    intro = (
        f"{machine()}; {versions()}. Each publisher sends {PARAMETERS:,} parameters at {RATE_HZ} "
        f"Hz, each subscriber receives everything. {TESTS} times {PINGS} round trips in a row; "
        "all processes share this machine, the document's had several. The list of parameters "
        "took the document 23 ms, 33 ms at worst. `make bench ARGS=setups`.\n\n"
    )
    generator = Generator.build()
    results = {}
    for setup in SETUPS:
        results[setup] = measure(generator, setup)
        print(f"  {setup.name}: {results[setup].mean_ms:.2f} ms", flush=True)
    by_subscribers = {count: measure(generator, Setup(1, count)) for count in STEPS}
    by_publishers = {count: measure(generator, Setup(count, 1)) for count in STEPS}
    what = "Round trip to the broker (figure {} of the document)"
    draw("round-trip-by-subscribers", what.format("5.4"), "subscribers", by_subscribers, 6.9)
    draw("round-trip-by-publishers", what.format("5.5"), "publishers", by_publishers, 10.4)
    figures = (
        "\n![by subscribers](../docs/figures/round-trip-by-subscribers.svg)\n\n"
        "![by publishers](../docs/figures/round-trip-by-publishers.svg)\n"
    )
    record("setups", intro + table(results) + figures)


if __name__ == "__main__":
    main()
