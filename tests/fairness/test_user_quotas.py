"""Quotas by user at their edges, each beside a bystander of another user (T13)."""

import json
import time
import urllib.request
from pathlib import Path

import pytest

from tests.audit.records import awaited, of_kind
from tests.configured_broker import Configured, ConfiguredBroker, configured
from tests.fairness.test_quotas import NOBODY, QUOTA, proven, rows, users, why
from tests.limited_broker import ask, declare, retain, wait
from tests.metrics import Metrics
from tests.mqtt_bytes import properties
from tests.raw_mqtt import PINGREQ, V5, Kind, RawPeer

__all__ = ["configured"]

USERS = users("anna", "berta")


def quota(**numbers: int) -> str:
    """A file with users, and a quota of anna."""
    keys = "\n".join(f"{key} = {number}" for key, number in numbers.items())
    return f"{USERS}\n[[quota]]\nwho = ['user:anna']\n{keys}\n"


def client(broker: ConfiguredBroker, user: str, client_id: str = "") -> RawPeer:
    return broker.peer(client_id or user, **proven(user))


def reached(broker: ConfiguredBroker, key: str) -> float:
    return Metrics.of(broker.running).reached(f"quota.{key}")


def shown(broker: ConfiguredBroker, client_id: str) -> dict[str, object]:
    with urllib.request.urlopen(f"{broker.console}/api/overview", timeout=60) as answer:
        clients = json.load(answer)["clients"]
    return next(one for one in clients if one["client_id"] == client_id)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_connections(configured: Configured, data: Path) -> None:
    broker = configured(quota(connections=2))
    with client(broker, "anna", "a"), client(broker, "anna", "b"), client(broker, "berta"):
        with RawPeer(broker.running.host, broker.running.port) as further:
            refused = further.connect("c", **proven("anna"))
            assert refused.reason == QUOTA
            assert "quota.connections" in why(refused)
        client(broker, "anna", "a").close()  # takes the place of its own connection
        for number in range(3):
            client(broker, "berta", f"berta-{number}").close()
        found = awaited(data, of_kind("quota"))
        assert (found["user"], found["topic"]) == ("anna", "quota.connections")
    assert reached(broker, "connections") == 1


def test_subscriptions_of_all_sessions(configured: Configured, data: Path) -> None:
    broker = configured(quota(subscriptions=3))
    with client(broker, "anna", "a") as one, client(broker, "anna", "b") as two:
        one.send(V5.subscribe(1, "x/1", "x/2"))
        assert one.packet().reasons == (0, 0)
        two.send(V5.subscribe(1, "y/1", "y/2"))
        answer = two.packet()
        assert answer.reasons == (0, QUOTA)
        assert "quota.subscriptions" in why(answer)
        one.send(V5.subscribe(2, "x/1"))
        assert one.packet().reasons == (0,), "it has that one already"
        one.send(V5.unsubscribe(3, "x/2"))
        one.until(Kind.UNSUBACK)
        two.send(V5.subscribe(2, "y/2"))
        assert two.packet().reasons == (0,)
        with client(broker, "berta") as bystander:
            bystander.send(V5.subscribe(1, "a", "b", "c", "d"))
            assert bystander.packet().reasons == (0, 0, 0, 0)
        found = awaited(data, of_kind("quota"))
        assert (found["user"], found["topic"]) == ("anna", "quota.subscriptions")


def test_subscriptions_of_a_session_that_ended_make_room(configured: Configured) -> None:
    broker = configured(quota(subscriptions=2))
    for number in range(5):
        with client(broker, "anna", f"anna-{number}") as peer:
            peer.send(V5.subscribe(1, "x/1", "x/2"))
            assert peer.packet().reasons == (0, 0)
            peer.send(V5.disconnect())
            assert peer.closed()


