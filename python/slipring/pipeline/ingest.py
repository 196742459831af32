"""Journal to table through Spark: ranges in, files by its workers, one commit per batch."""

import threading
from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.errors import PipelineError
from slipring.pipeline.destination import Committed, Destination
from slipring.pipeline.parquet import FILE_SCHEMA, NewFile, Target, write_ranges


class Ingest:
    """What Spark calls for each micro-batch."""

    def __init__(
        self, destination: Destination, on_batch: Callable[[Committed], None] | None
    ) -> None:
        self.destination = destination
        self.on_batch = on_batch
        self.failure: Exception | None = None
        self._finished = False
        # Whoever finishes waits for the batch being written; a batch then sees `_finished`.
        self._writing = threading.Lock()

    def ranges(self, spark: SparkSession, messages_max: int) -> DataFrame:
        """The stream of offset ranges that the table does not have yet."""
        return (
            spark.readStream.format("slipring")
            .option("deliver", "ranges")
            .option("startingOffset", str(self.destination.committed()))
            .option("maxMessagesPerTrigger", str(messages_max))
            .options(**self.destination.journal.place.options())
            .load()
        )

    def write(self, ranges: DataFrame, batch: int) -> None:
        """Bring one micro-batch into the table; a batch that is there already changes nothing."""
        with self._writing:
            if self._finished:
                raise PipelineError("the pipeline is stopping; this batch waits for the next run")
            try:
                self._write(ranges, batch)
            except Exception as error:
                self.failure = error
                raise

    def finish(self) -> None:
        """Wait for the batch being written, and refuse any other."""
        with self._writing:
            self._finished = True

    def _write(self, ranges: DataFrame, batch: int) -> None:
        target = self.destination.target()
        files = [NewFile(**row.asDict()) for row in written_files(ranges, target).collect()]
        if not files:
            return
        done = self.destination.commit(batch, target.committed, files)
        if self.on_batch is not None:
            self.on_batch(done)


def written_files(ranges: DataFrame, target: Target) -> DataFrame:
    """Offset ranges in; the Parquet files that hold their messages out."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return write_ranges(batches, target)

    return ranges.mapInArrow(write, from_arrow_schema(FILE_SCHEMA))
