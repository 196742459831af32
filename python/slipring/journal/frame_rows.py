"""The frames of a journal as Arrow record batches: a row for each (D1)."""

from collections.abc import Iterator

import pyarrow as pa

from slipring.journal.columns import record_batch
from slipring.journal.location import Journal
from slipring.journal.native_columns import arrow_array
from slipring.journal.undamaged import undamaged
from slipring.native import frame_columns

_TIME = pa.timestamp("us", tz="UTC")

SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("receive_time", _TIME, nullable=False),
        pa.field("receive_ns", pa.int64(), nullable=False),
        pa.field("publisher", pa.string(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("table", pa.int64(), nullable=False),
        pa.field("sequence", pa.int64(), nullable=False),
        pa.field("sent_ns", pa.int64(), nullable=False),
        pa.field("published_ns", pa.int64()),
        pa.field("received_ns", pa.int64()),
        pa.field("skew_ns", pa.int64()),
        pa.field("runs", pa.int32(), nullable=False),
        pa.field("samples", pa.int32(), nullable=False),
        pa.field("parameters", pa.int32(), nullable=False),
        pa.field("bytes", pa.int32(), nullable=False),
        pa.field("raw_bytes", pa.int32(), nullable=False),
    ]
)
COLUMNS: tuple[str, ...] = tuple(SCHEMA.names)
_OF_MESSAGE = ("offset", "receive_time", "receive_ns", "publisher", "topic")
READ_BYTES = 16 << 20


def read_frames(
    journal: Journal, start: int, end: int, names: tuple[str, ...] = COLUMNS
) -> Iterator[pa.RecordBatch]:
    """The frames of the offsets [start, end). What cannot be read as a frame has no row."""
    for _, messages in undamaged(journal.open(), start, end, READ_BYTES):
        rows, columns, _ = frame_columns(messages)
        positions = arrow_array(pa.int32(), rows, columns["message"])
        of_message = record_batch(messages, _OF_MESSAGE).take(positions)
        arrays = [
            of_message.column(name)
            if name in _OF_MESSAGE
            else arrow_array(SCHEMA.field(name).type, rows, columns[name])
            for name in names
        ]
        yield pa.record_batch(arrays, schema=pa.schema([SCHEMA.field(name) for name in names]))
