"""Ages and hops with clocks that differ: right from the first frame on, or None."""

import asyncio
import contextlib
import time

import pytest

import slipring
from slipring import Parameter
from slipring.client import selection
from slipring.client.clock import Clock, SystemClocks
from slipring.client.subscription import Subscription
from slipring.errors import NoAnswer

WAIT_S = 60
HOUR_NS = 3600 * 10**9
MINUTE_S = 60
"""Much longer than a frame takes, much shorter than the clocks differ."""


class OtherClocks(SystemClocks):
    """A machine whose clock is wrong."""

    def __init__(self, wrong_ns: int) -> None:
        self._wrong_ns = wrong_ns

    def wall_ns(self) -> int:
        return time.time_ns() + self._wrong_ns

    time_ns = wall_ns


@pytest.fixture(autouse=True)
def only_before_the_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """The measuring in the background may be early enough, or not: here it is not."""
    monkeypatch.setattr(Clock, "kept", lambda *_: contextlib.nullcontext())


def read_elsewhere(monkeypatch: pytest.MonkeyPatch, reader: slipring.Bus, wrong_ns: int) -> None:
    """The reader is on a machine whose clock is wrong; its publisher is not."""
    fetch = Subscription.fetch_frames

    async def fetch_frames(self: Subscription) -> list[tuple[bytes, int]]:
        return [(frame, at_ns + wrong_ns) for frame, at_ns in await fetch(self)]

    monkeypatch.setattr(Subscription, "fetch_frames", fetch_frames)
    monkeypatch.setattr(selection, "time", OtherClocks(wrong_ns))
    reader.clock._clocks = OtherClocks(wrong_ns)


async def first(frames: slipring.Selection) -> slipring.Frame:
    async with asyncio.timeout(WAIT_S):
        return await anext(frames)


@pytest.mark.parametrize("wrong_ns", [-HOUR_NS, HOUR_NS])
async def test_the_first_frame_has_its_age_though_the_readers_clock_is_wrong(
    table_url: str, monkeypatch: pytest.MonkeyPatch, wrong_ns: int
) -> None:
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        engine = await bus.declare(f"hops/{wrong_ns}", {"rpm": Parameter("f64")})
        read_elsewhere(monkeypatch, other, wrong_ns)
        async with other.select(*engine.topics) as frames:
            engine.write({"rpm": 1.0})
            await engine.flush()
            frame = await first(frames)
            while not len(frame):
                frame = await first(frames)
    assert frame.hops is not None
    assert frame.uncertainty_s is not None
    assert all(abs(one) < MINUTE_S for one in frame.hops)
    assert abs(frame.age_s) < MINUTE_S
    assert bus.clock.uncertainty_ns is not None
    both_s = frame.uncertainty_s + bus.clock.uncertainty_ns / 10**9
    assert frame.hops.network_s >= -2 * both_s, "the publisher's clock is uncertain too"


async def test_the_first_frame_of_a_publisher_tells_of_its_clock(table_url: str) -> None:
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        bus.clock._clocks = OtherClocks(HOUR_NS)
        engine = await bus.declare("hops/publisher", {"rpm": Parameter("f64")})
        async with other.select(*engine.topics) as frames:
            engine.write({"rpm": 1.0})
            await engine.flush()
            frame = await first(frames)
    assert frame.header.published is not None
    assert abs(frame.header.published.skew_ns + HOUR_NS) < MINUTE_S * 10**9


async def test_hops_by_a_clock_that_was_not_measured_are_not_told(
    table_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_answer(self: Clock, timeout_s: float) -> None:
        raise NoAnswer("nobody knows")

    async with slipring.connect(table_url) as bus:
        engine = await bus.declare("hops/unknown", {"rpm": Parameter("f64")})
        monkeypatch.setattr(Clock, "_measure", no_answer)
        async with slipring.connect(table_url) as other, other.select(*engine.topics) as frames:
            engine.write({"rpm": 1.0})
            await engine.flush()
            frame = await first(frames)
    assert (frame.hops, frame.uncertainty_s) == (None, None)
