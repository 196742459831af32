"""The classes Spark calls, as plain Python."""

import pickle
import shutil
from pathlib import Path

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from slipring.errors import JournalError, JournalGap
from slipring.native import JournalWriter, list_consumers
from slipring.spark.options import parse_options
from slipring.spark.source import BatchReader, Range, SlipringDataSource, StreamReader
from tests.journal_messages import RECEIVE_NS, payloads, write_and_be_killed, write_messages


def stream(path: Path, **options: str) -> StreamReader:
    return StreamReader(parse_options({"path": str(path), **options}))


def test_a_stream_advances_by_its_limit(tmp_path: Path) -> None:
    write_messages(tmp_path, 20)
    reader = stream(tmp_path, maxMessagesPerTrigger="15")
    start, limit = reader.initialOffset(), reader.getDefaultReadLimit()
    assert (start["offset"], limit) == (0, ReadMaxRows(15))
    middle = reader.latestOffset(start, limit)
    assert middle["offset"] == 15
    assert reader.latestOffset(middle, limit)["offset"] == 20
    assert reader.latestOffset(start, ReadAllAvailable())["offset"] == 20
    assert reader.reportLatestOffset()["offset"] == 20


def test_a_range_of_frames_is_bounded_by_its_bytes_and_one_of_short_messages_is_not(
    tmp_path: Path,
) -> None:
    """A stop waits for the batch that is being written (D1): frames take long for their number."""
    write_messages(tmp_path / "short", 100)
    writer = JournalWriter(tmp_path / "long", None)
    writer.append("jet", RECEIVE_NS, [("jet/frames", bytes(10_000))] * 100)
    writer.close()
    bound = {"deliver": "ranges", "maxBytesPerTrigger": "205000"}
    short, long = (stream(tmp_path / name, **bound) for name in ("short", "long"))
    assert short.latestOffset(short.initialOffset(), ReadAllAvailable())["offset"] == 100
    assert long.latestOffset(long.initialOffset(), ReadAllAvailable())["offset"] == 20


def test_available_now_ends_where_the_journal_ended_at_the_start(tmp_path: Path) -> None:
    write_messages(tmp_path, 5)
    reader = stream(tmp_path)
    reader.prepareForTriggerAvailableNow()
    write_messages(tmp_path, 5, start=5)
    assert reader.latestOffset(reader.initialOffset(), ReadAllAvailable())["offset"] == 5


def test_workers_get_a_copy_that_reads(tmp_path: Path) -> None:
    write_messages(tmp_path, 10)
    reader = stream(tmp_path, partitions="3", columns="offset")
    start = reader.initialOffset()
    parts = reader.partitions(start, reader.latestOffset(start, ReadAllAvailable()))
    assert len(parts) == 3
    copy, parts = pickle.loads(pickle.dumps((reader, parts)))
    batches = [batch for part in parts for batch in copy.read(part)]
    assert [row for batch in batches for row in batch.column(0).to_pylist()] == [*range(10)]


def test_ranges_are_delivered_without_reading_messages(tmp_path: Path) -> None:
    write_messages(tmp_path, 10)
    reader = BatchReader(parse_options({"path": str(tmp_path), "deliver": "ranges"}))
    (part,) = reader.partitions()
    assert isinstance(part, Range)
    (batch,) = reader.read(part)
    assert batch.to_pylist() == [{"start": 0, "end": 10}]


def test_a_checkpoint_of_another_journal_is_refused(tmp_path: Path) -> None:
    write_messages(tmp_path / "mine", 5)
    write_messages(tmp_path / "other", 5)
    mine, other = stream(tmp_path / "mine"), stream(tmp_path / "other")
    position = other.initialOffset()
    with pytest.raises(
        JournalError, match=f"but the stream was reading journal {position['journal']}"
    ):
        mine.latestOffset(position, ReadAllAvailable())
    with pytest.raises(JournalError, match="holds journal"):
        mine.partitions(position, position)


def test_a_checkpoint_older_than_the_journal_is_a_gap(tmp_path: Path) -> None:
    write_messages(tmp_path, 20, segment_bytes=300)
    start = stream(tmp_path).initialOffset()
    min(tmp_path.glob("*.seg")).unlink()
    told = "offset 0 was asked for, but the journal begins at 5: .* read on with startingOffset=5"
    with pytest.raises(JournalGap, match=told):
        stream(tmp_path).latestOffset(start, ReadAllAvailable())


