"""What the console answers about requests, services and subscribers; what Prometheus scrapes."""

import json
import time
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.console_answer import answer
from tests.limited_broker import Limited, LimitedBroker, wait
from tests.metrics import Metrics
from tests.mqtt_bytes import properties
from tests.raw_mqtt import V5, Kind
from tests.request_peers import ENDED, OPEN, ask, asking, end_of, every_state, serve
from tests.request_peers import answer as reply
from tests.running_broker import PATIENCE_S, RunningBroker

HOSTILE = '<b>x"\\\x1b[2J\u202e'
FAILURES: dict[bytes, str | None] = {
    b"the matrix is singular": "the matrix is singular",
    HOSTILE.encode(): HOSTILE,
    b"": None,
    b"\xff\x00": "\ufffd\0",
    b"x" * 200: "x" * 200,
    b"y" * 1_000_000: "y" * 200 + "...",
    "ä".encode() * 101: "ä" * 100 + "...",
    b"z" + "ä".encode() * 101: "z" + "ä" * 99 + "...",
}
"""What a service says when it fails, and what people are shown of it."""


def asked(broker: RunningBroker, path: str, **query: object) -> dict[str, Any]:
    code, text = answer(f"{broker.console}{path}?{urlencode(query)}")
    assert code == 200, text
    found: dict[str, Any] = json.loads(text)
    return found


def settled(broker: LimitedBroker) -> dict[str, Any]:
    """The answer once the last request has come to rest: the end of a session takes a moment."""
    given_up_s = time.monotonic() + PATIENCE_S
    while True:
        found = asked(broker.running, "/api/requests")
        ends = {row["state"]: row["count"] for row in found["figures"]["ends"] if row["count"]}
        if ends == ENDED:
            return found
        assert time.monotonic() < given_up_s, ends


def test_a_request_in_every_state_is_seen_and_counted(limited: Limited) -> None:
    broker = limited()
    every_state(broker)
    found = settled(broker)
    states = {row["state"]: row["count"] for row in found["figures"]["states"]}
    assert states == {"new": 0, "answered": 0, **OPEN}
    seen = [row["state"] for row in found["requests"]]
    assert sorted(seen) == sorted([*OPEN, *ENDED])
    assert set(seen[:3]) == set(OPEN), "open ones come first"
    for state in [*OPEN, *ENDED]:
        (row,) = asked(broker.running, "/api/requests", state=state)["requests"]
        assert row["state"] == state
        assert asked(broker.running, f"/api/requests/{row['key']}")["request"]["key"] == row["key"]
    assert asked(broker.running, "/api/requests", state="dropped")["requests"] == []


def test_a_request_tells_who_asked_who_has_it_and_when(limited: Limited) -> None:
    broker = limited()
    every_state(broker)
    (row,) = asked(broker.running, "/api/requests", topic="work/long")["requests"]
    assert (row["asker"], row["service"], row["priority"]) == ("asker", "solver", "normal")
    assert row["payload_bytes"] == len(b"what?")
    assert row["asked_ms"] <= row["delivered_ms"] < row["times_out_ms"]
    assert (row["stored_ms"], row["ended_ms"]) == (None, None)
    (row,) = asked(broker.running, "/api/requests", topic="nobody/yet")["requests"]
    assert (row["service"], row["priority"], row["delivered_ms"]) == (None, "high", None)
    assert row["asked_ms"] <= row["stored_ms"]
    (row,) = asked(broker.running, "/api/requests", topic="work/done")["requests"]
    assert row["asked_ms"] <= row["delivered_ms"] <= row["ended_ms"]
    assert row["times_out_ms"] is None


def test_a_failure_is_told_in_the_words_of_its_service(limited: Limited) -> None:
    """They are shortened, and what is no text does no harm."""
    broker = limited()
    asker, service = broker.client("asker"), broker.client("solver")
    serve(service, "work/#", 1)
    for number, (words, shown) in enumerate(FAILURES.items()):
        ask(asker, f"work/{number}", b"1")
        reply(service, service.packet(), "failed", words)
        assert end_of(asker) == "failed"
        (row,) = asked(broker.running, "/api/requests", topic=f"work/{number}")["requests"]
        assert (row["state"], row["reason"]) == ("failed", shown)
    ask(asker, "work/done", b"1")
    reply(service, service.packet())
    assert end_of(asker) == "answered"
    (row,) = asked(broker.running, "/api/requests", topic="work/done")["requests"]
    assert row["reason"] is None
    ask(asker, "work/gone", b"1")
    service.packet()
    service.hang_up()
    assert end_of(asker) == "failed"
    (row,) = asked(broker.running, "/api/requests", topic="work/gone")["requests"]
    assert row["reason"] == "the service has gone"


def test_requests_are_found_by_topic_and_by_client(limited: Limited) -> None:
    broker = limited()
    every_state(broker)
    settled(broker)

    def topics(**query: object) -> set[str]:
        found = asked(broker.running, "/api/requests", **query)["requests"]
        return {row["topic"] for row in found}

    assert topics(topic="nobody/#") == {"nobody/there", "nobody/yet"}
    assert topics(client="patient") == {"work/later"}
    assert topics(client="solver", topic="work/+", state="delivered") == {"work/long"}
    assert topics(client="stranger") == set()
    assert len(asked(broker.running, "/api/requests", most=2)["requests"]) == 2


