"""A publisher that keeps its side of MQTT across any number of crashes, and notes each answer.

Pure: packets in, bytes out. What is not acknowledged is sent again under the same identifier with
DUP, or as PUBREL once PUBREC has come (MQTT-4.4.0-1); a session that is not there any more is
noted.
"""

from dataclasses import dataclass, field
from itertools import chain

from tests.raw_mqtt import Kind, Packet, Version, Will, properties

LASTING = properties(session_expiry=3_600)
REFUSED = 0x80


def payload(source: str, number: int, size: int = 0) -> bytes:
    """A message that says who sent it and which one it is."""
    return f"{source} {number} ".encode().ljust(size, b".")


def told_by(content: bytes) -> tuple[str, int]:
    """Who sent a message, and which one it is."""
    source, number, _ = content.split(b" ", 2)
    return source.decode(), int(number)


def lasting(version: Version, client_id: str, will: Will | None = None) -> bytes:
    """CONNECT for a session that outlives its connection."""
    return version.connect(client_id, clean=False, properties=LASTING, will=will)


@dataclass
class Flight:
    """A message on its way; released when PUBREC has come."""

    number: int
    is_released: bool = False


@dataclass
class Publisher:
    """One durable session that publishes numbered messages to one topic at one QoS."""

    name: str
    version: Version
    qos: int
    window: int = 20
    size: int = 0
    goal: int = 0
    """It publishes until so many messages are on their way or acknowledged."""
    sent: int = 0
    acknowledged: set[int] = field(default_factory=set)
    finished: set[int] = field(default_factory=set)
    resent: set[int] = field(default_factory=set)
    refused: dict[int, int] = field(default_factory=dict)
    sessions_lost: int = 0
    is_connected: bool = False
    in_flight: dict[int, Flight] = field(default_factory=dict)
    _again: list[int] = field(default_factory=list)
    _last_id: int = 0

    @property
    def topic(self) -> str:
        return f"faults/{self.name}"

    @property
    def is_done(self) -> bool:
        """Whether all it wanted to publish is finished."""
        return self.sent >= self.goal and not self.in_flight and not self._again

    @property
    def is_away(self) -> bool:
        return False

    def hello(self) -> bytes:
        return lasting(self.version, self.name)

    def gone(self) -> None:
        """The connection has ended."""
        self.is_connected = False

    def hear(self, packet: Packet) -> bytes:
        """Note what the broker said; what to answer."""
        match packet.kind:
            case Kind.CONNACK:
                return self._resume(packet)
            case Kind.PUBACK:
                self._settle(packet)
            case Kind.PUBREC:
                return self._release(packet)
            case Kind.PUBCOMP:
                if packet.id in self.in_flight:
                    self.finished.add(self.in_flight.pop(packet.id).number)
        return b""

    def more(self) -> bytes:
        """New messages, as many as the window has room for; refused ones come first."""
        packets = []
        while self.is_connected and len(self.in_flight) < self.window:
            number = self._next()
            if number is None:
                break
            packets.append(self._publish(self._free_id(), number))
        return b"".join(packets)

    def try_again(self) -> None:
        """Publish once more, as a new message, what was refused."""
        self._again += sorted(set(self.refused) - self.acknowledged - set(self._again))

    def _next(self) -> int | None:
        if self._again:
            return self._again.pop(0)
        if self.sent >= self.goal:
            return None
        self.sent += 1
        return self.sent

    def _free_id(self) -> int:
        following = chain(range(self._last_id + 1, 65_536), range(1, self._last_id + 1))
        self._last_id = next(one for one in following if one not in self.in_flight)
        return self._last_id

    def _publish(self, packet_id: int, number: int, *, dup: bool = False) -> bytes:
        self.in_flight.setdefault(packet_id, Flight(number))
        content = payload(self.name, number, self.size)
        return self.version.publish(self.topic, content, qos=self.qos, packet_id=packet_id, dup=dup)

    def _resume(self, packet: Packet) -> bytes:
        assert packet.reason == 0, f"{self.name}: {packet}"
        self.is_connected = True
        flights, self.in_flight = self.in_flight, {}
        self.resent.update(one.number for one in flights.values() if not one.is_released)
        if not packet.session_present:
            return self._begin_again(flights)
        self.in_flight = flights
        return b"".join(
            self.version.pubrel(packet_id)
            if one.is_released
            else self._publish(packet_id, one.number, dup=True)
            for packet_id, one in flights.items()
        )

    def _begin_again(self, flights: dict[int, Flight]) -> bytes:
        """Without a session: what was not acknowledged is published as new, the rest is over."""
        if self.acknowledged:
            self.sessions_lost += 1
        self.finished.update(one.number for one in flights.values() if one.is_released)
        numbers = [one.number for one in flights.values() if not one.is_released]
        return b"".join(self._publish(self._free_id(), number) for number in numbers)

    def _settle(self, packet: Packet) -> None:
        flight = self.in_flight.pop(packet.id, None)
        if flight is None:
            return
        if packet.reason >= REFUSED:
            self.refused[flight.number] = packet.reason
        else:
            self.acknowledged.add(flight.number)
            self.finished.add(flight.number)

    def _release(self, packet: Packet) -> bytes:
        flight = self.in_flight.get(packet.id)
        if packet.reason >= REFUSED:
            self._settle(packet)
            return b""
        if flight is not None:
            flight.is_released = True
            self.acknowledged.add(flight.number)
        return self.version.pubrel(packet.id)
