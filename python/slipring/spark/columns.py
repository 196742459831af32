"""The journal's messages as Arrow record batches. Knows Arrow; must never import pyspark."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from slipring.native import Buffer, JournalColumns
from slipring.spark.place import Place, Reader

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

# What Spark's reader takes at once.
BATCH_ROWS_MAX = 65_536
BATCH_BYTES_MAX = 64 << 20

_BUFFERS: dict[str, Callable[[JournalColumns], Sequence[Buffer]]] = {
    "offset": lambda columns: [columns.offset],
    "receive_time": lambda columns: [columns.receive_us],
    "receive_ns": lambda columns: [columns.receive_ns],
    "publisher": lambda columns: columns.publisher,
    "topic": lambda columns: columns.topic,
    "payload": lambda columns: columns.payload,
    "qos": lambda columns: [columns.qos],
    "retain": lambda columns: [columns.retain],
    "properties": lambda columns: columns.properties,
}


def record_batch(columns: JournalColumns, names: Sequence[str] = COLUMNS) -> pa.RecordBatch:
    """The chosen columns, on the memory that Rust filled."""
    arrays = [_array(columns, name) for name in names]
    return pa.record_batch(arrays, schema=pa.schema([SCHEMA.field(name) for name in names]))


@dataclass(frozen=True)
class Journal:
    """A journal by its place and its identity: another one in the same place is not it."""

    place: Place
    identity: str

    def open(self) -> Reader:
        """A reader of this journal and no other, whose offsets would mean other messages."""
        return self.place.open(self.identity)


def read_batches(
    journal: Journal,
    start: int,
    end: int,
    names: Sequence[str] = COLUMNS,
    *,
    rows_max: int = BATCH_ROWS_MAX,
) -> Iterator[pa.RecordBatch]:
    """The messages of a range, in batches of at most `rows_max` and BATCH_BYTES_MAX."""
    reader = journal.open()
    while start < end:
        columns = reader.read(start, min(end, start + rows_max), BATCH_BYTES_MAX)
        yield record_batch(columns, names)
        start = columns.end


def _array(columns: JournalColumns, name: str) -> pa.Array:
    buffers = [pa.py_buffer(buffer) for buffer in _BUFFERS[name](columns)]
    return pa.Array.from_buffers(SCHEMA.field(name).type, len(columns), [None, *buffers])
