"""Whether subscribers get data as often as they wished (P's table 6), as steps.

Only the subscriber knows when something arrived. Clients with `report_arrivals_s` send reports,
which are in the journal:

    from slipring.pipeline.steps import subscriptions

    table_6 = subscriptions.shares(subscriptions.by_window(subscriptions.reports(messages)))

Who has a row for each arrival, with `subscriber`, `subscription` (its filter or name), `time_ns`
and `wish_ns`, the interval that was asked for, begins with `intervals(arrivals)` instead.
"""

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.alarms import parse_length
from slipring.model.arrival_report import ARRIVALS_TOPIC
from slipring.pipeline.steps.subscription_rows import (
    ARRIVAL_SCHEMA,
    JUDGED_SCHEMA,
    REPORT_SCHEMA,
    WITHIN,
    reported,
    with_judgement,
)


def reports(messages: DataFrame) -> DataFrame:
    """A row for each subscription of each report, from messages of any topic.

    A report that cannot be read is one row with its `payload` and the `reason`.
    """
    mine = messages.where(f.col("topic") == ARRIVALS_TOPIC)
    chosen = mine.select("offset", "receive_ns", "publisher", "payload")
    return _by_batch(chosen, reported, REPORT_SCHEMA)


def by_window(rows: DataFrame, window: str = "1m") -> DataFrame:
    """One row for each subscription and window of receive time; refused reports are left out."""
    keyed = rows.where("reason IS NULL").withColumn("window_ns", _begin("receive_ns", window))
    sums = [f.sum(name).alias(name) for name in ("arrivals", *_counts(), "sum_ns")]
    return _judged(keyed, *sums, f.max("max_ns").alias("max_ns"), f.max("source_ns"))


def intervals(arrivals: DataFrame, window: str = "1m") -> DataFrame:
    """The same from single arrivals: the mean interval of each subscription against the wish.

    An interval belongs to the window in which it ends. A subscription with a single arrival has no
    interval, and no row.
    """
    series = Window.partitionBy("subscriber", "subscription").orderBy("time_ns")
    steps = arrivals.withColumn("step_ns", f.col("time_ns") - f.lag("time_ns").over(series))
    keyed = steps.where("step_ns IS NOT NULL").withColumn("window_ns", _begin("time_ns", window))
    return _judged(
        keyed,
        f.count("*").alias("arrivals"),
        *(f.sum(_is_within(part)).alias(name) for name, part in zip(_counts(), WITHIN.values())),  # noqa: B905
        f.sum("step_ns").cast("double").alias("sum_ns"),
        f.max("step_ns").alias("max_ns"),
        f.lit(None),
    )


def shares(rows: DataFrame) -> DataFrame:
    """One row for each window: the share of subscriptions whose mean interval is near the wish.

    `judged` of the `subscriptions` count; the others were silent, or their source is too slow.
    """
    return rows.groupBy("window_ns", "window_start").agg(
        f.count("*").alias("subscriptions"),
        f.count(f"is_{next(iter(WITHIN))}").alias("judged"),
        *(f.avg(f.col(f"is_{name}").cast("double")).alias(name) for name in WITHIN),
    )


def _judged(keyed: DataFrame, *totals: Column) -> DataFrame:
    """Sum up the rows of each subscription and window; the last total is that of the source."""
    *others, source = totals
    rows = keyed.groupBy("subscriber", "subscription", "window_ns", "wish_ns").agg(
        *others, source.cast("bigint").alias("source_ns")
    )
    timed = rows.withColumn("window_start", f.timestamp_micros(f.expr("window_ns div 1000")))
    names = [one.name for one in ARRIVAL_SCHEMA]
    return _by_batch(timed.select(*names), _judged_batch, JUDGED_SCHEMA)


def _judged_batch(batch: pa.RecordBatch) -> pa.Table:
    return with_judgement(pa.Table.from_batches([batch]))


def _by_batch(
    rows: DataFrame, step: Callable[[pa.RecordBatch], pa.Table], schema: pa.Schema
) -> DataFrame:
    def apply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from step(batch).to_batches()

    return rows.mapInArrow(apply, from_arrow_schema(schema))


def _begin(column: str, window: str) -> Column:
    return f.expr(f"{column} - pmod({column}, {parse_length(window)})")


def _counts() -> list[str]:
    return [f"arrivals_{name}" for name in WITHIN]


def _is_within(part: float) -> Column:
    """1 if a step differs from the wish by at most this part of it, else 0."""
    return (f.abs(f.col("step_ns") - f.col("wish_ns")) <= f.col("wish_ns") * part).cast("bigint")
