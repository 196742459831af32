"""Priorities (T4, P9): a slow subscriber gets high messages first, also after a restart."""

import signal
from typing import Any

import pytest

from tests.limited_broker import KEPT, Limited, LimitedBroker
from tests.mqtt_bytes import Pair
from tests.raw_mqtt import V5, Kind, Packet, RawPeer, properties

LOAD = b"." * 16_384
RULES = """
[[priority]]
topics = ["t/alarm"]
level = "high"
[[priority]]
topics = ["t/log"]
level = "low"
"""


def level(name: str) -> bytes:
    pair: Pair = ("slipring-priority", name)
    return properties(user=[pair])


def subscriber(
    broker: LimitedBroker,
    client_id: str,
    qos: int,
    wanted: str = "t/#",
    given: bytes = b"",
    **options: Any,
) -> RawPeer:
    peer = broker.client(client_id, **options)
    peer.send(V5.subscribe(1, (wanted, qos), properties=given))
    assert peer.packet().reasons == (qos,)
    return peer


def publish(
    writer: RawPeer, payload: bytes, qos: int, topic: str = "t", given: bytes = b""
) -> None:
    """Publish, and wait until the broker has it."""
    packet_id = 1 if qos else None
    writer.send(V5.publish(topic, payload, qos=qos, packet_id=packet_id, properties=given))
    if qos == 0:
        writer.settle()
    elif qos == 1:
        assert writer.packet().kind is Kind.PUBACK
    else:
        assert writer.packet().kind is Kind.PUBREC
        writer.send(V5.pubrel(1))
        assert writer.packet().kind is Kind.PUBCOMP


def answered(peer: RawPeer, message: Packet) -> None:
    """Acknowledge a message, to the end."""
    if message.qos == 1:
        peer.send(V5.puback(message.id))
    elif message.qos == 2:
        peer.send(V5.pubrec(message.id))
        assert peer.until(Kind.PUBREL, keep=True)
        peer.send(V5.pubcomp(message.id))


def received(peer: RawPeer, count: int) -> list[bytes]:
    """So many messages, each acknowledged when it has come."""
    payloads: list[bytes] = []
    while len(payloads) < count:
        message = peer.packet()
        assert message.kind is Kind.PUBLISH
        payloads.append(message.payload)
        answered(peer, message)
    return payloads


def test_a_high_message_overtakes_the_outbox_of_a_subscriber_that_does_not_read(
    limited: Limited,
) -> None:
    broker = limited(outbox_bytes=16 << 20)
    slow, writer = subscriber(broker, "slow", 0), broker.client("writer")
    count = 600  # fewer than the outbox has room for, more than the sockets have
    for number in range(count):
        writer.send(V5.publish("t", b"%06d" % number + LOAD))
    writer.settle()
    publish(writer, b"low", 0, given=level("low"))
    publish(writer, b"normal", 0)
    publish(writer, b"high", 0, given=level("high"))
    found = [payload[:6] for payload in received(slow, count + 3)]
    numbers = [payload for payload in found if payload.isdigit()]
    assert numbers == [b"%06d" % number for number in range(count)], "in order, none lost"
    assert count - found.index(b"high") > 100, "it has overtaken what waited"
    assert found.index(b"high") < found.index(b"low")
    assert found[-1] == b"normal", "the low one is not overtaken for ever"


@pytest.mark.parametrize("qos", [1, 2])
def test_a_high_message_overtakes_a_queue(limited: Limited, qos: int) -> None:
    broker = limited()
    slow = subscriber(broker, "slow", qos, properties=properties(receive_maximum=1))
    writer = broker.client("writer")
    publish(writer, b"in flight", qos)
    first = slow.packet()
    for number in range(3):
        for name in ("low", "normal", "high"):
            publish(writer, f"{name} {number}".encode(), qos, given=level(name))
    answered(slow, first)
    expected = [
        f"{name} {number}".encode() for name in ("high", "normal", "low") for number in range(3)
    ]
    assert received(slow, 9) == expected


