"""Newest samples and rates of the rows on the screen. Only these are selected at the broker."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field

from slipring.cli.top_board import Ranking
from slipring.client import Bus
from slipring.frames import Frame
from slipring.model import Sample

BEAT_MS = 500
"""The broker gathers the samples of the rows for so long: two frames a second."""
RANK_HZ = 0.5
"""How often all parameters are looked at, when they are sorted by value, age or quality."""
RATE_S = 4.0
"""Rates are over this time."""


@dataclass
class Readings:
    """What is known of the rows."""

    samples: dict[str, Sample] = field(default_factory=dict)
    _frames: deque[tuple[int, Counter[str]]] = field(default_factory=deque)
    """When each of the last frames was sent, and how many samples it had of each parameter."""

    def take(self, frame: Frame) -> None:
        """Take the samples of a frame."""
        counts: Counter[str] = Counter()
        for name in frame.names:
            self.samples[name] = frame[name]
            counts[name] = len(frame.samples(name).times)
        self._frames.append((frame.sent_ns, counts))
        while self._frames[0][0] < frame.sent_ns - RATE_S * 1e9:
            self._frames.popleft()

    def rate_hz(self, name: str) -> float | None:
        """Samples per second; None until there are two frames."""
        if len(self._frames) < 2:
            return None
        seconds = (self._frames[-1][0] - self._frames[0][0]) / 1e9
        later = list(self._frames)[1:]  # the first one may have the values from before
        return sum(counts[name] for _, counts in later) / seconds if seconds > 0 else None

    def frozen(self) -> "Readings":
        """A copy that does not change any more."""
        return Readings(dict(self.samples), copy(self._frames))


class RowWatcher:
    """Selects the rows that are on the screen, and all for the order if it needs them."""

    def __init__(self, bus: Bus, tasks: asyncio.TaskGroup, tell: Callable[[], None]) -> None:
        self.readings: Readings = Readings()
        self.ranking: Ranking = Ranking()
        self._bus = bus
        self._tasks = tasks
        self._tell = tell
        self._names: list[str] = []
        self._reading: asyncio.Task[None] | None = None
        self._ranked: list[str] | None = None
        self._rating: asyncio.Task[None] | None = None

    def watch(self, names: list[str]) -> None:
        """Select these rows, and no others."""
        if names == self._names:
            return
        self.stop_reading()
        known = self.readings.samples
        self.readings = Readings({name: known[name] for name in names if name in known})
        self._names = names
        if names:
            self._reading = self._tasks.create_task(self._read(names, self.readings))

    def rank(self, filters: list[str] | None) -> None:
        """Follow all that these filters choose; nothing, for None."""
        if filters == self._ranked:
            return
        if self._rating is not None:
            self._rating.cancel()
        self._ranked = filters
        self._rating = None if filters is None else self._tasks.create_task(self._rate(filters))

    def stop_reading(self) -> None:
        """Select no rows."""
        if self._reading is not None:
            self._reading.cancel()
        self._reading, self._names = None, []

    async def _read(self, names: list[str], readings: Readings) -> None:
        async with self._bus.select(names=names, beat_ms=BEAT_MS) as frames:
            async for frame in frames:
                readings.take(frame)
                self._tell()

    async def _rate(self, filters: list[str]) -> None:
        async with self._bus.select(*filters, rate_hz=RANK_HZ) as frames:
            async for frame in frames:
                self.ranking.update(frame)
                self._tell()
