"""Age of samples at each hop, as steps: where a sample spends its time on its way to the lake.

    from slipring.pipeline.steps import latency

    rows = latency.results(latency.histogram(latency.hop_ages(frames, samples)))

Ages are by the broker's clock; a frame's skew converts that of its publisher. An age can be
slightly negative if it is shorter than the uncertainty of a clock; it counts as zero. One that
64 bits do not hold, because a clock was wrong by centuries, does not count.
"""

from collections.abc import Iterator
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.alarms import parse_length
from slipring.pipeline.steps.latency_rows import (
    BUCKET_RATIO,
    LATENCY_SCHEMA,
    RESULT_SCHEMA,
    combined_ages,
    with_percentiles,
)

HOPS = ("measured_to_published", "published_to_received", "received_to_lake", "measured_to_lake")
_FRAME_COLUMNS = ("offset", "publisher", "receive_ns", "published_ns", "skew_ns", "samples")


def hop_ages(frames: DataFrame, samples: DataFrame, commits: DataFrame | None = None) -> DataFrame:
    """Rows of `publisher`, `receive_ns`, `hop`, `age_ns` and `samples`, how many have that age.

    `commits` has the offsets `start` to `end` (exclusive) and `committed_ns` of each commit to the
    lake; without it the last two hops are not known. Frames and commits are sent to each worker.
    """
    sent = _on_one_clock(frames)
    if commits is not None:
        inside = (f.col("offset") >= f.col("start")) & (f.col("offset") < f.col("end"))
        sent = sent.join(f.broadcast(commits), inside, "left").drop("start", "end")
    else:
        sent = sent.withColumn("committed_ns", f.lit(None).cast("bigint"))
    measured = samples.select("offset", "source_ns").join(f.broadcast(sent), "offset")
    since = f.try_add(f.col("source_ns"), f.col("skew_ns"))
    one = f.lit(1)
    parts = (
        _ages(measured, HOPS[0], f.try_subtract(f.col("published_ns"), since), one),
        _ages(
            sent,
            HOPS[1],
            f.try_subtract(f.col("receive_ns"), f.col("published_ns")),
            f.col("samples"),
        ),
        _ages(
            sent,
            HOPS[2],
            f.try_subtract(f.col("committed_ns"), f.col("receive_ns")),
            f.col("samples"),
        ),
        _ages(measured, HOPS[3], f.try_subtract(f.col("committed_ns"), since), one),
    )
    return reduce(DataFrame.unionByName, parts)


def histogram(ages: DataFrame, window: str = "1m") -> DataFrame:
    """Ages to one row for each publisher, hop and window of receive time; they can be combined."""
    window_ns = parse_length(window)
    step = f.log(f.lit(BUCKET_RATIO))
    counted = ages.withColumns(
        {
            "window_ns": f.expr(f"receive_ns - pmod(receive_ns, {window_ns})"),
            "age_ns": f.greatest("age_ns", f.lit(0)),
        }
    ).withColumn("bucket", f.floor(f.log(f.greatest("age_ns", f.lit(1))) / step).cast("int"))
    grouped = counted.groupBy("publisher", "hop", "window_ns", "bucket").agg(
        f.sum("samples").cast("bigint").alias("count"),
        f.min("age_ns").alias("min_ns"),
        f.max("age_ns").alias("max_ns"),
        f.sum(f.col("age_ns").cast("double") * f.col("samples")).alias("sum_ns"),
    )

    def combine(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if found := list(batches):
            yield from combined_ages(pa.Table.from_batches(found)).to_batches()

    return grouped.repartition("publisher").mapInArrow(combine, from_arrow_schema(LATENCY_SCHEMA))


def results(histograms: DataFrame) -> DataFrame:
    """Add mean, p50, p95 and p99, within 1 % of the age."""

    def add(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from with_percentiles(pa.Table.from_batches([batch])).to_batches()

    return histograms.mapInArrow(add, from_arrow_schema(RESULT_SCHEMA))


def _on_one_clock(frames: DataFrame) -> DataFrame:
    """When frames were published, by the broker's clock; a frame in the journal may not say so."""
    skew = f.coalesce("skew_ns", f.lit(0))
    told = f.when(f.col("published_ns") > 0, f.col("published_ns"))
    return frames.withColumns(
        {"skew_ns": skew, "published_ns": f.coalesce(told, f.try_add(f.col("sent_ns"), skew))}
    ).select(*_FRAME_COLUMNS)


def _ages(rows: DataFrame, hop: str, age_ns: Column, samples: Column) -> DataFrame:
    return rows.select(
        "publisher",
        "receive_ns",
        f.lit(hop).alias("hop"),
        age_ns.cast("bigint").alias("age_ns"),
        samples.cast("bigint").alias("samples"),
    ).where("age_ns IS NOT NULL")
