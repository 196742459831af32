"""A broker that does exactly what a test tells it to, packet by packet."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from tests.mqtt_bytes import packet, properties, variable
from tests.running_broker import PATIENCE_S

CONNECT, PUBLISH, SUBSCRIBE, PINGREQ, DISCONNECT = 0x10, 0x30, 0x82, 0xC0, 0xE0
CONNACK = b"\x20\x03\x00\x00\x00"


class Peer:
    """One client's connection, seen from the broker."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def packet(self) -> tuple[int, bytes]:
        """The next packet: its first byte and its body."""
        first = (await self.reader.readexactly(1))[0]
        length = shift = 0
        while True:
            byte = (await self.reader.readexactly(1))[0]
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return first, await self.reader.readexactly(length)

    async def expect(self, kind: int) -> bytes:
        """The body of the next packet, which is of this kind."""
        first, body = await self.packet()
        assert first == kind, f"{first:#x} is not {kind:#x}"
        return body

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def accept(self) -> None:
        await self.expect(CONNECT)
        await self.send(CONNACK)

    async def accept_subscription(self, code: int = 0) -> None:
        body = await self.expect(SUBSCRIBE)
        await self.send(b"\x90\x04" + body[:2] + bytes([0, code]))


def message(topic: str, payload: bytes, first: int = PUBLISH) -> bytes:
    body = len(topic).to_bytes(2, "big") + topic.encode() + b"\0" + payload
    return bytes([first]) + _length(len(body)) + body


def enhanced(first: int, head: bytes, method: str, data: bytes) -> bytes:
    """CONNACK or AUTH of an enhanced authentication."""
    proof = properties(auth_method=method, auth_data=data)
    return packet(first, head + variable(len(proof)) + proof)


def _length(number: int) -> bytes:
    digits = bytearray()
    while True:
        number, digit = divmod(number, 128)
        digits.append(digit | (0x80 if number else 0))
        if not number:
            return bytes(digits)


@asynccontextmanager
async def fake_broker(*talks: Callable[[Peer], Awaitable[None]]) -> AsyncIterator[str]:
    """The address of a broker that talks like this to its clients, one after the other, and hangs
    up on each in the end.
    """
    loop = asyncio.get_running_loop()
    results: list[asyncio.Future[None]] = [loop.create_future() for _ in talks]
    waiting = list(zip(talks, results, strict=True))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not waiting:
            writer.close()
            return
        talk, result = waiting.pop(0)
        try:
            await talk(Peer(reader, writer))
        except BaseException as error:
            result.set_exception(error)
            raise
        else:
            result.set_result(None)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"mqtt://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await asyncio.wait_for(asyncio.gather(*results), PATIENCE_S)
