"""What requests can make the broker hold and compute is bounded, and reaching a bound is told."""

from collections.abc import Iterator

import pytest

from tests.fairness.bystander import bystander, engine_ms
from tests.hostile.siege import resident_bytes
from tests.limited_broker import Limited, LimitedBroker
from tests.metrics import Metrics
from tests.mqtt_bytes import Pair
from tests.raw_mqtt import V5, Kind, Packet, RawPeer, properties
from tests.requests.request_peer import (
    CANCEL,
    LASTING,
    Peers,
    Requested,
    RequestPeer,
    answer_topic_of,
    correlation_of,
    gathered,
    reason_of,
    status_of,
)
from tests.running_broker import RunningBroker

MIB = 1 << 20
ALL = {"reserve_percent": 0, "owner_requests_percent": 100}
WAITING: list[Pair] = [("slipring-timeout", "600"), ("slipring-wait", "1")]


def pipelined(topics: Iterator[str], user: list[Pair] = WAITING) -> bytes:
    """Requests at QoS 0, one behind the other."""
    given = properties(response_topic="answers", correlation_data=b"1", user=user)
    return b"".join(V5.publish(topic, b"x", properties=given) for topic in topics)


def client(broker: LimitedBroker, client_id: str = "", source: str = "") -> RequestPeer:
    return RequestPeer(broker.peer(source=source), client_id)


def stored_for(back: RequestPeer) -> list[Packet]:
    """What waited for an asker that is back: all that comes before the end of a last request."""
    back.asked("nobody/there", correlation=b"last")
    found = [back.message()]
    while correlation_of(found[-1]) != b"last":
        found.append(back.message())
    return found[:-1]


def test_requests_beyond_the_limit_are_refused_and_there_is_room_after_an_end(
    limited: Limited,
) -> None:
    broker = limited(requests=10, **ALL)
    counted, asker = Requested(broker.running), client(broker)
    for number in range(10):
        asker.asked("solve/x", correlation=b"%d" % number, wait="1")
    for qos in (1, 2):
        said = asker.ask("solve/x", qos=qos, wait="1")
        assert said
        assert (said.reason, "limits.requests" in reason_of(said)) == (0x97, True), said
    asker.ask("solve/x", correlation=b"q0", qos=0, wait="1")
    end = asker.end(b"q0")
    assert (status_of(end), "limits.requests" in reason_of(end)) == ("refused", True)
    assert counted.more("refused") == counted.reached("requests") == 3
    assert asker.cancel(b"3").reason == 0
    assert status_of(asker.end(b"3")) == "cancelled"
    asker.asked("solve/x", wait="1")


def test_owner_requests_percent_leaves_room_for_others(limited: Limited) -> None:
    broker = limited(requests=100, owner_requests_percent=10, reserve_percent=0)
    greedy, other = client(broker), client(broker, source="127.0.0.2")
    for _ in range(10):
        greedy.asked("solve/x", wait="1")
    said = greedy.ask("solve/x", wait="1")
    assert said
    assert (said.reason, "limits.owner_requests_percent" in reason_of(said)) == (0x97, True)
    other.asked("solve/x", wait="1")
    assert broker.reached("owner_requests_percent") == 1


def test_request_timeout_s_a_longer_one_is_refused(limited: Limited) -> None:
    broker = limited(request_timeout_s=60)
    asker = client(broker)
    asker.asked("solve/x", wait="1", timeout="60")
    said = asker.ask("solve/x", wait="1", timeout="60.001")
    assert said
    assert (said.reason, "limits.request_timeout_s" in reason_of(said)) == (0x83, True)
    assert broker.reached("request_timeout_s") == 1


def test_a_burst_counts_whole_against_the_limit(limited: Limited) -> None:
    broker = limited(requests=50, **ALL)
    counted, asker = Requested(broker.running), client(broker)
    asker.raw.send(pipelined(f"solve/{number}" for number in range(500)))
    ends = [asker.end() for _ in range(450)]
    assert {status_of(end) for end in ends} == {"refused"}
    assert Metrics.of(broker.running)["slipring_requests_open"] == 50
    assert counted.more("refused") == 450


