"""Samples without gaps: parameters of one kind that have values at the same times. Pure."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from slipring.frames.arrays import Octets, Times, Values
from slipring.model import Kind
from slipring.recording.history.shape.export_columns import ColumnNumbers
from slipring.recording.history.shape.wide_rows import WideColumns, WideRows


class DenseBlock(NamedTuple):
    """A row for each time, a column for each parameter; no cell is empty."""

    kind: Kind
    columns: ColumnNumbers
    """The number of each parameter among the imported ones."""
    times: Times
    values: Values
    qualities: Octets | None
    """None if all samples are good."""


def dense_blocks(rows: WideRows) -> Iterator[DenseBlock]:
    """These rows without their empty cells: columns filled in the same rows form a block."""
    for columns in rows.by_kind:
        if columns.filled.all():
            yield _block(columns, rows.times, np.arange(len(columns.columns)), slice(None))
            continue
        patterns, which = np.unique(columns.filled, axis=0, return_inverse=True)
        for number, filled in enumerate(patterns):
            if filled.any():
                yield _block(columns, rows.times, np.flatnonzero(which == number), filled)


def _block(columns: WideColumns, times: Times, members: Times, rows: Any) -> DenseBlock:
    qualities = None if columns.qualities is None else columns.qualities[members][:, rows].T
    if qualities is not None and not qualities.any():
        qualities = None
    values = columns.values[members][:, rows].T
    return DenseBlock(columns.kind, columns.columns[members], times[rows], values, qualities)
