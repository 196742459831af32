"""Who publishes a parameter: what a session declared stays its own while the session lives."""

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from slipring.native import encode_frame
from tests.limited_broker import KEPT, Limited, LimitedBroker, ask
from tests.metrics import Metrics
from tests.mqtt_bytes import properties
from tests.raw_mqtt import V5, Kind, Packet, RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker, kept_address

FRAME = properties(content_type="application/vnd.slipring.frame")
U8 = 2
NO_SUBSCRIBER, NOT_AUTHORIZED, QUOTA = 0x10, 0x87, 0x97

Restartable: TypeAlias = Callable[[], LimitedBroker]


@pytest.fixture
def restartable(tmp_path: Path) -> Iterator[Restartable]:
    """Starts a broker; the one before it is killed, and had the same folder and address."""
    with kept_address() as address, ExitStack() as stack:
        running = list[RunningBroker]()

        def stop(number: signal.Signals = signal.SIGTERM) -> None:
            while running:
                running.pop().stop(number)

        def started() -> LimitedBroker:
            stop(signal.SIGKILL)
            running.append(RunningBroker.start(tmp_path / "data", "--mqtt", address))
            return LimitedBroker(running[0], stack)

        stack.callback(stop)
        yield started


def declare(peer: RawPeer, *names: str) -> dict[str, Any]:
    return ask(peer, "table/declare", parameters=[{"name": name, "type": "u8"} for name in names])


def value(peer: RawPeer, name: str) -> dict[str, Any]:
    found: dict[str, Any] = ask(peer, "table/values", names=[name])["values"][0]
    return found


def frame(table: int, index: int, number: int) -> bytes:
    """One sample of a u8."""
    indices, values = np.array([index], np.uint32), np.array([number], np.uint8)
    return encode_frame([("row", U8, indices, 1, values, 0)], table=table, sequence=0, sent_ns=0)


def send_frame(peer: RawPeer, payload: bytes, packet_id: int, qos: int = 1) -> Packet:
    """What acknowledges it."""
    peer.send(V5.publish("frames", payload, qos=qos, packet_id=packet_id, properties=FRAME))
    return peer.packet()


def why(refused: Packet) -> str:
    return str(refused.properties["reason_string"][0])


def when_stale(peer: RawPeer, name: str) -> dict[str, Any]:
    """The value, as soon as it is stale."""
    given_up_s = time.monotonic() + PATIENCE_S
    while (found := value(peer, name))["quality"] != "stale":
        assert time.monotonic() < given_up_s, f"{name} is not stale"
    return found


def when_expired(broker: LimitedBroker) -> None:
    """Until there is no session any more."""
    given_up_s = time.monotonic() + PATIENCE_S
    while Metrics.of(broker.running)["slipring_sessions"]:
        assert time.monotonic() < given_up_s, "there still is a session"


@pytest.mark.parametrize(("qos", "answer"), [(1, Kind.PUBACK), (2, Kind.PUBREC)])
def test_a_client_that_is_back_with_its_session_publishes_at_once(
    limited: Limited, qos: int, answer: Kind
) -> None:
    broker = limited()
    reader = broker.client("reader")
    publisher = broker.client("publisher", clean=False, properties=KEPT)
    declared = declare(publisher, "p")
    table, [index] = declared["table"], declared["indices"]
    assert send_frame(publisher, frame(table, index, 1), 1).reason == 0
    publisher.hang_up()
    gone = when_stale(reader, "p")
    assert (gone["value"], gone["why"]) == (1, "publisher-gone")
    again = broker.back("publisher")
    acknowledged = send_frame(again, frame(table, index, 2), 2, qos)
    assert (acknowledged.kind, acknowledged.reason) == (answer, 0)
    assert (value(reader, "p")["value"], value(reader, "p")["quality"]) == (2, "good")
    refused = ask(reader, "table/remove", names=["p"])["errors"][0]
    assert refused["code"] == "published"
    assert "the client publisher publishes it now" in refused["message"]
    assert declare(again, "p")["indices"] == [index], "declaring again does no harm"
    again.hang_up()
    assert when_stale(reader, "p")["why"] == "publisher-gone"


