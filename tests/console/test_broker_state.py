"""Health, clients, topics and storage over HTTP, from a real broker."""

from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from slipring.console.topic_index import LOOK_S, TopicIndex
from slipring.native import Value
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker


def answered(broker: RunningBroker, path: str, **asked: str | int) -> dict[str, Any]:
    answer = httpx.get(f"{broker.console}{path}", params=asked, timeout=PATIENCE_S)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
def peer(broker: RunningBroker) -> RawPeer:
    made = RawPeer(broker.host, broker.port)
    assert made.connect("somebody").reason == 0
    return made


def test_topics_are_found_by_filter_in_pages(broker: RunningBroker, peer: RawPeer) -> None:
    with peer:
        for number in range(5):
            peer.send(V5.publish(f"plant/{number}/rpm", b"12034.5"), V5.publish("other", b"\xff"))
        peer.settle()
        first = answered(broker, "/api/topics", filter="plant/+/rpm", most=3)
        assert [one["topic"] for one in first["topics"]] == [f"plant/{at}/rpm" for at in range(3)]
        assert (first["total"], first["next"]) == (5, "plant/2/rpm")
        assert first["topics"][0]["text"] == "12034.5"
        assert first["topics"][0]["count"] == 1
        rest = answered(broker, "/api/topics", filter="plant/+/rpm", after=first["next"])
        assert [one["topic"] for one in rest["topics"]] == ["plant/3/rpm", "plant/4/rpm"]
        assert rest["next"] is None
        (other,) = answered(broker, "/api/topics", filter="other")["topics"]
        assert (other["text"], other["bytes"], other["count"]) == (None, 1, 5)


def test_a_filter_that_is_none_is_refused_in_words(shared_broker: RunningBroker) -> None:
    address = f"{shared_broker.console}/api/topics"
    for filter_ in ("a/#/b", "a\0", "a+"):
        answer = httpx.get(address, params={"filter": filter_}, timeout=PATIENCE_S)
        assert answer.status_code == 400, filter_
        assert answer.text.endswith("\n")


def test_health_says_whether_the_broker_is_ready_and_why_not(
    broker: RunningBroker, peer: RawPeer
) -> None:
    with peer:
        found = answered(broker, "/api/health")
    assert (found["is_live"], found["is_ready"], found["troubles"]) == (True, True, [])
    assert (found["clients"], found["dropped"], found["age_p99_ms"]) == (1, 0, None)


def test_clients_are_listed(broker: RunningBroker, peer: RawPeer) -> None:
    with peer:
        found = answered(broker, "/api/clients")
        assert [one["client_id"] for one in found["clients"]] == ["somebody"]
        assert found["total"] == 1
        assert answered(broker, "/api/clients", most=0)["clients"] == []


def test_storage_has_the_journal_and_no_lake_where_there_is_none(broker: RunningBroker) -> None:
    found = answered(broker, "/api/storage")
    assert found["journal"]["state"] == "ok"
    assert found["journal"]["retention"]["keep_unread"] is True
    assert found["lake"] is None


class Topics:
    """An engine with newest values."""

    def __init__(self) -> None:
        self.changed: list[Any] = []
        self.questions: list[int] = []

    def publish(self, topic: str, count: int) -> None:
        told = {"topic": topic, "payload": b"1", "payload_bytes": 1, "receive_ns": 10**6}
        self.changed.append(type("Value", (), told | {"count": count})())

    def values(self, after: int, most: int) -> tuple[list[Value], int]:
        self.questions.append(after)
        found = self.changed[after : after + most]
        return found, after + len(found)


def everybody(topics: Sequence[str]) -> list[bool]:
    return [True] * len(topics)


def test_the_rate_of_a_topic_is_that_since_the_look_before() -> None:
    engine, now_s = Topics(), [100.0]
    index = TopicIndex(engine.values, lambda: now_s[0])
    engine.publish("a", 10)
    engine.publish("b", 1)
    assert index.page("#", None, 10, everybody)["topics"][0]["messages_s"] is None
    engine.publish("a", 30)
    now_s[0] += LOOK_S / 2
    assert index.page("a", None, 10, everybody)["topics"][0]["count"] == 10, "looked just now"
    now_s[0] += 9.5
    rows = index.page("#", None, 10, everybody)["topics"]
    assert [(row["topic"], row["messages_s"]) for row in rows] == [("a", 2.0), ("b", 0.0)]
    assert engine.questions == [0, 2], "only what changed is asked for"


def test_nobody_is_told_of_a_topic_that_they_may_not_watch() -> None:
    engine = Topics()
    for topic in ("a", "b", "c"):
        engine.publish(topic, 1)
    index = TopicIndex(engine.values)
    page = index.page("#", None, 1, lambda names: [name != "a" for name in names])
    assert ([row["topic"] for row in page["topics"]], page["total"], page["next"]) == (
        ["b"],
        2,
        "b",
    )
