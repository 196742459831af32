"""All of a connection that has to do with parameters, made when it is first needed."""

import asyncio
import contextlib
import json
import logging
import weakref
from collections.abc import Awaitable, Callable

from slipring.client.asking import Asking
from slipring.client.changes import Changes
from slipring.client.choice import Choice
from slipring.client.clock import Clock
from slipring.client.current import current_samples
from slipring.client.declaration import Declaration
from slipring.client.declared import Declared, Manner
from slipring.client.incoming import Incoming
from slipring.client.link import Link
from slipring.client.mirror import EVERYTHING, Mirror
from slipring.errors import NoAnswer, SlipringError
from slipring.frames.table import Table
from slipring.model import ConnectionChange, Message, Refusal, Sample

REFUSED = "$slipring/refused"
CLOSE_S = 10.0
"""How long closing waits for samples to be written."""

log = logging.getLogger("slipring.client")


class Parameters:
    """Declares and selects over one link, and does it again on each new connection."""

    def __init__(self, link: Link, clock: Clock) -> None:
        self.link = link
        self.clock = clock
        self.asking = Asking(link)
        self.mirror = Mirror(link, self.asking)
        self._declared: set[Declared] = set()
        self._followers: weakref.WeakSet[Changes[Refusal]] = weakref.WeakSet()
        self._refused: Incoming | None = None
        self._hearing = asyncio.Lock()
        changes = link.changes()
        self._keeping = asyncio.get_running_loop().create_task(self._keep(changes))
        self._watching = contextlib.ExitStack()
        self._watching.enter_context(clock.kept(self._tell_skew))

    async def table(self) -> Table:
        """All parameters of the broker, kept as they change."""
        return await self.mirror.cover([EVERYTHING])

    async def declare(self, declaration: Declaration, manner: Manner) -> Declared:
        """See `Bus.declare`."""
        await self._hear_refusals()
        await self.clock.known()  # so that already the first frame tells of it
        declared = Declared(self, declaration, manner)
        await declared.declare()
        self._declared.add(declared)
        if self.clock.offset_ns is not None:
            declared.set_skew(self.clock.offset_ns)
        return declared

    def forget(self, declared: Declared) -> None:
        """It is not declared again on another connection."""
        self._declared.discard(declared)

    async def current(self, choice: Choice) -> dict[str, Sample]:
        """See `Bus.current`."""
        samples, _ = await current_samples(self.asking, self.mirror, choice)
        return samples

    async def newest(self, name: str) -> Sample:
        """See `Bus.newest`."""
        samples, missing = await current_samples(self.asking, self.mirror, Choice([], [name]))
        if name in samples:
            return samples[name]
        why = missing.get(name, "it never had a sample")
        raise KeyError(f"no sample of {name!r} is at {self.link.native.url}: {why}")

    async def refusals(self) -> Changes[Refusal]:
        """What the broker does not take from now on."""
        await self._hear_refusals()
        changes: Changes[Refusal] = Changes()
        self._followers.add(changes)
        return changes

    async def close(self) -> int:
        """Sends what is gathered, as far as there is a connection, and ends what runs here.

        Returns how many bytes of samples were not sent.
        """
        try:
            closing = [declared.finish(CLOSE_S) for declared in self._declared]
            return sum(await asyncio.gather(*closing))
        finally:
            self._end()

    def _end(self) -> None:
        self._keeping.cancel()
        self._watching.close()
        self.mirror.end()
        for follower in self._followers:
            follower.tell(None)

    def _tell_skew(self, offset_ns: int) -> None:
        for declared in self._declared:
            declared.set_skew(offset_ns)

    async def _keep(self, changes: Changes[ConnectionChange]) -> None:
        """Declares again whenever there is another connection."""
        async for change in changes:
            if change.connected:
                await self._again()

    async def _again(self) -> None:
        """Each for itself: what is refused holds nothing else up."""
        refresh = self.clock.refresh  # it may be another machine's now
        declared = (declared.declare for declared in self._declared)
        for work in (refresh, *declared, self.mirror.reload):
            await self._until_answered(work)

    async def _until_answered(self, work: Callable[[], Awaitable[object]]) -> None:
        while True:
            try:
                await work()
            except NoAnswer as error:
                log.warning("%s; it is asked again", error)
                continue
            except SlipringError as error:
                url = self.link.native.url
                log.warning("not everything is declared again at %s: %s", url, error)
            return

    async def _hear_refusals(self) -> None:
        async with self._hearing:
            if self._refused is None:
                refused = Incoming(self.link, self._hear_refusal)
                await refused.subscribe([REFUSED])
                self._refused = refused

    def tell_refusal(self, refusal: Refusal) -> None:
        """To the log, and to who follows."""
        log.warning(
            "the broker at %s refused %d frames or samples for %s: %s",
            *(self.link.native.url, refusal.count, refusal.topic, refusal.message),
        )
        for follower in self._followers:
            follower.tell(refusal)

    def _hear_refusal(self, message: Message) -> None:
        told = json.loads(message.payload)
        refusal = Refusal(told["topic"], told["error"], told["message"], told["count"])
        self.tell_refusal(refusal)
