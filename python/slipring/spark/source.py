"""The classes that Spark calls. They read the journal, and have no rules of their own.

Must never write anything but the position of a consumer.
"""
# ruff: noqa: N802 (Spark names these methods)

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from slipring.journal.columns import SCHEMA, read_batches
from slipring.journal.location import Journal, OpenJournal
from slipring.journal.offsets import JournalPosition, advance, check_within, resolve, split
from slipring.spark.options import SourceOptions, parse_options
from slipring.spark.sink import batch_writer, stream_writer
from slipring.spark.sink_options import parse_sink_options

RANGES_SCHEMA = pa.schema(
    [pa.field("start", pa.int64(), nullable=False), pa.field("end", pa.int64(), nullable=False)]
)


@dataclass
class Range(InputPartition):
    """The offsets [start, end) of one journal: the work of one task."""

    journal: str
    start: int
    end: int


class SlipringDataSource(DataSource):
    """`format("slipring")` of `spark.read`, `readStream`, `write` and `writeStream`."""

    @classmethod
    def name(cls) -> str:
        return "slipring"

    def schema(self) -> StructType:
        options = parse_options(self.options)
        fields = [SCHEMA.field(name) for name in options.columns]
        chosen = RANGES_SCHEMA if options.deliver == "ranges" else pa.schema(fields)
        return from_arrow_schema(chosen)

    def reader(self, schema: StructType) -> DataSourceReader:
        options = parse_options(self.options)
        if options.consumer is not None:
            raise ValueError("option consumer goes with readStream only: a batch is read once")
        return BatchReader(options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return StreamReader(parse_options(self.options))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        return batch_writer(parse_sink_options(self.options))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:
        return stream_writer(parse_sink_options(self.options))


class BatchReader(DataSourceReader):
    """Reads what is in the journal now, between two offsets."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options

    def partitions(self) -> Sequence[InputPartition]:
        journal = self.options.location.open()
        first, end = journal.first_offset, journal.end_offset()
        start = resolve(self.options.starting_offset, first, end)
        stop = resolve(self.options.ending_offset, first, end)
        return _ranges(self.options, journal.identity, start, stop)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(self.options, partition)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows the journal. Its position is a journal's identity, an offset and an epoch."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self._target: int | None = None
        self._opened: OpenJournal | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Give workers a copy without the open journal: each opens its own."""
        return {**self.__dict__, "_opened": None}

    def initialOffset(self) -> dict[str, Any]:
        journal = self._journal()
        first, end = journal.first_offset, journal.end_offset()
        start = self._position(resolve(self.options.starting_offset, first, end))
        self.commit(start)
        return start

    def commit(self, end: dict[str, Any]) -> None:
        """Record what Spark has finished, so that retention does not overtake this stream."""
        if self.options.consumer is not None:
            position = JournalPosition.from_json(end)
            location, consumer = self.options.location, self.options.consumer
            location.commit(consumer, position.journal, position.offset, position.epoch)

    def getDefaultReadLimit(self) -> ReadLimit:
        messages_max = self.options.messages_per_trigger_max
        return ReadAllAvailable() if messages_max is None else ReadMaxRows(messages_max)

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._journal().end_offset()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        position = self._check(start)
        end = self._journal().end_offset() if self._target is None else self._target
        messages_max = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return self._position(max(position, advance(position, end, messages_max)))

    def reportLatestOffset(self) -> dict[str, Any]:
        return self._position(self._journal().end_offset())

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return _ranges(self.options, self._journal().identity, self._check(start), self._check(end))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(self.options, partition)

    def _journal(self) -> OpenJournal:
        if self._opened is None:
            self._opened = self.options.location.open()
        return self._opened

    def _position(self, offset: int) -> dict[str, Any]:
        journal = self._journal()
        return JournalPosition(journal.identity, offset, journal.epoch).to_json()

    def _check(self, value: dict[str, Any]) -> int:
        """The offset of a checkpoint's position; raises JournalGap if it is not in this journal."""
        position = JournalPosition.from_json(value)
        if position.journal != self._journal().identity:
            self._opened = self.options.location.open(position.journal)
        journal = self._journal()
        # The end first: reading it updates the first offset, which retention may have moved.
        end = journal.end_offset()
        if (begin := self._later_begin(position.offset)) is not None:
            check_within(begin, journal.first_offset, end, journal.written_offset)
            return begin
        check_within(position.offset, journal.first_offset, end, journal.written_offset)
        journal.check_position(position.offset, position.epoch)
        return position.offset

    def _later_begin(self, offset: int) -> int | None:
        """The starting offset, if ranges are asked for and it is after the checkpoint's offset.

        A reader of ranges records itself how far it has come, and may have come further without
        Spark. Retention may then have removed the messages at the checkpoint.
        """
        begin = self.options.starting_offset
        if self.options.deliver != "ranges" or not isinstance(begin, int) or begin <= offset:
            return None
        return begin


def _ranges(options: SourceOptions, journal: str, start: int, end: int) -> list[Range]:
    parts = split(start, end, options.partitions, os.cpu_count() or 1)
    return [Range(journal=journal, start=first, end=last) for first, last in parts]


def _read(options: SourceOptions, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    # If we return no partition, Spark makes one of its own.
    if not isinstance(partition, Range):
        return iter(())
    if options.deliver == "ranges":
        row = [pa.array([partition.start]), pa.array([partition.end])]
        return iter([pa.record_batch(row, schema=RANGES_SCHEMA)])
    journal = Journal(options.location, partition.journal)
    return read_batches(journal, partition.start, partition.end, options.columns)
