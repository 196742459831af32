"""Frames of the parameters that a reader chose, to iterate over. Fetches only what is asked for."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator
from operator import is_

from slipring.client.arrivals import ArrivalCounter
from slipring.client.choice import ParameterChoice
from slipring.client.needs import Needs
from slipring.client.parameters import Parameters
from slipring.client.subscription import Subscription
from slipring.errors import FrameError, Refused, SlipringError
from slipring.frames.arrays import Indices
from slipring.frames.decoding import decode
from slipring.frames.frame import Frame
from slipring.frames.header import FrameArrival
from slipring.frames.table import Table
from slipring.model import TableChange

log: logging.Logger = logging.getLogger("slipring.client")


class Selection:
    """What `Bus.select` returns: enter it, then iterate over its frames.

    The first frames have the current values of everything chosen. With a rate, a slow reader gets
    fewer and fuller frames.
    """

    def __init__(self, desk: Parameters, choice: ParameterChoice, needs: Needs) -> None:
        self.needs = needs
        self.missing: dict[str, str] = {}
        """Names that are not there, and why; one that is declared later is removed from it."""
        self._desk = desk
        self._choice = choice
        self._name = desk.connection.new_name()
        self._inner: Subscription | None = None
        self._was_entered = False
        self._taken: deque[tuple[bytes, int]] = deque()
        self._familiar: tuple[Table | None, list[Indices]] = None, []
        """The table, and the parameters of the last frame, all of which it knows."""
        self._choosing: asyncio.Task[None] | None = None
        self._is_outdated = False
        """The table has changed since the names were looked up."""
        self._is_closed = False
        self._arrivals: ArrivalCounter | None = None
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> "Selection":
        if self._was_entered:
            raise RuntimeError("a selection is entered once; call bus.select() again")
        self._was_entered = True
        await self._desk.clock.known()  # so that the first frame already has its age
        table = await self._desk.mirror.cover(self._choice.filters, self._choice.names or ())
        await self._choose()
        if self._desk.arrivals is not None and self._inner is not None:
            self._arrivals = self._desk.arrivals.begin(
                self._choice, self.needs, self._inner.filters, self._desk.mirror
            )
        if self._choice.names is not None:
            self._desk.mirror.listen(self._on_change)
        if absent := self._choice.absent(table, self.missing):
            url = self._desk.connection.native.url
            log.warning("no parameter at %s matches %s yet; later ones are delivered", url, absent)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the selection and every iteration over it; closing twice is fine."""
        self._is_closed = True
        self._desk.mirror.leave(self._on_change)
        if self._arrivals is not None and self._desk.arrivals is not None:
            self._desk.arrivals.finish(self._arrivals)
        if self._choosing is not None:
            self._choosing.cancel()
        inner, self._inner = self._inner, None
        if inner is not None:
            inner.unsubscribe()

    def __aiter__(self) -> "Selection":
        return self

    async def __anext__(self) -> Frame:
        if not await self._is_filled():
            raise StopAsyncIteration
        (frame,) = await self._decoded(1)
        return frame

    async def frames(self) -> AsyncIterator[list[Frame]]:
        """The same frames in lists of all that wait; `Frame.joined` makes one frame of a list."""
        while await self._is_filled():
            yield await self._decoded(len(self._taken))

    async def collect(self, seconds: float) -> Frame:
        """All that arrives within this many seconds, as one frame; it may be empty.

        `(await frames.collect(60)).to_pandas()` is a minute of what was chosen.
        """
        found = list[Frame]()
        try:
            async with asyncio.timeout(seconds):
                async for some in self.frames():
                    found += some
        except TimeoutError:
            pass
        table = self._desk.mirror.table
        mine = [frame for frame in found if frame.table is table]
        if len(mine) < len(found):
            log.warning("%d frames of another table were left out", len(found) - len(mine))
        return Frame.joined(mine) if mine else Frame.empty(table)

    async def _is_filled(self) -> bool:
        """Waits until at least one frame is there; false once the selection is closed."""
        if not self._was_entered:
            raise RuntimeError(
                "write `async with bus.select(...) as frames` (`with`, in slipring.sync), "
                "then iterate"
            )
        while not self._taken and (inner := self._inner) is not None:
            try:
                self._taken.extend(await inner.fetch_frames())
            except Refused:
                # A broker that has started again does not know the list of names any more.
                if self._choice.names is None:
                    raise
                await self._choose(refused=inner)
                continue
            if not self._taken and inner is self._inner:
                return False
        return bool(self._taken)

    async def _decoded(self, count: int) -> list[Frame]:
        """The oldest frames. After FrameError they are gone; after other errors they are kept."""
        taken = [self._taken.popleft() for _ in range(count)]
        try:
            return [await self._decode(payload, arrived_ns) for payload, arrived_ns in taken]
        except FrameError:
            raise
        except BaseException:
            self._taken.extendleft(reversed(taken))
            raise

    async def _decode(self, payload: bytes, arrived_ns: int) -> Frame:
        mirror, now_ns = self._desk.mirror, time.time_ns()
        clock = self._desk.clock
        offset_ns, uncertainty_ns = clock.offset_ns or 0, clock.uncertainty_ns
        arrival = FrameArrival(arrived_ns or now_ns, now_ns, offset_ns, uncertainty_ns)
        frame = decode(payload, mirror.table, arrival)
        if self._has_unknown(frame):
            # The broker may have announced its parameters, and we have not listed them yet.
            table = await mirror.catch_up(frame.header.table)
            frame = Frame(table, frame.runs, frame.header, arrival)
        if self._arrivals is not None and frame.header.published is not None:
            # Without hops it has only values from before the selection, sent out of turn.
            steady_ns = time.monotonic_ns() - (time.time_ns() - arrival.arrived_ns)
            self._arrivals.note(frame.header.sent_ns, steady_ns)
        return frame

    def _has_unknown(self, frame: Frame) -> bool:
        """Whether it has parameters that the table does not know.

        Most frames have the same parameters as the last one: then nothing is looked up.
        """
        table, indices = frame.table, [run.indices for run in frame.runs]
        if frame.header.table != table.identity:
            return True
        known, before = self._familiar
        if known is table and len(before) == len(indices) and all(map(is_, before, indices)):
            return False
        is_known = all(map(table.knows, indices))
        self._familiar = (table, indices) if is_known else (None, [])
        return not is_known

    async def _choose(self, refused: Subscription | None = None) -> None:
        """Subscribes to what the names mean now, and ends the earlier subscription."""
        async with self._lock:
            before = self._inner
            if refused is None or refused is before:
                await self._replace(before, is_refused=refused is not None)

    async def _replace(self, before: Subscription | None, *, is_refused: bool) -> None:
        chosen = await self._choice.resolve(self._desk)
        self.missing = chosen.missing
        filters = tuple(self._name + one for one in chosen.filters)
        if before is not None and before.filters == filters and not is_refused:
            return
        inner = Subscription(self._desk.connection, filters, 0, self.needs.properties("frame"))
        await inner.__aenter__()
        if self._is_closed:
            inner.unsubscribe()
            return
        self._inner = inner
        if before is not None:
            before.unsubscribe()

    def _on_change(self, change: TableChange) -> None:
        """Chooses again if one of the names was added, or has another index now."""
        names = set(self._choice.names or ())
        is_ours = change.event == "replaced" or (
            change.event in {"added", "removed"} and not names.isdisjoint(change.names)
        )
        self._is_outdated |= is_ours
        if is_ours and (self._choosing is None or self._choosing.done()):
            self._choosing = asyncio.get_running_loop().create_task(self._choose_again())

    async def _choose_again(self) -> None:
        try:
            while self._is_outdated:
                self._is_outdated = False
                await self._choose()
        except SlipringError as error:
            log.warning(
                "cannot update a selection at %s: %s", self._desk.connection.native.url, error
            )
