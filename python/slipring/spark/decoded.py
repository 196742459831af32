"""Rows of a journal as a DataFrame by `mapInArrow`: those of `format("slipring")`, sooner.

Spark's reader of Python sources counts rows as it hands them on, one by one; `mapInArrow` does not.
So Spark gets ranges of offsets from the source, and a worker makes the rows of each.
"""

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.journal.location import Journal
from slipring.journal.worker_memory import settle
from slipring.spark.options import SourceOptions, parse_options, parse_stream_options
from slipring.spark.rows import read_rows

OF_ROWS = frozenset(("deliver", "columns", "filter", "window", "sourcefrom", "sourceto"))
"""Options that say what a row is; the others say which messages are read."""


def decoded(spark: SparkSession, given: Mapping[str, str], *, is_stream: bool) -> DataFrame:
    """The rows that the options of the source ask for; or ValueError."""
    asked = parse_stream_options(given) if is_stream else parse_options(given)
    if asked.push_filters:
        raise ValueError("option pushFilters goes with spark.read.format only; use filter here")
    reader = (spark.readStream if is_stream else spark.read).format("slipring")
    messages = {name: value for name, value in given.items() if name.lower() not in OF_ROWS}
    ranges = reader.options(**messages).option("deliver", "ranges").load()
    if asked.deliver == "ranges":
        return ranges
    journal = Journal(asked.location, asked.location.open().identity)

    def rows_of(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _rows(asked, journal, batches)

    return ranges.mapInArrow(rows_of, from_arrow_schema(asked.schema))


def _rows(
    asked: SourceOptions, journal: Journal, ranges: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in ranges:
        for row in batch.to_pylist():
            yield from read_rows(asked, journal, row["start"], row["end"])
    settle()
