"""`format("slipring")` in Spark itself (D1)."""

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from slipring.native import JournalReader, list_consumers
from tests.journal_messages import payloads, write_messages

pytestmark = pytest.mark.timeout(900)


def rows_of(frame: DataFrame) -> list[tuple[int, bytes]]:
    return sorted((row.offset, bytes(row.payload)) for row in frame.collect())


def stream_into(spark: SparkSession, journal: Path, out: Path, **options: str) -> None:
    """Read all that is there, and return when it is in `out`."""
    stream = spark.readStream.format("slipring").options(**options).load(str(journal))
    query = (
        stream.writeStream.format("parquet")
        .option("checkpointLocation", str(out / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(out / "rows"))
    )
    query.awaitTermination(200)
    assert not query.isActive


def test_a_batch_read_equals_what_was_written(spark: SparkSession, tmp_path: Path) -> None:
    write_messages(tmp_path, 1000, segment_bytes=5000)
    frame = spark.read.format("slipring").option("partitions", 3).load(str(tmp_path))
    assert frame.schema.simpleString() == (
        "struct<offset:bigint,receive_time:timestamp,receive_ns:bigint,publisher:string,"
        "topic:string,payload:binary,qos:tinyint,retain:boolean,properties:binary>"
    )
    assert rows_of(frame) == list(enumerate(payloads(0, 1000)))
    row = (
        frame.where("offset = 5").selectExpr("*", "date_format(receive_time, 'SSSSSS') us").first()
    )
    assert row is not None
    assert (row.publisher, row.topic, row.us, row.retain) == (
        "publisher-1",
        "demo/2",
        "678901",
        False,
    )


def test_options_choose_offsets_and_columns(spark: SparkSession, tmp_path: Path) -> None:
    write_messages(tmp_path, 100)
    reader = spark.read.format("slipring").option("startingOffset", 40).option("endingOffset", 43)
    frame = reader.option("columns", "topic,offset").load(str(tmp_path))
    assert frame.columns == ["topic", "offset"]
    assert [tuple(row) for row in frame.collect()] == [
        ("demo/1", 40),
        ("demo/2", 41),
        ("demo/0", 42),
    ]


def test_an_empty_range_has_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    write_messages(tmp_path, 5)
    frame = spark.read.format("slipring").option("startingOffset", "latest").load(str(tmp_path))
    assert frame.count() == 0


def test_a_bad_option_says_what_is_allowed(spark: SparkSession, tmp_path: Path) -> None:
    write_messages(tmp_path, 5)
    with pytest.raises(PySparkException, match="unknown option colums; allowed: path, broker"):
        spark.read.format("slipring").option("colums", "topic").load(str(tmp_path))


def test_a_stream_reads_each_message_once_over_restarts(
    spark: SparkSession, tmp_path: Path
) -> None:
    journal, out = tmp_path / "journal", tmp_path / "out"
    write_messages(journal, 100)
    stream_into(spark, journal, out, maxMessagesPerTrigger="40", partitions="2")
    write_messages(journal, 50, start=100)
    stream_into(spark, journal, out)
    stream_into(spark, journal, out)
    assert rows_of(spark.read.parquet(str(out / "rows"))) == list(enumerate(payloads(0, 150)))


def test_a_stream_with_a_consumer_tells_the_journal_what_spark_is_through_with(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_messages(tmp_path / "journal", 100)
    stream_into(
        spark,
        tmp_path / "journal",
        tmp_path / "out",
        consumer="mine",
        maxMessagesPerTrigger="40",
    )
    (mine,) = list_consumers(tmp_path / "journal")
    # Spark is through with the last batch when it begins another, which never comes here.
    assert (mine.name, mine.offset) == ("mine", 80)


def test_a_stream_refuses_another_journal_and_a_gap(spark: SparkSession, tmp_path: Path) -> None:
    journal, other, out = tmp_path / "journal", tmp_path / "other", tmp_path / "out"
    write_messages(journal, 20, segment_bytes=300)
    write_messages(other, 20)
    identity = JournalReader(journal).identity
    stream_into(spark, journal, out, maxMessagesPerTrigger="10")
    with pytest.raises(PySparkException, match=f"the stream was reading journal {identity}"):
        stream_into(spark, other, out)
    write_messages(journal, 20, start=20, segment_bytes=300)
    for segment in sorted(journal.glob("*.seg"))[:-2]:
        segment.unlink()
    first = JournalReader(journal).first_offset
    with pytest.raises(PySparkException, match=rf"offset 20 .* the journal begins at {first}"):
        stream_into(spark, journal, out)
