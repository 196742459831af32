"""All of a connection that has to do with streams: declaring, writing, listing."""

import asyncio
import logging
from typing import Any

from slipring.client.asking import NOT_AUTHORIZED, Asking
from slipring.client.changes import Changes
from slipring.client.link import Link
from slipring.errors import ConnectionLost, PublishRefused, SlipringError
from slipring.model import ConnectionChange, Stream

AGAIN = -1
"""The stream has to be declared on this connection first."""

log = logging.getLogger("slipring.client")


class Streams:
    """Declares streams over one link, and does it again on each new connection."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.asking = Asking(link, "streams")
        self._writers: dict[StreamWriter, None] = {}
        """In the order of their declarations."""
        self._keeping = asyncio.get_running_loop().create_task(self._keep(link.changes()))

    async def declare(self, name: str, body: dict[str, Any], qos: int) -> "StreamWriter":
        """See `Bus.declare_stream`."""
        writer = StreamWriter(self, name, body, qos)
        await writer.declare()
        self._writers[writer] = None
        return writer

    async def list(self, chosen: str) -> list[Stream]:
        """See `Bus.streams`."""
        found, start = list[Stream](), 0
        while True:
            answer = await self.asking.ask("list", {"filter": chosen, "from": start})
            found += [Stream.of(row) for row in answer["streams"]]
            if answer["next"] is None:
                return found
            start = answer["next"]

    def forget(self, writer: "StreamWriter") -> None:
        """It is not declared again on another connection."""
        self._writers.pop(writer, None)

    def close(self) -> None:
        """Ends what runs here."""
        self._keeping.cancel()
        for writer in list(self._writers):
            writer.close()

    async def _keep(self, changes: Changes[ConnectionChange]) -> None:
        """Declares again whenever there is another connection."""
        async for change in changes:
            if change.connected:
                await self._again()

    async def _again(self) -> None:
        """Declares all again; one that is refused does not keep the others from it."""
        for writer in list(self._writers):
            try:
                await writer.declare()
            except SlipringError as error:
                url = self.link.native.url
                log.warning(
                    "the stream %s is not declared again at %s: %s", writer.name, url, error
                )


class StreamWriter:
    """What `Bus.declare_stream` returns: `await writer.write(chunk)`.

    It is declared again by itself on every new connection; a chunk waits for that.
    """

    def __init__(self, home: Streams, name: str, body: dict[str, Any], qos: int) -> None:
        self.name = name
        self.index = 0
        """The stream's number at the broker."""
        self._home = home
        self._body = body
        self._qos = qos
        self._connection: int | None = None
        """The connection that it is declared on."""
        self._lock = asyncio.Lock()
        self._closed = False

    async def write(self, chunk: bytes, *, time_ns: int | None = None) -> None:
        """Sends a chunk, made at this time or now; waits while there is no room or no connection.

        At QoS 0 it is accepted to be sent, at QoS 1 the broker has it. Raises PublishRefused,
        Refused where it is larger than the broker takes, DeclareRefused, ConnectionLost.
        """
        payload, extras = bytes(chunk), None
        if time_ns is not None:
            extras = ([("time", str(time_ns))], None, None, None, None)
        while not await self._sent(payload, extras):
            await self.declare()

    async def _sent(self, payload: bytes, extras: Any) -> bool:
        """Whether the broker takes it; not where the stream has to be declared first."""
        native = self._home.link.native

        def attempt() -> int | None:
            if self._closed:
                raise ConnectionLost(f"the stream {self.name!r} is closed")
            if self._connection != native.connection:
                return AGAIN
            return native.publish(self.name, payload, self._qos, False, extras)

        sent, connection = await self._home.link.send(attempt), self._connection
        if sent == AGAIN or not self._qos:
            return sent != AGAIN
        try:
            await self._home.link.acknowledged(sent)
        except PublishRefused as refused:
            # Sent again on another connection, before the stream was declared there.
            if refused.code != NOT_AUTHORIZED or connection == native.connection:
                raise
            return False
        return True

    async def declare(self) -> None:
        """Declares it on this connection, if it is not; raises DeclareRefused."""
        native = self._home.link.native
        async with self._lock:
            while self._connection != (connection := native.connection):
                answer = await self._home.asking.ask("declare", {"streams": [self._body]})
                self.index = answer["indices"][0]
                if connection == native.connection:
                    self._connection = connection

    async def remove(self) -> None:
        """Takes the stream out, for everybody, with what is kept of it."""
        self.close()
        await self._home.asking.ask("remove", {"names": [self.name]})

    def close(self) -> None:
        """Takes nothing more; the stream stays declared. Closing twice is fine."""
        self._closed = True
        self._home.forget(self)
