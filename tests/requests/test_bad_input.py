"""What is wrong about requests, answers and cancels: each has its reason, is counted, and is
harmless to everybody else (T2, T5, T6).
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.hostile.transports import Transport, dial_tcp, dial_websocket
from tests.raw_mqtt import V5, V311, Kind, Packet, RawPeer, Version, properties
from tests.requests.request_peer import (
    CANCEL,
    CANCELLED,
    LASTING,
    Peers,
    Requested,
    RequestPeer,
    answer_topic_of,
    correlation_of,
    reason_of,
    status_of,
)
from tests.running_broker import RunningBroker, broker_in

WEB = """
[[listener]]
name = "web"
listen = "127.0.0.1:0"
websocket = true
"""
WAYS = (Transport("tcp", dial_tcp, 0, 0), Transport("websocket", dial_websocket, 0, 0))
CENTURY_S = 100 * 365.25 * 24 * 3_600
TIMEOUTS = ["0", "-1", "-0.0", f"{CENTURY_S:.0f}", "604800.001", "nan", "inf", "1e999", "", "5s"]


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with broker_in(tmp_path_factory.mktemp("bad"), config=WEB) as running:
        yield running


@pytest.fixture(params=WAYS, ids=lambda way: way.name)
def way(request: pytest.FixtureRequest) -> Transport:
    found: Transport = request.param
    return found


@pytest.fixture
def peers(standing: RunningBroker, way: Transport) -> Iterator[Peers]:
    """Clients of both transports. At the end, an honest pair is served as ever."""
    with ExitStack() as stack:

        def made(client_id: str = "", version: Version = V5, **options: Any) -> RequestPeer:
            raw: RawPeer = way.dial(standing, version)
            return stack.enter_context(RequestPeer(raw, client_id, **options))

        yield made
        asker, service = made(), made().serve("honest/#", at_once=1)
        asker.asked("honest/question", b"6 * 7")
        service.answer(service.message(), b"42")
        assert asker.end(b"1").payload == b"42"


@pytest.fixture
def counted(standing: RunningBroker) -> Requested:
    return Requested(standing)


def refused(said: Packet | None, words: str, reason: int = 0x83) -> None:
    """It was refused at QoS 1 or 2, with these words."""
    assert said
    assert said.reason == reason, said
    assert words in reason_of(said), said


@pytest.mark.parametrize("qos", [1, 2])
def test_a_request_without_a_response_topic_is_refused(
    peers: Peers, counted: Requested, topic: str, qos: int
) -> None:
    asker, service = peers(), peers().serve(topic)
    refused(asker.ask(topic, answer_topic=None, qos=qos), "needs a Response Topic")
    asker.ask(topic, answer_topic=None, qos=0)
    assert asker.quiet(), "there is nowhere to tell it"
    assert service.quiet()
    assert counted.more("refused") == 2
    assert counted.more("asked") == 0


@pytest.mark.parametrize("timeout", TIMEOUTS)
def test_a_time_out_that_is_none_is_refused(
    peers: Peers, counted: Requested, topic: str, timeout: str
) -> None:
    asker, service = peers(), peers().serve("solve/#")
    user = properties(response_topic="answers", correlation_data=b"1")
    user += properties(user=("slipring-timeout", timeout))
    for qos in (1, 2):
        refused(asker.publish(topic, qos=qos, properties=user), "`slipring-timeout` is a number")
    asker.publish(topic, qos=0, properties=user)
    end = asker.end(b"1")
    assert (status_of(end), end.topic) == ("refused", "answers")
    assert "limits.request_timeout_s" in reason_of(end)
    assert service.quiet()
    assert counted.more("refused") == 3


@pytest.mark.parametrize("retry", ["17", "-1", "two"])
def test_a_retry_beyond_16_is_refused(peers: Peers, topic: str, retry: str) -> None:
    refused(peers().ask(topic, retry=retry), "`slipring-retry` is a number from 0 to 16")


def test_an_unknown_strategy_is_refused(peers: Peers, topic: str) -> None:
    refused(peers().ask(topic, balance="best"), "`slipring-balance` is first-free")


@pytest.mark.parametrize("priority", ["urgent", "High", "1"])
def test_an_unknown_priority_is_refused(peers: Peers, topic: str, priority: str) -> None:
    service = peers().serve(topic)
    words = "`slipring-priority` is high, normal or low"
    refused(peers().ask(topic, priority=priority), words)
    assert service.quiet()


@pytest.mark.parametrize("serve", ["0", "-1", "65536", "two", "", "1.5"])
def test_a_service_that_computes_no_number_at_once_is_refused(
    peers: Peers, topic: str, serve: str
) -> None:
    service, asker = peers(), peers()
    said = properties(user=("slipring-serve", serve))
    service.raw.send(V5.subscribe(1, (topic, 1), properties=said))
    suback = service.raw.packet()
    assert suback.reasons == (0x83,)
    assert "1 to 65535" in reason_of(suback)
    asker.asked(topic)
    assert status_of(asker.end(b"1")) == "not-delivered"


@pytest.mark.parametrize("answer_topic", ["$SYS/x", "$slipring/cancel", "$slipring/answer/0"])
def test_a_response_topic_of_the_broker_itself_is_refused(
    peers: Peers, topic: str, answer_topic: str
) -> None:
    refused(peers().ask(topic, answer_topic=answer_topic), "does not begin with `$`")


@pytest.mark.parametrize("answer_topic", ["a/+", "a/#", "", b"\xff"])
def test_a_response_topic_that_is_none_ends_the_connection(
    peers: Peers, topic: str, answer_topic: str | bytes
) -> None:
    """Response Topics are Topic Names (MQTT-3.3.2-14)."""
    asker = peers()
    given = properties(response_topic=answer_topic, user=("slipring-timeout", "5"))
    asker.raw.send(V5.publish(topic, qos=1, packet_id=1, properties=given))
    said = asker.raw.packet()
    assert said.kind is Kind.DISCONNECT
    assert said.reason in {0x81, 0x82, 0x90}


def test_a_response_topic_of_65_kb_is_served(peers: Peers, topic: str) -> None:
    """Or refused, if topics of that length are: but never half."""
    asker, service = peers(), peers().serve(topic)
    long = "a" * 65_535
    said = asker.ask(topic, answer_topic=long)
    assert said
    if said.reason == 0:
        service.answer(service.message(), b"far")
        end = asker.end(b"1")
        assert (end.topic, end.payload) == (long, b"far")


def test_correlation_data_of_65_535_bytes_comes_back_whole(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic)
    long = bytes(range(256)) * 255 + bytes(255)
    asker.asked(topic, correlation=long)
    request = service.message()
    assert correlation_of(request) == long
    service.answer(request, b"whole")
    assert asker.end(long).payload == b"whole"
    asker.asked(topic, correlation=long)
    service.message()
    assert asker.cancel(long).reason == 0
    assert status_of(asker.end(long)) == "cancelled"


def test_a_request_without_correlation_data_ends_without(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic)
    asker.asked(topic, correlation=None)
    service.answer(service.message(), b"yours")
    end = asker.end()
    assert (end.payload, "correlation_data" in end.properties) == (b"yours", False)


@pytest.mark.parametrize("key", ["", "/", "/0", "/0123456789abcdef", "/0123456789ABCDEF", "/../x"])
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_an_answer_to_nothing_reaches_nobody(peers: Peers, key: str, qos: int) -> None:
    service = peers()
    said = service.answer_to(f"$slipring/answer{key}", b"4", qos=qos)
    assert (said is None) == (qos == 0)
    assert said is None or said.reason in {0x10, 0x83, 0x87, 0x90}, said
    assert service.quiet()


def test_an_answer_to_no_request_is_counted(peers: Peers, counted: Requested) -> None:
    said = peers().answer_to("$slipring/answer/0123456789abcdef", b"4")
    assert said
    assert said.reason == 0x10
    assert counted.more("late") == 1


@pytest.mark.parametrize("status", ["", "part", "failed"])
def test_an_answer_by_the_wrong_client_reaches_nobody(
    peers: Peers, counted: Requested, topic: str, status: str
) -> None:
    asker, service, other = peers(), peers().serve(topic), peers()
    asker.asked(topic)
    request = service.message()
    for stranger in (other, asker):
        said = stranger.answer(request, b"forged", status=status)
        assert said
        assert said.reason == 0x10
    assert asker.quiet()
    assert counted.more("late") == 2
    service.answer(request, b"true")
    assert asker.end(b"1").payload == b"true"


@pytest.mark.parametrize("status", ["", "part", "failed"])
def test_an_answer_after_the_end_is_late(
    peers: Peers, counted: Requested, topic: str, status: str
) -> None:
    asker, service = peers(), peers().serve(topic)
    asker.asked(topic)
    request = service.message()
    service.answer(request, b"first")
    assert asker.end(b"1").payload == b"first"
    said = service.answer(request, b"second", status=status)
    assert said
    assert said.reason == 0x10
    assert counted.more("late") == 1
    assert asker.quiet()


def test_two_answers_in_one_burst_are_one(peers: Peers, counted: Requested, topic: str) -> None:
    asker, service = peers(), peers().serve(topic)
    asker.asked(topic)
    where = answer_topic_of(service.message())
    answers = [V5.publish(where, b"%d" % at, qos=1, packet_id=at) for at in (1, 2, 3)]
    service.raw.send(*answers)
    reasons = [service.raw.until(Kind.PUBACK)[-1].reason for _ in answers]
    assert reasons == [0, 0x10, 0x10]
    assert asker.end(b"1").payload == b"1"
    assert asker.quiet()
    assert counted.more("late") == 2


@pytest.mark.parametrize("status", ["done", "cancelled", "refused", "ANSWERED"])
def test_an_unknown_status_is_refused_and_changes_nothing(
    peers: Peers, topic: str, status: str
) -> None:
    asker, service = peers(), peers().serve(topic)
    asker.asked(topic)
    request = service.message()
    refused(service.answer(request, b"?", status=status), "is answered, part or failed")
    assert asker.quiet()
    service.answer(request, b"now")
    assert asker.end(b"1").payload == b"now"


def test_an_answer_cannot_pretend_to_be_another_one(peers: Peers, topic: str) -> None:
    """Neither correlation data nor reason of the service's own reach the asker."""
    asker, service = peers(), peers().serve(topic)
    asker.asked(topic)
    service.answer(
        service.message(),
        b"4",
        correlation_data=b"forged",
        response_topic="elsewhere",
        content_type="text/plain",
    )
    end = asker.end(b"1")
    assert (end.topic, end.properties["content_type"]) == ("answers", ("text/plain",))
    assert "response_topic" not in end.properties


