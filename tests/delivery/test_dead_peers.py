"""A peer that is gone without a word: found out by its silence, and its will is sent once."""

import time

from tests.metrics import Metrics
from tests.raw_mqtt import V5, RawPeer, Will
from tests.running_broker import RunningBroker

KEEP_ALIVE_S = 1
WILL = Will("gone", b"aircraft")
LOAD = b"." * 32_768


def client(
    broker: RunningBroker, client_id: str, *filters: str, will: Will | None = None
) -> RawPeer:
    """A client that has to be heard of every second."""
    peer = RawPeer(broker.host, broker.port)
    assert peer.connect(client_id, keep_alive_s=KEEP_ALIVE_S, will=will).reason == 0
    peer.send(*(V5.subscribe(1, wanted) for wanted in filters))
    for _ in filters:
        assert peer.packet().reasons == (0,)
    return peer


def disconnected(broker: RunningBroker) -> float:
    return Metrics.of(broker)['slipring_events_total{kind="disconnected"}']


def test_a_half_open_peer_is_gone_after_one_and_a_half_keep_alives_and_its_will_sent_once(
    broker: RunningBroker,
) -> None:
    heard_s = time.monotonic()
    silent = client(broker, "silent", will=WILL)
    watcher = client(broker, "watcher", "gone")
    while disconnected(broker) == 0:
        watcher.settle()  # which is heard, and so stays
    message = watcher.packet()
    assert (message.topic, message.payload) == ("gone", b"aircraft")
    assert time.monotonic() - heard_s >= 1.5 * KEEP_ALIVE_S
    assert silent.packet().reason == 0x8D
    assert silent.closed()
    silent.close()
    assert watcher.quiet(), "once"
    watcher.close()


def test_a_peer_that_does_not_even_read_is_gone_too(broker: RunningBroker) -> None:
    stuck = client(broker, "stuck", "t", will=WILL)
    watcher = client(broker, "watcher", "gone")
    while disconnected(broker) == 0:
        watcher.send(V5.publish("t", LOAD))
        watcher.settle()
    assert watcher.packet().topic == "gone"
    assert watcher.quiet(), "once"
    assert Metrics.of(broker)["slipring_clients"] == 1
    stuck.close()
    watcher.close()


def test_a_peer_that_was_reset_frees_its_place_at_once(broker: RunningBroker) -> None:
    crashed = client(broker, "crashed", will=WILL)
    with client(broker, "watcher", "gone") as watcher:
        crashed.hang_up()
        assert watcher.packet().payload == b"aircraft"
        assert Metrics.of(broker)["slipring_clients"] == 1
        assert watcher.quiet(), "once"
