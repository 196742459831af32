"""Blocks of samples as frames of one sender. Pure."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from slipring.frames.arrays import DTYPES, Indices, Octets, Times, Values, as_written
from slipring.model import Kind
from slipring.native import encode_frame
from slipring.recording.history.shape.dense_block import DenseBlock

FRAME_BYTES = 128 << 10
"""About the largest frame; one row of one parameter may be larger."""

GridRun = tuple[Literal["grid"], int, Indices, Times, Any, int | Octets]
"""A grid run as `encode_frame` takes it."""


class FrameEncoder:
    """Numbers the frames of one sender."""

    def __init__(self, table: int) -> None:
        self.table = table
        """The identity of the broker's table."""
        self._sequence = 0

    def frame(self, runs: list[GridRun], sent_ns: int, *, deflate: bool = False) -> bytes:
        """One frame with these runs."""
        self._sequence = (self._sequence + 1) & 0xFFFF_FFFF
        return encode_frame(
            runs, table=self.table, sequence=self._sequence, sent_ns=sent_ns, deflate=deflate
        )

    def frames(
        self, blocks: Sequence[DenseBlock], indices: Indices, sent_ns: int
    ) -> Iterator[bytes]:
        """All samples of these blocks in frames of about FRAME_BYTES at most.

        `indices` are those of the parameters in the broker's table, by column number.
        """
        runs: list[GridRun] = []
        size = 0
        for block in (piece for whole in blocks for piece in _cut(whole)):
            if runs and size + _bytes(block) > FRAME_BYTES:
                yield self.frame(runs, sent_ns)
                runs, size = [], 0
            runs.append(_run(block, indices[block.columns]))
            size += _bytes(block)
        if runs:
            yield self.frame(runs, sent_ns)


def grid_run(
    kind: Kind, indices: Indices, times: Times, values: Values, qualities: int | Octets
) -> GridRun:
    """A grid run; the columns of `values` are in ascending order of the indices."""
    same = qualities if isinstance(qualities, int) else np.ascontiguousarray(qualities)
    contiguous = np.ascontiguousarray(indices), np.ascontiguousarray(times)
    return ("grid", int(kind), *contiguous, as_written(kind, values), same)


def _run(block: DenseBlock, indices: Indices) -> GridRun:
    order = np.argsort(indices)
    qualities = 0 if block.qualities is None else block.qualities[:, order]
    return grid_run(block.kind, indices[order], block.times, block.values[:, order], qualities)


def _cut(block: DenseBlock) -> Iterator[DenseBlock]:
    """Pieces that fit into a frame, earlier rows first. In a run no time goes back."""
    width = _width(block)
    columns = max(1, FRAME_BYTES // width)
    back = [0, *(np.flatnonzero(np.diff(block.times) < 0) + 1).tolist(), len(block.times)]
    for left in range(0, len(block.columns), columns):
        some = slice(left, left + columns)
        rows = max(1, FRAME_BYTES // (width * len(block.columns[some])))
        for start, end in pairwise(back):
            for top in range(start, end, rows):
                yield _piece(block, slice(top, min(end, top + rows)), some)


def _piece(block: DenseBlock, rows: slice, columns: slice) -> DenseBlock:
    return DenseBlock(
        block.kind,
        block.columns[columns],
        block.times[rows],
        block.values[rows, columns],
        None if block.qualities is None else block.qualities[rows, columns],
    )


def _width(block: DenseBlock) -> int:
    """The bytes of the longest value."""
    if block.kind.is_fixed:
        return DTYPES[block.kind].itemsize
    return 1 + max(len(one.encode() if isinstance(one, str) else one) for one in block.values.flat)


def _bytes(block: DenseBlock) -> int:
    return block.values.size * _width(block)