def test_a_service_that_never_answers_holds_no_more_than_it_serves(
    peers: Peers, topic: str
) -> None:
    asker, silent = peers(), peers().serve(topic, at_once=3)
    names = [b"%d" % number for number in range(200)]
    for name in names:
        asker.ask(topic, correlation=name, qos=0, timeout="0.5")
    ends = [asker.end() for _ in names]
    assert {status_of(end) for end in ends} == {"timed-out"}
    assert {correlation_of(end) for end in ends} == set(names)
    taken = silent.rest()
    assert 3 <= len(taken) <= len(names)
    assert peers().cancel(b"1").reason == 0x10


def test_a_plain_subscriber_holds_no_more_than_its_receive_maximum(
    peers: Peers, topic: str
) -> None:
    asker, service = peers(), peers(properties=properties(receive_maximum=5)).serve(topic)
    for number in range(20):
        asker.asked(topic, correlation=b"%d" % number)
    taken = gathered([service], 5)[0]
    service.answer(taken[2], b"it had acknowledged all five, but not answered")
    gathered([service], 1)


@pytest.mark.parametrize("qos", [0, 1])
def test_parts_for_an_asker_that_does_not_read_are_bounded(limited: Limited, qos: int) -> None:
    """A million bytes more than there is room for, many times; the end comes all the same."""
    broker = limited(queue_messages=200, queue_bytes=MIB, outbox_bytes=MIB)
    asker, service = client(broker), client(broker).serve("solve/x")
    asker.asked("solve/x", qos=qos)
    where = answer_topic_of(service.message())
    part = properties(user=("slipring-status", "part"))
    parts = V5.publish(where, bytes(1_000), properties=part) * 1_000
    before = resident_bytes(broker.running.process.pid)
    for _ in range(100):
        service.raw.send(parts)
        assert service.quiet()
    assert resident_bytes(broker.running.process.pid) - before < 48 * MIB
    said = service.answer_to(where, b"done")
    assert said
    assert said.reason == 0
    while status_of(end := asker.end(b"1")) == "part":
        pass
    assert end.payload == b"done"


def test_parts_do_not_push_out_the_end_of_another_request(limited: Limited) -> None:
    """The asker is away; its queue is full of parts that came after the end."""
    broker = limited(queue_messages=50)
    asker = RequestPeer(broker.peer(), "asker", properties=LASTING)
    service = client(broker).serve("solve/#", at_once=2)
    asker.asked("solve/short", correlation=b"short")
    asker.asked("solve/long", correlation=b"long")
    short, long = service.message(), service.message()
    asker.leave()
    service.answer(short, b"done")
    for number in range(200):
        service.answer(long, b"%d" % number, status="part")
    service.answer(long, b"done")
    back = RequestPeer(broker.peer(), "asker", clean=False, properties=LASTING)
    ends = {correlation_of(end) for end in stored_for(back) if status_of(end) == "answered"}
    assert ends == {b"short", b"long"}


def test_messages_do_not_push_out_an_end(limited: Limited) -> None:
    """The asker is away, and has a subscription on which much more comes than it has room for."""
    broker = limited(queue_messages=50)
    asker = RequestPeer(broker.peer(), "asker", properties=LASTING).serve("news/#", qos=1)
    service = client(broker).serve("solve/#")
    asker.asked("solve/x", qos=2)
    request = service.message()
    asker.leave()
    service.answer(request, b"done")
    for number in range(200):
        service.publish("news/x", b"%d" % number)
    back = RequestPeer(broker.peer(), "asker", clean=False, properties=LASTING)
    ends = [end.payload for end in stored_for(back) if status_of(end)]
    assert ends == [b"done"]


def test_more_ends_than_a_queue_has_room_for_are_all_told(limited: Limited) -> None:
    """The asker was away while its requests were answered."""
    broker = limited(queue_messages=50)
    asker = RequestPeer(broker.peer(), "asker", properties=LASTING)
    service = client(broker).serve("solve/#", at_once=100)
    names = [b"%d" % number for number in range(100)]
    for name in names:
        asker.asked("solve/x", correlation=name)
    requests = [service.message() for _ in names]
    asker.leave()
    for request in requests:
        service.answer(request, b"done")
    back = RequestPeer(broker.peer(), "asker", clean=False, properties=LASTING)
    assert [correlation_of(end) for end in stored_for(back)] == names


