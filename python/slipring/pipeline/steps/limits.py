"""Limits as steps: the samples that matter, the events of a history, alarms for the bus.

    from slipring.pipeline.steps import limits

    events = limits.events(samples, rules)
    alarms = limits.alarms(events)

`rules` is an Arrow table (`slipring.pipeline.limit_rules`), small enough to be sent to each worker.
"""

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.pipeline.steps.limit_rows import (
    EVENT_SCHEMA,
    SAMPLE_COLUMNS,
    STATE_SCHEMA,
    judged,
    thinned,
)


def candidates(samples: DataFrame, rules: pa.Table) -> DataFrame:
    """The samples that may begin or end an event, in their order. No shuffle."""
    chosen = _limited(samples, rules)

    def thin(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from thinned(pa.Table.from_batches([batch]), rules).to_batches()

    return chosen.mapInArrow(thin, chosen.schema)


def events(samples: DataFrame, rules: pa.Table) -> DataFrame:
    """All events of a history, from its beginning. One shuffle, by parameter."""

    def judge(rows: pa.Table) -> pa.Table:
        return judged(rows, rules, STATE_SCHEMA.empty_table()).events

    sorted_rows = candidates(samples, rules).repartition("index").sortWithinPartitions("offset")
    return sorted_rows.mapInArrow(_whole_partition(judge), from_arrow_schema(EVENT_SCHEMA))


def alarms(found: DataFrame, prefix: str = "alarms") -> DataFrame:
    """Events as rows for the bus: each limit has a topic, whose newest message is its state."""
    return found.select(
        f.concat_ws("/", f.lit(prefix), "parameter", "limit").alias("topic"),
        "parameter",
        "limit",
        "level",
        "state",
        "value",
        "threshold",
        "unit",
        "source_time",
        "source_ns",
        "since_ns",
        "receive_time",
        "offset",
    )


def _limited(samples: DataFrame, rules: pa.Table) -> DataFrame:
    """The samples of parameters that have limits."""
    indices = sorted(set(rules.column("index").to_pylist()))
    chosen = samples.select(*SAMPLE_COLUMNS).where("value IS NOT NULL")
    return chosen.where(f.col("index").isin(indices))


def _whole_partition(
    step: Callable[[pa.Table], pa.Table],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def apply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if found := list(batches):
            yield from step(pa.Table.from_batches(found)).to_batches()

    return apply
