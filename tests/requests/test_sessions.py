"""Requests end with the session of their asker: a clean start, a DISCONNECT (T2, T5)."""

from tests.raw_mqtt import Packet
from tests.requests.request_peer import (
    LASTING,
    Peers,
    RequestPeer,
    correlation_of,
    reason_of,
    status_of,
)


def test_a_clean_start_cancels_what_the_asker_had(peers: Peers, topic: str) -> None:
    service = peers().serve(topic, at_once=2).serve("$slipring/cancelled")
    asker = peers(topic, properties=LASTING)
    asker.asked(topic, correlation=b"delivered")
    request = service.message()
    asker.asked(f"{topic}/later", correlation=b"stored", wait="1")
    fresh = peers(topic)
    notice = service.message()
    assert (status_of(notice), correlation_of(notice)) == ("cancelled", b"delivered")
    said = service.answer(request)
    assert said
    assert said.reason == 0x10
    assert peers().serve(f"{topic}/#", at_once=1).quiet()
    assert fresh.quiet()


def test_the_end_of_the_askers_session_cancels(peers: Peers, topic: str) -> None:
    service = peers().serve(topic, at_once=1).serve("$slipring/cancelled")
    asker = peers()
    asker.asked(topic)
    service.message()
    asker.leave()
    assert status_of(service.message()) == "cancelled"


def test_a_lost_connection_of_a_kept_session_cancels_nothing(peers: Peers, topic: str) -> None:
    service = peers().serve(topic, at_once=1).serve("$slipring/cancelled")
    asker = peers(topic, properties=LASTING)
    asker.asked(topic)
    request = service.message()
    asker.raw.hang_up()
    assert service.quiet()
    back = peers(topic, clean=False, properties=LASTING)
    service.answer(request, b"there you are")
    assert back.end(b"1").payload == b"there you are"


def test_an_end_that_waits_for_its_asker_waits_whatever_the_qos(peers: Peers, topic: str) -> None:
    """Asked at QoS 0, it is told at QoS 1: at QoS 0 nothing would wait."""
    service = peers().serve(topic, at_once=5)
    asker = peers(topic, properties=LASTING)
    for qos in (0, 1, 2):
        asker.asked(topic, correlation=b"%d" % qos, qos=qos)
    requests = [service.message() for _ in range(3)]
    asker.leave()
    for request in requests:
        service.answer(request, b"kept")
    back = peers(topic, clean=False, properties=LASTING)
    ends = {correlation_of(end): end.qos for end in (back.end(), back.end(), back.end())}
    assert ends == {b"0": 1, b"1": 1, b"2": 2}
    assert back.quiet()


def computed(peers: Peers, topic: str) -> tuple[RequestPeer, RequestPeer, Packet]:
    """A service and an asker with kept sessions, and the request that the service has."""
    service = peers(f"{topic}-service", properties=LASTING).serve(topic, at_once=5)
    asker = peers(topic, properties=LASTING)
    asker.asked(topic)
    return service, asker, service.message()


def test_a_session_that_another_connection_takes_over_keeps_its_requests(
    peers: Peers, topic: str
) -> None:
    """Of the asker, and of the service that has them."""
    service, _, request = computed(peers, topic)
    assert service.quiet()
    other_asker = peers(topic, clean=False, properties=LASTING)
    other_service = peers(f"{topic}-service", clean=False, properties=LASTING)
    said = other_service.answer(request, b"the same to me")
    assert said
    assert said.reason == 0
    assert other_asker.end(b"1").payload == b"the same to me"


def test_a_client_of_another_session_under_the_same_name_has_no_part_in_it(
    peers: Peers, topic: str
) -> None:
    _, asker, request = computed(peers, topic)
    fresh = peers(f"{topic}-service")
    end = asker.end(b"1")
    assert (status_of(end), reason_of(end)) == ("failed", "the service has gone")
    said = fresh.answer(request, b"mine?")
    assert said
    assert said.reason == 0x10
    assert asker.quiet()
