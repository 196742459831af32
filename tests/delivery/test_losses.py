"""Stored messages that are dropped: whoever published them is told, and the log says so (T12)."""

import asyncio
import json
from typing import Any

import pytest

import slipring
from slipring import sync
from tests.cli.commands import slipring as run_slipring
from tests.configured_broker import Configured
from tests.fairness.bystander import MIB
from tests.limited_broker import KEPT, Limited, LimitedBroker, retain, wait
from tests.metrics import Metrics
from tests.raw_mqtt import V5, V311, Kind, RawPeer, Version

DROPPED = "$slipring/dropped"
WAIT_S = 60
FIELDS = {"messages", "bytes", "limit", "topics", "since_ms"}


def publisher(broker: LimitedBroker, client_id: str, version: Version = V5) -> RawPeer:
    """A client that wants to know what it loses."""
    peer = broker.client(client_id, version)
    peer.send(version.subscribe(1, (DROPPED, 0)))
    assert peer.packet().reasons == (0,)
    return peer


def publish(peer: RawPeer, topic: str, payload: bytes = b"1", qos: int = 1) -> None:
    peer.send(V5.publish(topic, payload, qos=qos, packet_id=1))
    assert peer.until(Kind.PUBACK, keep=True)[-1].reason < 0x80


def told(peer: RawPeer, messages: int) -> dict[str, Any]:
    """What the broker tells, until so many messages are told; the last, with the sum."""
    count, size = 0, 0
    last: dict[str, Any] = {}
    while count < messages:
        packet = peer.packet()
        assert (packet.kind, packet.topic) == (Kind.PUBLISH, DROPPED)
        last = json.loads(packet.payload)
        assert set(last) == FIELDS
        count, size = count + last["messages"], size + last["bytes"]
    return last | {"messages": count, "bytes": size}


@pytest.mark.parametrize("version", [V5, V311])
def test_a_full_queue_is_told_to_who_published_what_it_drops(
    limited: Limited, version: Version
) -> None:
    """The queue of a client that is away is in the journal: its publishers are read there."""
    broker = limited(queue_messages=10)
    broker.away("recorder", ("#", 1))
    mine, other = publisher(broker, "mine", version), publisher(broker, "other")
    silent = broker.client("silent")
    for number in range(10):
        mine.send(version.publish(f"mine/{number % 2}", b"12345", qos=1, packet_id=1))
        assert mine.until(Kind.PUBACK, keep=True)
    for _ in range(3):
        publish(other, "other")
        publish(silent, "silent")
    found = told(mine, 6)
    assert (found["messages"], found["bytes"]) == (6, 6 * len("mine/012345"))
    assert (found["limit"], sorted(found["topics"])) == ("queue_messages", ["mine/0", "mine/1"])
    assert other.quiet(), "its messages are still there"
    assert silent.quiet(), "it has not asked to be told"


def test_a_queue_that_is_only_in_memory_tells_too_and_so_does_the_policy_drop_newest(
    configured: Configured,
) -> None:
    limits = "[limits]\nqueue_messages = 5\ninflight = 1\nqos12_full = 'drop_newest'\n"
    broker = configured(f"{limits}[journal]\ntopics = []\n")
    with broker.peer("reader") as reader, broker.peer("writer") as writer:
        reader.send(V5.subscribe(1, ("t", 1)))
        assert reader.packet().reasons == (1,)
        writer.send(V5.subscribe(1, (DROPPED, 0)))
        assert writer.packet().reasons == (0,)
        for _ in range(10):
            writer.send(V5.publish("t", b"1", qos=1, packet_id=1))
            writer.until(Kind.PUBACK, keep=True)
        assert told(writer, 4)["limit"] == "queue_messages"
    broker.line("writer published ")


def test_a_waiting_message_that_makes_room_is_told(limited: Limited) -> None:
    broker = limited(waiting_messages=2, owner_waiting_percent=100, reserve_percent=0)
    writer = publisher(broker, "writer")
    assert [wait(writer, f"low/{number}", priority="low") for number in range(2)] == [0x10, 0x10]
    assert wait(broker.client("other"), "urgent", priority="high") == 0x10
    found = told(writer, 1)
    assert (found["limit"], found["topics"]) == ("waiting_messages", ["low/1"])


def test_victims_of_a_lower_budget_are_told_to_each_publisher(limited: Limited) -> None:
    broker = limited(memory_bytes=64 * MIB)
    retainer, waiter = publisher(broker, "retainer"), publisher(broker, "waiter")
    for number in range(20):
        assert retain(retainer, f"kept/{number}", bytes(200_000)) == 0x10
        assert wait(waiter, f"waits/{number}", bytes(200_000)) == 0x10
    run_slipring("memory", "2MB", "--console", broker.running.console)
    metrics = Metrics.of(broker.running)
    lost = metrics['slipring_memory_victims_total{part="retained"}']
    assert metrics['slipring_memory_victims_total{part="waiting"}'] == 20
    assert told(waiter, 20)["bytes"] > 20 * 200_000
    found = told(retainer, int(lost))
    assert (found["messages"], found["limit"]) == (lost, "memory_bytes")
    assert len(found["topics"]) == 4, "some of them"


def test_a_queue_that_memory_cannot_hold_is_told_and_others_of_a_higher_priority_stay(
    configured: Configured,
) -> None:
    limits = f"[limits]\nmemory_bytes = {32 * MIB}\n"
    broker = configured(f"{limits}[journal]\ntopics = []\n")
    kept = {"clean": False, "properties": KEPT}
    with broker.peer("reader", **kept) as reader:
        reader.send(V5.subscribe(1, ("t/#", 1)), V5.disconnect())
        assert reader.packet().reasons == (1,)
        assert reader.closed()
    with broker.peer("writer") as writer:
        writer.send(V5.subscribe(1, (DROPPED, 0)))
        assert writer.packet().reasons == (0,)
        for number in range(50):
            writer.send(V5.publish(f"t/{number}", bytes(200_000), qos=1, packet_id=1))
            writer.until(Kind.PUBACK, keep=True)
        run_slipring("memory", "4MB", "--console", broker.running.console)
        assert told(writer, 30)["limit"] == "memory_bytes"
    part = 'slipring_memory_victims_total{part="queues"}'
    assert Metrics.of(broker.running)[part] >= 30


async def test_the_python_client_hears_of_its_losses(limited: Limited) -> None:
    broker = await asyncio.to_thread(limited, queue_messages=2)
    await asyncio.to_thread(broker.away, "recorder", ("#", 1))
    async with (
        asyncio.timeout(WAIT_S),
        slipring.connect(broker.running.url) as bus,
        bus.losses() as losses,
    ):
        for _ in range(5):
            await bus.publish("t", "12", qos=1)
        count = 0
        async for loss in losses:
            assert (loss.limit, loss.topics) == ("queue_messages", ("t",))
            assert loss.bytes == 3 * loss.messages
            assert loss.since_ms > 1_700_000_000_000
            count += loss.messages
            if count == 3:
                break


def test_the_client_without_asyncio_hears_of_them_too(limited: Limited) -> None:
    broker = limited(queue_messages=1)
    broker.away("recorder", ("#", 1))
    with sync.connect(broker.running.url) as bus, bus.losses() as losses:
        bus.publish("t", "1", qos=1)
        bus.publish("t", "2", qos=1)
        assert next(iter(losses)).messages == 1
