"""Resident memory against each documented bound, times the clients that reach it.

A row lets some clients reach one bound and stall there. The broker's resident memory may then have
risen, at its highest, by the sum of the bounds and what the allocator adds.
"""

import struct
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fairness.bystander import MIB, memory_bytes
from tests.fairness.full_broker import FRAME, frame
from tests.limited_broker import Limited, LimitedBroker, ask, chosen, retain
from tests.metrics import Metrics
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.remote.asking import Asker
from tests.running_broker import PATIENCE_S, RunningBroker

STALLED = 20
FACTOR = 1.25
"""What the allocator adds at most."""
REST_BYTES = 8 * MIB
"""Everything else: the publisher, threads, what the journal keeps for its next round."""
CLIENT_BYTES = MIB
"""What a client may take beyond its bounds: slices that are being written, chunks, buffers."""
QUEUE_BYTES = OUTBOX_BYTES = 2 * MIB
WINDOW = 50


@dataclass(frozen=True)
class Row:
    """One bound: what is set, what all stalled clients may take, and how they get there."""

    name: str
    fill: Callable[[LimitedBroker], None]
    bytes_max: int
    outbox_bytes: int = OUTBOX_BYTES
    journaled: str = ""
    """A filter of what is journaled."""


def stalled(broker: LimitedBroker, qos: int) -> None:
    """Subscribers that never read, each of a topic of its own."""
    for number in range(STALLED):
        peer = broker.client(f"stalled{number}")
        peer.send(V5.subscribe(1, (f"flood/{number}", qos)))
        assert peer.packet().reasons == (qos,)