def test_asking_and_cancelling_in_a_loop_leaves_nothing_behind(
    shared_broker: RunningBroker, peers: Peers, topic: str
) -> None:
    asker, service = peers(), peers().serve(f"{topic}/served", at_once=10)
    ask = properties(response_topic="answers", correlation_data=b"1", user=WAITING)
    cancel = properties(correlation_data=b"1")

    def rounds(count: int) -> int:
        for number in range(count):
            where = f"{topic}/served" if number % 2 else topic
            asker.raw.send(
                V5.publish(where, bytes(500), properties=ask),
                V5.publish(CANCEL, qos=1, packet_id=1, properties=cancel),
            )
            packets = {asker.raw.packet().kind, asker.raw.packet().kind}
            assert packets == {Kind.PUBLISH, Kind.PUBACK}
        assert service.rest() is not None
        return resident_bytes(shared_broker.process.pid)

    before = rounds(2_000)
    assert rounds(6_000) - before < 16 * MIB
    assert asker.quiet()


def test_requests_to_many_topics_cost_as_much_as_to_few(limited: Limited) -> None:
    """Each waits on a topic of its own. The last of them are taken as quickly as the first."""
    broker = limited(requests=1_000_000, **ALL)
    asker, process_id = client(broker), broker.running.process.pid
    Metrics.of(broker.running)  # loads what the console needs once: it is not what is measured
    before, costs = resident_bytes(process_id), []
    for part in range(10):
        begun_ms = engine_ms(process_id)
        asker.raw.send(pipelined(f"solve/{part}/{number}" for number in range(2_000)))
        assert asker.quiet()
        costs.append(engine_ms(process_id) - begun_ms)
    assert Metrics.of(broker.running)["slipring_requests_open"] == 20_000
    assert resident_bytes(process_id) - before < 20_000 * 3_000
    told = f"milliseconds of the engine for each 2,000: {[round(cost) for cost in costs]}"
    assert min(costs[-3:]) < 5 * min(costs[:2]), told


def test_topics_of_requests_that_are_over_are_forgotten(
    shared_broker: RunningBroker, peers: Peers
) -> None:
    asker = peers()

    def asked(part: int) -> int:
        user: list[Pair] = [("slipring-timeout", "600")]
        asker.raw.send(pipelined((f"over/{part}/{n}" for n in range(5_000)), user))
        assert {status_of(asker.end()) for _ in range(5_000)} == {"not-delivered"}
        return resident_bytes(shared_broker.process.pid)

    asked(0)
    before = asked(1)
    assert asked(2) - before < 16 * MIB
    assert asked(3) - before < 16 * MIB


@pytest.fixture
def flooded(limited: Limited) -> LimitedBroker:
    return limited(requests=100_000, **ALL)


@pytest.mark.parametrize("is_served", [False, True])
def test_thousands_of_pipelined_requests_leave_others_their_turn(
    flooded: LimitedBroker, is_served: bool
) -> None:
    asker, service = client(flooded), client(flooded)
    if is_served:
        service.serve("solve/x", at_once=100)
    many = pipelined("solve/x" for _ in range(2_000))
    with bystander(flooded.running) as beside:
        for _ in range(10):
            asker.raw.send(many)
        assert asker.quiet()
        for request in service.rest():
            service.answer(request, qos=0)
    beside.assert_served()
    assert beside.grown_bytes() < 64 * MIB


def test_a_thousand_stored_topics_and_a_new_service_leave_others_their_turn(
    flooded: LimitedBroker,
) -> None:
    """One subscription makes twenty thousand requests go out."""
    asker, service = client(flooded), client(flooded)
    asker.raw.send(pipelined(f"solve/{number % 1_000}" for number in range(20_000)))
    assert asker.quiet()
    with bystander(flooded.running) as beside:
        service.serve("solve/#", at_once=65_000, qos=0)
        taken = [service.message() for _ in range(20_000)]
    beside.assert_served()
    assert len({answer_topic_of(request) for request in taken}) == 20_000


