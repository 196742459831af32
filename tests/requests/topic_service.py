"""A service that says so by its filter, byte by byte, with any version of MQTT.

It acknowledges what it gets, and hides nothing.
"""

from collections import deque
from itertools import count
from typing import Any, Self

from tests.packets import PINGREQ
from tests.raw_mqtt import V311, Kind, Packet, RawPeer, Version

PREFIX = "$slipring/request/"


def key_of(request: Packet) -> str:
    """The key in the topic of a request."""
    assert request.topic.startswith(PREFIX), request
    return request.topic.removeprefix(PREFIX).partition("/")[0]


def topic_of(request: Packet) -> str:
    """The topic that the asker sent a request to."""
    return request.topic.removeprefix(PREFIX).partition("/")[2]


class TopicService:
    """One client that was let in."""

    def __init__(self, raw: RawPeer, client_id: str = "", **options: Any) -> None:
        self.raw = raw
        self.say = raw.version
        assert raw.connect(client_id, **options).reason == 0
        self.messages: deque[Packet] = deque()
        self._ids = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.raw.close()

    def subscribe(self, *wanted: str, qos: int = 1, properties: bytes = b"") -> Packet:
        """Subscribe; the SUBACK."""
        filters = [(one, qos) for one in wanted]
        self.raw.send(self.say.subscribe(next(self._ids), *filters, properties=properties))
        return self._until(Kind.SUBACK)

    def serve(self, wanted: str, at_once: int = 1, qos: int = 1) -> Self:
        """Become a service."""
        assert self.subscribe(f"$slipring/serve/{at_once}/{wanted}", qos=qos).reasons == (qos,)
        return self

    def stop(self, wanted: str, at_once: int = 1) -> None:
        """Be a service no more."""
        self.raw.send(self.say.unsubscribe(next(self._ids), f"$slipring/serve/{at_once}/{wanted}"))
        self._until(Kind.UNSUBACK)

    def message(self) -> Packet:
        """The next message, acknowledged."""
        while not self.messages:
            self._take(self.raw.packet())
        return self.messages.popleft()

    def rest(self) -> list[Packet]:
        """All messages that came before the answer to a PINGREQ that is sent now."""
        self.raw.send(PINGREQ)
        self._until(Kind.PINGRESP)
        found = list(self.messages)
        self.messages.clear()
        return found

    def answer(self, request: Packet, payload: bytes = b"", how: str = "", qos: int = 1) -> Packet:
        """Answer a request, and wait until the broker has it."""
        return self.publish(f"$slipring/answer/{key_of(request)}{how}", payload, qos)

    def publish(self, topic: str, payload: bytes = b"", qos: int = 1) -> Packet:
        """Publish anything; the acknowledgement, or at QoS 0 the answer to a PINGREQ."""
        packet_id = next(self._ids) if qos else None
        self.raw.send(self.say.publish(topic, payload, qos=qos, packet_id=packet_id))
        if not qos:
            self.raw.send(PINGREQ)
            return self._until(Kind.PINGRESP)
        said = self._until(Kind.PUBACK if qos == 1 else Kind.PUBREC)
        if qos == 2:
            self.raw.send(self.say.pubrel(said.id))
            self._until(Kind.PUBCOMP)
        return said

    def _until(self, kind: Kind) -> Packet:
        while (packet := self.raw.packet()).kind is not kind:
            self._take(packet)
        return packet

    def _take(self, packet: Packet) -> None:
        match packet.kind:
            case Kind.PUBLISH:
                if packet.qos:
                    said = self.say.puback if packet.qos == 1 else self.say.pubrec
                    self.raw.send(said(packet.id))
                self.messages.append(packet)
            case Kind.PUBREL:
                self.raw.send(self.say.pubcomp(packet.id))
            case _:
                raise AssertionError(f"nobody asked for {packet}")


def topic_service(
    host: str, port: int, client_id: str = "", version: Version = V311, **options: Any
) -> TopicService:
    """A client that can become a service."""
    return TopicService(RawPeer(host, port, version), client_id, **options)
