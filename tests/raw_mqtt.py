r"""A raw MQTT peer for tests: bytes over a TCP socket, with deadlines and without sleeping.

    with RawPeer(broker.host, broker.port, V5) as peer:
        assert peer.connect("probe").reason == 0
        peer.send(V5.subscribe(1, ("a/#", 1)))
        assert peer.packet().reasons == (1,)
        peer.send(b"\x30\x01")               # anything, right or wrong
        assert peer.packet().reason == 0x81  # DISCONNECT
        assert peer.closed()

It never repairs, repeats or answers anything by itself.
"""

import socket
import struct
from collections import deque
from typing import Any, Self

from tests.mqtt_bytes import VARIABLE_LENGTH_BYTES_MAX, Malformed, properties
from tests.packets import PINGREQ, PINGRESP, V5, V31, V311, Kind, Packet, Version, Will

__all__ = [
    "PINGREQ",
    "PINGRESP",
    "V5",
    "V31",
    "V311",
    "Kind",
    "Malformed",
    "Packet",
    "RawPeer",
    "Version",
    "Will",
    "packet_length",
    "properties",
]

DEADLINE_S = 60


class RawPeer:
    """One connection to a broker."""

    def __init__(
        self,
        host: str,
        port: int,
        version: Version = V5,
        deadline_s: float = DEADLINE_S,
        source: str = "",
    ) -> None:
        self.version = version
        come_from = (source, 0) if source else None
        self.socket = socket.create_connection((host, port), deadline_s, come_from)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._unread = b""
        self._set_aside: deque[Packet] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, *packets: bytes) -> None:
        """Write these bytes at once. That the broker has closed meanwhile is seen by reading."""
        try:
            self.socket.sendall(b"".join(packets))
        except (BrokenPipeError, ConnectionResetError):
            return

    def connect(self, client_id: str = "", **options: Any) -> Packet:
        """Send a CONNECT, with the options of `Version.connect`; the broker's answer."""
        self.send(self.version.connect(client_id, **options))
        return self.packet()

    def receive(self) -> Packet | None:
        """The next packet, or None when the broker has closed the connection.

        What does not come before the deadline is a TimeoutError.
        """
        if self._set_aside:
            return self._set_aside.popleft()
        raw = self._raw_packet()
        return None if raw is None else self.version.read(raw)

    def packet(self) -> Packet:
        """The next packet."""
        received = self.receive()
        assert received is not None, "the broker closed the connection"
        return received

    def closed(self) -> bool:
        """Whether the broker closes the connection without a further packet."""
        try:
            return self.receive() is None
        except TimeoutError:
            return False

    def drain(self) -> bytes:
        """Read until the broker closes the connection; whatever came, packets or not."""
        found = self._unread
        while data := self._more():
            found += data
        self._unread = b""
        return found

    def until(self, kind: Kind, *, keep: bool = False) -> list[Packet]:
        """All packets up to and with the first of this kind; kept, those before it come again."""
        received = [self.packet()]
        while received[-1].kind is not kind:
            received.append(self.packet())
        if keep:
            self._set_aside.extend(received[:-1])
        return received

    def waiting(self) -> list[Packet]:
        """What the broker had sent before it answered a PINGREQ that is sent now."""
        self.send(PINGREQ)
        return self.until(Kind.PINGRESP)[:-1]

    def quiet(self) -> bool:
        """Whether nothing arrives before the answer to a PINGREQ that is sent now."""
        return not self.waiting()

    def settle(self) -> None:
        """Until the broker has handled all that was sent; what comes first can still be read."""
        self._set_aside.extend(self.waiting())

    def close(self) -> None:
        """End the connection without a DISCONNECT, as a lost network does."""
        self.socket.close()

    def hang_up(self) -> None:
        """End the connection as a crashed client does: with a reset, without a DISCONNECT."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _raw_packet(self) -> bytes | None:
        while (length := packet_length(self._unread)) is None or len(self._unread) < length:
            data = self._more()
            if not data:
                assert not self._unread, f"closed inside a packet: {self._unread.hex(' ')}"
                return None
            self._unread += data
        raw, self._unread = self._unread[:length], self._unread[length:]
        return raw

    def _more(self) -> bytes:
        try:
            return self.socket.recv(65536)
        except ConnectionResetError:
            return b""


def packet_length(data: bytes) -> int | None:
    """How long the packet at the front is, if that much of it is there."""
    length = 0
    for place, digit in enumerate(data[1 : 1 + VARIABLE_LENGTH_BYTES_MAX]):
        length |= (digit & 0x7F) << (7 * place)
        if digit < 0x80:
            return 2 + place + length
    return None
