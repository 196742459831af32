"""MQTT 3.1, which devices still speak: what differs from 3.1.1."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from tests.limited_broker import Limited
from tests.mqtt_bytes import text, u16
from tests.raw_mqtt import V5, V31, Kind, RawPeer

Client: TypeAlias = Callable[[str], RawPeer]


@pytest.fixture
def device(limited: Limited) -> Client:
    """A client of MQTT 3.1 that is let in."""
    broker = limited(subscriptions=1)
    return lambda name: broker.client(name, V31)


def again(packet: bytes) -> bytes:
    """The same packet, marked as sent again."""
    return bytes([packet[0] | 0x08]) + packet[1:]


def test_messages_of_every_quality_go_round(device: Client) -> None:
    peer = device("device")
    peer.send(V31.subscribe(1, ("t", 2)))
    assert peer.packet().reasons == (2,)
    for qos in (0, 1, 2):
        packet_id = qos or None
        peer.send(V31.publish("t", b"%d" % qos, qos=qos, packet_id=packet_id))
    came: list[tuple[bytes, int]] = []
    while len(came) < 3:
        packet = peer.packet()
        if packet.kind is Kind.PUBLISH:
            came.append((packet.payload, packet.qos))
        if packet.kind is Kind.PUBREC:
            peer.send(V31.pubrel(packet.id))
    assert sorted(came) == [(b"0", 0), (b"1", 1), (b"2", 2)]


def test_the_byte_of_session_present_is_reserved(limited: Limited) -> None:
    broker = limited()
    for _ in range(2):
        peer = broker.peer(V31)
        assert not peer.connect("kept", clean=False).session_present
        peer.send(V31.subscribe(1, ("t", 1)), V31.disconnect())
        assert peer.packet().kind is Kind.SUBACK
        assert peer.closed()


def test_a_device_needs_an_identifier(limited: Limited) -> None:
    peer = limited().peer(V31)
    assert peer.connect("").reason == 2
    assert peer.closed()


def test_an_identifier_may_be_longer_than_23_bytes(device: Client) -> None:
    assert device("x" * 24).quiet()


def test_a_refused_subscription_is_acknowledged_because_there_is_no_word_for_it(
    device: Client,
) -> None:
    peer = device("device")
    peer.send(V31.subscribe(1, ("a", 1)), V31.subscribe(2, ("b", 1)))
    assert [peer.packet().reasons for _ in range(2)] == [(1,), (0,)]
    peer.send(V31.publish("b", b"1"))
    assert peer.quiet()


def test_control_packets_may_be_marked_as_sent_again(device: Client) -> None:
    peer = device("device")
    peer.send(again(V31.subscribe(1, ("t", 1))), V31.publish("t", b"1", qos=2, packet_id=2))
    assert [peer.packet().kind for _ in range(2)] == [Kind.SUBACK, Kind.PUBREC]
    peer.until(Kind.PUBLISH)
    peer.send(again(V31.pubrel(2)), again(V31.unsubscribe(3, "t")))
    assert {peer.packet().kind for _ in range(2)} == {Kind.PUBCOMP, Kind.UNSUBACK}


def test_only_those_of_mqtt_3_1_may_be(limited: Limited) -> None:
    peer = limited().client("modern", V5)
    peer.send(again(V5.subscribe(1, ("t", 1))))
    assert peer.packet().reason == 0x81


def test_the_flags_of_name_and_password_may_have_nothing_behind_them(limited: Limited) -> None:
    peer = limited().peer(V31)
    flags = 0xC2
    body = text("MQIsdp") + bytes([3, flags]) + u16(10) + text("device")
    peer.send(bytes([0x10, len(body)]) + body)
    assert peer.packet().reason == 0


@pytest.mark.parametrize("unused", [0x01, 0x08, 0x38])
def test_bits_of_the_connect_flags_that_are_not_used_are_not_looked_at(
    limited: Limited, unused: int
) -> None:
    assert limited().peer(V31).connect("device", flags=0x02 | unused).reason == 0


def test_a_keep_alive_of_0_is_never(limited: Limited) -> None:
    broker = limited(keep_alive_s=1)
    old = broker.client("old", V31, keep_alive_s=0)
    new = broker.client("new", V5, keep_alive_s=0)
    assert new.packet().reason == 0x8D, "MQTT 5 was told 1"
    assert old.quiet()
