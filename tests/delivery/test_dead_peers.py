"""A peer that is gone without a word: found out by its silence, and its will is sent once."""

import select
import time

from tests.limited_broker import Limited, LimitedBroker
from tests.metrics import Metrics
from tests.raw_mqtt import V5, RawPeer, Will

KEEP_ALIVE_S = 6
"""Long enough that whoever is on time is on time on a busy machine too."""
PING_S = 0.2
KEEP_ALIVE_TIMEOUT = 0x8D
WILL = Will("gone", b"aircraft")
LOAD = b"." * 32_768


def watching(broker: LimitedBroker) -> RawPeer:
    """A client that is told who is gone."""
    watcher = broker.client("watcher", keep_alive_s=60)
    watcher.send(V5.subscribe(1, "gone"))
    assert watcher.packet().reasons == (0,)
    return watcher


def disconnected(broker: LimitedBroker) -> float:
    return Metrics.of(broker.running)['slipring_events_total{kind="disconnected"}']


def test_a_half_open_peer_is_gone_after_one_and_a_half_keep_alives_and_its_will_sent_once(
    limited: Limited,
) -> None:
    broker = limited()
    watcher = watching(broker)
    lively = broker.client("lively", keep_alive_s=KEEP_ALIVE_S, will=Will("gone", b"lively"))
    heard_s = time.monotonic()
    silent = broker.client("silent", keep_alive_s=KEEP_ALIVE_S, will=WILL)
    while not select.select([watcher.socket], [], [], PING_S)[0]:
        lively.settle()
    message = watcher.packet()
    assert (message.topic, message.payload) == ("gone", b"aircraft")
    assert time.monotonic() - heard_s >= 1.5 * KEEP_ALIVE_S
    assert silent.packet().reason == KEEP_ALIVE_TIMEOUT
    assert silent.closed()
    silent.close()
    assert watcher.quiet(), "once, and the one that is heard stays"
    assert lively.quiet()


def test_a_peer_that_does_not_even_read_is_gone_too(limited: Limited) -> None:
    broker = limited()
    watcher = watching(broker)
    stuck = broker.client("stuck", keep_alive_s=KEEP_ALIVE_S, will=WILL)
    stuck.send(V5.subscribe(1, "t"))
    assert stuck.packet().reasons == (0,)
    while disconnected(broker) == 0:
        watcher.send(V5.publish("t", LOAD))
        watcher.settle()
    assert watcher.packet().topic == "gone"
    assert watcher.quiet(), "once"
    assert Metrics.of(broker.running)["slipring_clients"] == 1


def test_a_peer_that_was_reset_frees_its_place_at_once(limited: Limited) -> None:
    broker = limited()
    watcher = watching(broker)
    broker.client("crashed", will=WILL).hang_up()
    assert watcher.packet().payload == b"aircraft"
    assert Metrics.of(broker.running)["slipring_clients"] == 1
    assert watcher.quiet(), "once"
