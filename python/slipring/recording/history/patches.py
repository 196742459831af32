"""Samples that go into frames: parameters of one kind that have values at the same times. Pure."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from slipring.frames.arrays import DTYPES, Indices, Octets, Times, Values
from slipring.model import Kind
from slipring.native import encode_frame
from slipring.recording.history.cells import Cells, Sheet
from slipring.recording.history.chosen import Numbers

FRAME_BYTES = 128 << 10
"""About what a frame has at most; one row of one parameter may be more."""


class Patch(NamedTuple):
    """A row for each time, a column for each parameter; no cell is empty."""

    kind: Kind
    columns: Numbers
    """Which of the parameters they are."""
    times: Times
    values: Values
    qualities: Octets | None
    """None where all are good."""


def patches(cells: Cells) -> Iterator[Patch]:
    """The samples in these rows: columns that are filled in the same rows go together."""
    for sheet in cells.sheets:
        if sheet.filled.all():
            yield _patch(sheet, cells.times, np.arange(len(sheet.columns)), slice(None))
            continue
        patterns, which = np.unique(sheet.filled, axis=0, return_inverse=True)
        for number, rows in enumerate(patterns):
            if rows.any():
                yield _patch(sheet, cells.times, np.flatnonzero(which == number), rows)


def _patch(sheet: Sheet, times: Times, members: Times, rows: Any) -> Patch:
    qualities = None if sheet.qualities is None else sheet.qualities[members][:, rows].T
    if qualities is not None and not qualities.any():
        qualities = None
    values = sheet.values[members][:, rows].T
    return Patch(sheet.kind, sheet.columns[members], times[rows], values, qualities)


class Frames:
    """Makes frames of one sender."""

    def __init__(self, indices: Indices, table: int) -> None:
        """`indices` are those of the parameters in the broker's table."""
        self._indices = indices
        self._table = table
        self._sequence = 0

    def of(self, parts: Sequence[Patch], sent_ns: int) -> Iterator[bytes]:
        """All of these samples, in frames that are not too large."""
        runs: list[Any] = []
        size = 0
        for patch in (piece for part in parts for piece in _cut(part)):
            if runs and size + _bytes(patch) > FRAME_BYTES:
                yield self._frame(runs, sent_ns)
                runs, size = [], 0
            runs.append(self._run(patch))
            size += _bytes(patch)
        if runs:
            yield self._frame(runs, sent_ns)

    def _frame(self, runs: list[Any], sent_ns: int) -> bytes:
        self._sequence = (self._sequence + 1) & 0xFFFF_FFFF
        return encode_frame(runs, table=self._table, sequence=self._sequence, sent_ns=sent_ns)

    def _run(self, patch: Patch) -> Any:
        indices = self._indices[patch.columns]
        order = np.argsort(indices)
        qualities = 0 if patch.qualities is None else _whole(patch.qualities[:, order])
        values = _encoded(patch.kind, patch.values[:, order])
        return ("grid", int(patch.kind), indices[order], _whole(patch.times), values, qualities)


def _cut(patch: Patch) -> Iterator[Patch]:
    """Pieces that fit into a frame, earlier rows first. In a run no time goes back."""
    width = _width(patch)
    columns = max(1, FRAME_BYTES // width)
    back = [0, *(np.flatnonzero(np.diff(patch.times) < 0) + 1).tolist(), len(patch.times)]
    for left in range(0, len(patch.columns), columns):
        some = slice(left, left + columns)
        rows = max(1, FRAME_BYTES // (width * len(patch.columns[some])))
        for start, end in pairwise(back):
            for top in range(start, end, rows):
                yield _piece(patch, slice(top, min(end, top + rows)), some)


def _piece(patch: Patch, rows: slice, columns: slice) -> Patch:
    return Patch(
        patch.kind,
        patch.columns[columns],
        patch.times[rows],
        patch.values[rows, columns],
        None if patch.qualities is None else patch.qualities[rows, columns],
    )


def _width(patch: Patch) -> int:
    """The bytes of the longest value."""
    if patch.kind.is_fixed:
        return DTYPES[patch.kind].itemsize
    return 1 + max(len(one.encode() if isinstance(one, str) else one) for one in patch.values.flat)


def _bytes(patch: Patch) -> int:
    return patch.values.size * _width(patch)


def _whole(array: Any) -> Any:
    return np.ascontiguousarray(array)


def _encoded(kind: Kind, values: Values) -> Any:
    if not kind.is_fixed:
        return values.ravel().tolist()
    if kind is Kind.BOOL:
        return np.packbits(values, axis=-1, bitorder="little")
    return np.ascontiguousarray(values)
