"""Rollups as steps: samples to partials, partials to one row per window, rows for people.

    from slipring.pipeline.steps import rollup

    partials = rollup.partials_of_samples(samples, "1s")
    minutes = rollup.results(rollup.coarser(partials, "1m"))

The source delivers partials directly (`deliver=rollup`), which is several times quicker.
"""

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.alarms import parse_length
from slipring.pipeline.steps.partial_rows import PARTIAL_SCHEMA, coarsened, combined, partials_of

SAMPLE_COLUMNS = (
    "parameter", "index", "source_ns", "receive_ns", "value", "quality", "unit", "offset",
)  # fmt: skip


def partials_of_samples(samples: DataFrame, window: str) -> DataFrame:
    """Samples to partials: one for each parameter and window."""
    window_ns = parse_length(window)
    chosen = samples.select(*SAMPLE_COLUMNS).where("value IS NOT NULL")
    return merged(_by_partition(chosen, lambda rows: partials_of(rows, window_ns)), window)


def merged(partials: DataFrame, window: str) -> DataFrame:
    """Partials to one row for each parameter and window. One shuffle, by parameter."""
    window_ns = parse_length(window)
    return _by_partition(partials.repartition("index"), lambda rows: combined(rows, window_ns))


def coarser(partials: DataFrame, window: str) -> DataFrame:
    """Partials to one row for each parameter and longer window. One shuffle, by parameter."""
    window_ns = parse_length(window)
    return _by_partition(partials.repartition("index"), lambda rows: coarsened(rows, window_ns))


def results(partials: DataFrame) -> DataFrame:
    """Add what people read: `mean`, `time_weighted_mean`, `first_time`, `last_time`."""
    weighted = f.col("weighted") / f.col("weighted_ns")
    return partials.withColumns(
        {
            "mean": f.when(f.col("count") > 0, f.col("sum") / f.col("count")),
            "time_weighted_mean": f.when(f.col("weighted_ns") > 0, weighted).otherwise(
                f.col("last")
            ),
            "first_time": f.timestamp_micros(f.expr("first_ns div 1000")),
            "last_time": f.timestamp_micros(f.expr("last_ns div 1000")),
        }
    )


def late(partials: DataFrame, window: str, lateness: str) -> DataFrame:
    """The partials that were received so long after the end of their window."""
    bound = parse_length(window) + parse_length(lateness)
    return partials.where(f.col("receive_ns") - f.col("window_ns") > f.lit(bound))


def _by_partition(rows: DataFrame, step: Callable[[pa.Table], pa.Table]) -> DataFrame:
    """Apply a step to all rows of a partition at once; they are held in the worker's memory."""

    def apply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if found := list(batches):
            yield from step(pa.Table.from_batches(found)).to_batches()

    return rows.mapInArrow(apply, from_arrow_schema(PARTIAL_SCHEMA))
