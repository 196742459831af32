"""What a session, a retained message, a will is after a restart; each scenario in two halves."""

from collections.abc import Iterator

from tests.faults.stage import HOUR_S, KEPT, Scenario, Stage, messages
from tests.mqtt_bytes import Pair
from tests.raw_mqtt import V5, V311, Kind, Will, properties

SCENARIOS: list[Scenario] = []


def scenario(played: Scenario) -> Scenario:
    SCENARIOS.append(played)
    return played


@scenario
def subscriptions_are_there_with_their_options(stage: Stage) -> Iterator[None]:
    identified = properties(subscription_id=77)
    as_published, no_local = 1 | 0x08, 1 | 0x04
    peer = stage.client("subscriber")
    peer.send(V5.subscribe(1, ("kept/a", as_published), properties=identified))
    peer.send(V5.subscribe(2, ("kept/b", no_local), ("kept/c", 1), ("kept/d", 1)))
    peer.send(V5.unsubscribe(3, "kept/d"))
    assert [peer.packet().kind for _ in range(3)] == [Kind.SUBACK, Kind.SUBACK, Kind.UNSUBACK]
    yield
    peer = stage.back("subscriber")
    stage.publish("kept/a", b"a", retain=True)
    peer.send(V5.publish("kept/b", b"own"), V5.publish("kept/d", b"given up"))
    stage.publish("kept/c", b"c")
    first, second = messages(peer, 2)
    assert (first.payload, first.retain, first.properties) == (
        b"a",
        True,
        {"subscription_id": (77,)},
    )
    assert (second.payload, second.properties) == (b"c", {})
    assert peer.quiet()


@scenario
def a_shared_subscription_is_there(stage: Stage) -> Iterator[None]:
    stage.away("sharer-1", ("$share/pair/shared/#", 1))
    stage.away("sharer-2", ("$share/pair/shared/#", 1))
    yield
    peers = [stage.back("sharer-1"), stage.back("sharer-2")]
    for number in range(10):
        stage.publish("shared/x", str(number).encode())
    got = [[one.payload for one in peer.waiting()] for peer in peers]
    assert sorted(got[0] + got[1]) == [str(number).encode() for number in range(10)]


@scenario
def messages_that_wait_come_in_order_with_their_properties(stage: Stage) -> Iterator[None]:
    stage.away("waiting", ("queued/#", 2))
    wanted = properties(content_type="text/plain", correlation_data=b"\x00\xff", user=("k", "v"))
    for number in range(20):
        stage.publish(f"queued/{number}", str(number).encode(), properties=wanted)
    yield
    found = messages(stage.back("waiting"), 20)
    assert [one.payload for one in found] == [str(number).encode() for number in range(20)]
    assert [one.topic for one in found] == [f"queued/{number}" for number in range(20)]
    assert found[7].properties == {
        "content_type": ("text/plain",),
        "correlation_data": (b"\x00\xff",),
        "user": (("k", "v"),),
    }
    assert {one.qos for one in found} == {1}


@scenario
def messages_wait_for_a_client_of_3_1_1_too(stage: Stage) -> Iterator[None]:
    stage.away("waiting-311", ("queued-311/#", 1), version=V311)
    stage.publish("queued-311/x", b"1")
    stage.publish("queued-311/x", b"2")
    yield
    found = messages(stage.back("waiting-311", V311), 2)
    assert [one.payload for one in found] == [b"1", b"2"]


@scenario
def what_was_acknowledged_by_the_subscriber_does_not_come_again(stage: Stage) -> Iterator[None]:
    peer = stage.subscribed("settled", ("settled/#", 1))
    for number in range(5):
        stage.publish("settled/x", str(number).encode())
    got = [peer.packet() for _ in range(5)]
    peer.send(*(V5.puback(one.id) for one in got[:3]))
    peer.settle()
    # Its acknowledgements are safe with the next message that is.
    stage.publish("elsewhere", b"")
    yield
    found = messages(stage.back("settled"), 2)
    assert [one.payload for one in found] == [one.payload for one in got[3:]]


@scenario
def retained_messages_are_there_and_cleared_ones_are_not(stage: Stage) -> Iterator[None]:
    for topic, payload in (("a", b"old"), ("a", b"new"), ("b", b"gone"), ("b", b""), ("c", b"c")):
        stage.publish(f"retained/{topic}", payload, retain=True)
    yield
    peer = stage.subscribed("reader", ("retained/#", 1))
    found = {one.topic: (one.payload, one.retain) for one in messages(peer, 2)}
    assert found == {"retained/a": (b"new", True), "retained/c": (b"c", True)}
    assert peer.quiet()


