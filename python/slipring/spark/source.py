"""The classes that Spark calls. They read the journal, and have no rules of their own.

Must never write anything but the position of a consumer.
"""
# ruff: noqa: N802 (Spark names these methods)

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    Filter,
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

from slipring.journal.location import Journal, OpenJournal
from slipring.journal.message_size import message_bytes
from slipring.journal.offsets import JournalPosition, advance, check_within, resolve, split
from slipring.journal.worker_memory import settle
from slipring.spark.options import SourceOptions, parse_options, parse_stream_options
from slipring.spark.pushed import narrowed
from slipring.spark.rows import PARTITION_BYTES_MIN, read_rows
from slipring.spark.sink import batch_writer, stream_writer
from slipring.spark.sink_options import parse_sink_options

LARGE_MESSAGE_BYTES = 1_024
"""A message of this size is a frame with many samples; a range of smaller ones is quickly done."""


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
        return from_arrow_schema(parse_options(self.options).schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        options = parse_options(self.options)
        if options.consumer is not None:
            raise ValueError("option consumer goes with readStream only: a batch is read once")
        return PushingBatchReader(options) if options.push_filters else BatchReader(options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return StreamReader(parse_stream_options(self.options))

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
        since_ns, until_ns = self.options.receive_ns
        if since_ns is not None:
            start = max(start, journal.offset_at(since_ns))
        if until_ns is not None:
            stop = min(stop, journal.offset_at(until_ns))
        return _ranges(self.options, journal, start, stop)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(self.options, partition)


class PushingBatchReader(BatchReader):
    """Reads less when Spark says which rows a query needs; Spark still checks every row.

    Spark refuses a query with this reader unless `spark.sql.python.filterPushdown.enabled` is true.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        self.options: SourceOptions = narrowed(self.options, filters)
        return filters


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
        end = min(end, self._admitted(position, end))
        return self._position(max(position, advance(position, end, messages_max)))

    def _admitted(self, start: int, end: int) -> int:
        """The offset at which a micro-batch has about the bytes that it may have."""
        if start >= end:
            return end
        size = message_bytes(self._journal(), start, end)
        if self.options.deliver == "ranges" and size < LARGE_MESSAGE_BYTES:
            return end
        return start + max(1, int(self.options.bytes_per_trigger_max / size))

    def reportLatestOffset(self) -> dict[str, Any]:
        return self._position(self._journal().end_offset())

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return _ranges(self.options, self._journal(), self._check(start), self._check(end))

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


def _ranges(options: SourceOptions, journal: OpenJournal, start: int, end: int) -> list[Range]:
    wanted = options.partitions
    cores = options.cores or os.cpu_count() or 1
    if wanted is None and start < end:
        size = message_bytes(journal, start, end) * (end - start)
        wanted = max(1, min(cores, int(size / PARTITION_BYTES_MIN)))
    parts = split(start, end, wanted, cores)
    return [Range(journal=journal.identity, start=first, end=last) for first, last in parts]


def _read(options: SourceOptions, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    # If we return no partition, Spark makes one of its own.
    if not isinstance(partition, Range):
        return iter(())
    journal = Journal(options.location, partition.journal)
    return _settled(read_rows(options, journal, partition.start, partition.end))


def _settled(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows; what the worker has loaded for them stays, and is not looked through again."""
    yield from rows
    settle()
