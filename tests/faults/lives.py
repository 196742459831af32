"""Life after life: the broker dies at the first call on its disk, then at the second, and so on.

Each life starts it, brings everyone back, publishes at both qualities and has a passenger; or only
its end is cut short. The next life begins with whatever the last one left. The last one is whole.
"""

import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import TypeAlias

from tests.faults.passenger import CALL, RETAINED, Passenger, newest_retained
from tests.faults.publisher import Publisher
from tests.faults.station import Died, Station
from tests.faults.subscriber import Subscriber
from tests.faults.witness import Witness
from tests.raw_mqtt import V5, V311, Kind, Packet, RawPeer, Version

MARK = "passengers/mark"
AfterDeath: TypeAlias = Callable[[Random], object]
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

    def run(self, after_death: AfterDeath) -> None:
        """Die at every call of a life in turn."""
        for life in count(1):
            self._arm(life)
            is_whole = self._live(life)
            self.witness.end()
            if self._is_last(after_death, is_whole=is_whole):
                return

    def run_ends(self, after_death: AfterDeath) -> None:
        """Die at every call of an end in turn."""
        for life in count(1):
            assert self._live(life)
            self._arm(life)
            is_whole = self.witness.end(signal.SIGTERM) == 0
            if self._is_last(after_death, is_whole=is_whole):
                return

    def _arm(self, life: int) -> None:
        assert life < LIVES_MAX, "the script does not come to its end"
        choice = self.witness.choice
        self.station.disk.stop_in(life, choice.choice([0, choice.randrange(TORN_BYTES_MAX)]))

    def _is_last(self, after_death: AfterDeath, *, is_whole: bool) -> bool:
        self.station.disk.mend()
        after_death(self.witness.choice)
        return is_whole

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
            and self._is_mourned(passenger)
            and all(self.witness.publish_one(one) for one in self.witness.publishers)
        )

    def _is_mourned(self, passenger: Passenger) -> bool:
        """Lose its connection, until its will has arrived."""
        passenger.is_away = True
        self.witness.begin()
        return self.witness.wait_for(lambda: passenger.will in self.wills())

    def wills(self) -> set[tuple[str, int]]:
        """What the recorder has got of everyone's."""
        recorder = self.witness.subscribers[0]
        return {(one.source, one.number) for one in recorder.arrivals}

    def unmourned(self) -> list[str]:
        """Passengers that were let in, and whose will does not come while this life is patient.

        Ask before `forgotten`: a passenger that comes back takes its will back.
        """
        self.witness.wait_for(lambda: not self._not_mourned())
        return self._not_mourned()

    def _not_mourned(self) -> list[str]:
        wills = self.wills()
        return [one.name for one in self.passengers if one.has_session and one.will not in wills]

    def forgotten(self) -> list[str]:
        """What this life of the broker does not know of the passengers it had answered."""
        newest, found = newest_retained(self.passengers), []
        with self._peer(V5) as caller:
            caller.connect("caller")
            caller.send(V5.publish(CALL, b"", qos=1, packet_id=1))
            assert caller.packet().kind is Kind.PUBACK
            caller.send(V5.subscribe(1, RETAINED))
            retained = [int(one.payload) for one in before_mark(caller, RETAINED)]
        if newest and max(retained, default=0) < newest:
            found.append(f"retained {newest}, found {retained}")
        for one in self.passengers:
            with self._peer(one.version) as peer:
                peer.send(one.hello())
                if one.has_session and not peer.packet().session_present:
                    found.append(f"session of {one.name}")
                elif one.is_subscribed is not None:
                    is_called = bool(before_mark(peer, CALL))
                    if is_called != one.is_subscribed:
                        found.append(f"subscription of {one.name}: {is_called}")
        return found

    def _peer(self, version: Version) -> RawPeer:
        broker = self.witness.broker
        assert broker is not None
        return RawPeer(broker.host, broker.port, version)


def before_mark(peer: RawPeer, topic: str) -> list[Packet]:
    """The messages to a topic that wait for this client: a mark behind them says that is all."""
    peer.send(peer.version.subscribe(9, (MARK, 1)))
    peer.until(Kind.SUBACK, keep=True)
    peer.send(peer.version.publish(MARK, b"", qos=1, packet_id=9))
    found = [peer.packet()]
    while found[-1].topic != MARK:
        if found[-1].qos:
            peer.send(peer.version.puback(found[-1].id))
        found.append(peer.packet())
    return [one for one in found if one.topic == topic]
