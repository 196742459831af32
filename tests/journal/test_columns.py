"""The journal as Arrow, without Spark."""

import gc
from pathlib import Path

import pyarrow as pa
import pytest

from slipring.errors import JournalError, JournalGap
from slipring.journal.columns import SCHEMA, read_batches, record_batch
from slipring.journal.location import Journal, JournalFolder
from slipring.native import JournalReader, JournalWriter
from tests.journal_messages import RECEIVE_NS, payloads, write_messages


def test_rows_are_what_was_written(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path)
    assert writer.append("pump", RECEIVE_NS, [("a/b", b"\x00\xff"), ("å", b"")], retain=True) == 0
    writer.flush()
    batch = record_batch(JournalReader(tmp_path).read(0, 2, 1 << 20))
    writer.close()
    assert batch.schema == SCHEMA
    batch.validate(full=True)
    first, second = batch.to_pylist()
    assert first["receive_time"].isoformat() == "2026-01-02T03:04:05.678901+00:00"
    del first["receive_time"]
    assert first == {
        "offset": 0,
        "receive_ns": RECEIVE_NS,
        "publisher": "pump",
        "topic": "a/b",
        "payload": b"\x00\xff",
        "qos": 0,
        "retain": True,
        "properties": b"",
    }
    assert (second["topic"], second["payload"]) == ("å", b"")


def test_arrow_shows_rust_s_memory_and_keeps_it_alive(tmp_path: Path) -> None:
    write_messages(tmp_path, 1000)
    columns = JournalReader(tmp_path).read(0, 1000, 1 << 20)
    address = pa.py_buffer(columns.payload[1]).address
    batch = record_batch(columns, ["payload"])
    shown = batch.column(0).buffers()[2]
    assert (shown.address, shown.is_mutable) == (address, False)
    del columns, shown
    gc.collect()
    assert batch.column("payload").to_pylist() == payloads(0, 1000)


def test_a_range_is_read_in_batches_across_segments(tmp_path: Path) -> None:
    write_messages(tmp_path, 200, segment_bytes=1000)
    journal = Journal(JournalFolder(str(tmp_path)), JournalReader(tmp_path).identity)
    batches = list(read_batches(journal, 13, 187, ["offset"], rows_max=50))
    assert [batch.num_rows for batch in batches] == [50, 50, 50, 24]
    assert [row for batch in batches for row in batch.column(0).to_pylist()] == [*range(13, 187)]


def test_another_journal_is_refused(tmp_path: Path) -> None:
    write_messages(tmp_path, 5)
    with pytest.raises(JournalError, match="was reading journal abc"):
        list(read_batches(Journal(JournalFolder(str(tmp_path)), "abc"), 0, 5))


def test_offsets_that_are_not_there_are_a_gap(tmp_path: Path) -> None:
    write_messages(tmp_path, 20, segment_bytes=300)
    min(tmp_path.glob("*.seg")).unlink()
    reader = JournalReader(tmp_path)
    with pytest.raises(JournalGap, match="offset 0 was asked for, but the journal begins at 5"):
        reader.read(0, 20, 1 << 20)
    with pytest.raises(JournalGap, match=r"offset 21 was asked for, .* synced up to 20"):
        reader.read(10, 21, 1 << 20)


def test_no_journal_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=f"there is no journal in {tmp_path}"):
        JournalReader(tmp_path)


def test_a_directory_in_use_is_refused_to_a_second_writer(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path)
    with pytest.raises(JournalError, match="belongs to a broker that is running"):
        JournalWriter(tmp_path)
    writer.close()