def test_who_is_busy_and_what_waits_on_which_topic_is_seen(limited: Limited) -> None:
    broker = limited()
    every_state(broker)
    assert wait(broker.client("careful"), "later/on") == 0x10, "accepted, and nobody has it yet"
    found = settled(broker)
    (service,) = found["services"]
    assert (service["client_id"], service["connected"]) == ("solver", True)
    assert (service["busy"], service["limit"], service["failed"]) == (1, 1, 1)
    assert service["answered"] == 3
    assert 0 < service["p50_ms"] <= service["p99_ms"]
    assert asked(broker.running, "/api/services") == {"services": [service], "total": 1}
    assert found["topics"] == [
        {"topic": "nobody/yet", "open": 1, "stored": 1},
        {"topic": "work/later", "open": 1, "stored": 0},
        {"topic": "work/long", "open": 1, "stored": 0},
    ]
    (waiting,) = found["waiting"]
    assert (waiting["topic"], waiting["messages"]) == ("later/on", 1)
    owners = json.loads(answer(f"{broker.running.console}/api/overview")[1])["owners"]
    assert [row["held"] for row in owners if row["limit"] == "requests"] == [3]


def test_prometheus_counts_requests_by_state_and_by_end_without_a_client(limited: Limited) -> None:
    broker = limited()
    every_state(broker)
    settled(broker)
    metrics = Metrics.of(broker.running)
    for state, count in OPEN.items():
        assert metrics[f'slipring_requests{{state="{state}"}}'] == count
    for end, count in ENDED.items():
        assert metrics[f'slipring_requests_ended_total{{end="{end}"}}'] == count
    assert metrics['slipring_requests_ended_total{end="dropped"}'] == 0
    assert (metrics["slipring_services"], metrics["slipring_services_room"]) == (1, 1)
    half = metrics['slipring_requests_answer_seconds{quantile="0.5"}']
    assert 0 < half <= metrics['slipring_requests_answer_seconds{quantile="0.99"}']
    assert "solver" not in answer(f"{broker.running.console}/metrics")[1]


def test_ten_thousand_open_requests_have_a_bounded_answer(limited: Limited) -> None:
    broker = limited()
    asker = broker.client("many")
    window, total = 1_000, 10_000
    for first in range(0, total, window):
        numbers = range(first, first + window)
        asker.send(
            *(
                asking(f"t/{number}", str(number).encode(), wait=True, packet_id=number - first + 1)
                for number in numbers
            )
        )
        for _ in numbers:
            assert asker.until(Kind.PUBACK)[-1].reason == 0
    found = asked(broker.running, "/api/requests")
    assert found["figures"]["open"] == total
    assert (len(found["requests"]), len(found["topics"])) == (1_000, 20)
    assert len(asked(broker.running, "/api/requests", most=99_999)["requests"]) == 1_000
    (row,) = asked(broker.running, "/api/requests", topic=f"t/{total - 1}")["requests"]
    assert row["topic"] == f"t/{total - 1}", "the last one is found as well"
    assert asked(broker.running, "/api/requests", state="delivered")["requests"] == []


def test_hostile_names_are_told_as_they_are_and_break_no_label(limited: Limited) -> None:
    broker = limited()
    every_state(broker, asker_id=HOSTILE)
    found = asked(broker.running, "/api/requests", client=HOSTILE)["requests"]
    assert {row["asker"] for row in found} == {HOSTILE}
    assert "\x1b" not in answer(f"{broker.running.console}/metrics")[1]


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("/api/requests?state=sleeping", 400, "one of: new, stored"),
        ("/api/requests?topic=a/%23/b", 400, "#"),
        ("/api/requests/nonsense", 404, "no open request has this key"),
        ("/api/requests/" + "f" * 16, 404, "no open request has this key"),
        ("/api/subscribers", 400, "topic"),
        ("/api/subscribers?topic=a/%2B", 400, "+"),
    ],
)
def test_a_question_that_makes_no_sense_is_answered_with_what_is_wrong(
    shared_broker: RunningBroker, path: str, code: int, words: str
) -> None:
    found = answer(f"{shared_broker.console}{path}")
    assert found[0] == code, found
    assert words in found[1]


def test_the_subscribers_of_a_topic_are_seen_with_their_terms(limited: Limited) -> None:
    broker = limited()
    broker.away("recorder", ("engine/#", 1))
    one, other = broker.client("one"), broker.client("other")
    urgent = properties(user=("slipring-priority", "high"))
    one.send(V5.subscribe(1, ("engine/+", 2), ("engine/rpm", 0), properties=urgent))
    one.until(Kind.SUBACK)
    serve(other, "$share/pool/engine/rpm", 3)
    other.send(V5.publish("engine/rpm", b"12"), V5.publish("engine/rpm", b"13"))
    other.settle()
    found = asked(broker.running, "/api/subscribers", topic="engine/rpm")
    assert (found["messages"], found["last_bytes"], found["subscribers_total"]) == (2, 2, 4)
    rows = {(row["client_id"], row["filter"]): row for row in found["subscribers"]}
    assert set(rows) == {
        ("recorder", "engine/#"),
        ("one", "engine/+"),
        ("one", "engine/rpm"),
        ("other", "engine/rpm"),
    }
    assert rows["recorder", "engine/#"]["connected"] is False
    assert (rows["one", "engine/+"]["qos"], rows["one", "engine/+"]["priority"]) == (2, "high")
    shared = rows["other", "engine/rpm"]
    assert (shared["share"], shared["serve"], shared["connected"]) == ("pool", 3, True)
    few = asked(broker.running, "/api/subscribers", topic="engine/rpm", most=1)
    assert (len(few["subscribers"]), few["subscribers_total"]) == (1, 4)
    nobody = asked(broker.running, "/api/subscribers", topic="quiet")
    assert (nobody["messages"], nobody["subscribers"]) == (None, [])
