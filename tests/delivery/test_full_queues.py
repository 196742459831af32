"""A subscriber that does not keep up: its policy acts, it is told, and nobody else notices (S7)."""

import re
from typing import Any

import pytest

from tests.console_answer import overview
from tests.limited_broker import KEPT, Limited, LimitedBroker
from tests.metrics import Metrics
from tests.raw_mqtt import V5, V311, Kind, Packet, RawPeer, Version

QUOTA = 0x97
LOAD = b"." * 32_768
FLOOD_MAX = 4_000
"""Messages after which every buffer between the broker and a peer is full."""


def subscriber(
    broker: LimitedBroker, client_id: str, qos: int, version: Version = V5, **options: Any
) -> RawPeer:
    peer = broker.client(client_id, version, **options)
    peer.send(version.subscribe(1, ("t", qos)))
    assert peer.packet().reasons == (qos,)
    return peer


def publish(writer: RawPeer, number: int, qos: int = 0, load: bytes = b"") -> None:
    """Publish a number, and wait until the broker has it."""
    packet_id = number if qos else None
    writer.send(V5.publish("t", f"{number:06}".encode() + load, qos=qos, packet_id=packet_id))
    if qos == 1:
        assert writer.packet().kind is Kind.PUBACK
    elif qos == 2:
        assert writer.packet().kind is Kind.PUBREC
        writer.send(V5.pubrel(number))
        assert writer.packet().kind is Kind.PUBCOMP


def number_of(message: Packet) -> int:
    return int(message.payload[:6])


def drops_told(messages: list[Packet]) -> int:
    pairs = [pair for message in messages for pair in message.properties.get("user", ())]
    return sum(int(pair[1]) for pair in pairs if isinstance(pair, tuple))


def client_row(broker: LimitedBroker, client_id: str) -> dict[str, Any]:
    """What the console shows of a client."""
    clients = overview(broker.running)["clients"]
    return dict(next(row for row in clients if row["client_id"] == client_id))


def flood(broker: LimitedBroker, writer: RawPeer, others: RawPeer) -> int:
    """Publish until a message for the one that does not read is lost; how many were published."""
    for number in range(1, FLOOD_MAX):
        publish(writer, number, load=LOAD)
        assert number_of(others.packet()) == number, "the others get every message, in order"
        if number % 20 == 0 and Metrics.of(broker.running)["slipring_messages_dropped_total"]:
            return number
    raise AssertionError("nothing was lost")


def stalled(
    limited: Limited, policy: str, version: Version = V5
) -> tuple[LimitedBroker, RawPeer, RawPeer, int]:
    """A subscriber that does not read, a publisher, and how many messages it took."""
    broker = limited(outbox_bytes=200_000, qos0_full=policy)
    slow = subscriber(broker, "slow", 0, version)
    fast = subscriber(broker, "fast", 0)
    writer = broker.client("writer")
    return broker, slow, writer, flood(broker, writer, fast)


def test_a_full_outbox_loses_the_oldest_and_tells_how_many(limited: Limited) -> None:
    broker, slow, writer, count = stalled(limited, "drop_oldest")
    received = [slow.packet()]
    while number_of(received[-1]) < count:
        received.append(slow.packet())
    numbers = [number_of(message) for message in received]
    assert numbers == sorted(numbers), "in order"
    dropped = client_row(broker, "slow")["dropped"]
    assert len(numbers) + dropped == count
    assert drops_told(received) == dropped
    assert broker.reached("outbox_bytes") >= 1
    publish(writer, count + 1)
    assert number_of(slow.packet()) == count + 1, "it is served as before"


def test_a_full_outbox_loses_the_newest_if_it_is_told_so(limited: Limited) -> None:
    broker, slow, writer, count = stalled(limited, "drop_newest")
    dropped = client_row(broker, "slow")["dropped"]
    received = [slow.packet() for _ in range(count - dropped)]
    assert [number_of(message) for message in received] == list(range(1, count - dropped + 1))
    publish(writer, count + 1)
    after = slow.packet()
    assert number_of(after) == count + 1
    assert drops_told([*received, after]) == dropped


