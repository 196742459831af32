"""The journal's messages as Arrow record batches, on the memory that Rust filled."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from slipring.journal.location import Journal
from slipring.journal.undamaged import undamaged
from slipring.native import JournalColumns

SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("receive_time", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("receive_ns", pa.int64(), nullable=False),
        pa.field("publisher", pa.string(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("payload", pa.binary(), nullable=False),
        pa.field("qos", pa.int8(), nullable=False),
        pa.field("retain", pa.bool_(), nullable=False),
        pa.field("properties", pa.binary(), nullable=False),
    ]
)
COLUMNS: tuple[str, ...] = tuple(SCHEMA.names)

DELTA_PACKED = dict.fromkeys(("offset", "receive_time", "receive_ns"), "DELTA_BINARY_PACKED")
"""Parquet's encoding of the columns whose values ascend."""

# Bounds of one batch: what Spark's reader holds at once.
BATCH_ROWS_MAX = 65_536
BATCH_BYTES_MAX = 64 << 20


def record_batch(columns: JournalColumns, names: Sequence[str] = COLUMNS) -> pa.RecordBatch:
    """The named columns; no value is copied."""
    arrays = [_array(columns, name) for name in names]
    return pa.record_batch(arrays, schema=pa.schema([SCHEMA.field(name) for name in names]))


def read_batches(
    journal: Journal,
    start: int,
    end: int,
    names: Sequence[str] = COLUMNS,
    *,
    rows_max: int = BATCH_ROWS_MAX,
) -> Iterator[pa.RecordBatch]:
    """The messages of a range, in batches of at most `rows_max` and BATCH_BYTES_MAX.

    What is damaged has no row.
    """
    for _, columns in undamaged(journal.open(), start, end, BATCH_BYTES_MAX, rows_max=rows_max):
        yield record_batch(columns, names)


def _array(columns: JournalColumns, name: str) -> pa.Array:
    found = getattr(columns, "receive_us" if name == "receive_time" else name)
    # Texts and bytes have two buffers: offsets and contents.
    buffers = map(pa.py_buffer, found if isinstance(found, tuple) else [found])
    return pa.Array.from_buffers(SCHEMA.field(name).type, len(columns), [None, *buffers])
