"""Ranges of the journal written as Parquet files, in Spark's workers.

Never makes a file visible: only a commit to the table does.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import pyarrow as pa

from slipring.journal.columns import read_batches
from slipring.journal.location import Journal
from slipring.lake.files import FILE_SCHEMA, WrittenFile, constant, write_file
from slipring.lake.specs import MESSAGES
from slipring.lake.storage import LakeLocation


@dataclass(frozen=True)
class LakeTarget:
    """Which journal goes to which lake, and the offset up to which it is there already."""

    journal: Journal
    lake: LakeLocation
    committed: int


@dataclass(frozen=True)
class RangeFile(WrittenFile):
    """A file with the messages of the offsets [start, end) that the table lacks."""

    start: int
    end: int


RANGE_FILE_SCHEMA = pa.schema(
    [
        *FILE_SCHEMA,
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
    ]
)
"""The fields of RangeFile, for Spark."""


def write_ranges(ranges: Iterator[pa.RecordBatch], target: LakeTarget) -> Iterator[pa.RecordBatch]:
    """Takes rows of start and end; returns rows of RANGE_FILE_SCHEMA."""
    for batch in ranges:
        for row in batch.to_pylist():
            files = [asdict(file) for file in write_range(row["start"], row["end"], target)]
            rows = [{**file, "partition": [*file["partition"].items()]} for file in files]
            yield pa.RecordBatch.from_pylist(rows, schema=RANGE_FILE_SCHEMA)


def write_range(start: int, end: int, target: LakeTarget) -> list[RangeFile]:
    """Write the messages of a range that the table lacks, a file for each day of receive time."""
    first = max(start, target.committed)
    files = write_file(
        target.lake, MESSAGES, _messages(first, end, target), stem=f"{first:020}-{end:020}"
    )
    if not files and first < end:
        # Stands for a range in which no offset has a message.
        return [RangeFile(path="", bytes=0, rows=0, partition={}, stats="", start=start, end=end)]
    return [RangeFile(**vars(file), start=start, end=end) for file in files]


def _messages(start: int, end: int, target: LakeTarget) -> Iterator[pa.RecordBatch]:
    """The messages of a range, with the identity of their journal in every row."""
    for batch in read_batches(target.journal, start, end, rows_max=MESSAGES.group_rows):
        journal = constant(target.journal.identity, batch.num_rows)
        yield pa.RecordBatch.from_arrays(
            [journal, *batch.columns], names=["journal", *batch.schema.names]
        )
