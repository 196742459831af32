"""Every event about requests that the requirements list (2.1.4, T10), provoked on a real broker by
plain MQTT 5 clients, and found in the log with its client, topic and request as fields.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from slipring.control.event_kinds import KINDS
from tests.logs.logged_broker import logged
from tests.logs.receivers import Received, Receiver
from tests.mqtt_bytes import Pair
from tests.raw_mqtt import V5, Kind, Packet, RawPeer, properties
from tests.running_broker import RunningBroker

KEPT = properties(session_expiry=3_600)
KEY = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Row:
    """A line of the document: an event that must be found for it."""

    line: str
    event: str
    client: str
    topic: str | None
    detail: str = ""


RESPONSE = (
    "successful receiving, storing, restoring and delivering request response to request publisher"
)
CANCEL = "canceling request by its publisher"
ERROR = "error occurring during request handling or message delivery"
ROWS = (
    Row(RESPONSE, "request received", "asker", "solve/1"),
    Row(RESPONSE, "request stored", "asker", "solve/1"),
    Row(RESPONSE, "request restored", "solver", "solve/1"),
    Row(RESPONSE, "request delivered", "solver", "solve/1"),
    Row(RESPONSE, "part received", "solver", "solve/1"),
    Row(RESPONSE, "answer received", "solver", "solve/1"),
    Row(RESPONSE, "answer delivered", "asker", "solve/1"),
    Row(RESPONSE, "request delivered", "solver", "solve/2"),
    Row(RESPONSE, "answer received", "solver", "solve/2"),
    Row(RESPONSE, "answer stored", "asker", "solve/2"),
    Row(RESPONSE, "answer restored", "asker", None, "1 answers waited for it"),
    Row(CANCEL, "request cancelled", "asker", "solve/3"),
    Row(ERROR, "answer discarded", "solver", None),
    Row(ERROR, "request failed", "asker", "solve/4", "no way out"),
    Row(ERROR, "request not delivered", "asker", "nobody/there"),
    Row(ERROR, "request timed out", "asker", "solve/6"),
    Row(ERROR, "request retried", "second", "solve/7"),
    Row(ERROR, "request failed", "asker", "solve/7", "the service has gone"),
    Row(ERROR, "request refused", "asker", "solve/8", "slipring-timeout"),
    Row(ERROR, "request cancelled", "fleeting", "later"),
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    """What a log server got of a broker on which all of it happened."""
    config = "[log.rooms]\nrequests = 'debug'\n"
    with logged(tmp_path_factory.mktemp("requests"), config, happen) as receiver:
        yield receiver


def peer(broker: RunningBroker, client_id: str, **options: Any) -> RawPeer:
    made = RawPeer(broker.host, broker.port)
    assert made.connect(client_id, **options).reason == 0
    return made


def ask(asker: RawPeer, topic: str, *more: Pair, timeout: str = "60") -> None:
    user: list[Pair] = [("slipring-timeout", timeout), *more]
    given = properties(response_topic="r", correlation_data=topic.encode(), user=user)
    asker.send(V5.publish(topic, b"what", qos=1, packet_id=7, properties=given))


def answer(service: RawPeer, request: Packet, payload: bytes, status: str = "answered") -> None:
    topic = str(request.properties["response_topic"][0])
    given = properties(user=("slipring-status", status))
    service.send(V5.publish(topic, payload, qos=1, packet_id=8, properties=given))


def take(service: RawPeer) -> Packet:
    """The next request, acknowledged."""
    request = service.until(Kind.PUBLISH)[-1]
    if request.qos:
        service.send(V5.puback(request.id))
    return request


def hear(asker: RawPeer, status: str) -> None:
    """Wait for an end."""
    while True:
        found = take(asker).properties["user"]
        if ("slipring-status", status) in found:
            return


def happen(broker: RunningBroker) -> None:
    """Provoke every event."""
    with peer(broker, "fleeting") as fleeting:
        ask(fleeting, "later", ("slipring-wait", "1"))
        fleeting.settle()
    asker = peer(broker, "asker", properties=KEPT)
    ask(asker, "solve/1", ("slipring-wait", "1"))
    asker.settle()
    solver = peer(broker, "solver")
    solver.send(V5.subscribe(1, ("solve/#", 1)))
    request = take(solver)
    answer(solver, request, b"half", "part")
    answer(solver, request, b"answer")
    hear(asker, "answered")
    asker = be_away(broker, asker, solver)
    give_up(asker, solver)
    fail(broker, asker, solver)
    asker.close()


def be_away(broker: RunningBroker, asker: RawPeer, solver: RawPeer) -> RawPeer:
    """An asker that is away while its answer comes."""
    ask(asker, "solve/2")
    request = take(solver)
    asker.send(V5.disconnect())
    asker.drain()
    answer(solver, request, b"late")
    solver.settle()
    back = peer(broker, "asker", clean=False, properties=KEPT)
    hear(back, "answered")
    asker.close()
    return back


def give_up(asker: RawPeer, solver: RawPeer) -> None:
    """An asker that cancels, and a service that answers all the same."""
    ask(asker, "solve/3")
    request = take(solver)
    cancel = properties(correlation_data=b"solve/3")
    asker.send(V5.publish("$slipring/cancel", b"", qos=1, packet_id=9, properties=cancel))
    hear(asker, "cancelled")
    answer(solver, request, b"in vain")
    solver.settle()


def fail(broker: RunningBroker, asker: RawPeer, solver: RawPeer) -> None:
    """What can go wrong."""
    ask(asker, "solve/4")
    answer(solver, take(solver), b"no way out", "failed")
    hear(asker, "failed")
    ask(asker, "nobody/there")
    hear(asker, "not-delivered")
    ask(asker, "solve/6", timeout="0.05")
    take(solver)
    hear(asker, "timed-out")
    ask(asker, "solve/8", timeout="0")
    asker.settle()
    ask(asker, "solve/7", ("slipring-retry", "1"))
    take(solver)
    with peer(broker, "second") as second:
        second.send(V5.subscribe(1, ("solve/#", 1)))
        second.until(Kind.SUBACK)
        solver.close()
        take(second)
    hear(asker, "failed")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.event} {row.topic}")
def test_every_listed_event_of_a_request_is_in_the_log_with_its_fields(
    told: Receiver, row: Row
) -> None:
    def is_told(line: Received) -> bool:
        fields = line.fields
        return (
            (fields.get("event"), fields.get("client")) == (row.event, row.client)
            and fields.get("topic") == row.topic
            and row.detail in fields.get("detail", "")
        )

    found = [line for line in told.seen if is_told(line)]
    assert found, [line.fields for line in told.seen if line.fields.get("event") == row.event]
    assert all(line.fields["room"] == "requests" == KINDS[row.event].room for line in found)
    if row.event not in ("request refused", "answer restored"):  # of none, and of several
        assert all(KEY.fullmatch(line.fields["request"]) for line in found)


def test_one_request_has_one_key_through_its_life(told: Receiver) -> None:
    first = [line for line in told.seen if line.fields.get("topic") == "solve/1"]
    assert len({line.fields["request"] for line in first}) == 1
    assert [line.fields["event"] for line in first] == [
        "request received",
        "request stored",
        "request restored",
        "request delivered",
        "part received",
        "answer received",
        "answer delivered",
    ]
