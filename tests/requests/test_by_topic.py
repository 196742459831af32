"""Services by their filter, `$slipring/serve/N/FILTER`: MQTT 3.1.1 serves too (T1, T2)."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest

from tests.console_answer import answer
from tests.limited_broker import Limited
from tests.raw_mqtt import V5, V31, V311, Kind, RawPeer, Version, properties
from tests.requests.request_peer import (
    LASTING,
    Peers,
    Requested,
    RequestPeer,
    answer_topic_of,
    reason_of,
    status_of,
    terms,
)
from tests.requests.topic_service import TopicService, key_of, topic_of, topic_service
from tests.running_broker import RunningBroker

VERSIONS = pytest.mark.parametrize("version", [V31, V311, V5], ids=["3.1", "3.1.1", "5"])
Services: TypeAlias = Callable[..., TopicService]


@pytest.fixture
def services(shared_broker: RunningBroker) -> Iterator[Services]:
    """Makes clients that can become services; each is closed with its test."""
    with ExitStack() as stack:

        def made(client_id: str = "plain", version: Version = V311, **options: Any) -> TopicService:
            host, port = shared_broker.host, shared_broker.port
            found = topic_service(host, port, client_id, version, **options)
            return stack.enter_context(found)

        yield made


@VERSIONS
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_service_of_any_version_gets_the_key_in_the_topic_and_answers(
    services: Services, peers: Peers, topic: str, version: Version, qos: int
) -> None:
    service = services(version=version).serve(f"{topic}/+", qos=qos)
    asker = peers()
    asker.asked(f"{topic}/x", b"2 + 2", qos=qos)
    request = service.message()
    assert (topic_of(request), request.payload, request.qos) == (f"{topic}/x", b"2 + 2", qos)
    service.answer(request, b"4", qos=qos)
    end = asker.end(b"1")
    assert (end.topic, end.payload, status_of(end)) == ("answers", b"4", "answered")
    assert asker.quiet()


def test_parts_and_failures_are_said_by_the_topic(
    services: Services, peers: Peers, topic: str
) -> None:
    service, asker = services().serve(topic, 2), peers()
    asker.asked(topic, correlation=b"1")
    asker.asked(topic, correlation=b"2")
    one, other = service.message(), service.message()
    service.answer(one, b"half", "/part")
    service.answer(one, b"all")
    service.answer(other, b"it is singular", "/failed")
    told = [asker.end() for _ in range(3)]
    assert [(status_of(end), end.payload) for end in told] == [
        ("part", b"half"),
        ("answered", b"all"),
        ("failed", b"it is singular"),
    ]


def test_it_gets_as_many_as_it_says_and_shares_with_others(
    services: Services, peers: Peers, topic: str
) -> None:
    service, other, asker = services().serve(topic, 2), peers().serve(topic, at_once=1), peers()
    watcher = peers().serve(topic)
    for number in range(4):
        asker.asked(topic, b"%d" % number, correlation=b"%d" % number)
    first = service.rest()
    assert (len(first), len(other.rest())) == (2, 1)
    service.answer(first[0])
    assert [topic_of(one) for one in service.rest()] == [topic]
    assert watcher.quiet(), "there are services that say so"


def test_it_gets_no_message_that_is_not_a_request(
    services: Services, peers: Peers, topic: str
) -> None:
    """Nor what is retained, nor what waits for its first subscriber."""
    publisher, wait = peers(), properties(user=terms({"wait": "1"}))
    publisher.publish(topic, b"retained", retain=True)
    publisher.publish(f"{topic}/later", b"waits", properties=wait)
    service = services().serve(f"{topic}/#")
    publisher.publish(topic, b"plain")
    publisher.publish(f"$slipring/serve/1/{topic}", b"own")
    assert service.rest() == []
    first = peers().serve(f"{topic}/later")
    assert first.message().payload == b"waits"


def test_two_filters_of_one_client_are_two_subscriptions(
    services: Services, peers: Peers, topic: str
) -> None:
    service, asker = services().serve(topic, 1).serve(topic, 3), peers()
    service.stop(topic, 3)
    asker.asked(topic, b"still served")
    assert service.message().payload == b"still served"
    service.stop(topic, 1)
    asker.asked(topic, correlation=b"2")
    assert status_of(asker.end(b"2")) == "not-delivered"


def test_a_client_with_both_kinds_of_filter_gets_a_request_once(
    services: Services, peers: Peers, topic: str
) -> None:
    service, asker = services(version=V5).serve(topic), peers()
    service.subscribe(topic)
    asker.asked(topic)
    (request,) = service.rest()
    assert topic_of(request) == topic
    assert answer_topic_of(request) == f"$slipring/answer/{key_of(request)}"


def test_a_cancel_and_a_timeout_are_told_with_the_key(
    services: Services, peers: Peers, topic: str
) -> None:
    service, asker = services().serve(topic, 2), peers()
    service.subscribe("$slipring/cancelled")
    asker.asked(topic, correlation=b"1")
    asker.asked(topic, correlation=b"2", timeout="0.2")
    keys = [key_of(service.message()) for _ in range(2)]
    assert asker.cancel(b"1").reason == 0
    told = {service.message().payload.decode() for _ in range(2)}
    assert told == {f"{keys[0]} cancelled", f"{keys[1]} timed-out"}


def test_a_late_answer_is_discarded_and_counted(
    services: Services, peers: Peers, topic: str, shared_broker: RunningBroker
) -> None:
    service, asker, counted = services().serve(topic), peers(), Requested(shared_broker)
    asker.asked(topic)
    request = service.message()
    service.answer(request, b"first")
    for how in ("", "/part", "/failed"):
        service.answer(request, b"again", how)
    assert asker.end(b"1").payload == b"first"
    assert asker.quiet()
    assert counted.more("late") == 3


def test_another_client_cannot_answer(services: Services, peers: Peers, topic: str) -> None:
    service, thief, asker = services("a").serve(topic), services("b"), peers()
    asker.asked(topic)
    request = service.message()
    thief.answer(request, b"stolen")
    service.answer(request, b"mine")
    assert asker.end(b"1").payload == b"mine"


BAD_COUNTS = ["", "0", "00", "01", "-1", "65536", "9" * 5_000, "many", "1.5", " 1", "\uff11"]
BAD_FILTERS = ["", "$SYS/#", "$share/g/a", "$slipring/serve/1/a", "a/#/b", "a+"]


@pytest.mark.parametrize("count", BAD_COUNTS, ids=lambda count: count[:9] or "none")
def test_a_bad_number_is_refused(services: Services, count: str) -> None:
    wanted = [f"$slipring/serve/{count}/a", "good/one"]
    assert services().subscribe(*wanted).reasons == (0x80, 1)
    told = services(version=V5).subscribe(*wanted)
    assert told.reasons == (0x83, 1)
    assert "1 to 65535" in reason_of(told)


@pytest.mark.parametrize("filter_", BAD_FILTERS)
def test_a_bad_filter_is_refused(services: Services, filter_: str) -> None:
    wanted = f"$slipring/serve/1/{filter_}"
    assert services().subscribe(wanted).reasons == (0x80,)
    told = services(version=V5).subscribe(wanted)
    assert told.reasons == (0x8F,)
    assert "does not begin with $" in reason_of(told)


def test_a_shared_one_is_refused_in_words(services: Services) -> None:
    told = services(version=V5).subscribe("$share/group/$slipring/serve/1/a")
    assert told.reasons == (0x8F,)
    assert "needs no $share" in reason_of(told)


def test_its_filter_has_the_limits_of_every_filter(services: Services) -> None:
    deep = "/".join(["a"] * 2_000)
    assert services().subscribe(f"$slipring/serve/1/{deep}").reasons == (0x80,)


def test_a_topic_that_gets_too_long_with_the_key_fails_the_request(limited: Limited) -> None:
    running = limited(topic_bytes=65_535).running
    raw = RawPeer(running.host, running.port)
    with topic_service(running.host, running.port) as service, RequestPeer(raw) as asker:
        service.serve("solve/#", 2)
        room = 65_535 - len("$slipring/request/") - 17
        longest = "solve/".ljust(room, "x")
        asker.asked(longest, correlation=b"1")
        assert topic_of(service.message()) == longest
        asker.asked(f"{longest}x", correlation=b"2")
        end = asker.end(b"2")
        assert status_of(end) == "failed"
        assert "longer than 65,535 bytes" in reason_of(end)
        assert service.rest() == []


def test_hostile_answers_do_no_harm(services: Services, peers: Peers, topic: str) -> None:
    service, asker = services().serve(topic), peers()
    asker.asked(topic)
    request = service.message()
    for how in ("/", "/answered", "/part/x", "/failed/failed", "/" + "x" * 4_000):
        service.answer(request, b"?", how)
    service.publish("$slipring/request/" + key_of(request), b"?")
    service.publish(request.topic, b"?")
    assert asker.quiet()
    service.answer(request, b"fine")
    assert asker.end(b"1").payload == b"fine"


def test_it_is_seen_as_a_service(
    services: Services, peers: Peers, topic: str, shared_broker: RunningBroker
) -> None:
    client_id = topic.rpartition("/")[2]
    service = services(client_id).serve(topic, 7)
    peers().asked(topic)
    service.message()
    console = shared_broker.console
    shown = json.loads(answer(f"{console}/api/subscribers?topic={topic}")[1])
    (row,) = shown["subscribers"]
    assert (row["client_id"], row["filter"], row["serve"]) == (client_id, topic, 7)
    shown = json.loads(answer(f"{console}/api/services")[1])
    (row,) = [one for one in shown["services"] if one["client_id"] == client_id]
    assert (row["connected"], row["busy"], row["limit"]) == (True, 1, 7)


@pytest.mark.parametrize("is_resent", [False, True], ids=["kept", "resent"])
def test_a_kept_session_gets_what_waited_for_it(
    services: Services, peers: Peers, topic: str, is_resent: bool
) -> None:
    name = topic.rpartition("/")[2]
    service, asker = services(name, clean=False).serve(topic), peers(properties=LASTING)
    if is_resent:
        asker.asked(topic, b"x")
        first = service.raw.until(Kind.PUBLISH)[-1]  # it is not acknowledged
        service.raw.close()
        request = services(name, clean=False).message()
        assert (request.topic, request.dup) == (first.topic, True)
        return
    service.raw.send(V311.disconnect())
    assert service.raw.closed()
    asker.asked(topic, b"x")
    service = services(name, clean=False)
    service.answer(service.message(), b"after all")
    assert asker.end(b"1").payload == b"after all"


def test_a_session_that_changes_its_version_serves_by_the_filter_that_it_can(
    services: Services, peers: Peers, topic: str
) -> None:
    """With 3.1.1 a client cannot answer what it gets by `slipring-serve`."""
    name = topic.rpartition("/")[2]
    kept = properties(session_expiry=600)
    new = services(name, V5, clean=False, properties=kept)
    serve = properties(user=terms({"serve": "1"}))
    assert new.subscribe(f"{topic}/new", properties=serve).reasons == (1,)
    new.serve(f"{topic}/old")
    new.raw.send(V5.disconnect())
    assert new.raw.closed()
    asker, old = peers(), services(name, V311, clean=False)
    asker.asked(f"{topic}/new", correlation=b"1", wait="1")
    asker.asked(f"{topic}/old", correlation=b"2")
    (request,) = old.rest()
    assert topic_of(request) == f"{topic}/old"
    old.answer(request)
    assert status_of(asker.end(b"2")) == "answered"
    assert old.rest() == []
    old.raw.send(V311.disconnect())
    assert old.raw.closed()
    new = services(name, V5, clean=False, properties=kept)
    assert new.message().topic == f"{topic}/new"


def test_a_service_whose_session_ends_fails_or_retries(
    services: Services, peers: Peers, topic: str
) -> None:
    service, asker = services("first").serve(topic, 2), peers()
    asker.asked(topic, correlation=b"1")
    service.message()
    service.raw.close()
    assert status_of(asker.end(b"1")) == "failed"
    service = services("second").serve(topic, 2)
    asker.asked(topic, correlation=b"2", retry="1")
    service.message()
    other = services("third").serve(topic, 2)
    service.raw.close()
    other.answer(other.message())
    assert status_of(asker.end(b"2")) == "answered"
