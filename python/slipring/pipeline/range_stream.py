"""The stream that drives a job: Spark gives ranges of offsets, and the job asks for their rows.

Spark's checkpoint only numbers the batches of one run. Where a run begins is up to the tables of
the job (`position`), so give each run a new checkpoint folder.
"""

from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession

from slipring.journal.location import JournalLocation


def range_stream(
    spark: SparkSession, journal: JournalLocation, position: int | None, messages_max: int
) -> DataFrame:
    """The ranges of offsets from a job's position on; without one from the journal's beginning."""
    return (
        spark.readStream.format("slipring")
        .option("deliver", "ranges")
        .option("startingOffset", "earliest" if position is None else str(position))
        .option("maxMessagesPerTrigger", str(messages_max))
        .options(**journal.options())
        .load()
    )


def each_range(write: Callable[[int, int], None]) -> Callable[[DataFrame, int], None]:
    """What `foreachBatch` calls: it gives the offsets [start, end) of the batch to a job."""

    def write_batch(ranges: DataFrame, _batch: int) -> None:
        if found := ranges.collect():
            write(min(row.start for row in found), max(row.end for row in found))

    return write_batch


def rows_between(
    spark: SparkSession, journal: JournalLocation, start: int, end: int, **options: str
) -> DataFrame:
    """The rows of the offsets [start, end), as `deliver` among the options says."""
    return (
        spark.read.format("slipring")
        .option("startingOffset", str(start))
        .option("endingOffset", str(end))
        .options(**options)
        .options(**journal.options())
        .load()
    )
