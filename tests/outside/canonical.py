"""Packets from a broker, brought into the form that Mosquitto writes them in.

Its tests compare bytes. Where the standard leaves a broker free (what it offers in CONNACK, reason
strings, leaving out an empty list of properties, saying that nobody subscribes), the freedom is
taken out here, and nothing else.
"""

import contextlib
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.outside.unhurried import PATIENCE_S

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

CONNECT, CONNACK, SUBACK, UNSUBACK, DISCONNECT = 0x10, 0x20, 0x90, 0xB0, 0xE0
ACKNOWLEDGEMENTS = (0x40, 0x50, 0x60, 0x70)
NOBODY_SUBSCRIBES = 0x10
BROKEN_RULES = {b"\x81", b"\x82"}
"""Malformed, and against the protocol: Mosquitto says now one, now the other of the same thing."""

REASON_STRING = 0x1F
OFFERS = {0x21, 0x22, 0x25, 0x27, 0x28, 0x29, 0x2A}
"""What a broker tells of itself: receive maximum, alias maximum, packet size and the like."""

NO_RETAINING = b"\x25\x00"
"""The one offer that changes what a test may do."""

ONE, TWO, FOUR, VARINT, TEXT, PAIR = "one", "two", "four", "varint", "text", "pair"
SHAPES = {
    **dict.fromkeys((0x01, 0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2A), ONE),
    **dict.fromkeys((0x13, 0x21, 0x22, 0x23), TWO),
    **dict.fromkeys((0x02, 0x11, 0x18, 0x27), FOUR),
    **dict.fromkeys((0x03, 0x08, 0x09, 0x12, 0x15, 0x16, 0x1A, 0x1C, 0x1F), TEXT),
    0x0B: VARINT,
    0x26: PAIR,
}


def read_varint(data: bytes, at: int = 0) -> tuple[int, int] | None:
    """The number and where it ends, or nothing when bytes are missing."""
    value = 0
    for position in range(at, min(at + 4, len(data))):
        value |= (data[position] & 0x7F) << 7 * (position - at)
        if data[position] < 0x80:
            return value, position + 1
    return None


def write_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def packet(first: int, body: bytes) -> bytes:
    return bytes([first]) + write_varint(len(body)) + body


def split_packet(data: bytes) -> tuple[bytes, bytes] | None:
    """The first packet and the rest, or nothing when it is not whole yet."""
    length = read_varint(data, 1)
    if length is None or len(data) < sum(length):
        return None
    return data[: sum(length)], data[sum(length) :]


def properties(data: bytes) -> Iterator[bytes]:
    """Each property with its identifier, still encoded."""
    at = 0
    while at < len(data):
        end = _value_end(data, at + 1, SHAPES[data[at]])
        yield data[at:end]
        at = end


def _value_end(data: bytes, at: int, shape: str) -> int:
    match shape:
        case "one" | "two" | "four":
            return at + {"one": 1, "two": 2, "four": 4}[shape]
        case "varint":
            found = read_varint(data, at)
            assert found is not None
            return found[1]
        case "text":
            return at + 2 + int.from_bytes(data[at : at + 2])
        case _:
            return _value_end(data, _value_end(data, at, TEXT), TEXT)


def canonical(whole: bytes) -> bytes:
    """An MQTT 5 packet as Mosquitto would write it."""
    length = read_varint(whole, 1)
    assert length is not None
    first, body = whole[0], whole[length[1] :]
    if first == CONNACK:
        return packet(first, body[:2] + _connack_properties(body[1], _list(body[2:])))
    if first & 0xF0 in ACKNOWLEDGEMENTS:
        return packet(first, body[:2] + _short(body[2:]))
    if first == DISCONNECT:
        return packet(first, _short(body))
    if first in {SUBACK, UNSUBACK}:
        found = read_varint(body, 2)
        assert found is not None
        end = sum(found)
        return packet(first, body[:2] + _written(_list(body[2:end])) + body[end:])
    return whole


def _list(encoded: bytes) -> list[bytes]:
    """Properties with their length in front, without what only explains."""
    found = read_varint(encoded)
    if found is None:
        return []
    return [one for one in properties(encoded[found[1] :]) if one[0] != REASON_STRING]


def _written(listed: list[bytes]) -> bytes:
    joined = b"".join(listed)
    return write_varint(len(joined)) + joined


def _connack_properties(reason: int, listed: list[bytes]) -> bytes:
    if reason >= 0x80:
        return _written([])
    return _written(sorted(one for one in listed if one[0] not in OFFERS or one == NO_RETAINING))


def _short(body: bytes) -> bytes:
    """A reason and properties, of which the standard lets a broker leave out what says nothing."""
    listed = _list(body[1:])
    if listed:
        return body[:1] + _written(listed)
    return b"" if body[:1] == b"\x00" else body[:1]


def agrees(received: bytes, expected: bytes) -> bool:
    """Whether two MQTT 5 packets say the same. A broker may add that nobody subscribes.

    Which of the two words a broken rule gets is told by the rows in tests/conformance.
    """
    received, expected = canonical(received), canonical(expected)
    if received[0] == expected[0] == DISCONNECT and {received[2:], expected[2:]} <= BROKEN_RULES:
        return True
    if received[0] & 0xF0 in ACKNOWLEDGEMENTS[:2] and received[4:] == bytes([NOBODY_SUBSCRIBES]):
        return expected in {received, packet(received[0], received[2:4])}
    return received == expected


class PacketSocket(socket.socket):
    """A client's socket that knows where packets end, and in which version they are."""

    is_v5 = False
    arrived = b""

    def settimeout(self, value: float | None, /) -> None:
        """Wait no shorter than everybody here does."""
        super().settimeout(value if value is None else max(value, PATIENCE_S))

    def send(self, data: "ReadableBuffer", flags: int = 0, /) -> int:
        self._note_version(bytes(data))
        return super().send(data, flags)

    def sendall(self, data: "ReadableBuffer", flags: int = 0, /) -> None:
        self._note_version(bytes(data))
        super().sendall(data, flags)

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        if not self.arrived:
            return super().recv(size, flags)
        given, self.arrived = self.arrived[:size], self.arrived[size:]
        return given

    def close(self) -> None:
        """Go, and wait until the broker knows.

        Mosquitto serves one socket after the other, and its tests take that for granted: what
        somebody else does after this comes after this.
        """
        with contextlib.suppress(OSError):
            self.settimeout(PATIENCE_S)
            self.shutdown(socket.SHUT_WR)
            while super().recv(1 << 16):
                pass
        super().close()

    def packet(self) -> bytes:
        """The next whole packet, or what came instead before the end."""
        while (split := split_packet(self.arrived)) is None:
            more = super().recv(1 << 16)
            if not more:
                split = self.arrived, b""
                break
            self.arrived += more
        whole, self.arrived = split
        return whole

    def hears(self, expected: bytes) -> bytes | None:
        """What came instead of these packets; nothing if they came."""
        if not expected:
            return self.packet() or None
        while split := split_packet(expected):
            wanted, expected = split
            received = self.packet()
            same = agrees(received, wanted) if received and self.is_v5 else received == wanted
            if not same:
                return received
        return None

    def _note_version(self, data: bytes) -> None:
        """A CONNECT says which version the answers are in: the byte after the protocol's name."""
        if data[:1] == bytes([CONNECT]) and (length := read_varint(data, 1)):
            name = length[1]
            level = name + 2 + int.from_bytes(data[name : name + 2])
            self.is_v5 = data[level : level + 1] == b"\x05"