@pytest.mark.parametrize(("qos", "answer"), [(1, Kind.PUBACK), (2, Kind.PUBREC)])
def test_what_a_session_declared_is_its_own_after_the_broker_was_killed(
    restartable: Restartable, qos: int, answer: Kind
) -> None:
    broker = restartable()
    publisher = broker.client("publisher", clean=False, properties=KEPT)
    declared = declare(publisher, "p", "q")
    table, [p, _] = declared["table"], declared["indices"]
    assert send_frame(publisher, frame(table, p, 1), 1).reason == 0
    for number in (20, 30):
        broker = restartable()
        reader = broker.client("reader")
        assert (value(reader, "p")["value"], value(reader, "p")["quality"]) == (1, "stale")
        assert ask(reader, "table/remove", names=["q"], force=True)["removed"] == (number == 20)
        again = broker.back("publisher")
        acknowledged = send_frame(again, frame(table, p, number), number, qos)
        assert (acknowledged.kind, acknowledged.reason) == (answer, 0)
        assert (value(reader, "p")["value"], value(reader, "p")["quality"]) == (number, "good")
        again.send(V5.publish("p", b"1", qos=1, packet_id=3))
        assert again.packet().reason in (0, NO_SUBSCRIBER), "a plain sample"
        assert ask(reader, "table/remove", names=["p"])["errors"][0]["code"] == "published"


def test_a_restart_gives_a_session_nothing_that_it_had_not(restartable: Restartable) -> None:
    broker = restartable()
    publisher = broker.client("publisher", clean=False, properties=KEPT)
    other = broker.client("other", clean=False, properties=KEPT)
    declared = declare(publisher, "removed", "lost")
    table, [removed, lost] = declared["table"], declared["indices"]
    assert ask(other, "table/remove", names=["removed"], force=True)["removed"] == 1
    assert declare(other, "removed")["indices"] == [removed]
    fleeting = broker.client("fleeting")
    assert "error" not in declare(fleeting, "fleeting")
    broker = restartable()
    publisher, other = broker.back("publisher"), broker.back("other")
    assert send_frame(publisher, frame(table, removed, 1), 1).reason == NOT_AUTHORIZED
    assert send_frame(other, frame(table, removed, 1), 1).reason == 0
    assert send_frame(other, frame(table, lost, 1), 2).reason == NOT_AUTHORIZED
    assert send_frame(publisher, frame(table, lost, 1), 2).reason == 0
    broker.client("publisher", clean=True, properties=KEPT)
    anew = restartable().back("publisher")
    assert send_frame(anew, frame(table, lost, 1), 1).reason == NOT_AUTHORIZED


def test_a_declaration_right_behind_connect_is_there_after_the_broker_was_killed(
    restartable: Restartable,
) -> None:
    peer = restartable().peer()
    where = properties(response_topic="answer")
    body = b'{"parameters": [{"name": "p", "type": "u8"}]}'
    asked = V5.publish("$slipring/table/declare", body, properties=where)
    peer.send(V5.connect("publisher", clean=False, properties=KEPT), asked)
    assert peer.packet().kind is Kind.CONNACK
    declared = json.loads(peer.packet().payload)
    payload = frame(declared["table"], declared["indices"][0], 1)
    assert send_frame(restartable().back("publisher"), payload, 1).reason == 0


def test_a_session_that_is_over_has_declared_nothing(limited: Limited) -> None:
    broker = limited()
    for ending in ("clean start", "expiry"):
        kept = KEPT if ending == "clean start" else properties(session_expiry=1)
        publisher = broker.client(ending, clean=True, properties=kept)
        declared = declare(publisher, ending)
        payload = frame(declared["table"], declared["indices"][0], 1)
        assert send_frame(publisher, payload, 1).reason == 0
        publisher.hang_up()
        if ending == "expiry":
            when_expired(broker)
        again = broker.client(ending, clean=ending == "clean start", properties=KEPT)
        refused = send_frame(again, payload, 1)
        assert refused.reason == NOT_AUTHORIZED, ending
        assert "has not declared it" in why(refused)
        again.send(V5.disconnect(properties=properties(session_expiry=0)))
        assert again.closed()


