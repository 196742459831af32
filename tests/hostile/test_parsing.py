"""Packets that broke other brokers' parsers, each refused or taken for the documented reason."""

import pytest

from tests.hostile.siege import Siege
from tests.mqtt_bytes import packet, text, u16, variable
from tests.raw_mqtt import V5, V311, Kind, RawPeer, Version, Will, properties

CONFIG = """
[limits]
topic_levels = 32
user_properties = 64
"""

NOT_UTF8 = {
    "lone byte": b"a/\xff",
    "overlong slash": b"a\xc0\xaf",
    "surrogate": b"a/\xed\xa0\x80",
    "beyond U+10FFFF": b"a/\xf4\x90\x80\x80",
    "cut short": b"a/\xe2\x82",
    "null": b"a/\x00",
}

SERVER_ONLY = {
    "CONNACK": V5.connack(),
    "SUBACK": V5.suback(1, 0),
    "UNSUBACK": V5.unsuback(1, 0),
    "PINGRESP": packet(Kind.PINGRESP),
    "type 0": packet(0x00),
}

NOT_IN_PUBLISH = {
    "session_expiry": properties(session_expiry=1),
    "assigned_client_id": properties(assigned_client_id="x"),
    "server_keep_alive": properties(server_keep_alive=1),
    "auth_method": properties(auth_method="x"),
    "will_delay": properties(will_delay=1),
    "receive_maximum": properties(receive_maximum=1),
    "reason_string": properties(reason_string="x"),
    "maximum_qos": properties(maximum_qos=1),
    "subscription_id": properties(subscription_id=1),
}

MALFORMED_SHARES = (
    "$share",
    "$share/",
    "$share/group",
    "$share/group/",
    "$share//topic",
    "$share/+/topic",
    "$share/#/topic",
    "$share/gr#oup/topic",
    "$share/group/#/topic",
)


def ended(peer: RawPeer, reason: int) -> bool:
    """Whether the connection ended for this reason, which only MQTT 5 can tell."""
    if peer.version is V5:
        goodbye = peer.packet()
        assert (goodbye.kind, goodbye.reason) == (Kind.DISCONNECT, reason), goodbye
    return peer.closed()


def refused(peer: RawPeer, connect: bytes, reason: int) -> bool:
    """Whether a CONNECT was answered with this reason (MQTT 5), or with the connection's end."""
    peer.send(connect)
    answer = peer.receive()
    if answer is None:
        return True
    assert (answer.kind, answer.reason) == (Kind.CONNACK, reason), answer
    return peer.closed()


@pytest.mark.parametrize("shape", ["remaining length", "property length", "subscription id"])
def test_cve_2026_21888_a_five_byte_integer_ends_the_connection(siege: Siege, shape: str) -> None:
    five = b"\x81\x80\x80\x80\x01"
    written = {
        "remaining length": bytes([Kind.PUBLISH]) + five,
        "property length": packet(Kind.PUBLISH, text("a") + five),
        "subscription id": packet(
            Kind.SUBSCRIBE | 2, u16(1) + variable(6) + b"\x0b" + five + text("a") + b"\0"
        ),
    }
    peer = siege.client("five")
    peer.send(written[shape])
    assert ended(peer, 0x81)


def test_cve_2021_34432_an_empty_topic_ends_the_connection(siege: Siege, version: Version) -> None:
    for qos, packet_id in ((0, None), (1, 1), (2, 1)):
        peer = siege.client("empty", version)
        peer.send(version.publish("", b"x", qos=qos, packet_id=packet_id))
        assert ended(peer, 0x90 if version is V5 else 0)


def test_cve_2021_34432_an_empty_topic_with_an_alias_nobody_set_ends_the_connection(
    siege: Siege,
) -> None:
    peer = siege.client("alias")
    peer.send(V5.publish("", b"x", properties=properties(topic_alias=7)))
    assert ended(peer, 0x82)


def test_cve_2021_34432_a_will_with_an_empty_topic_is_refused(
    siege: Siege, version: Version
) -> None:
    connect = version.connect("will", will=Will("", b"gone"))
    assert refused(siege.peer(version), connect, 0x90)