def test_a_full_outbox_ends_the_connection_if_it_is_told_so(limited: Limited) -> None:
    broker, slow, writer, count = stalled(limited, "disconnect")
    assert len(slow.drain()) < count * len(LOAD), "and what waited is gone with it"
    metrics = Metrics.when(broker.running, 'slipring_events_total{kind="disconnected"}', 1)
    assert metrics["slipring_clients"] == 2
    assert writer.quiet()
    _, errors = broker.running.stop()
    assert "slow disconnected: quota exceeded (0x97)" in errors
    assert re.search(r"slow lost \d+ messages?: .+ \(limits\.outbox_bytes\)", errors)


def test_drops_of_one_that_reads_nothing_are_counted_and_told_meanwhile(limited: Limited) -> None:
    broker, *_ = stalled(limited, "drop_oldest", V311)
    assert client_row(broker, "slow")["dropped"] > 0
    Metrics.when(broker.running, 'slipring_events_total{kind="dropped"}', 1)


@pytest.mark.parametrize("qos", [1, 2])
@pytest.mark.parametrize(
    ("policy", "kept"), [("drop_oldest", [1, 3, 4]), ("drop_newest", [1, 2, 3])]
)
def test_a_full_queue_loses_what_its_policy_says(
    limited: Limited, qos: int, policy: str, kept: list[int]
) -> None:
    broker = limited(inflight=1, queue_messages=2, qos12_full=policy)
    slow, writer = subscriber(broker, "slow", qos), broker.client("writer")
    publish(writer, 1, qos)
    received = [slow.packet()]
    for number in (2, 3, 4):
        publish(writer, number, qos)
    row = client_row(broker, "slow")
    assert (row["inflight"], row["queued_messages"], row["dropped"]) == (1, 3, 1)
    for _ in (1, 2):
        settle(slow, received[-1])
        received.append(slow.packet())
    assert [number_of(message) for message in received] == kept
    assert [drops_told([message]) for message in received] == [0, 1, 0]
    assert broker.reached("queue_messages") == 1


def settle(reader: RawPeer, message: Packet) -> None:
    """Acknowledge a message as its quality wants it."""
    if message.qos == 1:
        return reader.send(V5.puback(message.id))
    reader.send(V5.pubrec(message.id))
    assert reader.packet().kind is Kind.PUBREL
    return reader.send(V5.pubcomp(message.id))


@pytest.mark.parametrize("qos", [1, 2])
def test_a_full_queue_ends_the_connection_and_keeps_the_session(limited: Limited, qos: int) -> None:
    broker = limited(inflight=1, queue_messages=2, qos12_full="disconnect")
    slow = subscriber(broker, "slow", qos, clean=False, properties=KEPT)
    writer = broker.client("writer")
    publish(writer, 1, qos)
    assert number_of(slow.packet()) == 1
    for number in (2, 3, 4):
        publish(writer, number, qos)
    assert slow.packet().reason == QUOTA
    assert slow.closed()
    again = broker.back("slow")
    received = [again.packet()]
    assert received[0].dup
    for _ in (2, 3):
        settle(again, received[-1])
        received.append(again.packet())
    assert [number_of(message) for message in received] == [1, 2, 3]
    assert drops_told(received) == 1, "the fourth"
    assert broker.reached("queue_messages") == 1


def test_a_publisher_of_qos_1_does_not_wait_for_a_slow_subscriber(limited: Limited) -> None:
    broker = limited(inflight=1, queue_messages=5)
    slow, writer = subscriber(broker, "slow", 1), broker.client("writer")
    for number in range(1, 200):
        publish(writer, number, qos=1)
    assert number_of(slow.packet()) == 1
    assert Metrics.of(broker.running)["slipring_messages_dropped_total"] == 199 - 6