def test_stored_bytes(configured: Configured, data: Path) -> None:
    broker = configured(quota(stored_bytes=2_000))
    with client(broker, "anna") as anna, client(broker, "berta") as bystander:
        assert retain(anna, "t/1", b"x" * 1_500) == NOBODY
        anna.send(V5.publish("t/2", b"x" * 1_500, qos=1, packet_id=1, retain=True))
        refused = anna.packet()
        assert refused.reason == QUOTA
        assert "quota.stored_bytes" in why(refused)
        assert retain(anna, "t/1", b"y" * 1_500) == NOBODY, "it replaces its own"
        assert wait(anna, "w/1", b"x" * 1_000) == NOBODY
        assert wait(anna, "w/2", b"x" * 1_000) == QUOTA
        assert retain(bystander, "t/3", b"x" * 5_000) == NOBODY
        assert awaited(data, of_kind("quota"))["topic"] == "quota.stored_bytes"
    assert reached(broker, "stored_bytes") == 2


def test_parameters(configured: Configured, data: Path) -> None:
    broker = configured(quota(parameters=2))
    with client(broker, "anna") as anna, client(broker, "berta") as bystander:
        assert "indices" in declare(anna, "table", parameters=rows(0, 2, type="f64"))
        refused = declare(anna, "table", parameters=rows(0, 3, type="f64"))
        assert refused["error"] == "quota"
        assert "quota.parameters" in refused["message"]
        assert "indices" in declare(bystander, "table", parameters=rows(10, 20, type="f64"))
        ask(anna, "table/remove", names=["n/0"], force=True)
        assert "indices" in declare(anna, "table", parameters=rows(2, 3, type="f64"))
        assert awaited(data, of_kind("quota"))["user"] == "anna"
    assert reached(broker, "parameters") == 1


def asked(peer: RawPeer, number: int) -> int:
    """The answer to a request that waits for a service."""
    pairs = [("slipring-timeout", "60"), ("slipring-wait", "1")]
    given = properties(response_topic="answers", correlation_data=str(number).encode(), user=pairs)
    peer.send(V5.publish("ask", b"?", qos=1, packet_id=number, properties=given))
    return next(one.reason for one in peer.until(Kind.PUBACK) if one.kind == Kind.PUBACK)


def test_requests(configured: Configured, data: Path) -> None:
    broker = configured(quota(requests=2) + "\n[[request]]\ntopics = ['ask']\n")
    with client(broker, "anna") as anna, client(broker, "berta") as bystander:
        assert [asked(anna, number) < 0x80 for number in (1, 2)] == [True, True]
        assert asked(anna, 3) == QUOTA
        assert [asked(bystander, number) < 0x80 for number in (1, 2, 3)] == [True] * 3
        assert awaited(data, of_kind("quota"))["topic"] == "quota.requests"
    assert reached(broker, "requests") == 1


@pytest.mark.parametrize(
    ("key", "numbers", "payload"),
    [("messages_per_s", 50, b"x"), ("bytes_per_s", 10_000, b"x" * 180)],
)
def test_a_rate_slows_its_user_alone_and_loses_nothing(
    configured: Configured, data: Path, key: str, numbers: int, payload: bytes
) -> None:
    """150 messages at 50 a second take two seconds after the first 50; the same in bytes."""
    broker = configured(quota(**{key: numbers}))
    with client(broker, "anna") as anna, client(broker, "berta") as bystander:
        bystander.send(V5.subscribe(1, "t"))
        bystander.until(Kind.SUBACK)
        begun_s = time.monotonic()
        anna.send(*(V5.publish("t", payload) for _ in range(150)), PINGREQ)
        for _ in range(150):
            bystander.packet()
        anna.until(Kind.PINGRESP)
        assert time.monotonic() - begun_s >= 1.5
        assert shown(broker, "anna")["slowed"] is True
        assert shown(broker, "berta")["slowed"] is False
        for number in range(1, 301):  # beyond what anna may send in all this time
            bystander.send(V5.publish("b", b"x" * 200, qos=1, packet_id=number))
            assert bystander.packet().kind == Kind.PUBACK
        found = awaited(data, of_kind("quota"))
        assert (found["user"], found["topic"]) == ("anna", f"quota.{key}")
        broker.line("reached a quota")
    assert reached(broker, key) >= 1


