"""Life after life: the broker dies at the first call on its disk, then at the second, and so on.

Each life starts it, brings everyone back, publishes at both qualities and has a passenger; the next
begins with whatever the last one left. It ends with the life that was not cut short.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from random import Random

from tests.faults.passenger import CALL, RETAINED, Passenger, newest_retained
from tests.faults.publisher import Publisher
from tests.faults.station import Died, Station
from tests.faults.subscriber import Subscriber
from tests.faults.witness import Witness
from tests.raw_mqtt import V5, V311, Kind, RawPeer

TORN_BYTES_MAX = 400
LIVES_MAX = 1_000


def few_clients() -> tuple[list[Publisher], list[Subscriber]]:
    """Few, because each call on the disk is a life of the broker."""
    publishers = [Publisher("exactly-once", V5, 2), Publisher("at-least-once", V311, 1)]
    subscribers = [
        Subscriber("recorder", V5, 2),
        Subscriber("traveller", V311, 1),
        Subscriber("worker-1", V5, 2, group="workers", lag=1),
    ]
    return publishers, subscribers


@dataclass(repr=False)
class Lives:
    """A station, a witness, and the passengers of all lives."""

    station: Station
    witness: Witness
    passengers: list[Passenger] = field(default_factory=list)

    @classmethod
    def on(cls, station: Station, seed: int) -> "Lives":
        return cls(station, Witness(station.start, seed, *few_clients()))

    def run(self, after_death: Callable[[Random], object]) -> int:
        """Die at every call in turn; how many lives that took."""
        choice = self.witness.choice
        for life in count(1):
            assert life < LIVES_MAX, "the script does not come to its end"
            self.station.disk.stop_in(life, choice.choice([0, choice.randrange(TORN_BYTES_MAX)]))
            is_whole = self._live(life)
            self.witness.end()
            self.station.disk.mend()
            after_death(choice)
            if is_whole:
                return life
        raise AssertionError

    def _live(self, life: int) -> bool:
        """One life; whether it was not cut short."""
        passenger = Passenger(life, (V5, V311)[life % 2])
        self.passengers.append(passenger)
        self.witness.send_some_away()
        try:
            self.witness.begin()
        except Died:
            return False
        return (
            self.witness.join()
            and all(self.witness.publish_one(one) for one in self.witness.publishers)
            and self.witness.visit(passenger)
            and all(self.witness.publish_one(one) for one in self.witness.publishers)
        )

    def forgotten(self) -> list[str]:
        """What this life of the broker does not know of the passengers it had answered."""
        broker = self.witness.broker
        assert broker is not None
        found = []
        with RawPeer(broker.host, broker.port) as caller:
            caller.connect("caller")
            caller.send(V5.publish(CALL, b"", qos=1, packet_id=1))
            assert caller.packet().kind is Kind.PUBACK
            caller.send(V5.subscribe(1, RETAINED))
            retained = [one.payload for one in caller.waiting() if one.kind is Kind.PUBLISH]
        newest = newest_retained(self.passengers)
        if newest and not (retained and int(retained[0]) >= newest):
            found.append(f"retained {newest}, found {retained}")
        for one in self.passengers:
            with RawPeer(broker.host, broker.port, one.version) as peer:
                peer.send(one.hello())
                if one.has_session and not peer.packet().session_present:
                    found.append(f"session of {one.name}")
                elif one.is_subscribed is not None and is_called(peer) != one.is_subscribed:
                    found.append(f"subscription of {one.name}, {one.is_subscribed}")
        return found


def is_called(peer: RawPeer) -> bool:
    """Whether the message to all passengers waits for this one."""
    with suppress(AssertionError):
        return any(one.topic == CALL for one in peer.waiting())
    return False