def fill_outboxes(broker: LimitedBroker) -> None:
    stalled(broker, 0)
    publisher = broker.client("publisher")
    for number in range(STALLED):
        message = V5.publish(f"flood/{number}", bytes(500))
        publisher.send(message * (8 * MIB // len(message)))
    publisher.settle()


SHARED_OUTBOX_BYTES, SHARED_PAYLOAD_BYTES, SHARED_ENTRY_BYTES = 8 * MIB, 1_000, 300


def fill_shared_outboxes(broker: LimitedBroker) -> None:
    """All of them wait for the same messages, which are not large."""
    for number in range(STALLED):
        peer = broker.client(f"stalled{number}")
        peer.send(V5.subscribe(1, ("flood/all", 0)))
        assert peer.packet().reasons == (0,)
    message = V5.publish("flood/all", bytes(SHARED_PAYLOAD_BYTES))
    publisher = broker.client("publisher")
    publisher.send(message * (3 * SHARED_OUTBOX_BYTES // len(message)))
    publisher.settle()


def publish_safely(publisher: RawPeer, topic: str, payload: bytes, count: int, qos: int) -> None:
    """So many messages at QoS 1 or 2, to their end."""
    last = Kind.PUBACK if qos == 1 else Kind.PUBCOMP
    for first in range(0, count, WINDOW):
        window = min(WINDOW, count - first)
        for packet_id in range(1, window + 1):
            publisher.send(V5.publish(topic, payload, qos=qos, packet_id=packet_id))
            if qos == 2:
                publisher.send(V5.pubrel(packet_id))
        done = 0
        while done < window:
            done += publisher.packet().kind is last


def fill_queues(qos: int, payload_bytes: int) -> Callable[[LimitedBroker], None]:
    def fill(broker: LimitedBroker) -> None:
        stalled(broker, qos)
        publisher = broker.client("publisher")
        count = 3 * QUEUE_BYTES // payload_bytes
        for number in range(STALLED):
            publish_safely(publisher, f"flood/{number}", bytes(payload_bytes), count, qos)

    return fill


def fill_windows(broker: LimitedBroker) -> None:
    """Subscribers that read everything and acknowledge nothing."""
    publisher = broker.client("publisher")
    for number in range(STALLED):
        peer = broker.client(f"silent{number}")
        peer.send(V5.subscribe(1, (f"flood/{number}", 1)))
        assert peer.packet().reasons == (1,)
        for _ in range(10):
            publish_safely(publisher, f"flood/{number}", bytes(100_000), 10, 1)
            peer.waiting()


def fill_selections(broker: LimitedBroker) -> None:
    """Selections of every sample, of clients that never read."""
    owner, count = broker.client("owner"), 2_000
    rows = [{"name": f"p{number}", "type": "f32"} for number in range(count)]
    table = ask(owner, "table/declare", prefix="many", parameters=rows)["table"]
    for number in range(STALLED):
        assert chosen(broker.client(f"reader{number}"), "many/#", deliver="frame").reasons == (0,)
    for number in range(1_500):
        values = struct.pack("<f", number) * count
        owner.send(V5.publish("many", frame(table, 0, values), properties=FRAME))
    owner.settle()


def fill_streams(broker: LimitedBroker) -> None:
    publisher = broker.client("publisher")
    rows = [
        {"name": f"stream/{number}", "media": "audio/pcm", "buffer_bytes": 2 * MIB}
        for number in range(STALLED)
    ]
    assert "error" not in ask(publisher, "streams/declare", streams=rows)
    for number in range(STALLED):
        chunk = V5.publish(f"stream/{number}", bytes(2_000))
        publisher.send(chunk * (6 * MIB // len(chunk)))
    publisher.settle()


RETAINED, RETAINED_BYTES = 200, 50_000


def fill_replays(broker: LimitedBroker) -> None:
    """Each stalls in the middle of the retained messages, which are then replaced."""
    writer = broker.client("writer")
    for number in range(STALLED):
        for topic in range(RETAINED):
            assert retain(writer, f"kept/{topic}", bytes(RETAINED_BYTES)) in {0, 0x10}
        reader = broker.client(f"reader{number}")
        reader.send(V5.subscribe(1, ("kept/#", 0)))
        assert reader.packet().reasons == (0,)


ANSWER_BYTES = 4 * MIB


def fill_answers(broker: LimitedBroker) -> None:
    """Each asks for as much of the journal as one may, again and again, and never reads."""
    writer = broker.client("writer")
    publish_safely(writer, "journaled", bytes(50_000), 2 * WINDOW, 1)
    askers = [Asker(broker.client(f"asker{number}")) for number in range(STALLED)]
    body = struct.pack("<QQI", 0, 2 * WINDOW, ANSWER_BYTES)
    for _ in range(4):
        for asker in askers:
            asker.peer.send(asker.request("read", body), asker.request("read", body))
        writer.settle()
    # The system takes some of it out of the process, how much is its decision.
    Metrics.when(broker.running, "slipring_memory_bytes", STALLED * MIB)


ROWS = (
    Row("QoS 0 outboxes", fill_outboxes, STALLED * OUTBOX_BYTES),
    Row(
        "QoS 0 outboxes of the same messages",
        fill_shared_outboxes,
        SHARED_OUTBOX_BYTES
        + STALLED * SHARED_OUTBOX_BYTES // SHARED_PAYLOAD_BYTES * SHARED_ENTRY_BYTES,
        SHARED_OUTBOX_BYTES,
    ),
    Row("QoS 1 queues", fill_queues(1, 1_000), STALLED * (2 * QUEUE_BYTES + 2_100 * 224)),
    Row("QoS 1 queues of large", fill_queues(1, 20_000), STALLED * 2 * QUEUE_BYTES),
    Row("QoS 2 queues", fill_queues(2, 1_000), STALLED * (2 * QUEUE_BYTES + 2_100 * 224)),
    Row("QoS 1 in flight", fill_windows, STALLED * 2 * QUEUE_BYTES),
    Row("selections", fill_selections, STALLED * OUTBOX_BYTES + 16 * MIB),
    Row("streams", fill_streams, STALLED * 2 * MIB),
    Row("retained replay", fill_replays, RETAINED * RETAINED_BYTES, 256 << 10),
    Row("journal answers", fill_answers, STALLED * 2 * ANSWER_BYTES, ANSWER_BYTES, "'journaled'"),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_clients_that_stall_at_a_bound_take_no_more_than_it(row: Row, tmp_path: Path) -> None:
    config = tmp_path / "broker.toml"
    config.write_text(
        f"[limits]\noutbox_bytes = {row.outbox_bytes}\nqueue_bytes = {QUEUE_BYTES}\n"
        f"[journal]\ntopics = [{row.journaled}]\n"
    )
    with ExitStack() as stack:
        running = RunningBroker.start(tmp_path / "data", "--config", str(config))
        stack.callback(running.stop)
        broker = LimitedBroker(running, stack.enter_context(ExitStack()))
        process_id = running.process.pid
        Metrics.of(running)  # loads what the console needs once: it is not what is measured
        before_bytes = memory_bytes(process_id)
        row.fill(broker)
        grown_bytes = memory_bytes(process_id, "VmHWM") - before_bytes
    most_bytes = FACTOR * (row.bytes_max + STALLED * CLIENT_BYTES) + REST_BYTES
    assert grown_bytes <= most_bytes, f"{grown_bytes / MIB:.0f} MiB, not {most_bytes / MIB:.0f}"


def test_quiet_connections_give_back_what_their_buffers_grew_to(limited: Limited) -> None:
    broker, clients = limited(), 300
    message = V5.publish("somewhere", bytes(64))
    count = (128 << 10) // len(message)
    for number in range(clients):
        broker.client(f"burst{number}").send(message * count)
    Metrics.when(broker.running, "slipring_messages_received_total", clients * count)
    wait_s = time.monotonic() + PATIENCE_S
    while (used := Metrics.of(broker.running)["slipring_memory_bytes"]) > 9 * MIB:
        assert time.monotonic() < wait_s, f"{used} bytes are still held"
