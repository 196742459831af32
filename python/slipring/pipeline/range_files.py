"""Ranges of the journal written as Parquet files for several tables, in Spark's workers.

Never makes a file visible: only a commit to a table does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

import pyarrow as pa

from slipring.journal.columns import read_batches
from slipring.journal.frame_rows import read_frames
from slipring.journal.location import Journal
from slipring.journal.samples import FILE_COLUMNS, JournalSamples, SampleRequest, SetAside
from slipring.journal.worker_memory import settle
from slipring.lake.files import FILE_SCHEMA, WrittenFile, constant, put_file, write_file
from slipring.lake.specs import FRAMES, MESSAGES, SAMPLES, SET_ASIDE
from slipring.lake.statistics import Bounds
from slipring.lake.storage import LakeLocation
from slipring.lake.table_spec import TableSpec

SAMPLE_ROWS_MAX = 1_000_000
"""Samples of one file: they are sorted in memory, about 250 bytes each while that is done."""

SPECS: Mapping[str, TableSpec] = {
    "set_aside": SET_ASIDE,
    "samples": SAMPLES,
    "frames": FRAMES,
    "messages": MESSAGES,
}
"""The tables of the archive, in the order in which they are committed.

What is set aside is committed before the samples: they are decoded together, and whoever continues
after the samples does not decode it again.
"""


@dataclass(frozen=True)
class LakeTarget:
    """Which journal goes to which lake, and the offset up to which it is in each table already."""

    journal: Journal
    lake: LakeLocation
    committed: Mapping[str, int]
    """By the name of the table."""


@dataclass(frozen=True)
class RangeFile(WrittenFile):
    """A file of a table with rows of the offsets [start, end)."""

    table: str
    """Empty for the row that stands for the range itself."""
    start: int
    end: int


RANGE_FILE_SCHEMA = pa.schema(
    [
        *FILE_SCHEMA,
        pa.field("table", pa.string(), nullable=False),
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
    settle()


def write_range(start: int, end: int, target: LakeTarget) -> list[RangeFile]:
    """Write what each table lacks of a range; the first row stands for the range itself."""
    files = [RangeFile("", 0, 0, {}, "", table="", start=start, end=end)]
    for table in target.committed:
        first = max(start, target.committed[table])
        if first >= end:
            continue
        for name, written in _write(table, first, end, target):
            files.append(RangeFile(**vars(written), table=name, start=start, end=end))
    return files


def _write(
    table: str, start: int, end: int, target: LakeTarget
) -> Iterator[tuple[str, WrittenFile]]:
    stem = f"{start:020}-{end:020}"
    if table == "samples":
        yield from _write_samples(start, end, target, stem)
    elif table == "frames":
        rows = read_frames(target.journal, start, end)
        for file in write_file(target.lake, FRAMES, _of_journal(rows, target), stem=stem):
            yield table, file
    elif table == "messages":
        rows = read_batches(target.journal, start, end, rows_max=MESSAGES.group_rows)
        for file in write_file(target.lake, MESSAGES, _of_journal(rows, target), stem=stem):
            yield table, file


def _write_samples(
    start: int, end: int, target: LakeTarget, stem: str
) -> Iterator[tuple[str, WrittenFile]]:
    """A file for each sorted part, and one with what could not be decoded."""
    request = SampleRequest(columns=FILE_COLUMNS)
    reader = JournalSamples(target.journal, request, rows_max=SAMPLE_ROWS_MAX)
    identity = target.journal.identity
    for made in reader.files(
        start,
        end,
        group_rows=SAMPLES.group_rows,
        page_rows=SAMPLES.page_rows,
        level=SAMPLES.level,
    ):
        few = {"journal": Bounds(identity, identity, 0)}
        few |= {name: Bounds(*bounds) for name, bounds in made.few.items()}
        yield "samples", put_file(target.lake, SAMPLES, made.day, made.content, few, stem=stem)
    known = target.committed.get("set_aside", 0)
    if found := [one for one in reader.set_aside if one.offset >= known]:
        rows = _of_journal(iter([_set_aside_rows(found)]), target)
        for written in write_file(target.lake, SET_ASIDE, rows, stem=stem):
            yield "set_aside", written


def _of_journal(rows: Iterator[pa.RecordBatch], target: LakeTarget) -> Iterator[pa.RecordBatch]:
    """The rows with the identity of their journal."""
    for batch in rows:
        journal = constant(target.journal.identity, batch.num_rows)
        yield pa.RecordBatch.from_arrays(
            [journal, *batch.columns], names=["journal", *batch.schema.names]
        )


def _set_aside_rows(found: list[SetAside]) -> pa.RecordBatch:
    times = pa.array([one.receive_ns // 1_000 for one in found], pa.timestamp("us", tz="UTC"))
    return pa.record_batch(
        {
            "offset": pa.array([one.offset for one in found], pa.int64()),
            "receive_time": times,
            "topic": pa.array([one.topic for one in found]),
            "publisher": pa.array([one.publisher for one in found]),
            "bytes": pa.array([one.payload for one in found], pa.binary()),
            "reason": pa.array([one.reason for one in found]),
        }
    )