def test_the_topic_decides_after_the_subscription_and_the_subscription_after_the_message(
    limited: Limited,
) -> None:
    broker = limited(rules=RULES)
    one = properties(receive_maximum=1)
    plain = subscriber(broker, "plain", 1, properties=one)
    named = subscriber(broker, "named", 1, given=level("normal"), properties=one)
    writer = broker.client("writer")
    publish(writer, b"in flight", 1)
    first = {peer: peer.packet() for peer in (plain, named)}
    for topic, name in (
        ("t/log", ""),
        ("t", ""),
        ("t/alarm", ""),
        ("t/log", "high"),
        ("t/alarm", "low"),
    ):
        publish(writer, f"{topic} {name}".encode(), 1, topic, level(name) if name else b"")
    for peer, message in first.items():
        answered(peer, message)
    assert received(plain, 5) == [b"t/alarm ", b"t/log high", b"t ", b"t/log ", b"t/alarm low"]
    assert received(named, 5) == [b"t/log high", b"t/log ", b"t ", b"t/alarm ", b"t/alarm low"]


def test_a_subscription_with_a_priority_is_served_first(limited: Limited) -> None:
    broker = limited()
    peer = subscriber(
        broker, "two", 1, "alarm/#", level("high"), properties=properties(receive_maximum=1)
    )
    peer.send(V5.subscribe(2, ("t/#", 1)))
    assert peer.packet().reasons == (1,)
    writer = broker.client("writer")
    publish(writer, b"in flight", 1)
    first = peer.packet()
    publish(writer, b"plain", 1)
    publish(writer, b"alarm", 1, "alarm/fire")
    answered(peer, first)
    assert received(peer, 2) == [b"alarm", b"plain"]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("qos", [1, 2])
def test_a_kept_session_has_its_priorities_after_a_restart(
    limited: Limited, qos: int, how: signal.Signals
) -> None:
    broker = limited(rules=RULES)
    broker.away("away", ("t/#", qos))
    with broker.client("writer") as writer:
        for number in range(3):
            publish(writer, f"normal {number}".encode(), qos)
            publish(writer, f"low {number}".encode(), qos, "t/log")
            publish(writer, f"high {number}".encode(), qos, given=level("high"))
    broker.running.stop(how)
    again = limited()
    peer = again.back("away")
    expected = [
        f"{name} {number}".encode() for name in ("high", "normal", "low") for number in range(3)
    ]
    assert received(peer, 9) == expected
    assert peer.quiet()


def test_a_full_queue_keeps_the_high_messages(limited: Limited) -> None:
    broker = limited(queue_messages=4)
    broker.away("away", ("t/#", 1))
    with broker.client("writer") as writer:
        publish(writer, b"high 0", 1, given=level("high"))
        for number in range(6):
            publish(writer, f"normal {number}".encode(), 1)
        publish(writer, b"low", 1, given=level("low"))
        publish(writer, b"high 1", 1, given=level("high"))
    peer = broker.back("away")
    assert received(peer, 4) == [b"high 0", b"high 1", b"normal 4", b"normal 5"]
    assert broker.reached("queue_messages") == 5


def test_a_waiting_message_has_the_priority_of_its_topic(limited: Limited) -> None:
    broker = limited(rules=RULES)
    wait = properties(user=[("slipring-wait", "1")])
    with broker.client("writer") as writer:
        for topic in ("t/log", "t", "t/alarm"):
            publish(writer, topic.encode(), 1, topic, wait)
    peer = broker.client("first", properties=KEPT)
    peer.send(V5.subscribe(1, ("t/#", 1)))
    assert peer.packet().kind is Kind.SUBACK
    assert received(peer, 3) == [b"t/alarm", b"t", b"t/log"]


def test_a_subscription_with_an_unknown_priority_is_refused(limited: Limited) -> None:
    peer = limited().client("hasty")
    peer.send(V5.subscribe(1, ("t", 1), ("u", 1), properties=level("urgent")))
    told = peer.packet()
    assert (told.kind, told.reasons) == (Kind.SUBACK, (0x83, 0x83))
    assert told.properties["reason_string"] == ("`slipring-priority` is high, normal or low",)


def test_an_unknown_priority_is_none(limited: Limited) -> None:
    broker = limited()
    slow = subscriber(broker, "slow", 1, properties=properties(receive_maximum=1))
    writer = broker.client("writer")
    publish(writer, b"in flight", 1)
    first = slow.packet()
    publish(writer, b"normal", 1)
    publish(writer, b"urgent", 1, given=level("urgent"))
    answered(slow, first)
    assert received(slow, 2) == [b"normal", b"urgent"]
