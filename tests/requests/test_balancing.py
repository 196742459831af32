"""Which of several services gets a request, seen from outside (T15)."""

from collections import Counter

import pytest

from tests.configured_broker import Configured
from tests.raw_mqtt import V5, Kind, RawPeer, properties
from tests.requests.request_peer import (
    ANSWERS,
    LASTING,
    Peers,
    RequestPeer,
    gathered,
    reason_of,
    status_of,
)

STRATEGIES = ["first-free", "round-robin", "random", "fastest", "least-loaded"]
SLOW_WORK = 200
"""Round trips to the broker that a slow service makes before it answers."""
EACH = pytest.mark.parametrize("balance", STRATEGIES)


def taken(services: list[RequestPeer], count: int) -> list[int]:
    """How many of so many requests each service has got."""
    return [len(requests) for requests in gathered(services, count)]


def test_round_robin_goes_around(peers: Peers, topic: str) -> None:
    asker, services = peers(), [peers().serve(topic, at_once=100) for _ in range(3)]
    for _ in range(30):
        asker.asked(topic)
    assert taken(services, 30) == [10, 10, 10]


def test_first_free_fills_one_before_the_next(peers: Peers, topic: str) -> None:
    asker, services = peers(), [peers().serve(topic, at_once=4) for _ in range(3)]
    for _ in range(6):
        asker.asked(topic, balance="first-free")
    assert sorted(taken(services, 6)) == [0, 2, 4]


def test_random_leaves_nobody_out(peers: Peers, topic: str) -> None:
    asker, services = peers(), [peers().serve(topic, at_once=1_000) for _ in range(3)]
    for _ in range(300):
        asker.asked(topic, balance="random")
    counts = taken(services, 300)
    assert all(50 <= count <= 150 for count in counts), counts


def test_least_loaded_measures_by_what_each_can_do(peers: Peers, topic: str) -> None:
    asker = peers()
    services = [peers().serve(topic, at_once=at_once) for at_once in (10, 100)]
    for _ in range(55):
        asker.asked(topic, balance="least-loaded")
    small, _ = taken(services, 55)
    assert abs(small - 5) <= 1


def test_fastest_goes_to_who_answers_sooner(peers: Peers, topic: str) -> None:
    asker, services = peers(), [peers().serve(topic, at_once=1) for _ in range(2)]
    slow = services[0]
    counts: Counter[str] = Counter()
    for _ in range(80):
        asker.asked(topic, balance="fastest")
        for service, requests in zip(services, gathered(services, 1), strict=True):
            for request in requests:
                for _ in range(SLOW_WORK if service is slow else 0):
                    assert service.quiet()
                service.answer(request)
                counts["slow" if service is slow else "quick"] += 1
        asker.end(b"1")
    assert counts["quick"] > 2 * counts["slow"], counts
    assert counts["slow"], "it was tried"


@EACH
def test_busy_services_are_passed_over_and_requests_queue_when_all_are(
    peers: Peers, topic: str, balance: str
) -> None:
    asker, services = peers(), [peers().serve(topic, at_once=2) for _ in range(2)]
    for number in range(8):
        asker.asked(topic, b"%d" % number, correlation=b"%d" % number, balance=balance)
    first = gathered(services, 4)
    assert [len(requests) for requests in first] == [2, 2]
    services[1].answer(first[1][0])
    assert services[1].message().payload == b"4", "the oldest is next"
    assert services[0].quiet()


@EACH
def test_a_shared_subscription_serves_as_a_group(peers: Peers, topic: str, balance: str) -> None:
    """A request goes to one client, of the group or beside it, and to nobody else."""
    asker = peers()
    members = [peers().serve(f"$share/group/{topic}", at_once=2) for _ in range(2)]
    beside = peers().serve(topic, at_once=2)
    for _ in range(6):
        asker.asked(topic, balance=balance)
    assert taken([*members, beside], 6) == [2, 2, 2]


def test_a_shared_subscription_without_a_word_about_requests_serves_too(
    peers: Peers, topic: str
) -> None:
    asker = peers()
    members = [peers().serve(f"$share/group/{topic}") for _ in range(2)]
    for _ in range(6):
        asker.asked(topic)
    assert taken(members, 6) == [3, 3]


def test_who_says_that_it_serves_goes_before_who_only_subscribes(peers: Peers, topic: str) -> None:
    asker, plain, service = peers(), peers().serve(topic), peers().serve(topic, at_once=1)
    for _ in range(3):
        asker.asked(topic)
    assert taken([plain, service], 1) == [0, 1]


@pytest.mark.parametrize("wanted", ["#", "+/#", "$share/all/#", "+/+"])
def test_who_watches_everything_gets_no_request(peers: Peers, topic: str, wanted: str) -> None:
    asker, watcher = peers(), peers().serve(wanted)
    asker.asked(topic)
    assert status_of(asker.end(b"1")) == "not-delivered"
    watched = [message for message in watcher.rest() if message.topic == topic]
    assert watched == []


