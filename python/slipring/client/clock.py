"""The broker's clock as this client knows it: measured, and measured again while it is needed."""

import asyncio
import struct
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import TypeAlias

from slipring.client.exchange import Exchange, OffsetEstimate
from slipring.errors import ConnectionLost, NoAnswer, SlipringError

Ask: TypeAlias = Callable[[float], Awaitable[bytes]]
"""Pings the broker, with a time-out in seconds; returns its answer."""
ANSWER_S = 10.0
ANSWER = struct.Struct("<qq")
"""When the broker read the ping and when it wrote the answer; the ping's own bytes follow."""
FIRST, FIRST_S = 8, 0.02
"""Exchanges at the beginning, and the time between them: a single one may be slow."""
AGAIN_S = 5.0
REFUSED_S = 60.0
"""When to ask a broker again that does not know this request."""


class SystemClocks:
    """The two clocks of this computer."""

    def wall_ns(self) -> int:
        """Nanoseconds since 1970; people and NTP make it jump."""
        return time.time_ns()

    def steady_ns(self) -> int:
        """Nanoseconds since some moment; never jumps."""
        return time.monotonic_ns()


class Clock:
    """What is known of the broker's clock; see `Bus.clock`."""

    def __init__(self, ask: Ask, clocks: SystemClocks | None = None) -> None:
        self._ask = ask
        self._clocks = clocks or SystemClocks()
        self._estimate = OffsetEstimate()
        self._keepers = 0
        self._keeping: asyncio.Task[None] | None = None
        self._told: list[Callable[[int], None]] = []

    @property
    def offset_ns(self) -> int | None:
        """The broker's clock minus this computer's; None before the first measurement."""
        best = self._estimate.best
        return None if best is None else best.offset_ns

    @property
    def uncertainty_ns(self) -> int | None:
        """How wrong `offset_ns` can be at most; it grows with time."""
        return self._estimate.uncertainty_ns(self._clocks.steady_ns())

    @property
    def round_trip_ns(self) -> int | None:
        """The quickest of the last round trips to the broker."""
        best = self._estimate.best
        return None if best is None else best.round_trip_ns

    async def measure(self, times: int = 1, *, timeout_s: float = ANSWER_S) -> Exchange:
        """Asks the broker this many times; returns the last exchange.

        Raises NoAnswer, PublishRefused (not a Slipring broker), or ConnectionLost.
        """
        for _ in range(times - 1):
            await self._measure(timeout_s)
        return await self._measure(timeout_s)

    async def refresh(self) -> bool:
        """Asks the broker once; whether it answered. Raises ConnectionLost."""
        try:
            await self._measure(ANSWER_S)
        except ConnectionLost:
            raise
        except SlipringError:
            return False
        return True

    async def known(self) -> None:
        """Measures if nothing was measured yet. A broker that does not answer leaves it unknown."""
        if self.offset_ns is None:
            await self.refresh()

    @contextmanager
    def kept(self, tell: Callable[[int], None] | None = None) -> Iterator[None]:
        """Measures in the background; `tell` is called with every new offset."""
        if tell is not None:
            self._told.append(tell)
            if (known := self.offset_ns) is not None:
                tell(known)
        self._keepers += 1
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.get_running_loop().create_task(self._keep())
        try:
            yield
        finally:
            self._keepers -= 1
            if tell is not None:
                self._told.remove(tell)
            if self._keepers == 0:
                self._keeping.cancel()

    async def _measure(self, timeout_s: float) -> Exchange:
        sent_ns, begun_ns = self._clocks.wall_ns(), self._clocks.steady_ns()
        answer = await self._ask(timeout_s)
        at_ns = self._clocks.steady_ns()
        if len(answer) < ANSWER.size:
            raise NoAnswer("the broker's answer to a ping has no times")
        # By the steady clock, so that a jump of the other one does not change the round trip.
        received_ns = sent_ns + at_ns - begun_ns
        read_ns, written_ns = ANSWER.unpack_from(answer)
        exchange = Exchange(sent_ns, read_ns, written_ns, received_ns, at_ns)
        before = self.offset_ns
        self._estimate.take(exchange)
        if (now := self.offset_ns) is not None and now != before:
            for tell in self._told:
                tell(now)
        return exchange

    async def _keep(self) -> None:
        with suppress(ConnectionLost):  # there is no broker to measure any more
            for number in count(1):
                known = await self.refresh()
                pause_s = FIRST_S if number < FIRST else AGAIN_S
                await asyncio.sleep(pause_s if known else REFUSED_S)
