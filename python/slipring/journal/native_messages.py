"""Messages as Arrow columns that Rust takes: to publish them, or to append them to a journal."""

from typing import Any

import pyarrow as pa

from slipring.native import Messages

# `flags` is the QoS, plus 4 for a retained message.
MESSAGES = pa.schema(
    [
        pa.field("receive_ns", pa.int64(), nullable=False),
        pa.field("publisher", pa.string(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("flags", pa.uint8(), nullable=False),
        pa.field("properties", pa.binary(), nullable=False),
        pa.field("payload", pa.binary(), nullable=False),
    ]
)
RETAIN_FLAG = 4


def to_native(batch: pa.RecordBatch) -> Messages:
    """Hand MESSAGES to Rust."""
    buffers: dict[str, Any] = {}
    for name in MESSAGES.names:
        column = _unsliced(batch.column(name))
        # Texts and bytes have two buffers: offsets and contents.
        is_number = pa.types.is_integer(column.type)
        buffers[name] = _bytes(column, 1) if is_number else (_bytes(column, 1), _bytes(column, 2))
    return Messages(batch.num_rows, **buffers)


def _unsliced(array: pa.Array) -> pa.Array:
    """The same values in buffers that begin with the first one."""
    return array if array.offset == 0 else pa.concat_arrays([array, array[:0]])


def _bytes(array: pa.Array, index: int) -> bytes:
    buffer = array.buffers()[index]
    if buffer is not None and buffer.size:
        content: bytes = buffer.to_pybytes()
        return content
    return bytes(4)