def test_a_sample_in_the_same_batch_as_its_declaration_counts(limited: Limited) -> None:
    broker = limited()
    client = broker.client("client")
    client.send(V5.publish("p", b"1"))
    client.settle()
    where = properties(response_topic="answer")
    body = b'{"parameters": [{"name": "p", "type": "u8"}]}'
    asked = V5.publish("$slipring/table/declare", body, properties=where)
    client.send(asked, V5.publish("p", b"7"))
    assert [packet.topic for packet in client.waiting()] == ["answer"]
    assert value(client, "p")["value"] == 7


def test_a_refused_sample_does_not_make_another_message_one(tmp_path: Path) -> None:
    config, data = tmp_path / "broker.toml", tmp_path / "data"
    config.write_text("[limits]\nretained_messages = 0\n")
    for start in range(2):
        with ExitStack() as stack:
            running = RunningBroker.start(data, "--config", str(config))
            stack.callback(running.stop)
            broker = LimitedBroker(running, stack)
            client = broker.client("client")
            if start == 0:
                declare(client, "p")
                refused = V5.publish("p", b"5", qos=1, packet_id=1, retain=True)
                client.send(refused, V5.publish("q", b"9", qos=1, packet_id=2))
                assert [client.packet().reason for _ in range(2)] == [QUOTA, NO_SUBSCRIBER]
            else:
                assert ask(client, "table/values", names=["p"])["values"] == []


def test_what_another_client_publishes_goes_only_by_force(limited: Limited) -> None:
    broker = limited()
    publisher, other = broker.client("rig-7"), broker.client("other")
    declared = declare(publisher, "p")
    payload = frame(declared["table"], declared["indices"][0], 1)
    answer = ask(other, "table/remove", names=["p"])
    assert answer["removed"] == 0
    assert "the client rig-7 publishes it now" in answer["errors"][0]["message"]
    assert send_frame(publisher, payload, 1).reason == 0
    assert ask(other, "table/remove", names=["p"], force=True)["removed"] == 1
    refused = send_frame(publisher, payload, 2)
    assert refused.reason == NOT_AUTHORIZED
    assert why(refused).startswith("p has the index")
    assert declare(publisher, "p")["indices"] == declared["indices"]
    assert send_frame(publisher, payload, 3).reason == 0


def test_a_name_is_of_a_parameter_or_of_a_stream(limited: Limited) -> None:
    broker = limited()
    client = broker.client("client")
    stream = {"name": "sound", "media": "audio/pcm"}
    assert "error" not in ask(client, "streams/declare", streams=[stream])
    answer = declare(client, "fine", "sound")
    assert (answer["error"], answer["problems"][0]["at"]) == ("clash", 1)
    assert answer["problems"][0]["message"] == "a stream has this name; take another one"
    assert "error" not in declare(client, "fine")
    answer = ask(client, "streams/declare", streams=[{**stream, "name": "fine"}])
    assert answer["error"] == "clash"
    assert "error" not in ask(client, "streams/remove", names=["sound"])
    assert "error" not in declare(client, "sound")


def test_of_a_parameter_and_a_stream_declared_at_once_one_is_refused(limited: Limited) -> None:
    broker = limited()
    peers = broker.client("parameters"), broker.client("streams")
    rounds, start = 200, threading.Barrier(2)
    answers: list[list[dict[str, Any]]] = [[], []]

    def parameters() -> None:
        for number in range(rounds):
            start.wait()
            answers[0].append(declare(peers[0], f"n/{number}"))

    def streams() -> None:
        for number in range(rounds):
            stream = {"name": f"n/{number}", "media": "audio/pcm"}
            start.wait()
            answers[1].append(ask(peers[1], "streams/declare", streams=[stream]))

    threads = [threading.Thread(target=one) for one in (parameters, streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [["error" in answer for answer in pair] for pair in zip(*answers, strict=True)]
    assert [sum(pair) for pair in refused] == [1] * rounds
