"""Readers beside a broker: a power cut takes back nothing they saw, and no offset is reused."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from slipring.errors import JournalDamaged
from slipring.journal.columns import record_batch
from slipring.native import JournalReader
from tests.faults.stage import Stage
from tests.faults.station import SEED, Station
from tests.raw_mqtt import V5

UNSAFE = 300
SAFE = 100
PATIENCE_S = 60.0


@pytest.fixture
def stage(station: Station) -> Iterator[Stage]:
    stage = Stage(station, station.start())
    yield stage
    stage.peers.close()
    if stage.broker.process.poll() is None:
        stage.broker.stop()


def read(folder: Path, start: int) -> tuple[int, dict[int, bytes]]:
    """Everything from an offset on that a reader outside the broker gets, and where it ends."""
    reader, found = JournalReader(folder), dict[int, bytes]()
    reader.check_position(start)
    end = reader.end_offset()
    while start < end:
        columns = reader.read(start, end, 1 << 20)
        rows = record_batch(columns, ["offset", "payload"]).to_pylist()
        found |= {row["offset"]: row["payload"] for row in rows}
        start = columns.end
    return end, found


def read_one(reader: JournalReader, offset: int) -> bytes | None:
    """The message at an offset; None where it is damaged."""
    try:
        columns = reader.read(offset, offset + 1, 1)
    except JournalDamaged:
        return None
    payload: bytes = record_batch(columns, ["payload"]).column(0)[0].as_py()
    return payload


def end_by_power_cut(stage: Stage) -> None:
    stage.peers.close()
    stage.broker.stop(signal.SIGKILL)
    stage.station.cut_power(Random(SEED))


def wait_for_messages(folder: Path, count: int) -> None:
    given_up_s = time.monotonic() + PATIENCE_S
    while len(read(folder, 0)[1]) < count:
        assert time.monotonic() < given_up_s, "the journal does not grow"


def test_a_consumer_that_read_to_the_end_misses_nothing_after_a_power_cut(stage: Stage) -> None:
    """Messages that are written and not synced; a consumer notes what it got; then a power cut."""
    folder = stage.station.journal
    stage.publish("ahead/first", b"first")
    peer = stage.client("writer")
    for number in range(UNSAFE):
        peer.send(V5.publish("ahead/x", b"unsafe %d" % number))
    # Carried means written, or soon so; only the next sync makes it durable.
    assert peer.waiting() == []
    end, before = read(folder, 0)
    epoch = JournalReader(folder).epoch
    end_by_power_cut(stage)
    stage.broker = stage.station.start()
    for number in range(SAFE):
        stage.publish("ahead/x", b"safe %d" % number)
    # It noted its place on another disk, which had power.
    JournalReader(folder).check_position(end, epoch)
    _, after = read(folder, end)
    both = before | after
    assert {b"safe %d" % number for number in range(SAFE)} <= set(both.values())
    assert all(before[offset] == both[offset] for offset in before)


def test_no_offset_is_given_to_two_messages_over_many_power_cuts(stage: Stage) -> None:
    folder, seen = stage.station.journal, dict[int, bytes]()
    for life in range(4):
        for number in range(10):
            stage.publish("ahead/x", b"%d safe %d" % (life, number))
        peer = stage.client("writer")
        for number in range(50):
            peer.send(V5.publish("ahead/x", b"%d unsafe %d" % (life, number)))
        wait_for_messages(folder, 10 * (life + 1))
        found = read(folder, 0)[1]
        assert all(seen.get(offset, payload) == payload for offset, payload in found.items())
        assert seen.keys() <= found.keys()
        seen |= found
        end_by_power_cut(stage)
        stage.broker = stage.station.start()


def test_one_flipped_bit_in_the_last_segment_costs_its_batch_alone(stage: Stage) -> None:
    peer = stage.client("writer")
    for number in range(1_000):
        peer.send(V5.publish("ahead/x", b"%d" % number, qos=1, packet_id=number + 1))
        assert peer.packet().reason < 0x80
    stage.peers.close()
    stage.broker.stop(signal.SIGKILL)
    last = max(stage.station.journal.glob("*.seg"))
    content = bytearray(last.read_bytes())
    content[len(content) // 10] ^= 0x10
    last.write_bytes(content)
    stage.broker = stage.station.start()
    reader = JournalReader(stage.station.journal)
    answers = [read_one(reader, offset) for offset in range(1_000)]
    answers = [answer for answer in answers if answer is not None]
    assert 990 <= len(answers) < 1_000
    stage.publish("ahead/x", b"next")
    assert JournalReader(stage.station.journal).end_offset() > 1_000
    _, errors = stage.broker.stop()
    assert "cannot be read, the rest is served" in errors, errors