@scenario
def a_qos_2_message_that_was_received_is_not_delivered_again(stage: Stage) -> Iterator[None]:
    """CVE-2026-8741: the identifier is known after a crash."""
    stage.away("once", ("once/#", 2))
    peer = stage.client("sender")
    peer.send(V5.publish("once/x", b"1", qos=2, packet_id=11))
    assert peer.packet().kind is Kind.PUBREC
    yield
    peer = stage.back("sender")
    peer.send(V5.publish("once/x", b"1", qos=2, packet_id=11, dup=True))
    assert peer.packet().kind is Kind.PUBREC
    peer.send(V5.pubrel(11))
    assert peer.packet().kind is Kind.PUBCOMP
    reader = stage.back("once")
    assert messages(reader, 1)[0].payload == b"1"
    assert reader.quiet()


@scenario
def a_qos_2_identifier_is_free_after_its_pubrel(stage: Stage) -> Iterator[None]:
    stage.away("free", ("free/#", 2))
    peer = stage.client("freeing", V311)
    peer.send(V311.publish("free/x", b"1", qos=2, packet_id=12))
    assert peer.packet().kind is Kind.PUBREC
    yield
    peer = stage.back("freeing", V311)
    peer.send(V311.pubrel(12))
    assert peer.packet().kind is Kind.PUBCOMP
    peer.send(V311.publish("free/x", b"2", qos=2, packet_id=12))
    assert peer.packet().kind is Kind.PUBREC
    found = messages(stage.back("free"), 2)
    assert [one.payload for one in found] == [b"1", b"2"]


@scenario
def a_delivery_at_qos_2_goes_on_where_it_was(stage: Stage) -> Iterator[None]:
    peer = stage.subscribed("exact", ("exact/#", 2))
    with stage.peer() as sender:
        sender.connect("exact-sender")
        for number in (1, 2):
            sender.send(V5.publish("exact/x", str(number).encode(), qos=2, packet_id=number))
            assert sender.packet().kind is Kind.PUBREC
    first, second = peer.packet(), peer.packet()
    peer.send(V5.pubrec(first.id))
    assert peer.packet().kind is Kind.PUBREL
    yield
    peer = stage.back("exact")
    came = [peer.packet(), peer.packet()]
    assert {(one.kind, one.id) for one in came} == {
        (Kind.PUBREL, first.id),
        (Kind.PUBLISH, second.id),
    }
    again = next(one for one in came if one.kind is Kind.PUBLISH)
    assert (again.payload, again.dup) == (second.payload, True)


@scenario
def a_session_that_was_ended_is_not_there(stage: Stage) -> Iterator[None]:
    stage.away("leaver", ("left/#", 1))
    leaver = stage.client("leaver")
    leaver.send(V5.disconnect(0, properties(session_expiry=0)))
    assert leaver.closed()
    stage.away("cleaner", ("left/#", 1))
    with stage.peer() as peer:
        peer.connect("cleaner", clean=True)
    stage.publish("left/x", b"1")
    yield
    for name in ("leaver", "cleaner"):
        assert not stage.peer().connect(name, clean=False, properties=KEPT).session_present


@scenario
def a_delayed_will_continues_and_is_sent_once(stage: Stage) -> Iterator[None]:
    stage.away("mourner", ("will/soon", 1))
    delayed = Will("will/soon", b"gone", qos=1, properties=properties(will_delay=1))
    stage.client("dying", will=delayed).hang_up()
    yield
    mourner = stage.back("mourner")
    assert messages(mourner, 1)[0].payload == b"gone"
    assert mourner.quiet()


@scenario
def a_will_with_a_long_delay_is_not_sent_if_its_client_returns(stage: Stage) -> Iterator[None]:
    stage.away("patient", ("will/later", 1))
    delayed = Will("will/later", b"gone", qos=1, properties=properties(will_delay=HOUR_S))
    stage.client("absent", will=delayed).hang_up()
    yield
    stage.back("absent").send(V5.disconnect())
    assert stage.back("patient").quiet()


@scenario
def the_will_of_a_client_that_the_end_cut_off_is_sent(stage: Stage) -> Iterator[None]:
    stage.away("heir", ("will/cut", 1))
    stage.client("cut-off", will=Will("will/cut", b"gone", qos=1))
    # The will is safe with the next message that is.
    stage.publish("elsewhere", b"")
    yield
    assert messages(stage.back("heir"), 1)[0].payload == b"gone"


@scenario
def messages_without_a_subscriber_wait_for_the_first_by_priority(stage: Stage) -> Iterator[None]:
    """T3."""
    for number, priority in enumerate(["low", "normal", "high", "normal"]):
        asked: list[Pair] = [("slipring-wait", "1"), ("slipring-priority", priority)]
        stage.publish("depot/orders", b"%d" % number, properties=properties(user=asked))
    yield
    first = stage.subscribed("first", ("depot/#", 1))
    assert [message.payload for message in messages(first, 4)] == [b"2", b"1", b"3", b"0"]
    assert stage.subscribed("second", ("depot/#", 1)).quiet(), "they are delivered once"
