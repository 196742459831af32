"""Ranges of the journal written as Parquet files, in Spark's workers.

Never makes a file visible: only the table's commit does.
"""

import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from slipring.pipeline.statistics import Statistics
from slipring.spark.columns import SCHEMA, Journal, read_batches

# Rows of a row group: enough to compress well. The reader's byte limit keeps a worker's memory.
GROUP_ROWS_MAX = 1 << 20

_COUNTING = ("offset", "receive_time", "receive_ns")

# The source's columns, and which journal the offset counts in.
ROW_SCHEMA = pa.schema([pa.field("journal", pa.string(), nullable=False), *SCHEMA])

FILE_SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("receive_date", pa.string(), nullable=False),
        pa.field("stats", pa.string(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
    ]
)


@dataclass(frozen=True)
class Target:
    """Which journal goes where, and the offset up to which it is there already."""

    journal: Journal
    table_path: str
    committed: int


@dataclass(frozen=True)
class NewFile:
    """A Parquet file that waits to become part of the table; [start, end) is its whole range."""

    path: str
    bytes: int
    rows: int
    receive_date: str
    stats: str
    start: int
    end: int


def write_ranges(ranges: Iterator[pa.RecordBatch], target: Target) -> Iterator[pa.RecordBatch]:
    """Rows (start, end) in, rows of FILE_SCHEMA out."""
    for batch in ranges:
        for row in batch.to_pylist():
            files = write_range(row["start"], row["end"], target)
            yield pa.RecordBatch.from_pylist([asdict(file) for file in files], schema=FILE_SCHEMA)


def write_range(start: int, end: int, target: Target) -> list[NewFile]:
    """Write what the table does not have of a range, one file for each day of receive time."""
    first = max(start, target.committed)
    parts: dict[date, Part] = {}
    for batch in read_batches(target.journal, first, end, rows_max=GROUP_ROWS_MAX):
        for day, rows in split_by_day(batch):
            if day not in parts:
                parts[day] = Part(day, first, end, Path(target.table_path))
            parts[day].add(with_journal(rows, target.journal.identity))
    if not parts and first < end:
        return [nothing_new(start, end)]
    return [part.finish(start, end) for part in parts.values()]


def nothing_new(start: int, end: int) -> NewFile:
    """Say that a range has no message that the table lacks: offsets may be left out."""
    return NewFile(path="", bytes=0, rows=0, receive_date="", stats="", start=start, end=end)


def split_by_day(batch: pa.RecordBatch) -> Iterator[tuple[date, pa.RecordBatch]]:
    """The rows of each UTC day of receive time, in their order."""
    times = batch.column("receive_time").cast(pa.timestamp("us"))
    days = times.cast(pa.date32(), safe=False)
    unique = days.unique().to_pylist()
    for day in unique:
        same = batch if len(unique) == 1 else batch.filter(pc.equal(days, pa.scalar(day)))
        yield day, same


def with_journal(rows: pa.RecordBatch, journal: str) -> pa.RecordBatch:
    """Name the journal in every row."""
    names = pa.repeat(pa.scalar(journal), rows.num_rows)
    return pa.record_batch([names, *rows.columns], schema=ROW_SCHEMA)


class Part:
    """A Parquet file in the making. Its name is new: a second attempt never meets the first."""

    def __init__(self, day: date, start: int, end: int, table: Path) -> None:
        self.day = day
        self.path = f"receive_date={day}/{start:020}-{end:020}-{uuid.uuid4().hex}.parquet"
        self.file = table / self.path
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.stats = Statistics()
        self.writer = _parquet_writer(self.file)

    def add(self, rows: pa.RecordBatch) -> None:
        self.writer.write_batch(rows, row_group_size=GROUP_ROWS_MAX)
        self.stats.add(rows)

    def finish(self, start: int, end: int) -> NewFile:
        self.writer.close()
        return NewFile(
            path=self.path,
            bytes=self.file.stat().st_size,
            rows=self.stats.rows,
            receive_date=str(self.day),
            stats=self.stats.to_json(),
            start=start,
            end=end,
        )


def _parquet_writer(path: Path) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        path,
        ROW_SCHEMA,
        compression="zstd",
        compression_level=1,
        use_dictionary=["journal", "publisher", "topic", "qos"],
        column_encoding=dict.fromkeys(_COUNTING, "DELTA_BINARY_PACKED"),
    )
