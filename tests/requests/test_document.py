"""The tests of the document's table 5.7, each by its name, on a real broker.

Those of several nodes wait for links between brokers: `messaging/subs_on_different_nodes`,
`messaging/wildcard_sub_different_node`, `requests/happy_path_sub_on_different_node`,
`requests/wildcard_sub_on_different_node`, `request_storing/store_request_sub_on_different_node`,
`request_storing/store_response_sub_on_different_node`.
"""

from tests.limited_broker import Limited
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.requests.request_peer import LASTING, Peers, RequestPeer, correlation_of, status_of

MIB = 1 << 20


def test_messaging_happy_path_two_subs(peers: Peers, topic: str) -> None:
    publisher, one, other = peers(), peers().serve(topic), peers().serve(topic)
    publisher.publish(topic, b"21.5")
    assert one.message().payload == other.message().payload == b"21.5"
    assert one.quiet()
    assert other.quiet()


def test_messaging_happy_path_wildcard_sub(peers: Peers, topic: str) -> None:
    publisher, one, all_below = peers(), peers().serve(f"{topic}/+"), peers().serve(f"{topic}/#")
    for name in ("a", "a/b"):
        publisher.publish(f"{topic}/{name}", name.encode())
    assert [all_below.message().payload, all_below.message().payload] == [b"a", b"a/b"]
    assert [message.payload for message in one.rest()] == [b"a"]


def test_messaging_multiple_subs_on_client(peers: Peers, topic: str) -> None:
    publisher, client = peers(), peers()
    client.serve(f"{topic}/a")
    client.serve(f"{topic}/b")
    for name in ("a", "b", "c"):
        publisher.publish(f"{topic}/{name}", name.encode())
    assert [message.payload for message in client.rest()] == [b"a", b"b"]


def test_subscription_invalid_filter_sub(peers: Peers) -> None:
    client = peers()
    client.raw.send(V5.subscribe(1, "solve/#/x"))
    said = client.raw.packet()
    assert (said.kind, said.reason or said.reasons[0]) in {
        (Kind.SUBACK, 0x8F),
        (Kind.DISCONNECT, 0x8F),
    }, said


def test_subscription_invalid_filter_unsub(peers: Peers) -> None:
    client = peers()
    client.raw.send(V5.unsubscribe(1, "solve/a+"))
    said = client.raw.packet()
    assert (said.kind, said.reasons) == (Kind.UNSUBACK, (0x11,)), "there can be no such one"


def test_subscription_sub_twice(peers: Peers, topic: str) -> None:
    publisher, client = peers(), peers().serve(topic).serve(topic)
    publisher.publish(topic, b"once")
    assert [message.payload for message in client.rest()] == [b"once"]


def test_subscription_sub_unsub_happy_path(peers: Peers, topic: str) -> None:
    publisher, client = peers(), peers().serve(topic)
    publisher.publish(topic, b"heard")
    assert client.message().payload == b"heard"
    client.raw.send(V5.unsubscribe(2, topic))
    assert client.raw.until(Kind.UNSUBACK)[-1].reasons == (0,)
    publisher.publish(topic, b"not heard")
    assert client.quiet()


def test_subscription_unsub_without_previous_sub(peers: Peers, topic: str) -> None:
    client = peers()
    client.raw.send(V5.unsubscribe(2, topic))
    assert client.raw.packet().reasons == (0x11,)


def test_requests_happy_path(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic, at_once=1)
    asker.asked(topic, b"2 + 2", correlation=b"sum")
    request = service.message()
    assert (request.topic, request.payload) == (topic, b"2 + 2")
    service.answer(request, b"4")
    answer = asker.end(b"sum")
    assert (answer.topic, answer.payload, status_of(answer)) == ("answers", b"4", "answered")
    assert asker.quiet()


