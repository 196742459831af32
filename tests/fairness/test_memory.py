"""A bound is what the process really uses: resident memory, times the clients that reach the bound.

Each test lets some clients reach a documented bound and stop reading, and looks at how far the
broker's resident memory rose.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.configured_broker import Configured
from tests.fairness.bystander import MIB, bystander, memory_bytes
from tests.limited_broker import KEPT, Limited, retain
from tests.metrics import Metrics
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import RunningBroker

STALLED = 20
OUTBOX_BYTES = 4 * MIB
BEYOND_BYTES = MIB
"""What a client may take beyond its bound: slices that are being written, chunks, buffers."""
REST_BYTES = 24 * MIB
"""What the broker may take for everything else: the publisher, threads, the allocator."""
FACTOR = 1.1
"""What the allocator adds."""


@contextmanager
def stalled(broker: RunningBroker, count: int) -> Iterator[None]:
    """Subscribers that never read, each of one topic of all and one of its own."""
    with ExitStack() as stack:
        for number in range(count):
            peer = stack.enter_context(RawPeer(broker.host, broker.port))
            assert peer.connect(f"stalled{number}").reason == 0
            peer.send(V5.subscribe(1, ("flood", 0), (f"flood/{number}", 0)))
            assert peer.packet().reasons == (0, 0)
        yield


@pytest.mark.parametrize("payload_bytes", [64, 2_000, 100_000])
def test_a_subscriber_that_reads_nothing_takes_its_outbox_and_no_more(
    limited: Limited, payload_bytes: int
) -> None:
    broker = limited(outbox_bytes=OUTBOX_BYTES).running
    process_id = broker.process.pid
    with stalled(broker, STALLED), RawPeer(broker.host, broker.port) as publisher:
        assert publisher.connect("publisher").reason == 0
        before_bytes = memory_bytes(process_id)
        message = V5.publish("flood", b"x" * payload_bytes)
        together = max(1, 100_000 // len(message))
        for _ in range(4 * (OUTBOX_BYTES + 8 * MIB) // (together * len(message))):
            publisher.send(message * together)
        publisher.settle()
        grown_bytes = memory_bytes(process_id, "VmHWM") - before_bytes
    assert grown_bytes <= FACTOR * STALLED * (OUTBOX_BYTES + BEYOND_BYTES) + REST_BYTES


BUDGET_BYTES = 48 * MIB
BUDGET_REST_BYTES = 8 * MIB
"""What the broker may take beyond the budget: the allocator, threads, what the journal keeps."""


@pytest.mark.parametrize("payload_bytes", [200, 100_000])
def test_the_budget_holds_however_many_outboxes_fill_and_others_are_served(
    limited: Limited, payload_bytes: int
) -> None:
    limits = limited(outbox_bytes=8 * MIB, memory_bytes=BUDGET_BYTES)
    broker = limits.running
    Metrics.of(broker)  # loads what the console needs once: it is not what is measured
    with (
        stalled(broker, STALLED),
        bystander(broker) as beside,
        RawPeer(broker.host, broker.port) as publisher,
    ):
        assert publisher.connect("publisher").reason == 0
        for number in range(STALLED):
            # To each its own: what all wait for is in memory once.
            message = V5.publish(f"flood/{number}", b"x" * payload_bytes)
            together = max(1, 100_000 // len(message))
            for _ in range(12 * MIB // (together * len(message))):
                publisher.send(message * together)
        publisher.settle()
        used_bytes = Metrics.of(broker)["slipring_memory_bytes"]
    beside.assert_served()
    assert limits.reached("memory_bytes") > 0
    assert used_bytes <= 1.125 * BUDGET_BYTES
    assert beside.grown_bytes() <= 1.25 * BUDGET_BYTES + BUDGET_REST_BYTES


def test_threads_use_the_memory_that_others_have_freed(configured: Configured) -> None:
    limits = f"[limits]\noutbox_bytes = {8 * MIB}\nmemory_bytes = {BUDGET_BYTES}\n"
    broker = configured(f"threads = 4\n{limits}[journal]\ntopics = []\n").running
    process_id = broker.process.pid
    with stalled(broker, STALLED), ExitStack() as stack:
        before_bytes = memory_bytes(process_id)
        publishers = [stack.enter_context(RawPeer(broker.host, broker.port)) for _ in range(8)]
        for number, publisher in enumerate(publishers):
            assert publisher.connect(f"publisher{number}").reason == 0
        for turn in range(4 * STALLED):
            publisher = publishers[turn % len(publishers)]
            message = V5.publish(f"flood/{turn % STALLED}", bytes(2_000))
            publisher.send(message * (12 * MIB // len(message)))
            publisher.settle()
        grown_bytes = memory_bytes(process_id, "VmHWM") - before_bytes
    assert grown_bytes <= 1.25 * BUDGET_BYTES + BUDGET_REST_BYTES


def test_what_the_journal_has_leaves_the_memory_and_is_delivered_all_the_same(
    limited: Limited,
) -> None:
    broker = limited(memory_bytes=8 * MIB, inflight=10)
    reader = broker.client("reader", clean=False, properties=KEPT)
    reader.send(V5.subscribe(1, ("flood", 1)))
    assert reader.packet().reasons == (1,)
    publisher = broker.client("publisher")
    payloads = [bytes([number]) * 200_000 for number in range(100)]
    for payload in payloads:
        publisher.send(V5.publish("flood", payload, qos=1, packet_id=1))
        assert publisher.packet().reason == 0
    assert Metrics.of(broker.running)["slipring_memory_bytes"] <= 9 * MIB
    for payload in payloads:
        found = reader.packet()
        assert found.payload == payload
        reader.send(V5.puback(found.id))


def test_memory_bytes_used_up_refuse_what_would_stay(limited: Limited) -> None:
    broker = limited(memory_bytes=2 * MIB)
    writer = broker.client("writer")
    answers = [retain(writer, f"kept/{number}", bytes(100_000)) for number in range(30)]
    assert answers[:10] == [0x10] * 10
    assert answers[-1] == 0x97
    assert broker.reached("memory_bytes") > 0
