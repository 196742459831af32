"""`slipring.spark.read`: the rows of `format("slipring")`, by another way through Spark (D1)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import slipring.spark
from slipring import connect
from tests.journal_messages import payloads, write_messages
from tests.running_broker import RunningBroker

pytestmark = pytest.mark.timeout(900)
FLIGHTS = 40
OPTIONS: list[dict[str, str]] = [
    {"deliver": "samples"},
    {"deliver": "samples", "columns": "index,source_ns,value", "filter": "jet/engine/rpm"},
    {"deliver": "frames", "startingOffset": "3", "endingOffset": "20"},
    {"deliver": "rollup", "window": "1m"},
    {"deliver": "messages", "columns": "offset,topic", "filter": "jet/#", "partitions": "3"},
    {"deliver": "ranges", "partitions": "3"},
]


async def fly(url: str) -> None:
    async with connect(url) as bus:
        engine = await bus.declare("jet/engine", {"rpm": "f64", "on": "bool", "mode": "text"})
        for number in range(FLIGHTS):
            engine.write({"rpm": number / 7, "on": number % 2 == 0, "mode": f"step {number}"})
            await engine.flush()
            await bus.publish("jet/engine/rpm", str(number), qos=1)


def rows_of(frame: DataFrame) -> list[Any]:
    return sorted(map(repr, frame.collect()))


def test_its_rows_are_those_of_the_source(broker: RunningBroker, spark: SparkSession) -> None:
    asyncio.run(fly(broker.url))
    broker.stop()
    journal = broker.data / "journal"
    for options in OPTIONS:
        expected = spark.read.format("slipring").options(**options).load(str(journal))
        found = slipring.spark.read(spark, journal, **options)
        assert found.schema == expected.schema
        assert rows_of(found) == rows_of(expected)
    assert slipring.spark.read(spark, journal, deliver="samples").count() == 4 * FLIGHTS


def test_a_stream_reads_each_message_once_over_restarts(
    spark: SparkSession, tmp_path: Path
) -> None:
    journal, out = tmp_path / "journal", tmp_path / "out"
    for start in (0, 60):
        write_messages(journal, 60, start=start)
        query = (
            slipring.spark.read_stream(spark, journal, maxMessagesPerTrigger="25")
            .writeStream.format("parquet")
            .option("checkpointLocation", str(out / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(out / "rows"))
        )
        query.awaitTermination(200)
        assert not query.isActive
    found = spark.read.parquet(str(out / "rows")).orderBy("offset").collect()
    assert [(row.offset, bytes(row.payload)) for row in found] == [*enumerate(payloads(0, 120))]


def test_a_bad_option_is_refused_at_once(spark: SparkSession, tmp_path: Path) -> None:
    write_messages(tmp_path, 5)
    with pytest.raises(ValueError, match="unknown option colums; allowed: path, broker"):
        slipring.spark.read(spark, tmp_path, colums="topic")
    with pytest.raises(ValueError, match=r"pushFilters goes with spark\.read\.format only"):
        slipring.spark.read(spark, tmp_path, pushFilters="true")
