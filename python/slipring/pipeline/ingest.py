"""Journal to table, exactly once: ranges through Spark, files by its workers, one commit per batch.

Trusts the table about what is committed, never Spark's checkpoint: the checkpoint may be lost.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.errors import PipelineError
from slipring.pipeline.parquet import FILE_SCHEMA, NewFile, Target, write_ranges
from slipring.pipeline.table import MessageTable
from slipring.spark.columns import Journal
from slipring.spark.place import Place


@dataclass(frozen=True)
class Committed:
    """One commit to the lake: offsets [start, end) of a journal."""

    batch: int
    start: int
    end: int
    rows: int
    files: int
    table_version: int


class Ingest:
    """What Spark calls for each micro-batch."""

    def __init__(
        self,
        journal: Place,
        lake: Path,
        on_batch: Callable[[Committed], None] | None,
        consumer: str | None = None,
        keep_bytes: int | None = None,
    ) -> None:
        reader = journal.open()
        self.journal = Journal(journal, reader.identity)
        self.first_offset = reader.first_offset
        self.table = MessageTable(lake, keep_bytes)
        self.on_batch = on_batch
        self.consumer = consumer
        self.failure: Exception | None = None
        self._finished = False
        # Whoever finishes waits for the batch being written; a batch then sees `_finished`.
        self._writing = threading.Lock()
        self._note_position()

    def ranges(self, spark: SparkSession, messages_max: int) -> DataFrame:
        """The stream of offset ranges that the table does not have yet."""
        return (
            spark.readStream.format("slipring")
            .option("deliver", "ranges")
            .option("startingOffset", str(self._committed()))
            .option("maxMessagesPerTrigger", str(messages_max))
            .options(**self.journal.place.options())
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
        committed = self._committed()
        target = Target(self.journal, str(self.table.path), committed)
        files = [NewFile(**row.asDict()) for row in written_files(ranges, target).collect()]
        if not files:
            return
        start, end = min(file.start for file in files), max(file.end for file in files)
        self._refuse_gap(start, committed)
        self.table.commit(self.journal.identity, end, files)
        self._note_position()
        rows = sum(file.rows for file in files)
        done = Committed(batch, max(start, committed), end, rows, len(files), self.table.version)
        if self.on_batch is not None:
            self.on_batch(done)

    def _committed(self) -> int:
        committed = self.table.committed(self.journal.identity)
        return self.first_offset if committed is None else committed

    def _note_position(self) -> None:
        """Let the journal's retention know what the table has; before that, it removes nothing."""
        if self.consumer is not None:
            place, identity = self.journal.place, self.journal.identity
            place.commit(self.consumer, identity, self._committed())

    def _refuse_gap(self, start: int, committed: int) -> None:
        if start > committed:
            raise PipelineError(
                f"the lake ends at offset {committed} of journal {self.journal.identity}, but the "
                f"checkpoint goes on at {start}; remove the checkpoint, and the pipeline "
                "continues where the lake ends"
            )


def written_files(ranges: DataFrame, target: Target) -> DataFrame:
    """Offset ranges in; the Parquet files that hold their messages out."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return write_ranges(batches, target)

    return ranges.mapInArrow(write, from_arrow_schema(FILE_SCHEMA))