def test_who_watches_everything_serves_if_it_says_so(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve("#", at_once=5)
    asker.asked(topic, b"any")
    request = next(one for one in iter(service.message, None) if one.topic == topic)
    service.answer(request, b"all")
    assert asker.end(b"1").payload == b"all"


def test_a_client_can_serve_itself(peers: Peers, topic: str) -> None:
    both = peers().serve(topic, at_once=1)
    both.asked(topic, b"me")
    both.answer(both.message(), b"myself")
    assert both.end(b"1").payload == b"myself"


def test_a_service_that_dies_fails_its_requests_at_once(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers().serve(topic, at_once=5)
    other = peers().serve(topic, at_once=5)
    for number in range(2):
        asker.asked(topic, correlation=b"%d" % number, balance="round-robin")
    assert taken([service, other], 2) == [1, 1]
    service.raw.hang_up()
    end = asker.end()
    assert (status_of(end), reason_of(end)) == ("failed", "the service has gone")
    assert asker.quiet()
    assert other.quiet()


def test_with_a_retry_another_service_gets_it(peers: Peers, topic: str) -> None:
    asker = peers()
    asker.asked(topic, b"again", retry="2", wait="1")
    for _ in range(2):
        dying = peers().serve(topic, at_once=1)
        assert dying.message().payload == b"again"
        dying.raw.hang_up()
    last = peers().serve(topic, at_once=1)
    last.answer(last.message(), b"at last")
    assert asker.end(b"1").payload == b"at last"


def test_when_the_retries_are_used_up_it_fails(peers: Peers, topic: str) -> None:
    asker = peers()
    asker.asked(topic, retry="1", wait="1")
    for _ in range(2):
        dying = peers().serve(topic, at_once=1)
        dying.message()
        dying.raw.hang_up()
    assert status_of(asker.end(b"1")) == "failed"
    assert peers().serve(topic, at_once=1).quiet()


def test_a_retry_that_finds_no_service_and_does_not_wait_is_not_delivered(
    peers: Peers, topic: str
) -> None:
    asker, service = peers(), peers().serve(topic, at_once=1)
    asker.asked(topic, retry="1")
    service.message()
    service.raw.hang_up()
    assert status_of(asker.end(b"1")) == "not-delivered"


def test_a_service_with_a_kept_session_comes_back_and_answers(peers: Peers, topic: str) -> None:
    asker = peers()
    service = peers(topic, properties=LASTING).serve(topic, at_once=2)
    asker.asked(topic)
    request = service.message()
    assert service.quiet()
    service.raw.hang_up()
    assert asker.quiet()
    back = peers(topic, clean=False, properties=LASTING)
    said = back.answer(request, b"late, but mine")
    assert said
    assert said.reason == 0
    assert asker.end(b"1").payload == b"late, but mine"
    asker.asked(topic)
    assert back.message().payload == b""


def test_while_a_kept_service_is_away_requests_wait_for_it(peers: Peers, topic: str) -> None:
    asker = peers()
    peers(topic, properties=LASTING).serve(topic, at_once=2).leave()
    asker.asked(topic, b"soon", wait="1")
    assert asker.quiet()
    back = peers(topic, clean=False, properties=LASTING)
    back.answer(back.message(), b"here")
    assert asker.end(b"1").payload == b"here"


def test_a_request_at_qos_0_is_lost_with_the_connection_of_its_service(
    peers: Peers, topic: str
) -> None:
    asker = peers()
    service = peers(topic, properties=LASTING).serve(topic, at_once=2)
    asker.asked(topic, qos=0)
    service.message()
    service.raw.hang_up()
    end = asker.end(b"1")
    assert (status_of(end), reason_of(end)) == ("failed", "the service has gone")


def test_a_service_that_unsubscribes_leaves_what_waits_without_one(
    peers: Peers, topic: str
) -> None:
    asker, service = peers(), peers().serve(topic, at_once=1)
    asker.asked(topic, correlation=b"has")
    request = service.message()
    asker.asked(topic, correlation=b"waits")
    service.raw.send(V5.unsubscribe(2, topic))
    service.raw.until(Kind.UNSUBACK)
    assert status_of(asker.end(b"waits")) == "not-delivered"
    service.answer(request, b"still mine")
    assert asker.end(b"has").payload == b"still mine"


def test_the_subscription_identifier_is_there(peers: Peers, topic: str) -> None:
    asker, service = peers(), peers()
    said = properties(subscription_id=77, user=("slipring-serve", "1"))
    service.raw.send(V5.subscribe(1, (topic, 1), properties=said))
    service.raw.until(Kind.SUBACK)
    asker.asked(topic, qos=2)
    request = service.message()
    assert (request.properties["subscription_id"], request.qos) == ((77,), 1)


CONFIG = """
[[balance]]
topics = ["fill/#"]
strategy = "first-free"

[[request]]
topics = ["fill/#", "other/#"]
timeout_s = 0.2
"""


def test_the_config_chooses_the_strategy_and_what_is_a_request(configured: Configured) -> None:
    broker = configured(CONFIG)

    def peer(name: str) -> RequestPeer:
        made = RequestPeer(RawPeer(broker.running.host, broker.running.port), name)
        made_all.append(made)
        return made

    made_all: list[RequestPeer] = []
    asker = peer("asker")
    services = [peer(f"service-{at}").serve("fill/#", at_once=3) for at in range(2)]
    given = properties(response_topic=ANSWERS, correlation_data=b"1")
    for _ in range(3):
        asker.publish("fill/x", b"1", properties=given)
    assert sorted(taken(services, 3)) == [0, 3]
    assert [status_of(asker.end(b"1")) for _ in range(3)] == ["timed-out"] * 3
    for _ in range(4):
        asker.asked("fill/x", balance="round-robin", timeout="60")
    assert taken(services, 4) == [2, 2], "the request's own word goes first"
    asker.publish("fill/x", b"plain")
    assert taken(services, 2) == [1, 1], "without a Response Topic it is a message for all"
    for made in made_all:
        made.raw.close()
