"""Scenarios in two halves: the first in one life of the broker, the second in the next.

A scenario is a generator over a `Stage`; at its `yield` the broker's life ends. All first halves
share one life, and all second halves the next, so that a restart serves them all.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.faults.station import Station
from tests.raw_mqtt import V5, Kind, Packet, RawPeer, Version, properties
from tests.running_broker import RunningBroker

HOUR_S = 3_600
KEPT = properties(session_expiry=HOUR_S)


@dataclass(repr=False)
class Stage:
    """The broker as it is in this life."""

    station: Station
    broker: RunningBroker
    peers: ExitStack = field(default_factory=ExitStack)

    def peer(self, version: Version = V5) -> RawPeer:
        """A connection that has said nothing; it is closed at the end."""
        return self.peers.enter_context(RawPeer(self.broker.host, self.broker.port, version))

    def client(self, client_id: str, version: Version = V5, **options: Any) -> RawPeer:
        """One that was let in, with a session that lasts if nothing else is said."""
        options.setdefault("clean", False)
        options.setdefault("properties", KEPT)
        peer = self.peer(version)
        assert peer.connect(client_id, **options).reason == 0
        return peer

    def back(self, client_id: str, version: Version = V5, **options: Any) -> RawPeer:
        """One whose session has waited."""
        peer = self.peer(version)
        options.setdefault("properties", KEPT)
        connack = peer.connect(client_id, clean=False, **options)
        assert (connack.reason, connack.session_present) == (0, True), f"{client_id}: {connack}"
        return peer

    def subscribed(self, client_id: str, *filters: tuple[str, int], **options: Any) -> RawPeer:
        """One with these subscriptions."""
        peer = self.client(client_id, **options)
        peer.send(peer.version.subscribe(1, *filters))
        suback = peer.until(Kind.SUBACK, keep=True)[-1]
        assert max(suback.reasons) < 0x80
        return peer

    def away(self, client_id: str, *filters: tuple[str, int], **options: Any) -> None:
        """One with these subscriptions, who has left."""
        peer = self.subscribed(client_id, *filters, **options)
        peer.send(peer.version.disconnect())
        assert peer.closed()

    def publish(self, topic: str, payload: bytes = b"", **options: Any) -> None:
        """A message at QoS 1 that was acknowledged."""
        with RawPeer(self.broker.host, self.broker.port) as peer:
            assert peer.connect("stagehand").reason == 0
            peer.send(V5.publish(topic, payload, qos=1, packet_id=1, **options))
            answer = peer.packet()
            assert (answer.kind, answer.reason < 0x80) == (Kind.PUBACK, True), str(answer)


Scenario: TypeAlias = Callable[[Stage], Iterator[None]]


def messages(peer: RawPeer, count: int) -> list[Packet]:
    """The next messages; each is acknowledged, if it has to be."""
    found: list[Packet] = []
    while len(found) < count:
        packet = peer.packet()
        assert packet.kind is Kind.PUBLISH, str(packet)
        found.append(packet)
        if packet.qos == 1:
            peer.send(peer.version.puback(packet.id))
    return found


def first_half(scenario: Scenario, stage: Stage) -> Iterator[None]:
    """Play to the end of the first life."""
    running = scenario(stage)
    next(running)
    return running


def second_half(running: Iterator[None]) -> None:
    """Play what is left."""
    for _ in running:
        raise AssertionError("a scenario has two halves")
