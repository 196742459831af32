"""A stretch of network between a client and a broker that a test can cut."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Relay:
    """Carries bytes both ways until it is cut; new connections are carried again."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.url = ""
        self.connections = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._carries = asyncio.Event()
        self._carries.set()

    def cut(self) -> None:
        """Ends every connection that is carried now, with what is under way."""
        for writer in self._writers:
            writer.transport.abort()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """New connections wait meanwhile."""
        self._carries.clear()
        try:
            yield
        finally:
            self._carries.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        await self._carries.wait()
        try:
            far_reader, far_writer = await asyncio.open_connection(*self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, far_writer}
        try:
            await asyncio.gather(self._copy(reader, far_writer), self._copy(far_reader, writer))
        finally:
            self._writers -= {writer, far_writer}

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while part := await reader.read(4096):
                writer.write(part)
                await writer.drain()
        except OSError:
            pass  # it was cut
        finally:
            writer.close()


@asynccontextmanager
async def relay_to(url: str) -> AsyncIterator[Relay]:
    """A relay to the broker at this address."""
    host, port = url.removeprefix("mqtt://").split(":")
    relay = Relay(host, int(port))
    server = await asyncio.start_server(relay.carry, "127.0.0.1", 0)
    relay.url = f"mqtt://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield relay
    finally:
        server.close()
        relay.cut()
