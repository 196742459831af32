"""Columns that Rust filled, as Arrow arrays on the same memory."""

from collections.abc import Sequence

import pyarrow as pa

from slipring.native import Buffer

NativeColumn = Sequence[Buffer | None] | None
"""The buffers in Arrow's order; None if no row has a value."""


def arrow_array(kind: pa.DataType, rows: int, column: NativeColumn) -> pa.Array:
    """A column of so many rows; no value is copied."""
    if column is None:
        return pa.nulls(rows, kind)
    buffers = [None if buffer is None else pa.py_buffer(buffer) for buffer in column]
    return pa.Array.from_buffers(kind, rows, buffers)
