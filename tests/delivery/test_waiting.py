"""Messages that wait for their first subscriber (T3): once, by priority, until they expire."""

from collections.abc import Sequence

import pytest

from tests.limited_broker import KEPT, Limited, LimitedBroker
from tests.mqtt_bytes import Pair
from tests.raw_mqtt import V5, Kind, RawPeer, properties

NOBODY = 0x10
WAIT: Pair = ("slipring-wait", "1")


@pytest.fixture
def broker(limited: Limited) -> LimitedBroker:
    return limited()


def publish(
    broker: LimitedBroker,
    payload: bytes,
    *,
    asked: Sequence[Pair] = (WAIT,),
    qos: int = 1,
    **more: int,
) -> None:
    """Publish to `t`, which has no subscriber; accepted."""
    with broker.client("writer") as writer:
        packet_id = 1 if qos else None
        given = properties(user=list(asked), **more)
        writer.send(V5.publish("t", payload, qos=qos, packet_id=packet_id, properties=given))
        if qos:
            assert writer.packet().reason == NOBODY
        else:
            writer.settle()


def subscribe(peer: RawPeer, topics: str = "t", qos: int = 1) -> list[bytes]:
    """Subscribe; what comes with it."""
    peer.send(V5.subscribe(1, (topics, qos)))
    assert peer.packet().kind is Kind.SUBACK
    found = peer.waiting()
    for packet in found:
        if packet.qos:
            peer.send(V5.puback(packet.id))
    return [packet.payload for packet in found]


def test_the_first_subscriber_gets_what_waited_and_the_second_does_not(
    broker: LimitedBroker,
) -> None:
    publish(broker, b"order")
    assert subscribe(broker.client("first")) == [b"order"]
    assert subscribe(broker.client("second")) == []


def test_a_message_that_does_not_ask_does_not_wait(broker: LimitedBroker) -> None:
    publish(broker, b"gone", asked=())
    publish(broker, b"gone", asked=[("slipring-wait", "0")])
    assert subscribe(broker.client("first")) == []


def test_the_more_urgent_comes_first_then_the_older(broker: LimitedBroker) -> None:
    for number, priority in enumerate(["low", "normal", "high", "normal", "nonsense"]):
        publish(broker, b"%d" % number, asked=[WAIT, ("slipring-priority", priority)])
    assert subscribe(broker.client("first"), "#") == [b"2", b"1", b"3", b"4", b"0"]


def test_what_expired_is_not_delivered(broker: LimitedBroker) -> None:
    publish(broker, b"old", message_expiry=0)
    publish(broker, b"fresh", message_expiry=3_600)
    assert subscribe(broker.client("first")) == [b"fresh"]


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_it_waits_at_every_quality(broker: LimitedBroker, qos: int) -> None:
    publish(broker, b"order", qos=min(qos, 1))
    assert subscribe(broker.client("first"), qos=qos) == [b"order"]


def test_a_subscriber_of_another_topic_leaves_it_waiting(broker: LimitedBroker) -> None:
    publish(broker, b"order")
    assert subscribe(broker.client("other"), "elsewhere/#") == []
    assert subscribe(broker.client("first"), "+") == [b"order"]


def test_a_session_that_takes_it_and_leaves_still_has_it(broker: LimitedBroker) -> None:
    """It was claimed: it belongs to the session, and to nobody else."""
    publish(broker, b"order")
    with broker.client("first", clean=False, properties=KEPT) as first:
        first.send(V5.subscribe(1, ("t", 1)))
        assert [first.packet().kind for _ in range(2)] == [Kind.SUBACK, Kind.PUBLISH]
    assert subscribe(broker.client("second")) == []
    assert [packet.payload for packet in broker.stored("first", 1)] == [b"order"]
