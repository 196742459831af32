"""A broker's side of requests, packet by packet: what was asked, and the ends a test tells."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from tests.client.fake_broker import CONNECT, DISCONNECT, Peer, fake_broker
from tests.mqtt_bytes import Pair, Reader, packet, properties
from tests.packets import V5, Packet

ENDS = "$slipring/answer"
SUBSCRIBE, UNSUBSCRIBE, PUBACK = 0x82, 0xA2, 0x40


class RequestPeer(Peer):
    """One client that asks or serves."""

    newest_id = 0

    async def connect(self, *, session_present: bool = False, session_expiry: int = 0) -> None:
        await self.expect(CONNECT)
        granted = properties(session_expiry=session_expiry) if session_expiry else b""
        await self.send(V5.connack(session_present=session_present, properties=granted))

    async def published(self, *, acknowledge: bool = True) -> Packet:
        """The next message of the client; acknowledgements of ours are passed over."""
        found = V5.read(packet(*await self.said()))
        if found.qos and acknowledge:
            await self.send(V5.puback(found.id))
        return found

    async def said(self) -> tuple[int, bytes]:
        """The next packet that is not the acknowledgement of a message of ours."""
        while (found := await self.packet())[0] == PUBACK:
            pass
        return found

    async def subscribed(self) -> tuple[list[str], dict[str, str]]:
        """The filters of the next SUBSCRIBE, and its user properties."""
        body = Reader(await self.expect(SUBSCRIBE))
        packet_id, said = body.u16(), body.properties()
        filters = []
        while body.data:
            filters.append(body.text())
            body.byte()
        await self.send(V5.suback(packet_id, *[1] * len(filters)))
        return filters, dict(pair for pair in said.get("user", ()) if isinstance(pair, tuple))

    async def unsubscribed(self, before: bytes = b"") -> None:
        """The next UNSUBSCRIBE; `before` is sent before its answer."""
        first, said = await self.said()
        assert first == UNSUBSCRIBE, f"{first:#x}"
        body = Reader(said)
        await self.send(before + V5.unsuback(body.u16(), 0))

    def end(self, asked: Packet, status: str, payload: bytes = b"", *, qos: int = 1) -> bytes:
        """An end of a request, or a part; the payload is also its reason, if it has one."""
        told: list[Pair] = [("slipring-status", status)]
        if not payload:
            told.append(("slipring-reason", "why"))
        (number,) = asked.properties["correlation_data"]
        assert isinstance(number, bytes)
        said = properties(correlation_data=number, user=told)
        return V5.publish(ENDS, payload, qos=qos, packet_id=self.new_id(qos), properties=said)

    def request(
        self, key: int, payload: bytes = b"", topic: str = "solver/a", *, retry: int = 0
    ) -> bytes:
        """A request for a service."""
        told: list[Pair] = [("slipring-timeout", "30")]
        if retry:
            told.append(("slipring-retry", str(retry)))
        said = properties(response_topic=answer_topic(key), correlation_data=b"%d" % key, user=told)
        return V5.publish(topic, payload, qos=1, packet_id=self.new_id(1), properties=said)

    def cancelled(self, key: int, status: str) -> bytes:
        """Tells a service that nobody waits for this answer any more."""
        said = properties(response_topic=answer_topic(key), user=("slipring-status", status))
        topic = "$slipring/cancelled"
        return V5.publish(topic, qos=1, packet_id=self.new_id(1), properties=said)

    async def disconnected(self) -> None:
        while (await self.packet())[0] != DISCONNECT:
            pass

    def new_id(self, qos: int) -> int | None:
        self.newest_id += 1
        return self.newest_id if qos else None


def user(message: Packet) -> dict[str, str]:
    """The user properties of a message."""
    return dict(pair for pair in message.properties.get("user", ()) if isinstance(pair, tuple))


def answer_topic(key: int) -> str:
    return f"$slipring/answer/{key:016x}"


Talk = Callable[[RequestPeer], Awaitable[None]]


def request_broker(*talks: Talk) -> AbstractAsyncContextManager[str]:
    """The address of a broker that talks like this to its clients, one after the other."""

    def talk_to(talk: Talk) -> Callable[[Peer], Awaitable[None]]:
        return lambda peer: talk(RequestPeer(peer.reader, peer.writer))

    return fake_broker(*map(talk_to, talks))
