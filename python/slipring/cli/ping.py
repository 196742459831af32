"""`slipring ping`: measures the round trip to a broker, and the difference of its clock."""

import asyncio
import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from slipring.cli import interrupt
from slipring.cli.access import Access, with_access
from slipring.cli.display import counted
from slipring.client import Bus
from slipring.client.connecting import Connecting
from slipring.errors import NoAnswer, PublishRefused


@dataclass(frozen=True, slots=True)
class _PingSummary:
    """The figures of one run, in milliseconds."""

    url: str
    count: int
    min_ms: float
    mean_ms: float
    p99_ms: float
    max_ms: float
    offset_ms: float | None = None
    """The broker's clock minus this machine's."""
    uncertainty_ms: float | None = None


@with_access
def ping(
    *,
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many pings.")] = 10,
    interval: Annotated[float, typer.Option(min=0, help="Seconds between two pings.")] = 0.1,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    access: Access,
) -> None:
    """Measure the round trip to a broker, and how far its clock is from this machine's.

    Only a broker of Slipring tells its clock.

    For example:

        slipring ping

        slipring ping --count 100 --interval 0 --url mqtt://ground.example
    """
    interrupt.run(_ping(access.connect(), count, interval, as_json=as_json))


async def _ping(connecting: Connecting, count: int, interval_s: float, *, as_json: bool) -> None:
    trips_ms = list[float]()
    async with connecting as bus:
        try:
            await _measure(bus, count, interval_s, trips_ms)
        finally:  # also after Ctrl-C, and after the connection was lost
            if trips_ms:
                _print(_measured(bus, trips_ms), as_json=as_json)


def _print(measured: _PingSummary, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(measured)))
        return
    print(f"{measured.url}: {counted(measured.count, 'ping')}")
    numbers = {"min": measured.min_ms, "mean": measured.mean_ms}
    numbers |= {"p99": measured.p99_ms, "max": measured.max_ms}
    print("round trip", *(f"{name} {number:.3f} ms" for name, number in numbers.items()), sep="  ")
    print(f"clock       {_clock(measured)}")


def _clock(measured: _PingSummary) -> str:
    if measured.offset_ms is None or measured.uncertainty_ms is None:
        return "not known: the broker does not tell its time"
    where = "ahead" if measured.offset_ms >= 0 else "behind"
    far = f"{abs(measured.offset_ms):.3f} ms {where}"
    return f"the broker's is {far}, give or take {measured.uncertainty_ms:.3f} ms"


async def _measure(bus: Bus, count: int, interval_s: float, trips_ms: list[float]) -> None:
    has_clock = await knows_clock(bus)
    for number in range(count):
        await asyncio.sleep(interval_s if number else 0)
        if has_clock:
            exchange = await bus.clock.measure()
            trips_ms.append((exchange.received_ns - exchange.sent_ns) / 1e6)
        else:
            trips_ms.append(await bus.ping() * 1e3)


def _measured(bus: Bus, trips_ms: Sequence[float]) -> _PingSummary:
    offset_ns, uncertainty_ns = bus.clock.offset_ns, bus.clock.uncertainty_ns
    return _PingSummary(
        bus.url,
        len(trips_ms),
        min(trips_ms),
        statistics.fmean(trips_ms),
        _p99(trips_ms),
        max(trips_ms),
        None if offset_ns is None else offset_ns / 1e6,
        None if uncertainty_ns is None else uncertainty_ns / 1e6,
    )


async def knows_clock(bus: Bus) -> bool:
    """Whether the broker tells its clock; this first ping is not counted."""
    try:
        await bus.clock.measure(timeout_s=2.0)
    except (NoAnswer, PublishRefused):
        return False
    return True


def _p99(values: Sequence[float]) -> float:
    """The 99th percentile."""
    ordered = sorted(values)
    return ordered[math.ceil(len(ordered) * 0.99) - 1]
