"""A reader of the journal in another language: docs/remote.md put into Python, over raw packets."""

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.mqtt_bytes import properties
from tests.raw_mqtt import V5, Kind, Packet, RawPeer

TOPIC = "$slipring/journal/"
FINE, BEYOND, NOT_ALLOWED, BUSY, MALFORMED, TOO_LARGE = 0, 2, 4, 6, 7, 8

HEADER = struct.Struct("<4sIQIqIIII")
TABLE = [0] * 256
for _number in range(256):
    _value = _number
    for _ in range(8):
        _value = _value >> 1 ^ (0x82F63B78 if _value & 1 else 0)
    TABLE[_number] = _value


def crc32c(data: bytes) -> int:
    """The checksum, written down once more apart from the broker."""
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


class Message(NamedTuple):
    """One message of the journal."""

    offset: int
    publisher: str
    topic: str
    payload: bytes


@dataclass(frozen=True)
class Answer:
    """What came back, taken apart as far as it is the same for all."""

    packet: Packet

    @property
    def status(self) -> int:
        version, status, zero = struct.unpack_from("<BBH", self.packet.payload)
        assert (version, zero) == (2, 0)
        return int(status)

    @property
    def content(self) -> bytes:
        return self.packet.payload[4:]

    @property
    def numbers(self) -> tuple[int, int]:
        first, second = struct.unpack_from("<QQ", self.content)
        return first, second

    @property
    def text(self) -> str:
        return self.content[16:].decode()

    @property
    def identity(self) -> str:
        return self.content[:16].hex()

    @property
    def about(self) -> tuple[int, int, int]:
        """First offset, end offset, newest receive time."""
        first, end, newest_ns, _epoch, written = struct.unpack("<QQqQQ", self.content[16:])
        assert written >= end
        return first, end, newest_ns

    @property
    def end(self) -> int:
        return int(struct.unpack_from("<Q", self.content, 16)[0])

    @property
    def messages(self) -> list[Message]:
        found: list[Message] = []
        rest = self.content[24:]
        while rest:
            rest = _take_batch(rest, found)
        return found


@dataclass
class Asker:
    """A client that asks by hand."""

    peer: RawPeer
    answers: str = "$slipring/journal/answer/test"
    asked: int = field(default=0)

    def request(self, name: str, body: bytes = b"", *, qos: int = 0) -> bytes:
        """A request; above QoS 0 its packet identifier is the QoS."""
        self.asked += 1
        correlation = self.asked.to_bytes(4, "big")
        given = properties(response_topic=self.answers, correlation_data=correlation)
        return V5.publish(TOPIC + name, body, qos=qos, packet_id=qos or None, properties=given)

    def ask(self, name: str, body: bytes = b"") -> Answer:
        """Ask, and wait for the answer."""
        self.peer.send(self.request(name, body))
        return self.answer()

    def answer(self) -> Answer:
        packet = self.peer.packet()
        assert (packet.kind, packet.topic, packet.qos) == (Kind.PUBLISH, self.answers, 0)
        return Answer(packet)

    def read(self, start: int, end: int, bytes_max: int = 1 << 20) -> Answer:
        return self.ask("read", struct.pack("<QQI", start, end, bytes_max))

    def read_all(self, start: int, end: int, bytes_max: int = 1 << 20) -> list[Message]:
        """Ask again and again."""
        found: list[Message] = []
        while start < end:
            answer = self.read(start, end, bytes_max)
            assert answer.status == FINE, answer.text
            messages = answer.messages
            assert [one.offset for one in messages] == list(range(start, answer.end))
            found += messages
            start = answer.end
        return found


def _take_batch(rest: bytes, found: list[Message]) -> bytes:
    magic, length, base, count, _, state, _, body_sum, head_sum = HEADER.unpack_from(rest)
    body = rest[HEADER.size : HEADER.size + length]
    assert (magic, state) == (b"SLPB", 0)
    assert crc32c(rest[: HEADER.size - 4]) == head_sum
    assert crc32c(body) == body_sum
    if not body:  # withheld: this reader may not have these
        return rest[HEADER.size :]
    publisher, at = _text(body, 0, "<H")
    for offset in range(base, base + count):
        topic, at = _text(body, at + 1, "<H")
        _, at = _text(body, at, "<I")
        payload, at = _text(body, at, "<I")
        found.append(Message(offset, publisher.decode(), topic.decode(), payload))
    assert at == len(body)
    return rest[HEADER.size + length :]


def _text(body: bytes, at: int, length: str) -> tuple[bytes, int]:
    start = at + struct.calcsize(length)
    end = start + int(struct.unpack_from(length, body, at)[0])
    return body[start:end], end
