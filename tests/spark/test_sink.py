"""`format("slipring")` as a sink: rows of Spark on the bus, each once (D1)."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipring import connect
from tests.publication.batches import T0_NS, messages_in, samples_in
from tests.running_broker import RunningBroker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(600)
MARGIN = "jet/engine/1/egt_margin"
PARAMETERS = json.dumps({MARGIN: {"type": "f64", "unit": "Cel", "limits": {"high": 900}}})


def margins(spark: "SparkSession", count: int) -> "DataFrame":
    return spark.range(count).selectExpr(
        f"'{MARGIN}' as parameter",
        f"{T0_NS} + id * 1000000 as source_ns",
        "cast(id as double) as value",
        "cast(id % 2 * 135 as smallint) as quality",
    )


async def test_rows_become_samples_of_declared_parameters(
    spark: "SparkSession", broker: RunningBroker
) -> None:
    writer = margins(spark, 10).coalesce(1).write.format("slipring").mode("append")
    writer.option("broker", broker.url).option("parameters", PARAMETERS).save()
    async with connect(broker.url) as bus:
        assert (await bus.newest(MARGIN)).value == 9.0
        parameter = (await bus.table())[MARGIN].parameter
    broker.stop()
    expected = {(T0_NS + row * 1_000_000, float(row)): 1 for row in range(10)}
    assert samples_in(broker.data, "jet") == expected
    assert parameter.limits is not None
    assert (parameter.unit, parameter.limits.high) == ("Cel", 900)


def test_a_numbered_batch_is_written_once(
    spark: "SparkSession", broker: RunningBroker, tmp_path: Path
) -> None:
    rows = spark.range(30).selectExpr("'out' as topic", "cast(id as string) as payload")
    writer = rows.write.format("slipring").mode("append").option("deliver", "messages")
    writer.option("broker", broker.url).option("state", str(tmp_path / "state"))
    for batch in (7, 7, 8):
        writer.option("batch", batch).save()
    broker.stop()
    assert messages_in(broker.data, "out") == {str(row).encode(): 2 for row in range(30)}


def test_a_stream_goes_on_with_its_checkpoint(
    spark: "SparkSession", broker: RunningBroker, tmp_path: Path
) -> None:
    source = tmp_path / "in"
    for part in (0, 1):
        rows = spark.range(part * 20, part * 20 + 20).selectExpr(
            "concat('alarms/', id) as topic", "id", "timestamp'2026-01-01' as time"
        )
        rows.coalesce(1).write.mode("append").parquet(str(source))
        stream = spark.readStream.schema(rows.schema).parquet(str(source)).writeStream
        stream.format("slipring").option("broker", broker.url).option("deliver", "alarms").option(
            "checkpointLocation", str(tmp_path / "checkpoint")
        ).trigger(availableNow=True).start().awaitTermination()
    broker.stop()
    found = Counter(
        json.loads(payload)["id"] for payload in messages_in(broker.data, "alarms/").elements()
    )
    assert found == Counter(range(40))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "option broker is missing"),
        ({"broker": "mqtt://x", "deliver": "rows"}, "allowed: samples, messages, alarms"),
        ({"broker": "mqtt://x", "parameters": "{"}, "is a JSON object of definitions"),
        ({"broker": "mqtt://x", "colour": "red"}, "unknown option colour"),
        ({"broker": "mqtt://x", "sink": "a/b"}, "option sink is 'a/b'"),
        ({"broker": "mqtt://x", "checkpointLocation": "s3://b/c"}, "give option state"),
    ],
)
def test_a_wrong_option_is_refused(options: dict[str, str], told: str) -> None:
    from slipring.spark.sink_options import parse_sink_options

    with pytest.raises(ValueError, match=told):
        parse_sink_options(options)
