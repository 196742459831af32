"""Messages of some topic filters, to iterate over. Fetches only what its reader asks for."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable
from itertools import repeat
from typing import Any, Generic, Self, TypeVar, cast

from slipring.client.connection import ClientConnection
from slipring.model import Message

BATCH_COUNT_MAX = 1024
"""Messages in one batch."""
BATCH_BYTES_MAX = 1 << 20
"""Bytes in one batch, or one larger message."""
Taken = TypeVar("Taken")
Content = TypeVar("Content")
TURN_PART = 16
"""How many messages one that is taken alone counts as: 64 of them are as much work as a batch."""
FRAME_PART = 64
"""How many messages a frame counts as: 16 frames are as much work as a batch."""


class Subscription:
    """What `Bus.subscribe` returns: enter it, then iterate over it.

    Messages wait in a bounded inbox that all subscriptions of a connection share. While it is
    full, nothing more is read from the broker: a reader that stops holds up the connection, and
    nothing is dropped on this side.

    Above QoS 0 a message is acknowledged when the reader comes back for the next one, or leaves
    without an exception.
    """

    def __init__(
        self,
        connection: ClientConnection,
        filters: tuple[str, ...],
        qos: int,
        properties: tuple[tuple[str, str], ...] = (),
    ) -> None:
        if not all(isinstance(one, str) for one in filters):
            raise TypeError("filters are texts, one after the other: subscribe('a/#', 'b/#')")
        self.filters = filters
        self.qos = qos
        self.properties = properties
        """User properties of SUBSCRIBE; with them, the broker marks messages for this one alone."""
        self._connection = connection
        self._was_entered = False
        self._identity: int | None = None
        self._readable = asyncio.Event()
        self._batch: deque[Message] = deque()
        self._taken = 0
        """Messages taken since other tasks had a turn."""
        self._owed = 0
        """Above QoS 0: messages that the reader has and is not done with."""

    async def __aenter__(self) -> "Subscription":
        if self._was_entered:
            raise RuntimeError("a subscription is entered once; call bus.subscribe() again")
        self._was_entered = True
        self._identity = await self._connection.subscribe(
            self.filters, self.qos, self._readable, self.properties
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # A reader that failed acknowledges nothing: the broker sends its messages to the next one.
        self._leave(done=kind is None)

    def close(self) -> None:
        """Ends the subscription and every iteration over it; closing twice is fine.

        In a session that outlives its connection, the subscription stays at the broker.
        """
        self._leave(done=True)

    def unsubscribe(self) -> None:
        """Ends the subscription here and at the broker, also in a session that stays."""
        if self._identity is not None:
            self._connection.unsubscribe(self._identity)
        self._end()

    def _leave(self, *, done: bool) -> None:
        if not self._connection.is_durable or self.properties:
            self.unsubscribe()
            return
        if done:
            self._settle()
        if self._identity is not None:
            self._connection.detach(self._identity)
        self._end()

    def _end(self) -> None:
        self._identity = None
        self._batch.clear()
        self._readable.set()

    def __aiter__(self) -> "Subscription":
        return self

    async def __anext__(self) -> Message:
        if self._owed:
            self._settle()
        if not self._batch:
            # A message that was taken and not read could not be given back to the session.
            count_max = 1 if self.qos else BATCH_COUNT_MAX
            self._batch.extend(await self._fetch(count_max))
            if not self._batch:
                raise StopAsyncIteration
        if self.qos:
            self._owed = 1
        return self._batch.popleft()

    async def batches(self) -> AsyncIterator[list[Message]]:
        """The same messages in lists of all that wait, with less work for each message."""
        self._settle()
        batch = list(self._batch)
        self._batch.clear()
        while batch := batch or await self._fetch():
            if self.qos:
                self._owed = len(batch)
            yield batch
            self._settle()
            batch = []

    def _settle(self) -> None:
        """The reader is done with the messages it has."""
        if self._owed and self._identity is not None:
            self._connection.native.done(self._identity, self._owed)
        self._owed = 0

    async def fetch_frames(self) -> list[tuple[bytes, int]]:
        """All messages that wait, as frames at QoS 0: payloads, and when they arrived."""
        return await self._until(self._take_frames)

    async def _fetch(self, count_max: int = BATCH_COUNT_MAX) -> list[Message]:
        """All messages that wait, at least one; none once the subscription is closed."""
        batch = await self._until(lambda: self._take(count_max))
        self._taken += BATCH_COUNT_MAX if count_max > 1 else TURN_PART
        return batch

    async def _until(self, take: Callable[[], list[Taken]]) -> list[Taken]:
        """Takes as soon as there are messages."""
        if not self._was_entered:
            raise RuntimeError(
                "write `async with bus.subscribe(...) as messages` (`with`, in slipring.sync), "
                "then iterate"
            )
        if self._taken >= BATCH_COUNT_MAX:
            # Other tasks get a turn before more is taken: a task cancelled here loses nothing.
            await asyncio.sleep(0)
            self._taken = 0
        while not (batch := take()):
            if self._is_over():
                return []
            self._taken = 0
            await self._readable.wait()
        return batch

    def _take(self, count_max: int) -> list[Message]:
        if self._identity is None:
            return []
        self._readable.clear()
        rows = self._connection.native.take(self._identity, count_max, BATCH_BYTES_MAX)
        return cast("list[Message]", list(map(tuple.__new__, repeat(Message), rows)))

    def _take_frames(self) -> list[tuple[bytes, int]]:
        if self._identity is None:
            return []
        self._readable.clear()
        frames = self._connection.native.take_frames(
            self._identity, BATCH_COUNT_MAX, BATCH_BYTES_MAX
        )
        self._taken += FRAME_PART * len(frames)
        return frames

    def _is_over(self) -> bool:
        end = self._connection.end
        if self._identity in self._connection.refused:
            raise self._connection.refused[self._identity]
        if self._identity is not None and end is not None and end.cause is not None:
            raise self._connection.lost(end.cause)
        return self._identity is None or end is not None


class ContentReader(ABC, Generic[Content]):
    """What the messages of a subscription contain: enter it, then iterate over it."""

    def __init__(self, messages: Subscription) -> None:
        self._messages = messages

    async def __aenter__(self) -> Self:
        await self._messages.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._messages.__aexit__(*raised)

    def close(self) -> None:
        """Ends it, and every iteration over it; closing twice is fine."""
        self._messages.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Content:
        async for message in self._messages:
            if (content := self._content(message)) is not None:
                return content
        raise StopAsyncIteration

    @abstractmethod
    def _content(self, message: Message) -> Content | None:
        """What a message contains; None to skip it."""
