"""The journal's messages as Arrow record batches. Knows Arrow; must never import pyspark."""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from slipring.errors import JournalError
from slipring.native import Buffer, JournalColumns, JournalReader

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
    ]
)
COLUMNS: tuple[str, ...] = tuple(SCHEMA.names)

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
}


def record_batch(columns: JournalColumns, names: Sequence[str] = COLUMNS) -> pa.RecordBatch:
    """The chosen columns, on the memory that Rust filled."""
    arrays = [_array(columns, name) for name in names]
    return pa.record_batch(arrays, schema=pa.schema([SCHEMA.field(name) for name in names]))


def read_batches(
    path: str,
    journal: str,
    start: int,
    end: int,
    names: Sequence[str] = COLUMNS,
    rows_max: int = BATCH_ROWS_MAX,
    bytes_max: int = BATCH_BYTES_MAX,
) -> Iterator[pa.RecordBatch]:
    """The messages of a range, from the journal with identity `journal` and no other."""
    reader = JournalReader(path)
    check_journal(path, expected=journal, found=reader.identity)
    while start < end:
        columns = reader.read(start, min(end, start + rows_max), bytes_max)
        yield record_batch(columns, names)
        start = columns.end


def check_journal(path: str, *, expected: str, found: str) -> None:
    """Refuse another journal: its offsets mean other messages."""
    if expected != found:
        raise JournalError(
            f"{path} holds journal {found}, but the stream was reading journal {expected}; "
            "give it back its journal, or begin with a new checkpoint"
        )


def _array(columns: JournalColumns, name: str) -> pa.Array:
    buffers = [pa.py_buffer(buffer) for buffer in _BUFFERS[name](columns)]
    return pa.Array.from_buffers(SCHEMA.field(name).type, len(columns), [None, *buffers])
