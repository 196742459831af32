"""Ranges of the journal written as Parquet files, in Spark's workers.

Never makes a file visible: only a commit to the table does.
"""

import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from slipring.journal.columns import DELTA_PACKED, SCHEMA, read_batches
from slipring.journal.location import Journal
from slipring.pipeline.statistics import Statistics

# Enough rows to compress well. The reader's byte limit bounds a worker's memory.
GROUP_ROWS_MAX = 1 << 20

# The columns of the source, and the journal that each offset belongs to.
ROW_SCHEMA = pa.schema([pa.field("journal", pa.string(), nullable=False), *SCHEMA])


@dataclass(frozen=True)
class LakeTarget:
    """Which journal goes to which table, and the offset up to which it is there already."""

    journal: Journal
    table_path: str
    committed: int


@dataclass(frozen=True)
class WrittenFile:
    """A Parquet file that is not part of the table yet; it covers the offsets [start, end)."""

    path: str
    bytes: int
    rows: int
    receive_date: str
    stats: str
    start: int
    end: int


FILE_SCHEMA = pa.schema(
    [
        pa.field(one.name, pa.string() if one.type is str else pa.int64(), nullable=False)
        for one in fields(WrittenFile)
    ]
)
"""The fields of WrittenFile, for Spark."""


def write_ranges(ranges: Iterator[pa.RecordBatch], target: LakeTarget) -> Iterator[pa.RecordBatch]:
    """Takes rows of start and end; returns rows of FILE_SCHEMA."""
    for batch in ranges:
        for row in batch.to_pylist():
            files = write_range(row["start"], row["end"], target)
            yield pa.RecordBatch.from_pylist([asdict(file) for file in files], schema=FILE_SCHEMA)


def write_range(start: int, end: int, target: LakeTarget) -> list[WrittenFile]:
    """Write the messages of a range that the table lacks, a file for each day of receive time."""
    first = max(start, target.committed)
    files: dict[date, _DayFile] = {}
    for batch in read_batches(target.journal, first, end, rows_max=GROUP_ROWS_MAX):
        for day, rows in _split_by_day(batch):
            if day not in files:
                files[day] = _DayFile(day, first, end, Path(target.table_path))
            files[day].add(with_journal(rows, target.journal.identity))
    if not files and first < end:
        return [_no_file(start, end)]
    return [file.finish(start, end) for file in files.values()]


def _no_file(start: int, end: int) -> WrittenFile:
    """Stands for a range in which no offset has a message."""
    return WrittenFile(path="", bytes=0, rows=0, receive_date="", stats="", start=start, end=end)


def _split_by_day(batch: pa.RecordBatch) -> Iterator[tuple[date, pa.RecordBatch]]:
    """The rows of each UTC day of receive time, in order."""
    times = batch.column("receive_time").cast(pa.timestamp("us"))
    days = times.cast(pa.date32(), safe=False)
    unique = days.unique().to_pylist()
    for day in unique:
        same = batch if len(unique) == 1 else batch.filter(pc.equal(days, pa.scalar(day)))
        yield day, same


def with_journal(rows: pa.RecordBatch, journal: str) -> pa.RecordBatch:
    """Add the identity of the journal to every row."""
    names = pa.repeat(pa.scalar(journal), rows.num_rows)
    return pa.record_batch([names, *rows.columns], schema=ROW_SCHEMA)


class _DayFile:
    """Writes the file of one day. Its name is unique, so that two attempts never collide."""

    def __init__(self, day: date, start: int, end: int, table: Path) -> None:
        self.day = day
        self.path = f"receive_date={day}/{start:020}-{end:020}-{uuid.uuid4().hex}.parquet"
        self.file = table / self.path
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.stats = Statistics()
        self.writer = pq.ParquetWriter(
            self.file,
            ROW_SCHEMA,
            compression="zstd",
            compression_level=1,
            use_dictionary=["journal", "publisher", "topic", "qos"],
            column_encoding=DELTA_PACKED,
        )

    def add(self, rows: pa.RecordBatch) -> None:
        self.writer.write_batch(rows, row_group_size=GROUP_ROWS_MAX)
        self.stats.add(rows)

    def finish(self, start: int, end: int) -> WrittenFile:
        self.writer.close()
        return WrittenFile(
            path=self.path,
            bytes=self.file.stat().st_size,
            rows=self.stats.rows,
            receive_date=str(self.day),
            stats=self.stats.to_json(),
            start=start,
            end=end,
        )
