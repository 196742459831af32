"""Brokers with small limits for tests, and peers that are let in."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.metrics import Metrics
from tests.mqtt_bytes import Pair, properties
from tests.raw_mqtt import V5, Kind, Packet, RawPeer, Version
from tests.running_broker import RunningBroker

KEPT = properties(session_expiry=3_600)
"""A session that waits for its client."""


class LimitedBroker:
    """A broker with small limits."""

    def __init__(self, running: RunningBroker, peers: ExitStack) -> None:
        self.running = running
        self._peers = peers

    def peer(self, version: Version = V5, source: str = "") -> RawPeer:
        """A connection, closed at the end of the test, that has said nothing."""
        made = RawPeer(self.running.host, self.running.port, version, source=source)
        return self._peers.enter_context(made)

    def client(
        self, client_id: str, version: Version = V5, source: str = "", **options: Any
    ) -> RawPeer:
        """A peer that was let in."""
        peer = self.peer(version, source)
        assert peer.connect(client_id, **options).reason == 0
        return peer

    def away(self, client_id: str, *filters: tuple[str, int]) -> None:
        """A session with subscriptions, whose client has left. It leaves after SUBACK: else the
        retained messages of its subscriptions are still to be sent when it comes back.
        """
        leaving = self.client(client_id, clean=False, properties=KEPT)
        leaving.send(V5.subscribe(1, *filters))
        assert max(leaving.packet().reasons) < 0x80
        leaving.send(V5.disconnect())
        assert leaving.closed()
        Metrics.when(self.running, "slipring_sessions_away", 1)

    def back(self, client_id: str) -> RawPeer:
        """The client of a session that waited."""
        peer = self.peer()
        assert peer.connect(client_id, clean=False, properties=KEPT).session_present
        return peer

    def stored(self, client_id: str, count: int) -> list[Packet]:
        """What waited in the journal for a client that comes back; it is read in its own time."""
        peer = self.back(client_id)
        found = [peer.packet() for _ in range(count)]
        assert peer.quiet(), "that was all"
        return found

    def reached(self, limit: str) -> float:
        """How often a limit was reached so far."""
        return Metrics.of(self.running).reached(limit)


def ask(peer: RawPeer, topic: str, **body: object) -> dict[str, Any]:
    """The broker's answer to a request below `$slipring/`."""
    where = properties(response_topic="answer")
    peer.send(V5.publish(f"$slipring/{topic}", json.dumps(body).encode(), properties=where))
    while (packet := peer.packet()).topic != "answer":
        pass
    answer: dict[str, Any] = json.loads(packet.payload)
    return answer


def retain(writer: RawPeer, topic: str, payload: bytes) -> int:
    """Publish to be retained; the broker's answer."""
    writer.send(V5.publish(topic, payload, qos=1, packet_id=1, retain=True))
    return writer.packet().reason


def wait(writer: RawPeer, topic: str, payload: bytes = b"1", priority: str = "normal") -> int:
    """Publish to wait for a subscriber; the broker's answer."""
    asked: list[Pair] = [("slipring-wait", "1"), ("slipring-priority", priority)]
    packet = V5.publish(topic, payload, qos=1, packet_id=1, properties=properties(user=asked))
    writer.send(packet)
    return writer.packet().reason


def declare(peer: RawPeer, what: str, **body: object) -> dict[str, Any]:
    """The broker's answer to a declaration of parameters or streams."""
    return ask(peer, f"{what}/declare", **body)


def chosen(peer: RawPeer, *filters: str, **needs: str) -> Packet:
    """The answer to a SUBSCRIBE with needs."""
    pairs: list[Pair] = list(needs.items())
    peer.send(V5.subscribe(1, *filters, properties=properties(user=pairs)))
    return peer.until(Kind.SUBACK)[-1]


Limited: TypeAlias = Callable[..., LimitedBroker]


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Limited]:
    """Starts a broker with these limits; `mqtt` is the config's table of that name, `users` are
    its `[[user]]` tables, `rules` are tables about topics. One that has ended is started again
    with what it has kept.
    """
    with ExitStack() as stack:

        def started(
            mqtt: str = "", users: str = "", rules: str = "", **limits: int | str
        ) -> LimitedBroker:
            file = tmp_path / "broker.toml"
            rows = "\n".join(f"{key} = {value!r}" for key, value in limits.items())
            anonymous = "allow_anonymous = true" if users else ""
            file.write_text(f"{anonymous}\n[mqtt]\n{mqtt}\n[limits]\n{rows}\n{rules}\n{users}\n")
            running = RunningBroker.start(tmp_path / "data", "--config", str(file))
            stack.callback(running.stop)
            peers = stack.enter_context(ExitStack())
            return LimitedBroker(running, peers)

        yield started
