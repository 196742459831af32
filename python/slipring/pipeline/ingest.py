"""From the journal to the tables through Spark: its workers write files, each batch is a commit."""

import threading
from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.errors import PipelineError
from slipring.pipeline.destination import Destination, LakeCommit
from slipring.pipeline.journal_rows import cores_of
from slipring.pipeline.range_files import RANGE_FILE_SCHEMA, LakeTarget, RangeFile, write_ranges

BATCH_BYTES_MAX = 32 << 20
"""Of frames in one micro-batch, about ten million samples: bounds how much a stop gives up."""
STOPPING = "the pipeline is stopping; this batch waits for the next run"


class Ingest:
    """Spark calls `write` for each micro-batch."""

    def __init__(self, destination: Destination, on_batch: Callable[[LakeCommit], None]) -> None:
        self.destination = destination
        self.on_batch = on_batch
        self.failure: Exception | None = None
        self._finished = False
        # `finish` waits for the batch that is being committed; a later one sees `_finished`.
        self._committing = threading.Lock()

    def ranges(self, spark: SparkSession, messages_max: int) -> DataFrame:
        """The stream of offset ranges that a table lacks."""
        return (
            spark.readStream.format("slipring")
            .option("deliver", "ranges")
            .option("startingOffset", str(self.destination.committed()))
            .option("maxMessagesPerTrigger", str(messages_max))
            .option("maxBytesPerTrigger", str(BATCH_BYTES_MAX))
            .options(**cores_of(spark))
            .options(**self.destination.journal.location.options())
            .load()
        )

    def write(self, ranges: DataFrame, batch: int) -> None:
        """Write one micro-batch to the tables; one that is there already changes nothing."""
        try:
            self._write(ranges, batch)
        except Exception as error:
            if self._finished:
                # Short: Spark searches the text of an error, and long ones overflow its stack.
                raise PipelineError(STOPPING) from None
            self.failure = error
            raise

    def finish(self) -> None:
        """Wait for the batch that is being committed, and refuse later ones."""
        with self._committing:
            self._finished = True

    def _write(self, ranges: DataFrame, batch: int) -> None:
        target = self.destination.target()
        files = [RangeFile(**row.asDict()) for row in _written_files(ranges, target).collect()]
        with self._committing:
            if self._finished:
                raise PipelineError(STOPPING)
            if files:
                self.on_batch(self.destination.commit(batch, target, files))


def _written_files(ranges: DataFrame, target: LakeTarget) -> DataFrame:
    """Takes offset ranges; returns the Parquet files with their rows."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return write_ranges(batches, target)

    return ranges.mapInArrow(write, from_arrow_schema(RANGE_FILE_SCHEMA))
