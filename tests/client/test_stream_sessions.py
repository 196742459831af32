"""What a session declared as streams is its own while the session lives."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.limited_broker import KEPT
from tests.metrics import Metrics
from tests.mqtt_bytes import properties
from tests.packets import Packet
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import RunningBroker, kept_address

NAME = "plane/sound"
NOT_AUTHORIZED = 0x87


@pytest.fixture
def watcher(broker: RunningBroker) -> Iterator[RawPeer]:
    """Hears what is told of the streams."""
    with RawPeer(broker.host, broker.port) as peer:
        peer.connect("watcher")
        peer.send(V5.subscribe(1, "$slipring/streams/changes"))
        peer.packet()
        yield peer


def told(watcher: RawPeer) -> tuple[str, list[str]]:
    """The next event, and the names that it is about."""
    change = json.loads(watcher.packet().payload)
    return change["event"], change["names"]


def came(broker: RunningBroker, *, clean: bool = False, client_id: str = "publisher") -> RawPeer:
    """The publisher, with a session that waits for it."""
    peer = RawPeer(broker.host, broker.port)
    peer.connect(client_id, clean=clean, properties=KEPT)
    return peer


def declare(peer: RawPeer, media: str = "audio/pcm") -> None:
    body = json.dumps({"streams": [{"name": NAME, "media": media}]}).encode()
    asking = properties(response_topic="answers")
    peer.send(V5.publish("$slipring/streams/declare", body, properties=asking))
    assert "indices" in json.loads(peer.packet().payload)


def write(peer: RawPeer, *, qos: int = 1) -> Packet:
    """A chunk, and what the broker says to it."""
    peer.send(V5.publish(NAME, b"chunk", qos=qos, packet_id=7))
    return peer.packet()


@pytest.mark.parametrize("qos", [1, 2])
def test_a_chunk_is_taken_on_a_resumed_session_before_it_declares_again(
    broker: RunningBroker, watcher: RawPeer, qos: int
) -> None:
    with came(broker, clean=True) as publisher:
        declare(publisher)
        assert write(publisher).reason == 0
        assert told(watcher) == ("added", [NAME])
    assert told(watcher) == ("silent", [NAME])
    with came(broker) as again:
        assert write(again, qos=qos).reason == 0
        assert told(watcher) == ("live", [NAME])
    assert told(watcher) == ("silent", [NAME])


@pytest.mark.parametrize("qos", [1, 2])
def test_a_chunk_is_taken_on_a_resumed_session_after_the_broker_was_killed(
    tmp_path: Path, qos: int
) -> None:
    with kept_address() as address:
        for start in range(3):
            broker = RunningBroker.start(tmp_path, "--mqtt", address)
            with came(broker) as publisher, came(broker, client_id="another") as other:
                if start == 0:
                    declare(other)
                    declare(publisher)
                assert write(publisher, qos=qos).reason == 0
                if start == 1:
                    assert write(other).reason == 0
                    other.send(V5.disconnect())
                    # It has gone when that is told: the end of its connection comes before.
                    Metrics.when(broker, 'slipring_events_total{kind="disconnected"}', 1)
                    declare(publisher, "video/h264")
                if start == 2:
                    assert write(other).reason == NOT_AUTHORIZED, "it is another stream now"
                broker.stop(signal.SIGKILL)


def test_a_session_that_begins_anew_has_declared_nothing(broker: RunningBroker) -> None:
    with came(broker, clean=True) as publisher:
        declare(publisher)
    with came(broker, clean=True) as again:
        assert write(again).reason == NOT_AUTHORIZED


def test_who_is_away_does_not_keep_a_stream_from_another_media_type(
    broker: RunningBroker, watcher: RawPeer
) -> None:
    with came(broker, clean=True) as publisher:
        declare(publisher)
        assert told(watcher) == ("added", [NAME])
    assert told(watcher) == ("silent", [NAME])
    with came(broker, client_id="another") as other:
        declare(other, "video/h264")
        with came(broker) as again:
            assert write(again).reason == NOT_AUTHORIZED
