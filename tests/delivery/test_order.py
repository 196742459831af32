"""The order in which a client that was away gets what it missed and what it asks for."""

import pytest

from tests.limited_broker import Limited
from tests.raw_mqtt import V5, Kind, RawPeer, properties

RECEIVE_MAX = 65_535


def publish(writer: RawPeer, payload: bytes, *, retain: bool = True) -> None:
    writer.send(V5.publish("t", payload, qos=1, packet_id=1, retain=retain))
    assert writer.packet().kind is Kind.PUBACK


def messages(reader: RawPeer, count: int) -> list[tuple[bytes, bool]]:
    """The next messages, each acknowledged when it has come; whether it is a retained copy."""
    found: list[tuple[bytes, bool]] = []
    while len(found) < count:
        packet = reader.packet()
        if packet.kind is Kind.PUBLISH:
            found.append((packet.payload, packet.retain))
            reader.send(V5.puback(packet.id))
    return found


@pytest.mark.parametrize("receive_max", [RECEIVE_MAX, 1], ids=["at-once", "one-by-one"])
def test_a_retained_copy_comes_after_the_older_messages_that_waited(
    limited: Limited, receive_max: int
) -> None:
    """MQTT-4.6.0-6: `1, 2, 3` and then the copy of `3`, not the copy first."""
    broker = limited()
    broker.away("reader", ("t", 1))
    writer = broker.client("writer")
    for payload in (b"1", b"2", b"3"):
        publish(writer, payload)
    given = properties(session_expiry=3_600, receive_maximum=receive_max)
    reader = broker.client("reader", clean=False, properties=given)
    reader.send(V5.subscribe(2, ("t", 1)))
    came = messages(reader, 4)
    publish(writer, b"4", retain=False)
    came += messages(reader, 1)
    assert came == [(b"1", False), (b"2", False), (b"3", False), (b"3", True), (b"4", False)]