def test_a_cancel_without_correlation_data_is_refused(peers: Peers, topic: str) -> None:
    asker = peers()
    asker.asked(topic, wait="1")
    refused(asker.cancel(None), "needs the Correlation Data")
    assert asker.quiet()


def test_a_cancel_of_nothing_says_so(peers: Peers) -> None:
    asker = peers()
    assert asker.cancel(b"never asked").reason == 0x10
    assert asker.cancel(b"").reason == 0x10
    assert asker.quiet()


def test_a_cancel_of_somebody_elses_request_does_nothing(peers: Peers, topic: str) -> None:
    asker, other, service = peers(), peers(), peers().serve(topic, at_once=1)
    asker.asked(topic, correlation=b"mine")
    request = service.message()
    for stranger in (other, service):
        assert stranger.cancel(b"mine").reason == 0x10
    service.answer(request, b"yours")
    assert asker.end(b"mine").payload == b"yours"


def test_a_cancel_in_one_burst_with_its_request_cancels_it(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic, at_once=1)
    given = properties(response_topic="answers", correlation_data=b"1")
    ask = given + properties(user=("slipring-timeout", "60"))
    cancel = properties(correlation_data=b"1")
    asker.raw.send(
        V5.publish(topic, qos=1, packet_id=1, properties=ask),
        V5.publish(CANCEL, qos=1, packet_id=2, properties=cancel),
    )
    heard = {packet.kind: packet for packet in (asker.raw.packet() for _ in range(3))}
    assert set(heard) == {Kind.PUBACK, Kind.PUBLISH}
    assert heard[Kind.PUBACK].reason == 0
    assert status_of(heard[Kind.PUBLISH]) == "cancelled"
    asker.raw.send(V5.puback(heard[Kind.PUBLISH].id))
    for request in service.rest():
        said = service.answer(request)
        assert said
        assert said.reason == 0x10
    assert asker.quiet()


