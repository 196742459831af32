"""What a client can send, once each: every request to `$slipring/` and every kind of packet."""

import re
import struct
from pathlib import Path

from tests.mqtt_bytes import Pair, packet, properties
from tests.packets import PINGREQ, V5, Kind

NAMES = [f"many/s{number % 100}/p{number}" for number in range(4_000)]
OWN = [{"name": f"own/{number}", "type": "f64"} for number in range(1_000)]
OWN_STREAMS = [{"name": f"own/stream/{number}", "media": "audio/pcm"} for number in range(100)]
RARE = "+/+/+/nothing"
"""A filter that has to be compared with every name, and matches none."""
FAR = 1 << 40
"""An offset that no journal has."""


def user(*pairs: Pair) -> bytes:
    """User properties."""
    return properties(user=list(pairs))


def needs(**wanted: str) -> bytes:
    """What a subscription needs of the parameters it chooses."""
    return user(*wanted.items())


QUESTIONS: dict[str, list[tuple[str, object]]] = {
    "list": [("table/list", {"filter": "#"})],
    "list of few among many": [("table/list", {"filter": RARE})],
    "list with those removed": [("table/list", {"removed": True, "count": 1 << 40})],
    "values": [("table/values", {"filter": "#"})],
    "values of few among many": [("table/values", {"filter": RARE})],
    "values by name": [("table/values", {"names": NAMES})],
    "find": [("table/find", {"names": NAMES})],
    "find what is not there": [("table/find", {"names": ["x"] * 8_000})],
    "select by name": [("table/select", {"names": NAMES})],
    "select by filter": [("table/select", {"filters": ["many/#"]})],
    "select by many filters": [("table/select", {"filters": ["+/+/#", "+/#", "many/+/+"]})],
    "declare and remove": [
        ("table/declare", {"parameters": OWN}),
        ("table/remove", {"names": [row["name"] for row in OWN]}),
    ],
    "declare what is there": [("table/declare", {"parameters": OWN})],
    "declare what cannot be": [
        ("table/declare", {"parameters": [{"name": "a", "type": "x"}] * 2_000})
    ],
    "streams": [("streams/list", {})],
    "declare and remove streams": [
        ("streams/declare", {"streams": OWN_STREAMS}),
        ("streams/remove", {"names": [row["name"] for row in OWN_STREAMS]}),
    ],
    "memory": [("memory", b"")],
    "about the journal": [("journal/about", b"")],
    "the journal": [("journal/read", struct.pack("<QQI", 0, FAR, 4 << 20))],
    "samples in the journal": [("journal/samples", struct.pack("<QQ", 0, FAR))],
    "definitions in the journal": [("journal/definitions", struct.pack("<IQ", 0, 0))],
    "a time in the journal": [("journal/at", struct.pack("<q", 1))],
    "a place in the journal": [("journal/position", struct.pack("<QQ", 0, 0))],
    "a consumer of another journal": [
        ("journal/commit", bytes(16) + struct.pack("<QQ", 0, 0) + b"flood")
    ],
    "a request that is not JSON": [("table/list", b"[" * 10_000)],
    "a request that is none": [("table/nothing", b"{}")],
    "ping": [("ping", b"")],
    "a notice": [("to/all", b"x" * 100)],
}
"""Requests by what they ask: the topic below `$slipring/`, and the body."""


def twenty(first: str) -> list[str]:
    """Filters that match something."""
    return [f"{first}/s{number}/#" for number in range(20)]