def test_requests_wildcard_sub(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(f"{topic}/#", at_once=10)
    for name in (b"a", b"b"):
        asker.asked(f"{topic}/{name.decode()}", correlation=name)
        request = service.message()
        service.answer(request, request.topic.encode())
        assert asker.end(name).payload == f"{topic}/{name.decode()}".encode()


def test_request_storing_store_request(peers: Peers, topic: str) -> None:
    """It waits for a service."""
    asker = peers()
    asker.asked(topic, b"later", wait="1")
    assert asker.quiet()
    service = peers().serve(topic, at_once=1)
    service.answer(service.message(), b"now")
    assert asker.end(b"1").payload == b"now"


def test_request_storing_store_response(peers: Peers, topic: str) -> None:
    """The answer waits for the asker."""
    service = peers().serve(topic, at_once=1)
    asker = peers(topic, properties=LASTING)
    asker.asked(topic, b"and away")
    asker.leave()
    service.answer(service.message(), b"for later")
    back = peers(topic, clean=False, properties=LASTING)
    answer = back.end(b"1")
    assert (answer.payload, status_of(answer)) == (b"for later", "answered")
    assert back.quiet()


def test_requests_timeout(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic, at_once=1).serve("$slipring/cancelled")
    asker.asked(topic, timeout="0.2")
    request = service.message()
    assert status_of(asker.end(b"1")) == "timed-out"
    notice = service.message()
    assert (notice.topic, status_of(notice)) == ("$slipring/cancelled", "timed-out")
    said = service.answer(request, b"too late")
    assert said
    assert said.reason == 0x10
    assert asker.quiet()


def test_requests_request_cancel(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic, at_once=1).serve("$slipring/cancelled")
    asker.asked(topic)
    request = service.message()
    assert asker.cancel(b"1").reason == 0
    assert status_of(asker.end(b"1")) == "cancelled"
    notice = service.message()
    assert notice.properties["response_topic"] == request.properties["response_topic"]
    assert (status_of(notice), correlation_of(notice)) == ("cancelled", b"1")


def test_requests_request_priority(peers: Peers, topic: str) -> None:
    """Among requests that wait, a higher level is first; within a level the order stays."""
    asker = peers()
    asked = [("low", b"l1"), ("normal", b"n1"), ("high", b"h1"), ("normal", b"n2"), ("high", b"h2")]
    for priority, name in asked:
        asker.asked(topic, name, correlation=name, wait="1", priority=priority)
    service = peers().serve(topic, at_once=1)
    taken = []
    for _ in asked:
        request = service.message()
        taken.append(request.payload)
        service.answer(request)
    assert taken == [b"h1", b"h2", b"n1", b"n2", b"l1"]


def test_requests_bulking(peers: Peers, topic: str) -> None:
    """Hundreds of requests in one packet of TCP, and their answers too."""
    asker, service = peers(), peers().serve(topic, at_once=1_000)
    names = [b"%d" % number for number in range(500)]
    for name in names:
        asker.ask(topic, name, correlation=name, qos=0)
    requests = [service.message() for _ in names]
    assert [request.payload for request in requests] == names
    for request in requests:
        service.answer(request, request.payload, qos=0)
    answers = [asker.end() for _ in names]
    assert [(correlation_of(one), one.payload) for one in answers] == [(n, n) for n in names]


def test_connection_limit_of_connected_clients(limited: Limited) -> None:
    broker = limited(connections=3, reserve_percent=0, owner_connections_percent=100)
    clients = [broker.client(f"client-{number}") for number in range(3)]
    refused = broker.peer()
    refused.send(V5.connect("one-more"))
    said = refused.receive()
    assert said
    assert said.reason == 0x89
    clients[0].send(V5.disconnect())
    assert clients[0].closed()
    assert broker.client("one-more").quiet()


def test_request_storing_storage_capacity(limited: Limited) -> None:
    """What is stored is bounded; whoever asks beyond that learns of it, and the rest is served."""
    broker = limited(memory_bytes=16 * MIB)
    raw = RawPeer(broker.running.host, broker.running.port)
    with RequestPeer(raw, "asker") as asker:
        refused = set()
        for number in range(400):
            said = asker.ask("solve/x", bytes(100_000), correlation=b"%d" % number, wait="1", qos=1)
            assert said
            assert said.reason in {0, 0x97}, said
            if said.reason:
                refused.add(number)
        service_raw = RawPeer(broker.running.host, broker.running.port)
        with RequestPeer(service_raw, "service") as service:
            service.serve("solve/x", at_once=1)
            ends = {int(correlation_of(end)): status_of(end) for end in asker.rest()}
            while len(ends) + len(refused) < 400:
                service.answer(service.message())
                ends |= {int(correlation_of(end)): status_of(end) for end in asker.rest()}
    assert set(ends.values()) <= {"answered", "dropped"}
    assert refused or "dropped" in ends.values()
    assert "answered" in ends.values()
    assert not refused & set(ends)
