"""Messages in bulk: the in-flight window is kept full, acknowledgements are counted in Rust."""

import asyncio
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from slipring.client.connection import ClientConnection
from slipring.client.payload import Value, encode
from slipring.model import Message
from slipring.native import Messages

CHUNK = 1024
"""Messages handed over at once; other tasks of the loop get a turn in between."""
COLUMNS_CHUNK = 8192
"""The same for messages that need no conversion."""
NO_MESSAGE = "a message is a slipring.Message, or a tuple of a topic and a payload"

Row = Message | tuple[str, Value] | tuple[str, Value, bool]


class Publisher:
    """What `Bus.publisher` returns: enter it, then send. Leaving waits for the broker."""

    def __init__(self, connection: ClientConnection, qos: int) -> None:
        self._connection = connection
        self._qos = qos
        self._batch: int | None = None
        self._settled = 0

    @property
    def settled(self) -> int:
        """Messages up to the first that the broker has neither acknowledged nor refused.

        For a refused one, `send`, `flush` and leaving the block raise.
        """
        if self._batch is not None:
            self._settled = self._connection.native.tally(self._batch)[2]
        return self._settled

    @property
    def accepted(self) -> int:
        """Messages given, while it is open."""
        return self._tally()[0]

    @property
    def outstanding(self) -> int:
        """Messages that the broker has neither acknowledged nor refused, while it is open."""
        return self._tally()[1]

    async def __aenter__(self) -> "Publisher":
        if self._batch is not None or self._settled:
            raise RuntimeError("a publisher is entered once; call bus.publisher() again")
        self._batch = self._connection.open_batch()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self._batch is not None
        try:
            if kind is None:
                await self.flush()
        finally:
            self._settled = self.settled
            self._connection.close_batch(self._batch)
            self._batch = None

    async def send(self, messages: Iterable[Row]) -> None:
        """Accepts messages to be sent; waits while the outbox is full, not for the broker.

        A message is a `Message`, or a tuple of its first fields: (topic, payload). Raises
        PublishRefused once the broker has refused one, after all that were sent are answered;
        ConnectionLost, InvalidTopic, Refused.
        """
        if self._batch is None:
            raise RuntimeError("write `async with bus.publisher() as publisher`, then send")
        for rows in _chunks(messages):
            done = 0
            while done < len(rows):
                done += await self._accept(self._batch, rows, done)
                if self._tally()[3] is not None:
                    await self.flush()
            await asyncio.sleep(0)

    async def send_columns(self, messages: Messages, start: int, end: int) -> None:
        """Like `send`, for messages that are in Rust already; each is sent at its own QoS."""
        if self._batch is None:
            raise RuntimeError("write `async with bus.publisher() as publisher`, then send")
        while start < end:
            stop = min(end, start + COLUMNS_CHUNK)
            part = partial(self._publish_part, self._batch, messages, start, stop)
            start += await self._connection.send(part)
            if self._tally()[3] is not None:
                await self.flush()
            await asyncio.sleep(0)

    async def flush(self) -> None:
        """Waits until the broker has acknowledged every message so far. Raises like `send`."""
        assert self._batch is not None
        while (tally := self._tally())[1]:
            await self._connection.tallied(self._batch)
        if tally[3] is not None:
            index, code, text = tally[3]
            which = "the message" if tally[0] == 1 else f"message number {index + 1}"
            raise self._connection.fault(code, f"refused {which}: {text}", index)

    async def _accept(self, batch: int, rows: list[Any], done: int) -> int:
        native = self._connection.native
        accepted = native.publish_many(batch, rows, done, self._qos)
        if accepted == 0:
            accepted = await self._connection.send(
                lambda: native.publish_many(batch, rows, done, self._qos) or None
            )
        return accepted

    def _publish_part(self, batch: int, messages: Messages, start: int, end: int) -> int | None:
        """How many were accepted; None while the outbox is full."""
        return self._connection.native.publish_messages(batch, messages, start, end) or None

    def _tally(self) -> tuple[int, int, int, tuple[int, int, str] | None]:
        assert self._batch is not None
        return self._connection.native.tally(self._batch)


def _chunks(messages: Iterable[Row]) -> Iterator[list[Any]]:
    source = iter(messages)
    while rows := list(islice(source, CHUNK)):
        try:
            yield [row if type(row[1]) is bytes else _encoded(row) for row in rows]
        except IndexError:
            raise TypeError(NO_MESSAGE) from None


def _encoded(row: Row) -> tuple[Any, ...]:
    if not isinstance(row, tuple):
        raise TypeError(NO_MESSAGE)
    return (row[0], encode(row[1]), *row[2:])
