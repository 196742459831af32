"""Names and contents that are allowed, however odd, and leave by every path as they came."""

import pytest

from tests.hostile.paths import PATHS
from tests.hostile.siege import Siege
from tests.raw_mqtt import V5, Kind, Version, Will, properties

ODD_NAMES = (
    "__proto__",
    "constructor/prototype/__proto__",
    "hasOwnProperty",
    "toString/valueOf",
    "../../etc/passwd",
    "a//b/ /\t/",
    "<script>alert(1)</script>",
    "%s%n{0}${HOME}",
    "\u202e\ufeff/\U0001f680",
    "null",
)

DOLLAR_TOPICS = ("$SYS/broker/version", "$share/group/topic", "$", "$other/thing", "$SYS")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ODD_NAMES)
def test_ghsa_52qw_whmv_87c5_a_name_is_only_a_name(siege: Siege, path: str, name: str) -> None:
    carried = properties(
        content_type=name, response_topic=name, correlation_data=name.encode(), user=(name, name)
    )
    heard = PATHS[path](siege, name, name.encode(), carried)
    assert (heard.topic, heard.payload) == (name, name.encode())
    assert heard.properties["user"] == ((name, name),)
    assert heard.properties["content_type"] == (name,)
    assert heard.properties["response_topic"] == (name,)
    assert heard.properties["correlation_data"] == (name.encode(),)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_ghsa_52qw_whmv_87c5_a_client_may_be_called_so(
    siege: Siege, version: Version, name: str
) -> None:
    client = siege.client(name, version, username=name, password=name.encode())
    client.send(version.subscribe(1, name))
    assert client.packet().reasons == (0,)
    client.send(version.publish(name, b"echo"))
    assert client.packet().payload == b"echo"


@pytest.mark.parametrize("path", PATHS)
def test_cve_2017_7653_bytes_that_are_not_the_text_they_claim_to_be_drop_no_subscriber(
    siege: Siege, path: str
) -> None:
    claimed = properties(payload_format=1)
    heard = PATHS[path](siege, "claims/text", b"\xff\xfe\x00", claimed)
    assert heard.payload == b"\xff\xfe\x00"


@pytest.mark.parametrize("path", PATHS)
def test_cve_2021_41039_user_properties_at_the_limit_leave_as_they_came(
    siege: Siege, path: str
) -> None:
    pairs = [(f"name {number}", "v" * number) for number in range(64)]
    heard = PATHS[path](
        siege, "many/properties", b"x", b"".join(properties(user=pair) for pair in pairs)
    )
    assert heard.properties["user"] == tuple(pairs)


@pytest.mark.parametrize("path", PATHS)
def test_an_empty_message_leaves_by_every_path_but_the_retained(siege: Siege, path: str) -> None:
    if path != "retained":
        assert PATHS[path](siege, "empty", b"", b"").payload == b""


@pytest.mark.parametrize("topic", DOLLAR_TOPICS)
def test_cve_2018_12543_publishing_to_a_dollar_topic_is_not_authorised(
    siege: Siege, topic: str
) -> None:
    watcher, publisher = siege.client("watcher"), siege.client("publisher")
    watcher.send(V5.subscribe(1, "#", "+/#", "$other/#"))
    assert watcher.packet().kind is Kind.SUBACK
    for qos, retain in ((1, False), (1, True), (2, False), (2, True)):
        publisher.send(V5.publish(topic, b"forged", qos=qos, packet_id=qos, retain=retain))
        assert publisher.packet().reason == 0x87
    assert publisher.quiet()
    assert watcher.quiet()


@pytest.mark.parametrize("topic", DOLLAR_TOPICS)
def test_cve_2018_12543_a_forged_dollar_message_without_an_answer_is_dropped(
    siege: Siege, version: Version, topic: str
) -> None:
    watcher, publisher = siege.client("watcher"), siege.client("publisher", version)
    watcher.send(V5.subscribe(1, "#", "$other/#", "$SYS/broker/version"))
    assert watcher.until(Kind.SUBACK)
    publisher.send(version.publish(topic, b"forged", retain=True))
    publisher.settle()
    assert b"forged" not in [packet.payload for packet in watcher.waiting()]
    later = siege.client("later")
    later.send(V5.subscribe(1, "$other/#", "$SYS/#", "#"))
    assert b"forged" not in [packet.payload for packet in later.waiting()]


@pytest.mark.parametrize("topic", DOLLAR_TOPICS)
def test_cve_2018_12543_a_will_to_a_dollar_topic_reaches_nobody(siege: Siege, topic: str) -> None:
    watcher, peer = siege.client("watcher"), siege.peer()
    watcher.send(V5.subscribe(1, "#", "$other/#", "$SYS/#"))
    assert watcher.until(Kind.SUBACK)
    answer = peer.connect("forger", will=Will(topic, b"forged", qos=1))
    assert answer.reason in {0x00, 0x87, 0x90}
    peer.hang_up()
    siege.bystander.round_trip()
    assert b"forged" not in [packet.payload for packet in watcher.waiting()]


def test_cve_2018_12543_a_leading_wildcard_sees_no_dollar_topic(
    siege: Siege, version: Version
) -> None:
    watcher = siege.client("wild", version)
    watcher.send(version.subscribe(1, "#", "+/#", "+/broker/#"))
    seen = watcher.waiting()
    assert not [packet.topic for packet in seen if packet.topic.startswith("$")]
