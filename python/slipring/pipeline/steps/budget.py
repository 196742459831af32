"""Bytes of each vehicle and day, as steps.

    from slipring.pipeline.steps import budget

    days = budget.by_day(budget.vehicles(messages, "fleet/{vehicle}/#"))

A message counts with its payload and its topic, as often as the broker received it, plus
`overhead_bytes`. What lies below MQTT (TCP, TLS, repeated packets) is not in the journal.
"""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.pipeline.steps.budget_rows import BUDGET_SCHEMA, HOUR_NS, combined_bytes
from slipring.pipeline.vehicle_pattern import vehicle_expression


def vehicles(
    messages: DataFrame, pattern: str, *, of: str = "topic", overhead_bytes: int = 0
) -> DataFrame:
    """Rows of `vehicle`, `receive_ns` and `bytes`, of the messages that belong to a vehicle.

    `of` is the column that the pattern is about: `topic` or `publisher`. Frames (`bytes`) and
    messages (`payload`) will do.
    """
    size = f.col("bytes") if "bytes" in messages.columns else f.length("payload")
    vehicle = f.regexp_extract(of, vehicle_expression(pattern), 1)
    return messages.select(
        vehicle.alias("vehicle"),
        "receive_ns",
        (size + f.octet_length("topic") + f.lit(overhead_bytes)).cast("bigint").alias("bytes"),
    ).where("vehicle != ''")


def by_day(rows: DataFrame) -> DataFrame:
    """One row for each vehicle and UTC day, with the bytes of each hour. One shuffle."""
    hours = rows.groupBy(
        "vehicle", f.expr(f"receive_ns - pmod(receive_ns, {HOUR_NS})").alias("hour_ns")
    ).agg(
        f.count("*").alias("messages"),
        f.sum("bytes").alias("bytes"),
        f.max("receive_ns").alias("last_ns"),
    )

    def combine(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if found := list(batches):
            yield from combined_bytes(pa.Table.from_batches(found)).to_batches()

    return hours.repartition("vehicle").mapInArrow(combine, from_arrow_schema(BUDGET_SCHEMA))
