"""The parameters of one client: declaring, selecting, following the broker's table."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Iterator

from slipring.client.arrivals import ArrivalReports
from slipring.client.changes import Changes, Followers
from slipring.client.choice import ParameterChoice
from slipring.client.clock import Clock
from slipring.client.connection import ClientConnection
from slipring.client.current import current_samples
from slipring.client.declaration import Declaration
from slipring.client.declared import Declared, FrameOptions
from slipring.client.desk import Desk
from slipring.client.incoming import Incoming
from slipring.client.mirror import EVERYTHING, Mirror
from slipring.client.reconnecting import Work
from slipring.frames.table import Table
from slipring.model import Message, Refusal, Sample

REFUSED = "$slipring/refused"
CLOSE_S = 10.0
"""How long closing waits for samples to be written."""

log: logging.Logger = logging.getLogger("slipring.client")


class Parameters(Desk[Declared]):
    """The parameters that one client declares and selects."""

    def __init__(self, connection: ClientConnection, clock: Clock) -> None:
        super().__init__(connection, "table")
        self.clock = clock
        self.mirror: Mirror = Mirror(self)
        every_s = connection.report_arrivals_s
        self.arrivals: ArrivalReports | None = (
            None if every_s is None else ArrivalReports(connection, every_s)
        )
        self._followers: Followers[Refusal] = Followers()
        self._refused: Incoming | None = None
        self._hearing = asyncio.Lock()
        self._watching = contextlib.ExitStack()
        self._watching.enter_context(clock.kept(self._tell_skew))

    async def table(self) -> Table:
        """All parameters of the broker, kept as they change."""
        return await self.mirror.cover([EVERYTHING])

    async def declare(self, declaration: Declaration, options: FrameOptions) -> Declared:
        """See `Bus.declare`."""
        await self._hear_refusals()
        await self.clock.known()  # so that the first frame already carries the offset
        declared = await self.add(Declared(self, declaration, options))
        if self.clock.offset_ns is not None:
            declared.set_skew(self.clock.offset_ns)
        return declared

    async def current(self, choice: ParameterChoice) -> dict[str, Sample]:
        """See `Bus.current`."""
        samples, _ = await current_samples(self, self.mirror, choice)
        return samples

    async def newest(self, name: str) -> Sample:
        """See `Bus.newest`."""
        choice = ParameterChoice([], [name])
        samples, missing = await current_samples(self, self.mirror, choice)
        if name in samples:
            return samples[name]
        why = missing.get(name, "it never had a sample")
        raise KeyError(f"no sample of {name!r} is at {self.connection.native.url}: {why}")

    async def refusals(self) -> Changes[Refusal]:
        """What the broker refuses from now on."""
        await self._hear_refusals()
        return self._followers.follow()

    async def close(self) -> int:
        """Sends what is gathered, if there is a connection, and ends the tasks.

        Returns how many bytes of samples were not sent.
        """
        try:
            closing = [declared.finish(CLOSE_S) for declared in self._declared]
            return sum(await asyncio.gather(*closing))
        finally:
            if self.arrivals is not None:
                self.arrivals.close()
            self.end()

    def end(self) -> None:
        super().end()
        self._watching.close()
        self.mirror.end()
        self._followers.tell(None)

    def _tell_skew(self, offset_ns: int) -> None:
        for declared in self._declared:
            declared.set_skew(offset_ns)

    def _works(self) -> Iterator[Work]:
        yield self.clock.refresh  # another computer may answer at this address now
        yield from super()._works()
        yield self.mirror.reload

    async def _hear_refusals(self) -> None:
        async with self._hearing:
            if self._refused is None:
                refused = Incoming(self.connection, self._hear_refusal)
                await refused.subscribe([REFUSED])
                self._refused = refused

    def tell_refusal(self, refusal: Refusal) -> None:
        """Tells the log and all who follow refusals."""
        log.warning(
            "the broker at %s refused %d frames or samples for %s: %s",
            *(self.connection.native.url, refusal.count, refusal.topic, refusal.message),
        )
        self._followers.tell(refusal)

    def _hear_refusal(self, message: Message) -> None:
        told = json.loads(message.payload)
        refusal = Refusal(told["topic"], told["error"], told["message"], told["count"])
        self.tell_refusal(refusal)