def test_a_service_of_very_many_stored_topics_that_comes_and_goes_leaves_others_their_turn(
    flooded: LimitedBroker,
) -> None:
    """It can take one request only: all other topics are looked at for nothing, again and again."""
    asker, service = client(flooded), flooded.client("service")
    for part in range(10):
        asker.raw.send(pipelined(f"solve/{part}/{number}" for number in range(5_000)))
        assert asker.quiet()
    serve = properties(user=("slipring-serve", "1"))
    with bystander(flooded.running) as beside:
        for _ in range(20):
            service.send(
                V5.subscribe(1, ("solve/#", 0), properties=serve), V5.unsubscribe(2, "solve/#")
            )
            service.until(Kind.UNSUBACK)
        last = client(flooded).serve("solve/#", at_once=65_000, qos=0)
        taken = [last.message() for _ in range(49_999)]
    beside.assert_served()
    assert len({request.topic for request in taken}) == 49_999
    assert beside.grown_bytes() < 64 * MIB


def test_a_client_with_very_many_open_requests_that_goes_leaves_others_their_turn(
    flooded: LimitedBroker,
) -> None:
    """As the asker of them, all are cancelled; they end in pieces."""
    asker, service = client(flooded), client(flooded).serve("solve/x", at_once=60_000, qos=0)
    asker.raw.send(pipelined("solve/x" for _ in range(50_000)))
    assert asker.quiet()
    with bystander(flooded.running) as beside:
        asker.leave()
        ended = 'slipring_requests_ended_total{end="cancelled"}'
        Metrics.when(flooded.running, ended, 50_000)
    beside.assert_served()
    assert service.rest()


ANSWER_BYTES = 100_000


def test_answers_that_wait_in_memory_are_dropped_when_it_is_short_and_their_asker_is_told(
    limited: Limited,
) -> None:
    """T12: the asker is away. Its answers of normal priority go, and the one of high stays."""
    memory = '[[durability]]\ntopics = ["solve/#"]\nlevel = "memory"\n'
    broker = limited(memory_bytes=16 * MIB, rules=memory)
    asker = RequestPeer(broker.peer(), "asker", properties=LASTING)
    service = client(broker).serve("solve/#", at_once=200)
    names = [b"%d" % number for number in range(100)]
    for name in names:
        asker.asked("solve/x", correlation=name)
    asker.asked("solve/x", correlation=b"high", priority="high")
    asker.asked("solve/x", correlation=b"failed")
    requests = {correlation_of(taken): taken for taken in gathered([service], 102)[0]}
    asker.leave()
    service.answer(requests[b"failed"], bytes(ANSWER_BYTES), status="failed")
    for name in [b"high", *names]:
        service.answer(requests[name], bytes(ANSWER_BYTES))
    assert Metrics.of(broker.running)['slipring_requests{state="answer stored"}'] == 101
    broker.client("operator").send(V5.publish("$slipring/memory", b"2MB"))
    victims = 'slipring_memory_victims_total{part="requests"}'
    Metrics.when(broker.running, victims, 80)
    back = RequestPeer(broker.peer(), "asker", clean=False, properties=LASTING)
    told = stored_for(back)
    ends = {correlation_of(end): end for end in told}
    assert len(told) == len(ends) == 102, "each is told once"
    dropped = [name for name in names if status_of(ends[name]) == "dropped"]
    assert dropped == names[: len(dropped)], "the oldest go first"
    assert {reason_of(ends[name]) for name in dropped} == {"memory was short (limits.memory_bytes)"}
    kept = [b"high", *names[len(dropped) :]]
    assert {(status_of(ends[name]), len(ends[name].payload)) for name in kept} == {
        ("answered", ANSWER_BYTES)
    }
    assert (status_of(ends[b"failed"]), ends[b"failed"].payload) == ("failed", b"")
    counts = Metrics.of(broker.running)
    assert counts[victims] == len(dropped) == counts['slipring_requests_ended_total{end="dropped"}']


def test_an_asker_that_does_not_read_its_ends_is_bounded(limited: Limited) -> None:
    broker = limited(outbox_bytes=MIB, queue_bytes=MIB, requests=1_000_000, **ALL)
    raw = RawPeer(broker.running.host, broker.running.port)
    before = resident_bytes(broker.running.process.pid)
    with RequestPeer(raw, "deaf") as deaf:
        user: list[Pair] = [("slipring-timeout", "600")]
        many = pipelined(("nobody/x" for _ in range(2_000)), user)
        deaf.raw.socket.settimeout(2)
        try:
            for _ in range(50):
                deaf.raw.socket.sendall(many)
        except TimeoutError:
            pass  # the broker reads no more from a client that does not read
        assert client(broker, "other").quiet()
        assert resident_bytes(broker.running.process.pid) - before < 48 * MIB