@pytest.mark.parametrize("name", SERVER_ONLY)
def test_cve_2021_28166_a_packet_only_a_server_sends_ends_the_connection(
    siege: Siege, name: str
) -> None:
    peer = siege.client("server")
    peer.send(SERVER_ONLY[name])
    goodbye = peer.packet()
    assert goodbye.kind is Kind.DISCONNECT
    assert goodbye.reason in {0x81, 0x82}
    assert peer.closed()


@pytest.mark.parametrize("kind", ["puback", "pubrec", "pubrel", "pubcomp"])
def test_cve_2021_28166_an_acknowledgement_of_nothing_harms_nobody(
    siege: Siege, version: Version, kind: str
) -> None:
    peer = siege.client("acks", version)
    for packet_id in (1, 77, 65_535):
        peer.send(getattr(version, kind)(packet_id))
    answers = peer.waiting()
    assert {answer.kind for answer in answers} <= {Kind.PUBREL, Kind.PUBCOMP}


def test_cve_2019_11779_a_filter_with_thousands_of_levels_is_refused(
    siege: Siege, version: Version
) -> None:
    peer = siege.client("levels", version)
    refusal = 0x8F if version is V5 else 0x80
    for wanted in ("/" * 65_535, "a/" * 20_000 + "#", "+/" * 100 + "a"):
        peer.send(version.subscribe(1, wanted))
        assert peer.packet().reasons == (refusal,)
        peer.send(version.unsubscribe(2, wanted))
        assert peer.packet().kind is Kind.UNSUBACK


@pytest.mark.parametrize("topic", ["/" * 100, "/" * 65_000], ids=["levels", "bytes"])
def test_cve_2019_11779_a_topic_with_thousands_of_levels_is_refused(
    siege: Siege, version: Version, topic: str
) -> None:
    for qos, packet_id in ((0, None), (1, 1), (2, 1)):
        peer = siege.client("levels", version)
        peer.send(version.publish(topic, b"x", qos=qos, packet_id=packet_id))
        assert ended(peer, 0x90)


def test_cve_2019_11779_a_will_with_thousands_of_levels_is_refused(siege: Siege) -> None:
    connect = V5.connect("levels", will=Will("/" * 10_000, b"gone"))
    assert refused(siege.peer(), connect, 0x90)


@pytest.mark.parametrize("flaw", NOT_UTF8)
@pytest.mark.parametrize("retain", [False, True], ids=["live", "retained"])
def test_cve_2017_7653_a_topic_that_is_not_utf8_ends_its_publisher_and_no_subscriber(
    siege: Siege, version: Version, flaw: str, retain: bool
) -> None:
    plain, shared = siege.client("plain"), siege.client("shared")
    plain.send(V5.subscribe(1, "#"))
    shared.send(V5.subscribe(1, "$share/group/#"))
    assert (plain.packet().reasons, shared.packet().reasons) == ((0,), (0,))
    publisher = siege.client("publisher", version)
    publisher.send(version.publish(NOT_UTF8[flaw], b"x", retain=retain))
    assert ended(publisher, 0x81)
    assert plain.quiet()
    assert shared.quiet()


@pytest.mark.parametrize("flaw", NOT_UTF8)
def test_cve_2017_7653_text_that_is_not_utf8_is_refused_wherever_it_stands(
    siege: Siege, flaw: str
) -> None:
    bad = NOT_UTF8[flaw]
    for written in (
        V5.subscribe(1, bad),
        V5.unsubscribe(1, bad),
        V5.publish("a", properties=properties(content_type=bad)),
        V5.publish("a", properties=properties(response_topic=bad)),
        V5.publish("a", properties=properties(user=("k", bad))),
        V5.disconnect(properties=properties(reason_string=bad)),
    ):
        peer = siege.client("text")
        peer.send(written)
        assert ended(peer, 0x81)
    for connect in (
        V5.connect(bad),
        V5.connect("c", username=bad),
        V5.connect("c", will=Will(bad, b"gone")),
    ):
        assert refused(siege.peer(), connect, 0x81)