def test_all_connections_of_a_user_share_its_rate(configured: Configured) -> None:
    broker = configured(quota(messages_per_s=50))
    with client(broker, "berta") as reader:
        reader.send(V5.subscribe(1, "t"))
        reader.until(Kind.SUBACK)
        begun_s = time.monotonic()
        peers = [client(broker, "anna", f"anna-{number}") for number in range(3)]
        for peer in peers:
            peer.send(*(V5.publish("t", b"x") for _ in range(50)))
        for _ in range(150):
            reader.packet()
        assert time.monotonic() - begun_s >= 1.5
        for peer in peers:
            peer.close()


def test_quotas_change_while_the_broker_runs(configured: Configured) -> None:
    broker = configured(quota(messages_per_s=1))
    with client(broker, "anna") as anna:
        anna.send(*(V5.publish("t", b"x") for _ in range(1_000)), PINGREQ)
        Metrics.when(
            broker.running, 'slipring_limit_reached_total{limit="quota.messages_per_s"}', 1
        )
        broker.reload(USERS)
        broker.line("quota is empty now")
        anna.until(Kind.PINGRESP)  # 1,000 s at the rate that was
        broker.reload(quota(connections=1))
        broker.line("quota is who")
        with RawPeer(broker.running.host, broker.running.port) as further:
            assert further.connect("further", **proven("anna")).reason == QUOTA


def test_the_first_table_about_a_user_counts_for_each_key(configured: Configured) -> None:
    general = "\n[[quota]]\nwho = ['known']\nconnections = 1\nsubscriptions = 1\n"
    broker = configured(quota(connections=2) + general)
    with client(broker, "anna", "a") as anna, client(broker, "anna", "b"):
        anna.send(V5.subscribe(1, "x", "y"))
        assert anna.packet().reasons == (0, QUOTA)
    with (
        client(broker, "berta"),
        RawPeer(broker.running.host, broker.running.port) as further,
    ):
        assert further.connect("further", **proven("berta")).reason == QUOTA


def test_connects_per_s_closes_an_address_that_connects_too_often_and_no_other(
    configured: Configured,
) -> None:
    broker = configured("[limits]\nconnects_per_s = 5\n")
    host, port = broker.running.host, broker.running.port
    refused = 0
    while not refused:
        peers = [RawPeer(host, port, source="127.0.0.2") for _ in range(20)]
        for peer in peers:
            peer.send(V5.connect())
            refused += peer.receive() is None
            peer.close()
        with RawPeer(host, port, source="127.0.0.3") as bystander:
            assert bystander.connect("bystander").reason == 0
    assert Metrics.of(broker.running).reached("connects_per_s") >= 1


def test_wrong_proofs_per_min_refuses_an_address_that_guesses_for_that_name_alone(
    configured: Configured,
) -> None:
    broker = configured(f"[limits]\nwrong_proofs_per_min = 3\n{USERS}")
    host, port = broker.running.host, broker.running.port

    def attempt(name: str, password: bytes, source: str) -> int:
        with RawPeer(host, port, source=source) as peer:
            return peer.connect("", username=name, password=password).reason

    reasons = [attempt("anna", b"guess", "127.0.0.2") for _ in range(20)]
    assert set(reasons) == {0x86, 0x9F}
    assert reasons.count(0x86) <= 2 * 3, "a minute may end in between, once"
    assert attempt("nobody", b"guess", "127.0.0.2") == 0x86
    assert attempt("berta", b"pencil", "127.0.0.2") == 0
    assert attempt("anna", b"pencil", "127.0.0.3") == 0
