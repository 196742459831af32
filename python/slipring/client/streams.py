"""The streams of one client: declaring, writing, listing."""

import asyncio
from typing import Any

from slipring.client.connection import ClientConnection
from slipring.client.desk import NOT_AUTHORIZED, Desk
from slipring.errors import ConnectionLost, PublishRefused
from slipring.model import Stream

AGAIN = -1
"""The stream has to be declared on this connection first."""


class Streams(Desk["StreamWriter"]):
    """The streams of one client."""

    def __init__(self, connection: ClientConnection) -> None:
        super().__init__(connection, "streams")

    async def declare(self, name: str, body: dict[str, Any], qos: int) -> "StreamWriter":
        """See `Bus.declare_stream`."""
        return await self.add(StreamWriter(self, name, body, qos))

    async def list(self, chosen: str) -> list[Stream]:
        """See `Bus.streams`."""
        pages = self.pages("list", {"filter": chosen})
        return [Stream.of(row) async for page in pages for row in page["streams"]]

    def close(self) -> None:
        """Closes the writers."""
        self.end()
        for writer in [*self._declared]:
            writer.close()


class StreamWriter:
    """What `Bus.declare_stream` returns: `await writer.write(chunk)`.

    It is declared again by itself on every new connection; a chunk waits for that.
    """

    def __init__(self, desk: Streams, name: str, body: dict[str, Any], qos: int) -> None:
        self.name = name
        self.index: int = 0
        """The stream's number at the broker."""
        self._desk = desk
        self._body = body
        self._qos = qos
        self._declared_on: int | None = None
        """The number of the connection that it is declared on."""
        self._lock = asyncio.Lock()
        self._is_closed = False

    async def write(self, chunk: bytes, *, time_ns: int | None = None) -> None:
        """Sends a chunk, made at this time or now; waits while there is no room or no connection.

        At QoS 0 it is accepted to be sent, at QoS 1 the broker has it. Raises PublishRefused,
        Refused if it is larger than the broker takes, DeclareRefused, ConnectionLost.
        """
        payload, properties = bytes(chunk), None
        if time_ns is not None:
            properties = ([("time", str(time_ns))], None, None, None, None)
        while not await self._sent(payload, properties):
            await self.declare()

    async def _sent(self, payload: bytes, properties: Any) -> bool:
        """Whether the broker takes it; false if the stream has to be declared first."""
        native = self._desk.connection.native

        def attempt() -> int | None:
            if self._is_closed:
                raise ConnectionLost(f"the stream {self.name!r} is closed")
            if self._declared_on != native.connection:
                return AGAIN
            return native.publish(self.name, payload, self._qos, False, properties)

        sent, connection = await self._desk.connection.send(attempt), self._declared_on
        if sent == AGAIN or not self._qos:
            return sent != AGAIN
        try:
            await self._desk.connection.acknowledged(sent)
        except PublishRefused as refused:
            # Sent again on another connection, before the stream was declared there.
            if refused.code != NOT_AUTHORIZED or connection == native.connection:
                raise
            return False
        return True

    async def declare(self) -> None:
        """Declares it on this connection, if it is not; raises DeclareRefused."""
        async with self._lock:
            if self._declared_on != self._desk.connection.native.connection:
                self._declared_on, answer = await self._desk.on_one_connection(
                    lambda: self._desk.ask("declare", {"streams": [self._body]})
                )
                self.index = answer["indices"][0]

    async def remove(self) -> None:
        """Removes the stream for everybody, with the chunks that the broker keeps."""
        self.close()
        await self._desk.remove([self.name])

    def close(self) -> None:
        """Takes no more chunks; the stream stays declared. Closing twice is fine."""
        self._is_closed = True
        self._desk.forget(self)
