"""What MQTT itself lets a client say, said by askers and services: expiry, sizes, aliases, windows.

Whatever it is, the request ends, and no service is busy with what it never got.
"""

import pytest

from tests.limited_broker import Limited
from tests.mqtt_bytes import Pair
from tests.raw_mqtt import V5, Kind, properties
from tests.requests.request_peer import (
    LASTING,
    Peers,
    RequestPeer,
    answer_topic_of,
    gathered,
    status_of,
)

TERMS: list[Pair] = [("slipring-timeout", "3"), ("slipring-wait", "1")]


def asked_with(asker: RequestPeer, topic: str, qos: int = 1, **more: int | str) -> None:
    """Ask with further properties of MQTT; it times out after 3 s."""
    given = properties(response_topic="answers", correlation_data=b"1", user=TERMS, **more)
    said = asker.publish(topic, b"x", qos=qos, properties=given)
    assert said is None or said.reason == 0, said


def test_a_request_whose_message_expires_first_ends_all_the_same(peers: Peers, topic: str) -> None:
    asker = peers()
    asked_with(asker, topic, message_expiry=1)
    asker.asked(f"{topic}/clock", correlation=b"clock", timeout="1.3", wait="1")
    assert status_of(asker.end(b"clock")) == "timed-out", "the message expires, its request not"
    service = peers().serve(topic, at_once=1)
    for request in service.rest():
        service.answer(request)
    asker.asked(topic, b"next", correlation=b"2")
    request = service.message()
    assert request.payload == b"next", "the service is not busy with what it never got"
    service.answer(request)
    assert len([asker.end(), asker.end()]) == 2


def test_a_topic_alias_of_the_asker_is_not_the_services(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic)
    asked_with(asker, topic, topic_alias=1)
    request = service.message()
    assert (request.topic, "topic_alias" in request.properties) == (topic, False)
    given = properties(response_topic="answers", user=TERMS, topic_alias=1)
    asker.publish("", b"by alias", properties=given)
    assert service.message().topic == topic


def test_a_topic_alias_of_the_service_is_an_answer_too(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic, at_once=1)
    asker.asked(topic)
    where = answer_topic_of(service.message())
    part = properties(user=("slipring-status", "part"), topic_alias=1)
    service.publish(where, b"part", properties=part)
    service.publish("", b"whole", properties=properties(topic_alias=1))
    assert [asker.end().payload, asker.end().payload] == [b"part", b"whole"]


def test_a_request_is_not_retained(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic, at_once=1)
    given = properties(response_topic="answers", user=TERMS)
    asker.publish(topic, b"x", retain=True, properties=given)
    request = service.message()
    assert not request.retain
    service.answer(request, b"y", qos=1)
    assert not asker.end().retain
    assert peers().serve(topic, qos=1).quiet()


def test_a_request_that_its_service_cannot_take_does_not_keep_it_busy(
    peers: Peers, topic: str
) -> None:
    """It is larger than the Maximum Packet Size of the service (MQTT-3.1.2-24)."""
    asker = peers()
    service = peers(properties=properties(maximum_packet_size=300)).serve(topic, at_once=1)
    asker.asked(topic, bytes(2_000), correlation=b"large")
    asker.asked(topic, b"small", correlation=b"small", timeout="3")
    service.raw.socket.settimeout(4)
    assert service.message().payload == b"small"


def test_an_answer_that_its_asker_cannot_take_is_an_end_all_the_same(
    peers: Peers, topic: str
) -> None:
    """It is larger than the Maximum Packet Size of the asker: at least the end is told."""
    asker = peers(properties=properties(maximum_packet_size=300))
    service = peers().serve(topic, at_once=1)
    asker.asked(topic)
    service.answer(service.message(), bytes(2_000))
    asker.asked(topic, correlation=b"next")
    service.answer(service.message(), b"small")
    assert status_of(asker.end(b"1")), "no end"


def test_an_asker_with_no_local_does_not_serve_itself(peers: Peers, topic: str) -> None:
    asker = peers()
    no_local = 0x04
    asker.raw.send(V5.subscribe(1, (topic, 1 | no_local)))
    assert asker.raw.packet().kind is Kind.SUBACK
    asker.asked(topic, timeout="2")
    assert status_of(asker.end(b"1")) == "not-delivered"


def test_what_waits_for_the_window_of_a_service_does_not_come_after_its_end(
    peers: Peers, topic: str
) -> None:
    """The service acknowledges nothing: one is in flight, the others wait, and time out."""
    asker = peers()
    service = peers(properties=properties(receive_maximum=1))
    service.serve(topic, at_once=10)
    for number in range(5):
        asker.asked(topic, b"%d" % number, correlation=b"%d" % number, timeout="0.5")
    first = service.raw.packet()
    assert first.kind is Kind.PUBLISH
    assert {status_of(asker.end()) for _ in range(5)} == {"timed-out"}
    asker.asked(topic, b"next", timeout="60")
    service.raw.send(V5.puback(first.id))
    following = service.message()
    assert following.payload == b"next"


def test_messages_do_not_push_a_request_out_of_the_queue_of_its_service(limited: Limited) -> None:
    """The service is slow to acknowledge, and has a subscription on which much comes."""
    broker = limited(queue_messages=20)
    asker, publisher = RequestPeer(broker.peer()), RequestPeer(broker.peer())
    service = RequestPeer(broker.peer(), properties=properties(receive_maximum=1))
    service.serve("news/#", qos=1).serve("solve/#", at_once=5)
    publisher.publish("news/x", b"in flight")
    first = service.raw.packet()
    asker.asked("solve/x", b"question", timeout="3")
    for number in range(100):
        publisher.publish("news/x", b"%d" % number)
    service.raw.send(V5.puback(first.id))
    while (message := service.message()).payload != b"99":
        if message.topic == "solve/x":
            service.answer(message, b"answer")
    assert asker.end(b"1").payload == b"answer"


def test_a_cancelled_request_does_not_reach_a_service_that_is_back(
    peers: Peers, topic: str
) -> None:
    asker, service = peers(), peers(topic, properties=LASTING)
    service.serve(topic, at_once=5)
    asker.asked(topic, b"first", correlation=b"first")
    service.message()
    service.raw.hang_up()
    asker.asked(topic, b"second", correlation=b"second", wait="1")
    for name in (b"first", b"second"):
        assert asker.cancel(name).reason == 0
        assert status_of(asker.end(name)) == "cancelled"
    back = peers(topic, clean=False, properties=LASTING)
    assert all(one.dup for one in back.rest())
    asker.asked(topic, b"third")
    assert gathered([back], 1)[0][0].payload == b"third"


def test_a_kept_service_that_does_not_come_back_fails_its_requests(
    peers: Peers, topic: str
) -> None:
    asker, service = peers(), peers(topic, properties=properties(session_expiry=1))
    service.serve(topic, at_once=5)
    asker.asked(topic)
    service.message()
    service.raw.hang_up()
    assert status_of(asker.end(b"1")) == "failed"


def test_the_lowest_priority_does_not_wait_for_ever(peers: Peers, topic: str) -> None:
    asker = peers()
    asker.asked(topic, b"low", correlation=b"low", priority="low", wait="1")
    for _ in range(40):
        asker.asked(topic, b"high", priority="high", wait="1")
    service = peers().serve(topic, at_once=1)
    for number in range(41):
        request = service.message()
        service.answer(request)
        if request.payload == b"low":
            assert number <= 16
            return
    pytest.fail("the low one never came")
