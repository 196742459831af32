"""Journal to lake through Spark, and all the ways it may be interrupted (D1)."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipring.errors import JournalError, PipelineError
from slipring.lake.status import open_table, status
from slipring.native import forget_consumer, list_consumers
from slipring.pipeline import catch_up, run
from tests.journal_messages import payloads, write_messages
from tests.read_lake import read_lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slipring.pipeline.destination import LakeCommit

KILLED_RUN = Path(__file__).with_name("killed_run.py")

WAIT_S = 200
"""Spark alone may take minutes on a busy machine."""

pytestmark = pytest.mark.timeout(900)


def assert_one_row_per_offset(where: Path, count: int) -> None:
    rows = read_lake(where, ["offset", "payload"])
    assert rows.column("offset").to_pylist() == [*range(count)]
    assert rows.column("payload").to_pylist() == payloads(0, count)


def test_a_second_run_continues_where_the_first_ended(
    spark: "SparkSession", tmp_path: Path
) -> None:
    journal, where, batches = tmp_path / "j", tmp_path / "lake", list["LakeCommit"]()
    write_messages(journal, 100)
    run(journal, where, once=True, spark=spark, on_batch=batches.append)
    write_messages(journal, 50, start=100)
    run(journal, where, once=True, spark=spark, on_batch=batches.append)
    run(journal, where, once=True, spark=spark, on_batch=batches.append)
    assert [(batch.start, batch.end) for batch in batches] == [(0, 100), (100, 150)]
    assert_one_row_per_offset(where, 150)


def test_the_journal_knows_what_is_in_the_lake(spark: "SparkSession", tmp_path: Path) -> None:
    journal, where = tmp_path / "j", tmp_path / "lake"
    write_messages(journal, 100)
    seen = list[int | None]()
    note = lambda _: seen.extend(consumer.offset for consumer in list_consumers(journal))  # noqa: E731
    run(journal, where, once=True, spark=spark, batch_messages_max=70, on_batch=note)
    assert seen == [70, 100]
    forget_consumer(journal, "lake")
    write_messages(journal, 10, start=100)
    run(journal, where, once=True, spark=spark, consumer=None)
    assert list_consumers(journal) == []


def test_a_table_of_bounded_size_keeps_the_newest_messages_and_goes_on(
    spark: "SparkSession", tmp_path: Path
) -> None:
    journal, where, batches = tmp_path / "j", tmp_path / "lake", list["LakeCommit"]()

    def take(count: int, keep_bytes: int) -> None:
        write_messages(journal, count, start=batches[-1].end if batches else 0)
        run(journal, where, once=True, spark=spark, on_batch=batches.append, keep_bytes=keep_bytes)

    take(100, 1 << 30)
    one_batch = status(where).bytes
    for _ in range(5):
        take(100, 3 * one_batch)
        assert status(where).bytes <= 3 * one_batch
    assert [(batch.start, batch.end) for batch in batches] == [
        (start, start + 100) for start in range(0, 600, 100)
    ]
    offsets = read_lake(where).column("offset").to_pylist()
    assert offsets == [*range(offsets[0], 600)]
    assert 200 <= offsets[0] <= 500
    there = {path.name for path in (where / "messages").rglob("*-*.parquet")}
    assert there == {Path(uri).name for uri in open_table(where).file_uris()}


def test_spark_reads_the_table_back_without_a_jar(spark: "SparkSession", tmp_path: Path) -> None:
    write_messages(tmp_path / "j", 100)
    run(tmp_path / "j", tmp_path / "lake", once=True, spark=spark)
    frame = spark.read.parquet(*open_table(tmp_path / "lake").file_uris())
    assert {row.topic: row["count"] for row in frame.groupBy("topic").count().collect()} == {
        "demo/0": 34,
        "demo/1": 33,
        "demo/2": 33,
    }


def test_messages_arrive_while_it_runs_and_stop_ends_it(
    spark: "SparkSession", tmp_path: Path
) -> None:
    journal, where = tmp_path / "j", tmp_path / "lake"
    write_messages(journal, 10)
    stop, arrived = threading.Event(), threading.Semaphore(0)
    job = threading.Thread(
        target=run,
        args=(journal, where),
        kwargs={
            "spark": spark,
            "trigger_ms": 50,
            "stop": stop,
            "on_batch": lambda _: arrived.release(),
        },
    )
    job.start()
    try:
        assert arrived.acquire(timeout=WAIT_S)
        write_messages(journal, 10, start=10)
        assert arrived.acquire(timeout=WAIT_S)
    finally:
        stop.set()
        job.join(WAIT_S)
    assert not job.is_alive()
    assert_one_row_per_offset(where, 20)


@pytest.mark.parametrize("way", ["spark", "alone"])
def test_a_kill_at_any_step_loses_and_doubles_nothing(
    spark: "SparkSession", tmp_path: Path, way: str
) -> None:
    """Fault "Spark driver killed at any step": also between the lake's commit and Spark's."""
    journal, where = tmp_path / "j", tmp_path / "lake"
    write_messages(journal, 100)
    for step, rows in ("before", 0), ("after", 70):
        command = [sys.executable, str(KILLED_RUN), step, way, str(journal), str(where)]
        killed = subprocess.run(command, timeout=WAIT_S, capture_output=True, check=False)
        assert killed.returncode == -9, killed.stderr.decode()
        assert status(where).rows == rows
    run(journal, where, once=True, spark=spark)
    assert len(list((where / "messages").rglob("*-*.parquet"))) > status(where).files
    assert_one_row_per_offset(where, 100)


def test_a_lost_checkpoint_doubles_nothing(spark: "SparkSession", tmp_path: Path) -> None:
    journal, where = tmp_path / "j", tmp_path / "lake"
    write_messages(journal, 100)
    run(journal, where, once=True, spark=spark, checkpoint=tmp_path / "one")
    write_messages(journal, 20, start=100)
    run(journal, where, once=True, spark=spark, checkpoint=tmp_path / "two")
    assert_one_row_per_offset(where, 120)


def test_a_session_that_was_there_before_is_left_running(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catch_up, "BYTES_MAX", 0)
    write_messages(tmp_path / "j", 10)
    thread = threading.Thread(
        target=run, args=(tmp_path / "j", tmp_path / "lake"), kwargs={"once": True}
    )
    thread.start()
    thread.join(WAIT_S)
    assert_one_row_per_offset(tmp_path / "lake", 10)
    assert spark.range(3).count() == 3


def test_a_lost_lake_is_noticed(spark: "SparkSession", tmp_path: Path) -> None:
    write_messages(tmp_path / "j", 100)
    run(
        tmp_path / "j", tmp_path / "one", once=True, spark=spark, checkpoint=tmp_path / "checkpoint"
    )
    write_messages(tmp_path / "j", 20, start=100)
    with pytest.raises(PipelineError, match=r"the lake ends at offset 0 .* continues at 100"):
        run(
            tmp_path / "j",
            tmp_path / "two",
            once=True,
            spark=spark,
            checkpoint=tmp_path / "checkpoint",
        )


def test_another_journal_with_the_same_checkpoint_is_refused(
    spark: "SparkSession", tmp_path: Path
) -> None:
    write_messages(tmp_path / "one", 10)
    write_messages(tmp_path / "two", 10)
    lake, checkpoint = tmp_path / "lake", tmp_path / "checkpoint"
    run(tmp_path / "one", lake, once=True, spark=spark, checkpoint=checkpoint)
    with pytest.raises(JournalError, match="but the stream was reading journal"):
        run(tmp_path / "two", lake, once=True, spark=spark, checkpoint=checkpoint)
    # Of its own accord a run has a checkpoint for each journal.
    run(tmp_path / "two", lake, once=True, spark=spark)
    assert read_lake(lake).column("offset").to_pylist() == [*range(10)] * 2
