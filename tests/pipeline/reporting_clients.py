"""Clients that report arrivals to a real broker, and reports written by hand."""

import asyncio
import json
import time
from typing import Any

import slipring
from slipring import Parameter

MS = 1_000_000
WAIT_S = 60


def totals(subscription: str = "jet/#", arrivals: int = 10, **other: Any) -> dict[str, Any]:
    """A subscription of a report whose intervals are 100 ms, as it wished."""
    return {
        "subscription": subscription,
        "wish_ns": 100 * MS,
        "arrivals": arrivals,
        "sum_ns": arrivals * 100 * MS,
        "max_ns": 100 * MS if arrivals else 0,
        "within_1_percent": arrivals,
        "within_5_percent": arrivals,
        **other,
    }


def report(*subscriptions: dict[str, Any]) -> bytes:
    return json.dumps({"subscriptions": subscriptions}).encode()


HOSTILE = [
    b"",
    b"\x00\xff",
    b"[" * 50_000,
    b'{"subscriptions": 7}',
    report({"subscription": "\ud800", "wish_ns": 100 * MS}),
    report(totals(wish_ns=float("nan"))),
    report(totals(sum_ns=10**30)),
    report(totals(arrivals=-1)),
    report(*[totals(str(number)) for number in range(1_001)]),
    b'{"subscriptions": [' + b" " * (256 << 10) + b"]}",
]
"""Reports that must be set aside, and must not stop anything."""


async def publish_at_50_hz(url: str, prefix: str, ready: asyncio.Event) -> None:
    """Samples of a parameter, until it is cancelled."""
    async with slipring.connect(url) as bus:
        declared = await bus.declare(prefix, {"rpm": Parameter("f64", rate_hz=50)}, beat_ms=0)
        ready.set()
        while True:
            declared.write({"rpm": time.time()})
            await asyncio.sleep(0.02)


async def select_and_report(url: str, client_id: str, chosen: str, arrivals: int) -> float:
    """Select at 10 Hz, read so many arrivals and report; the mean interval by the wall clock."""
    seen = dict[int, int]()
    async with (
        slipring.connect(url, client_id=client_id, report_arrivals_s=0.2) as bus,
        bus.select(chosen, rate_hz=10) as frames,
    ):
        while len(seen) < arrivals:
            frame = await asyncio.wait_for(anext(frames), WAIT_S)
            if frame.header.published is not None:
                seen.setdefault(frame.sent_ns, frame.arrival.arrived_ns)
    times = list(seen.values())
    return (times[-1] - times[0]) / (len(times) - 1)