@pytest.mark.parametrize("name", NOT_IN_PUBLISH)
def test_cve_2026_67418_a_property_not_allowed_in_publish_ends_the_connection(
    siege: Siege, name: str
) -> None:
    peer = siege.client("property")
    peer.send(V5.publish("a", b"x", properties=NOT_IN_PUBLISH[name]))
    assert ended(peer, 0x82 if name == "subscription_id" else 0x81)


def test_cve_2026_67418_an_unknown_or_repeated_property_ends_the_connection(siege: Siege) -> None:
    twice = properties(content_type="a") + properties(content_type="b")
    for encoded, reason in ((b"\x7f\x00", 0x81), (b"\x00", 0x81), (twice, 0x82)):
        peer = siege.client("property")
        peer.send(V5.publish("a", b"x", properties=encoded))
        assert ended(peer, reason)


@pytest.mark.parametrize("wanted", MALFORMED_SHARES)
def test_cve_2026_95843_a_malformed_share_is_refused(
    siege: Siege, version: Version, wanted: str
) -> None:
    peer = siege.client("share", version)
    peer.send(version.subscribe(1, wanted, "good/filter"))
    refusal = 0x8F if version is V5 else 0x80
    assert peer.packet().reasons == (refusal, 0x00)
    peer.send(version.unsubscribe(2, wanted))
    assert peer.packet().kind is Kind.UNSUBACK


def test_cve_2026_95843_a_share_that_wants_no_local_ends_the_connection(siege: Siege) -> None:
    peer = siege.client("share")
    peer.send(V5.subscribe(1, ("$share/group/topic", 0x04)))
    assert ended(peer, 0x82)


def test_cve_2021_41039_thousands_of_user_properties_are_refused_in_every_packet(
    siege: Siege,
) -> None:
    many = properties(user=("k", "v")) * 10_000
    for written in (
        V5.publish("a", b"x", properties=many),
        V5.publish("a", b"x", qos=1, packet_id=1, retain=True, properties=many),
        V5.subscribe(1, "a", properties=many),
        V5.unsubscribe(1, "a", properties=many),
    ):
        peer = siege.client("many")
        peer.send(written)
        assert ended(peer, 0x97)


def test_cve_2021_41039_thousands_of_user_properties_are_refused_in_connect_and_will(
    siege: Siege,
) -> None:
    many = properties(user=("", "")) * 2_000
    assert refused(siege.peer(), V5.connect("many", properties=many), 0x97)
    will = Will("gone", properties=many)
    assert refused(siege.peer(), V5.connect("many", will=will), 0x97)


def test_a_client_that_goes_on_sending_is_still_told_why_it_has_to_go(siege: Siege) -> None:
    peer = siege.client("babbling")
    peer.send(V5.publish(b"\xff"), V5.publish("more", bytes(1000)) * 1000)
    assert ended(peer, 0x81)


def test_a_packet_larger_than_the_limit_ends_the_connection(siege: Siege, version: Version) -> None:
    peer = siege.client("large", version)
    peer.send(bytes([Kind.PUBLISH]) + b"\xff\xff\xff\x7f")
    assert ended(peer, 0x95)


@pytest.mark.parametrize(("bytes_max", "reason"), [(12, 0x95), (4, None), (1, None)])
def test_a_client_that_takes_no_packet_as_large_as_connack_is_not_let_in(
    siege: Siege, bytes_max: int, reason: int | None
) -> None:
    peer = siege.peer()
    peer.send(V5.connect("tiny", properties=properties(maximum_packet_size=bytes_max)))
    answer = peer.receive()
    assert (answer and answer.reason) == reason
    assert answer is None or (len(answer.raw) <= bytes_max and peer.closed())


@pytest.mark.parametrize("level", [0, 2, 4, 5, 131])
def test_the_name_of_mqtt_3_1_with_another_level_is_told_so_and_refused(
    siege: Siege, level: int
) -> None:
    peer = siege.peer(V311)
    body = text("MQIsdp") + bytes([level, 2]) + u16(10) + text("old")
    peer.send(packet(Kind.CONNECT, body))
    assert peer.packet().reason == 0x01
    assert peer.closed()