PACKETS = {
    "PINGREQ": [PINGREQ],
    "PUBLISH": [V5.publish("nobody/wants", b"x")],
    "PUBLISH with properties": [
        V5.publish("nobody/wants", b"x", properties=user(*[("a", "b")] * 64))
    ],
    "PUBLISH with an alias": [
        V5.publish(f"nobody/wants/{alias}", b"", properties=properties(topic_alias=alias))
        for alias in range(1, 200)
    ],
    "PUBLISH to ever other topics": [
        V5.publish(f"other/{number}", b"x") for number in range(20_000)
    ],
    "PUBLISH of a value": [
        V5.publish("own/value", b"1.5", qos=1, packet_id=1),
    ],
    "PUBLISH that is retained": [
        V5.publish(f"flood/{number}", b"x", retain=True) for number in range(1_000)
    ],
    "PUBLISH that waits": [
        V5.publish(f"flood/waits/{number}", b"x", properties=user(("slipring-wait", "1")))
        for number in range(1_000)
    ],
    "PUBLISH at QoS 1": [V5.publish("nobody/wants", b"x", qos=1, packet_id=1)],
    "PUBLISH at QoS 2 and PUBREL": [
        packet
        for number in range(1, 500)
        for packet in (V5.publish("nobody", b"x", qos=2, packet_id=number), V5.pubrel(number))
    ],
    "PUBACK of nothing": [V5.puback(7)],
    "PUBREC of nothing": [V5.pubrec(7)],
    "PUBREL of nothing": [V5.pubrel(7)],
    "PUBCOMP of nothing": [V5.pubcomp(7)],
    "SUBSCRIBE": [V5.subscribe(1, "#")],
    "SUBSCRIBE and UNSUBSCRIBE": [V5.subscribe(1, "#"), V5.unsubscribe(2, "#")],
    "SUBSCRIBE of many filters": [
        V5.subscribe(1, *twenty("many"), *twenty("kept"), *twenty("+")),
        V5.unsubscribe(2, *twenty("many"), *twenty("kept"), *twenty("+")),
    ],
    "SUBSCRIBE of one filter very often": [V5.subscribe(1, *["+/s7/nothing/#"] * 20_000)],
    "UNSUBSCRIBE of what is not there": [V5.unsubscribe(1, *["nothing"] * 1_000)],
    "SUBSCRIBE with retained messages": [V5.subscribe(1, "kept/#")],
    "SUBSCRIBE with few retained among many": [V5.subscribe(1, *[f"+/+/x{n}" for n in range(50)])],
    "SUBSCRIBE of a share": [
        V5.subscribe(1, "$share/a/many/#"),
        V5.unsubscribe(2, "$share/a/many/#"),
    ],
    "a selection": [V5.subscribe(1, "many/#", properties=needs(deliver="frame", rate="10"))],
    "a selection of every sample": [
        V5.subscribe(1, "many/#", properties=needs(deliver="frame")),
        V5.unsubscribe(2, "many/#"),
    ],
    "a selection that compares": [
        V5.subscribe(1, "part/#", properties=needs(deliver="frame", rate="10", change="true")),
        V5.unsubscribe(2, "part/#"),
    ],
    "a selection that compares every sample": [
        V5.subscribe(1, "part/#", properties=needs(deliver="frame", deadband="2%")),
        V5.unsubscribe(2, "part/#"),
    ],
    "a selection of text that compares": [
        V5.subscribe(1, "part/#", properties=needs(deliver="text", rate="10", deadband="0.5")),
        V5.unsubscribe(2, "part/#"),
    ],
    "a selection of JSON that compares": [
        V5.subscribe(1, "part/#", properties=needs(deliver="json", change="true")),
        V5.unsubscribe(2, "part/#"),
    ],
    "streams to read": [V5.subscribe(1, "stream/#", properties=needs(deliver="stream"))],
}
"""Kinds of packets by what they are."""


def kinds(packets: list[bytes]) -> set[Kind]:
    """Of what kinds these packets are."""
    return {Kind(one[0] & 0xF0) for one in packets}


ENDING = {
    "CONNECT": V5.connect("flood"),
    "AUTH": packet(Kind.AUTH),
    "DISCONNECT": V5.disconnect(),
    **{
        kind.name: packet(kind)
        for kind in (Kind.CONNACK, Kind.SUBACK, Kind.UNSUBACK, Kind.PINGRESP)
    },
}
"""Packets that end a connection, by their kind."""


CRATES = Path(__file__).parents[2] / "crates"
NAMES_READ = re.compile(r"\(name: &str, body: &.*?match name \{\n(.*?)\n\s+_ =>", re.DOTALL)
"""How a function reads a request: its name from the topic, its body; an arm for each name."""


def known_requests() -> set[str]:
    """The requests that the broker knows, by what its sources compare their topics with."""
    engine = "\n".join(_sources("engine/src"))
    desks = set(re.findall(r'\("(\w+)", &self\.\w+\)', engine))
    families = set(re.findall(r'Some\(\("(\w+)", \w+\)\) =>', engine))
    alone = set(re.findall(r'None if name == "(\w+)" => \w+::ask', engine))
    assert desks, "no desk was found in the engine's sources"
    assert families == {"journal", "to"}, "a family of requests that is not known here"
    assert alone, "no request without a family was found in the engine's sources"
    journal = _names("journal", "journal/src")
    return journal.union({"to/all"}, alone, *(_names(desk, f"core/src/{desk}") for desk in desks))


def _names(family: str, room: str) -> set[str]:
    arms = "\n".join(arm for source in _sources(room) for arm in NAMES_READ.findall(source))
    names = re.findall(r'^\s+"(\w+)" =>', arms, re.MULTILINE)
    assert names, f"no request to $slipring/{family}/ was found in crates/{room}"
    return {f"{family}/{name}" for name in names}


def _sources(room: str) -> list[str]:
    return [file.read_text(encoding="utf-8") for file in sorted((CRATES / room).rglob("*.rs"))]
