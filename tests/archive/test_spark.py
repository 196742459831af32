"""Spark reads sealed segments from the archive and the newest messages from the broker (D1)."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession

import slipring.lake
from slipring.archive.location import ArchiveLocation
from slipring.client import connect
from slipring.journal.location import S3_OPTIONS, JournalArchive, JournalBroker
from slipring.native import JournalReader, list_consumers
from slipring.pipeline import run
from tests.archive.archived_broker import (
    archive_told,
    is_caught_up,
    location,
    open_archive,
    publish,
    start_broker,
)
from tests.cli.commands import command
from tests.faults.trouble import journal_told
from tests.running_broker import RunningBroker
from tests.s3_server import S3Server

pytestmark = pytest.mark.timeout(900)
MESSAGES = 600
RUN_S = 400
STEP = 50
"""Messages of which the first is a frame of three samples, and the last a plain sample."""


@dataclass
class Archived:
    """A broker that has archived most of its journal."""

    broker: RunningBroker
    where: ArchiveLocation
    folder: Path

    @property
    def options(self) -> dict[str, str]:
        keys = {name: self.where.options.get(known) for name, known in S3_OPTIONS.items()}
        cache = {"cache": str(self.folder / "cache"), "cacheBytes": "300000"}
        return {**cache, **{name: text for name, text in keys.items() if text}}


@pytest.fixture
async def archived(tmp_path: Path, s3_server: S3Server, s3_bucket: str) -> Archived:
    where = location(s3_server, s3_bucket)
    broker = start_broker(tmp_path / "data", where.url, s3_server)
    async with connect(broker.url) as bus:
        engine = await bus.declare("jet/engine", {"rpm": "f64", "on": "bool", "mode": "text"})
        for start in range(0, MESSAGES, STEP):
            engine.write({"rpm": start / 7, "on": start % 2 == 0, "mode": f"step {start}"})
            await engine.flush()
            await publish(broker, STEP - 2, start=start)
            await bus.publish("jet/engine/rpm", str(start), qos=1)
    archive_told(broker, is_caught_up)
    return Archived(broker, where, tmp_path)


@pytest.fixture(autouse=True)
def ended(archived: Archived) -> Iterator[None]:
    yield
    if archived.broker.process.poll() is None:
        archived.broker.stop()


def reader(spark: SparkSession, archived: Archived) -> DataFrameReader:
    return spark.read.format("slipring").options(**archived.options).option("partitions", 5)


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def test_archive_and_broker_give_the_rows_of_the_folder_each_once(
    spark: SparkSession, archived: Archived
) -> None:
    here = rows_of(spark.read.format("slipring").load(str(archived.folder / "data" / "journal")))
    assert [row[0] for row in here] == list(range(MESSAGES))
    there = reader(spark, archived).option("broker", archived.broker.url).load(archived.where.url)
    assert rows_of(there) == here
    # Every cut of the offsets is one that may lie on the seam.
    end = open_archive(archived.where, archived.folder).archived_end
    assert 0 < end < MESSAGES
    part = reader(spark, archived).option("broker", archived.broker.url)
    part = part.option("startingOffset", end - 3).option("endingOffset", end + 3)
    assert rows_of(part.load(archived.where.url)) == here[end - 3 : end + 3]
    archived.broker.stop()
    alone = reader(spark, archived).load(archived.where.url)
    assert rows_of(alone) == here[:end]


def test_a_stream_goes_from_the_archive_to_the_broker_and_its_consumer_is_the_brokers(
    spark: SparkSession, archived: Archived, tmp_path: Path
) -> None:
    def read() -> list[int]:
        stream = spark.readStream.format("slipring").options(**archived.options)
        stream = stream.option("broker", archived.broker.url).option("consumer", "lake")
        frame = stream.option("maxMessagesPerTrigger", 150).load(archived.where.url)
        query = (
            frame.select("offset")
            .writeStream.format("parquet")
            .option("path", str(tmp_path / "rows"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120)
        return sorted(row.offset for row in spark.read.parquet(str(tmp_path / "rows")).collect())

    assert read() == list(range(MESSAGES))
    journal = archived.folder / "data" / "journal"
    positions = {one.name: one.offset for one in list_consumers(journal)}
    assert 0 < (positions["lake"] or 0) <= MESSAGES  # Spark commits a batch when the next begins
    asyncio.run(publish(archived.broker, 100, start=MESSAGES))
    while journal_told(archived.broker)["unsynced"]:
        assert archived.broker.process.poll() is None
    assert read() == list(range(MESSAGES + 100))
    assert JournalReader(journal).end_offset() == MESSAGES + 100


def test_samples_are_decoded_from_the_archive_and_the_broker_alike(
    spark: SparkSession, archived: Archived
) -> None:
    folder = str(archived.folder / "data" / "journal")
    here = rows_of(spark.read.format("slipring").option("deliver", "samples").load(folder))
    there = reader(spark, archived).option("deliver", "samples")
    joined = there.option("broker", archived.broker.url).load(archived.where.url)
    assert len(here) == 4 * MESSAGES // STEP
    assert rows_of(joined) == here
    end = open_archive(archived.where, archived.folder).archived_end
    alone = reader(spark, archived).option("deliver", "samples").load(archived.where.url)
    assert rows_of(alone) == [row for row in here if row[-1] < end]


def test_another_journal_behind_the_address_is_refused(
    spark: SparkSession, archived: Archived, tmp_path: Path
) -> None:
    other = RunningBroker.start(tmp_path / "other")
    try:
        there = reader(spark, archived).option("broker", other.url).load(archived.where.url)
        with pytest.raises(PySparkException, match="no archive of a journal"):
            there.collect()
    finally:
        other.stop()


def test_a_lake_is_filled_from_the_archive_and_the_broker(
    spark: SparkSession, archived: Archived
) -> None:
    lake = archived.folder / "lake"
    there = JournalArchive(
        archived.where, JournalBroker(archived.broker.url), str(archived.folder / "cache")
    )
    run(there, lake, once=True, spark=spark)
    offsets = (
        DeltaTable(lake / "messages").to_pyarrow_table(columns=["offset"])["offset"].to_pylist()
    )
    assert len(offsets) == len(set(offsets))
    samples = (
        DeltaTable(lake / "samples").to_pyarrow_table(columns=["offset"])["offset"].to_pylist()
    )
    assert sorted({*offsets, *samples}) == list(range(MESSAGES))


def pipeline(archived: Archived, server: S3Server, *words: str) -> None:
    """Run a pipeline over the archive to its end, as a user does on another machine."""
    folder = archived.folder / "elsewhere"
    folder.mkdir(exist_ok=True)
    known = ("--archive", archived.where.url, "--data", str(folder), "--once")
    done = subprocess.run(
        command("pipeline", "run", *words, *known),
        env={**os.environ, **server.options, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [*folder.glob("slipring-checkpoint-*")]


def test_the_command_reads_the_archive_and_goes_on_with_the_broker(
    archived: Archived, s3_server: S3Server
) -> None:
    """D1: first history alone, which no consumer holds; then the newest from the broker."""
    end = open_archive(archived.where, archived.folder).archived_end
    lake = slipring.lake.open(archived.folder / "elsewhere" / "lake")
    journal = archived.folder / "data" / "journal"
    for expected, words in ((end, ()), (MESSAGES, ("--broker", archived.broker.url))):
        pipeline(archived, s3_server, "archive", "budget", *words)
        offsets = lake.table("messages").to_arrow(columns=["offset"])["offset"].to_pylist()
        assert sorted(offsets) == list(range(expected))
        positions = {one.name: one.offset for one in list_consumers(journal)}
        assert positions.get("lake") == (MESSAGES if words else None)
