"""The engine and the console tell what is described: no field more, none less, each of its type."""

from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, is_typeddict

import pytest

from slipring.console.live_message import LivePosition, live_message
from slipring.console.requests import requests_message
from slipring.control import Broker
from slipring.control.config import Config
from slipring.status.description import fields
from slipring.status.engine import (
    AwayStatus,
    BrokerStatus,
    ClientStatus,
    OwnerShare,
    PrefixTraffic,
    SessionStatus,
    StartReceipt,
)
from slipring.status.message import LiveMessage
from slipring.status.requests import (
    RequestsMessage,
    RequestStatus,
    ServiceStatus,
    TopicRequests,
    TopicStatus,
    WaitingTopic,
)
from tests.mqtt_bytes import properties
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.request_peers import ask, serve
from tests.status.blank import blank

KEPT = b"\x11\x00\x00\x0e\x10"
"""A session that is kept for an hour."""


def differences(kind: Any, value: Any, path: str = "") -> list[str]:
    """How a value differs from its description."""
    if NoneType in get_args(kind):
        return [] if value is None else differences(get_args(kind)[0], value, path)
    if get_origin(kind) is list and isinstance(value, list):
        return [one for row in value for one in differences(get_args(kind)[0], row, f"{path}[]")]
    if is_typeddict(kind) and isinstance(value, dict):
        known = {field.name: field.annotation for field in fields(kind)}
        named = [f"{path}.{name}" for name in value.keys() ^ known.keys()]
        both = value.keys() & known.keys()
        return named + [
            one for name in both for one in differences(known[name], value[name], f"{path}.{name}")
        ]
    return [] if _is(kind, value) else [f"{path} is {value!r}"]


def _is(kind: Any, value: Any) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    wanted = (int, float) if kind is float else get_origin(kind) or kind
    return isinstance(value, wanted) and (kind is bool or not isinstance(value, bool))


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """One that has clients, here and away, and has carried messages."""
    config = Config.model_validate({"data": tmp_path, "mqtt": {"listen": "127.0.0.1:0"}})
    made = Broker(config)
    host, _, port = made.engine.address.rpartition(":")
    try:
        with RawPeer(host, int(port)) as away, RawPeer(host, int(port)) as here:
            away.connect("away", clean=True, properties=KEPT)
            away.send(V5.subscribe(1, "a/#"))
            away.packet()
            away.send(V5.disconnect())
            assert away.closed()
            here.connect("here")
            here.send(V5.subscribe(1, "b/#"), V5.publish("a/b/c", b"1", retain=True))
            here.settle()
            serve(here, "work", 2)
            ask(here, "work", b"1")
            waits = properties(user=("slipring-wait", "1"))
            here.send(V5.publish("later/on", b"1", qos=1, packet_id=2, properties=waits))
            here.until(Kind.PUBACK)
            made.poll()
            yield made
    finally:
        made.engine.stop()


def test_the_engine_tells_what_is_described(broker: Broker) -> None:
    engine = broker.engine
    sessions, _ = engine.sessions(10)
    for kind, told in (
        (list[ClientStatus], engine.clients(10)),
        (list[AwayStatus], engine.away(10)),
        (list[SessionStatus], sessions),
        (list[OwnerShare], engine.owners(10)),
        (list[PrefixTraffic], engine.prefixes(10)),
        (list[RequestStatus], engine.requests(10)),
        (list[ServiceStatus], engine.services(10)),
        (list[TopicRequests], engine.request_topics(10)),
        (list[WaitingTopic], engine.waiting(10)),
        (TopicStatus, engine.topic("b/c", 10)),
        (BrokerStatus, engine.status()),
        (StartReceipt, engine.receipt),
    ):
        assert told, "there is one to look at"
        assert differences(kind, told) == []


def test_the_console_sends_what_is_described(broker: Broker) -> None:
    message, _ = live_message(broker, LivePosition())
    assert all(message[name] for name in ("clients", "away", "holders", "owners", "values"))
    assert differences(LiveMessage, message) == []


def test_the_console_tells_of_requests_what_is_described(broker: Broker) -> None:
    message = requests_message(broker, {})
    assert all(message[name] for name in ("requests", "services", "topics", "waiting"))
    assert differences(RequestsMessage, message) == []


def test_a_difference_is_found() -> None:
    told: Any = blank(PrefixTraffic, messages="7", surplus=1)
    del told["bytes"]
    assert sorted(differences(PrefixTraffic, told)) == [".bytes", ".messages is '7'", ".surplus"]
