"""A client that comes for one life of the broker: every kind of state, one answered step at a time.

A new session with a will, a subscription, a retained message, no subscription any more; then it is
lost. It notes how far it came, so that the next life can be asked what it knows of it. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.faults.publisher import lasting, payload
from tests.raw_mqtt import Kind, Packet, Version, Will

RETAINED = "notice/newest"
CALL = "passengers/call"


@dataclass
class Passenger:
    """One life's passenger."""

    life: int
    version: Version
    reached: int = 0
    """Steps that were answered."""
    is_away: bool = False
    _steps: list[tuple[bytes, Kind]] = field(default_factory=list)

    def __post_init__(self) -> None:
        version, retained = self.version, str(self.life).encode()
        will = Will(f"faults/{self.name}", payload(self.name, 1), qos=1)
        self._steps = [
            (lasting(version, self.name, will), Kind.CONNACK),
            (version.subscribe(1, (CALL, 1)), Kind.SUBACK),
            (version.publish(RETAINED, retained, qos=1, packet_id=2, retain=True), Kind.PUBACK),
            (version.unsubscribe(3, CALL), Kind.UNSUBACK),
        ]

    @property
    def name(self) -> str:
        return f"passenger-{self.life}"

    @property
    def is_done(self) -> bool:
        return self.reached == len(self._steps)

    @property
    def will(self) -> tuple[str, int]:
        """What a subscriber notes of its will."""
        return self.name, 1

    @property
    def has_session(self) -> bool:
        return self.reached >= 1

    @property
    def is_subscribed(self) -> bool | None:
        """Whether its subscription must be there; None while it may or may not."""
        return {0: False, 1: None, 2: True, 3: None, 4: False}[self.reached]

    @property
    def has_retained(self) -> bool:
        return self.reached >= 3

    def hello(self) -> bytes:
        return self._steps[0][0]

    def gone(self) -> None:
        """It does not come back in this life."""
        self.is_away = True

    def hear(self, packet: Packet) -> bytes:
        """Go on with the next step when the last one is answered."""
        if self.is_done or packet.kind is not self._steps[self.reached][1]:
            return b""
        assert packet.reason < 0x80, f"{self.name}: {packet}"
        self.reached += 1
        following = [request for request, _ in self._steps] + [b""]
        return following[self.reached]

    def more(self) -> bytes:
        """Nothing by itself."""
        return b""


def newest_retained(passengers: Sequence[Passenger]) -> int:
    """The newest life whose retained message was acknowledged: it, or a later one, is there."""
    return max((one.life for one in passengers if one.has_retained), default=0)
