"""A subscriber with a durable session that notes all it gets, and keeps its side of MQTT.

Pure: packets in, bytes out. At QoS 2 a message under an identifier that it still holds is the same
message again, and is not noted twice (4.3.3).
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from tests.faults.publisher import lasting, told_by
from tests.raw_mqtt import Kind, Packet, Version


class Arrival(NamedTuple):
    """A message that an application would have seen."""

    source: str
    number: int
    qos: int
    connection: int


@dataclass
class Subscriber:
    """One durable session that subscribes to everything the publishers send."""

    name: str
    version: Version
    qos: int
    filter: str = "faults/#"
    group: str | None = None
    lag: int = 0
    """So many messages wait for their acknowledgement, so that some are in flight at any moment."""
    is_away: bool = False
    is_connected: bool = False
    is_subscribed: bool = False
    arrivals: list[Arrival] = field(default_factory=list)
    sessions_lost: int = 0
    broken: list[str] = field(default_factory=list)
    """What the broker did that MQTT forbids."""
    connection: int = 0
    held: dict[int, tuple[str, int]] = field(default_factory=dict)
    _owed: list[bytes] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        return self.is_away or (self.is_connected and self.is_subscribed)

    def hello(self) -> bytes:
        return lasting(self.version, self.name)

    def gone(self) -> None:
        """The connection has ended; acknowledgements that were not sent never will be."""
        self.is_connected = False
        self._owed.clear()

    def hear(self, packet: Packet) -> bytes:
        """Note what the broker said; what to answer."""
        match packet.kind:
            case Kind.CONNACK:
                return self._resume(packet)
            case Kind.SUBACK:
                assert packet.reasons == (self.qos,), f"{self.name}: {packet}"
                self.is_subscribed = True
            case Kind.PUBLISH:
                self._receive(packet)
                return self._acknowledge(self.lag)
            case Kind.PUBREL:
                self.held.pop(packet.id, None)
                return self.version.pubcomp(packet.id)
        return b""

    def more(self) -> bytes:
        """Nothing by itself."""
        return b""

    def catch_up(self) -> bytes:
        """Acknowledge all that waits, and from now on at once."""
        self.lag = 0
        return self._acknowledge(0)

    def _resume(self, packet: Packet) -> bytes:
        assert packet.reason == 0, f"{self.name}: {packet}"
        self.is_connected = True
        self.connection += 1
        if packet.session_present and self.is_subscribed:
            return b""
        if self.is_subscribed:
            self.sessions_lost += 1
        self.is_subscribed = False
        if not packet.session_present:
            self.held.clear()
        wanted = f"$share/{self.group}/{self.filter}" if self.group else self.filter
        return self.version.subscribe(1, (wanted, self.qos))

    def _receive(self, packet: Packet) -> None:
        source, number = told_by(packet.payload)
        if packet.qos < 2:
            self.arrivals.append(Arrival(source, number, packet.qos, self.connection))
            self._owed.append(self.version.puback(packet.id))
            return
        self._owed.append(self.version.pubrec(packet.id))
        held = self.held.get(packet.id)
        if held is None:
            self.arrivals.append(Arrival(source, number, packet.qos, self.connection))
            self.held[packet.id] = (source, number)
        elif held != (source, number):
            self.broken.append(f"{packet} under an identifier that {held} still has")

    def _acknowledge(self, lag: int) -> bytes:
        due = len(self._owed) - lag
        owed, self._owed = self._owed[: max(0, due)], self._owed[max(0, due) :]
        return b"".join(owed)