def test_ranges_pass_over_an_older_checkpoint_whose_messages_are_removed(tmp_path: Path) -> None:
    """The lake came further without Spark: the checkpoint is behind, and retention went on."""
    write_messages(tmp_path, 20, segment_bytes=300)
    start = stream(tmp_path).initialOffset()
    began = stream(tmp_path).latestOffset(start, ReadMaxRows(3))
    min(tmp_path.glob("*.seg")).unlink()
    reader = stream(tmp_path, deliver="ranges", startingOffset="10")
    assert reader.partitions(start, began) == []
    end = reader.latestOffset(began, ReadAllAvailable())
    assert end["offset"] == 20
    parts = [part for part in reader.partitions(began, end) if isinstance(part, Range)]
    assert [(part.start, part.end) for part in parts] == [(10, 20)]


def positions(path: Path) -> list[tuple[str, int | None]]:
    return [(consumer.name, consumer.offset) for consumer in list_consumers(path)]


def test_a_stream_notes_where_it_begins_and_what_spark_is_through_with(tmp_path: Path) -> None:
    write_messages(tmp_path, 20)
    reader = stream(tmp_path, consumer="mine", startingOffset="5")
    start = reader.initialOffset()
    assert positions(tmp_path) == [("mine", 5)]
    end = reader.latestOffset(start, ReadMaxRows(10))
    assert positions(tmp_path) == [("mine", 5)]
    reader.commit(end)
    assert positions(tmp_path) == [("mine", 15)]


def test_a_stream_without_a_consumer_notes_nothing(tmp_path: Path) -> None:
    write_messages(tmp_path, 20)
    reader = stream(tmp_path)
    reader.commit(reader.initialOffset())
    assert positions(tmp_path) == []


def test_a_batch_read_has_no_consumer(tmp_path: Path) -> None:
    source = SlipringDataSource({"path": str(tmp_path), "consumer": "mine"})
    with pytest.raises(ValueError, match="option consumer goes with readStream only"):
        source.reader(source.schema())


def test_a_checkpoint_ahead_of_the_journal_is_a_gap(tmp_path: Path) -> None:
    write_messages(tmp_path, 5)
    reader = stream(tmp_path)
    ahead = {**reader.initialOffset(), "offset": 9}
    with pytest.raises(JournalGap, match=r"offset 9 was asked for, .* synced up to 5"):
        reader.latestOffset(ahead, ReadAllAvailable())


def test_a_stream_goes_on_behind_offsets_that_were_left_out(tmp_path: Path) -> None:
    write_and_be_killed(tmp_path, 10)
    reader = stream(tmp_path, columns="payload", consumer="lake")
    start = reader.initialOffset()
    middle = reader.latestOffset(start, ReadAllAvailable())
    assert middle["offset"] == 10
    write_messages(tmp_path, 10, start=10)
    end = reader.latestOffset(middle, ReadAllAvailable())
    assert end["offset"] > 20
    assert end["epoch"] > middle["epoch"]
    batches = [one for part in reader.partitions(start, end) for one in reader.read(part)]
    assert [row for batch in batches for row in batch.column(0).to_pylist()] == payloads(0, 20)
    reader.commit(end)
    (consumer,) = list_consumers(tmp_path)
    assert (consumer.offset, consumer.epoch) == (end["offset"], end["epoch"])


def test_a_checkpoint_of_another_history_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """A copy of the journal is put back, and goes on with other messages."""
    write_messages(tmp_path / "journal", 10)
    shutil.copytree(tmp_path / "journal", tmp_path / "copy")
    write_messages(tmp_path / "journal", 10, start=10)
    reader = stream(tmp_path / "journal")
    checkpoint = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    assert checkpoint["offset"] == 20
    for number in (1, 2):
        write_messages(tmp_path / "copy", 10, start=100 * number)
    other = stream(tmp_path / "copy")
    with pytest.raises(JournalGap, match=r"written in epoch \d+: .*begin again"):
        other.latestOffset({**checkpoint, "epoch": 1}, ReadAllAvailable())
    with pytest.raises(JournalGap, match=r"older copy"):
        other.latestOffset({**checkpoint, "epoch": 1 << 60}, ReadAllAvailable())
    older = {name: value for name, value in checkpoint.items() if name != "epoch"}
    assert other.latestOffset(older, ReadAllAvailable())["offset"] == 30
