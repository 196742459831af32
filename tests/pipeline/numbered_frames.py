"""A publisher of numbered samples that knows which ones the broker has acknowledged, at QoS 2.

Its session outlives its connections, so that each message is in the journal once, although the
broker is killed.
"""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import slipring
from slipring import Parameter
from slipring.model import Kind
from slipring.native import encode_frame
from slipring.recording.history.read.recorded_messages import FRAME

T0_NS = 1_763_000_000_000_000_000
PREFIX = "jet"
PARAMETERS = {
    "egt": Parameter("f64", unit="Cel"),
    "phase": Parameter("text"),
    "plain": Parameter("f64"),
}
TIMES = 5
"""Samples of each parameter in a frame."""


class NumberedSample(NamedTuple):
    """A sample as the lake must have it."""

    parameter: str
    source_ns: int
    value: float | None
    text: str | None


class NumberedFrames:
    """Publishes; `acknowledged` has every sample that the broker has confirmed."""

    def __init__(self, bus: slipring.Bus, declared: slipring.Declared) -> None:
        self.acknowledged = Counter[NumberedSample]()
        self.frames = 0
        self._bus = bus
        self._table = declared.table
        self._indices = dict(zip(declared.names, declared.indices.tolist(), strict=True))
        self._next = 0

    async def publish(self, count: int) -> None:
        """So many frames, and a plain message of a parameter after each, one after the other."""
        for _ in range(count):
            number, self._next = self._next, self._next + 1
            times = [T0_NS + number * 1_000 + one for one in range(TIMES)]
            await self._publish_frame(number, times)
            value = number + 0.25
            await self._bus.publish(
                f"{PREFIX}/plain", value, qos=2, properties={"time": str(times[0])}
            )
            self.acknowledged[NumberedSample(f"{PREFIX}/plain", times[0], value, None)] += 1

    async def _publish_frame(self, number: int, times: list[int]) -> None:
        egt = [(time, 500.0 + time % 1_000_000) for time in times]
        phase = [(time, f"phase {time % 1_000_000}") for time in times]
        numbers = [(self._indices["egt"], time, 0, value) for time, value in egt]
        texts = [(self._indices["phase"], time, 0, text) for time, text in phase]
        runs = [("samples", int(Kind.F64), numbers), ("samples", int(Kind.TEXT), texts)]
        frame = encode_frame(
            runs,  # type: ignore[arg-type]
            table=self._table,
            sequence=number,
            sent_ns=times[-1],
        )
        await self._bus.publish(PREFIX, frame, qos=2, content_type=FRAME)
        self.frames += 1
        for time, value in egt:
            self.acknowledged[NumberedSample(f"{PREFIX}/egt", time, value, None)] += 1
        for time, text in phase:
            self.acknowledged[NumberedSample(f"{PREFIX}/phase", time, None, text)] += 1


@asynccontextmanager
async def numbered_frames(url: str) -> AsyncIterator[NumberedFrames]:
    """A publisher with parameters of its own."""
    async with slipring.connect(url, client_id="numbers", session_expiry_s=3600) as bus:
        yield NumberedFrames(bus, await bus.declare(PREFIX, PARAMETERS))