def test_a_cancel_at_qos_2_is_a_cancel(peers: Peers, topic: str) -> None:
    asker = peers()
    asker.asked(topic, qos=2, wait="1")
    said = asker.publish(CANCEL, qos=2, properties=properties(correlation_data=b"1"))
    assert said
    assert said.reason == 0
    assert status_of(asker.end(b"1")) == "cancelled"


def test_a_second_request_with_the_same_correlation_data_is_another_one(
    peers: Peers, topic: str
) -> None:
    asker, service = peers(), peers().serve(topic, at_once=5)
    asker.asked(topic, b"one")
    asker.asked(topic, b"two")
    assert [service.message().payload for _ in range(2)] == [b"one", b"two"]
    assert asker.cancel(b"1").reason == 0
    assert [status_of(asker.end(b"1")) for _ in range(2)] == ["cancelled"] * 2


def test_a_duplicate_of_an_open_request_is_the_same(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic, at_once=5)
    asker.asked(topic, b"one")
    asker.asked(topic, b"one", dup=True)
    request = service.message()
    assert service.quiet()
    service.answer(request)
    asker.end(b"1")
    assert asker.quiet()


def test_nobody_can_watch_what_is_not_its_own(peers: Peers, topic: str) -> None:
    """Not the request, not the answer, not the notice of its end."""
    filters = ["#", "+/+", topic, "$slipring/#", "$slipring/answer/#", "$slipring/answer/+"]
    filters += ["answers", "answers/#", CANCELLED, CANCEL]
    watcher = peers()
    watcher.raw.send(V5.subscribe(1, *filters))
    watcher.raw.until(Kind.SUBACK)
    asker = peers(topic, properties=LASTING)
    service = peers().serve(topic, at_once=2).serve(CANCELLED)
    for ends_with in (service.answer, lambda _: asker.cancel(b"1")):
        asker.asked(topic, b"secret")
        ends_with(service.message())
        asker.end(b"1")
    assert service.message().topic == CANCELLED
    assert watcher.quiet()
    assert asker.quiet()


def test_an_mqtt_311_subscriber_gets_no_request(peers: Peers, topic: str) -> None:
    old, asker = peers(version=V311), peers()
    old.raw.send(V311.subscribe(1, (topic, 1)))
    assert old.raw.packet().reasons == (1,)
    asker.asked(topic, timeout="0.2")
    asker.end(b"1")
    assert old.raw.quiet()


def test_an_mqtt_311_subscriber_is_no_service(peers: Peers, topic: str) -> None:
    """There is no service, so it ends at once and not at its time-out."""
    old, asker = peers(version=V311), peers()
    old.raw.send(V311.subscribe(1, (topic, 1)))
    assert old.raw.packet().reasons == (1,)
    asker.asked(topic, timeout="2")
    assert status_of(asker.end(b"1")) == "not-delivered"
