"""Rows at even times: each parameter has its last value at or before the time. Pure.

A cell is empty before the first sample, where the last one is stale, and where a parameter with a
rate was silent for so long that the broker would call it stale.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from slipring.frames.arrays import DTYPES, NO_TIME, Octets, Times, Values
from slipring.model import Kind, Parameter, Status
from slipring.recording.history.cells import Cells, Layout, Sheet
from slipring.recording.history.chosen import Numbers

STALE_PERIODS = 5
STALE_NS_MIN = 200_000_000
"""As the broker has it unless it is told otherwise."""
NS_PER_S = 1_000_000_000
NEVER_STALE = np.iinfo(np.int64).max

Array = npt.NDArray[Any]


@dataclass
class _Kept:
    """The last sample of each column of a kind; a row each."""

    columns: Numbers
    values: Values
    times: Times
    """NO_TIME before the first sample."""
    qualities: Octets
    stale_ns: Times
    """The age at which a value is stale."""


class Grid:
    """Takes rows in the order of time, gives rows of the grid. Every grid has the time 0 in it."""

    def __init__(self, layout: Layout, step_ns: int) -> None:
        self._rows_max = layout.rows_max
        self._step_ns = step_ns
        self._next_ns: int | None = None
        self._last_ns = 0
        self._kept = {kind: _nothing_kept(layout, kind) for kind in layout.kinds}

    def add(self, cells: Cells) -> Iterator[Cells]:
        """The rows of the grid from behind the last one to the last time of these rows."""
        if self._next_ns is None:
            self._next_ns = -(-int(cells.times[0]) // self._step_ns) * self._step_ns
        self._last_ns = int(cells.times[-1])
        joined = [self._joined(sheet, cells.times) for sheet in cells.sheets]
        yield from self._rows(cells.times, joined, self._last_ns)
        for one in joined:
            one.keep(self._kept[one.kind])

    def finish(self) -> Iterator[Cells]:
        """One row more, where the last samples came behind the last row."""
        if self._next_ns is None or self._next_ns - self._step_ns >= self._last_ns:
            return
        times = np.empty(0, np.int64)
        joined = [_Joined(kind, kept, None, times) for kind, kept in self._kept.items()]
        yield from self._rows(times, joined, self._next_ns)

    def _joined(self, sheet: Sheet, times: Times) -> "_Joined":
        return _Joined(sheet.kind, self._kept[sheet.kind], sheet, times)

    def _rows(self, own: Times, joined: "list[_Joined]", last_ns: int) -> Iterator[Cells]:
        assert self._next_ns is not None
        while self._next_ns <= last_ns:
            count = min(self._rows_max, (last_ns - self._next_ns) // self._step_ns + 1)
            times = self._next_ns + np.arange(count, dtype=np.int64) * self._step_ns
            rows = np.searchsorted(own, times, side="right")
            yield Cells(times, [one.sheet(times, rows) for one in joined])
            self._next_ns += count * self._step_ns


class _Joined:
    """A sheet behind what was kept: row 0 is the kept samples, row i + 1 the sheet's row i."""

    def __init__(self, kind: Kind, kept: _Kept, sheet: Sheet | None, times: Times) -> None:
        self.kind = kind
        self._columns = kept.columns
        self._stale_ns = kept.stale_ns
        shape = (len(kept.columns), len(times))
        none = np.zeros(shape, np.uint8)
        flawed = None if sheet is None else sheet.qualities
        self._has_qualities = flawed is not None or bool(kept.qualities.any())
        self._values = _behind(kept.values, none if sheet is None else sheet.values)
        self._times = _behind(kept.times, np.broadcast_to(times, shape))
        self._qualities = _behind(kept.qualities, none if flawed is None else flawed)
        filled = none.astype(np.bool_) if sheet is None else sheet.filled
        numbers = np.where(filled, np.arange(1, len(times) + 1), 0)
        # The last row at or before each that has a sample.
        self._last = np.maximum.accumulate(_behind(np.zeros(len(filled), np.int64), numbers), 1)

    def sheet(self, times: Times, rows: Times) -> Sheet:
        """The grid's rows; `rows` says behind which row each of its times is."""
        last = self._last[:, rows]
        sampled = np.take_along_axis(self._times, last, 1)
        is_known = sampled != NO_TIME
        ages = times - np.where(is_known, sampled, times)
        qualities = np.take_along_axis(self._qualities, last, 1)
        is_fresh = (ages <= self._stale_ns[:, None]) & (qualities >> 6 != Status.STALE)
        return Sheet(
            self.kind,
            self._columns,
            np.take_along_axis(self._values, last, 1),
            is_known & is_fresh,
            qualities if self._has_qualities else None,
        )

    def keep(self, kept: _Kept) -> None:
        """Keep the last samples."""
        last = self._last[:, -1:]
        kept.values = np.take_along_axis(self._values, last, 1)[:, 0]
        kept.times = np.take_along_axis(self._times, last, 1)[:, 0]
        kept.qualities = np.take_along_axis(self._qualities, last, 1)[:, 0]


def _behind(first: Array, others: Array) -> Array:
    return np.concatenate([first[:, None], others.astype(first.dtype, copy=False)], 1)


def _nothing_kept(layout: Layout, kind: Kind) -> _Kept:
    columns = layout.kinds[kind]
    count = len(columns)
    parameters = (layout.chosen.columns[place].entry.parameter for place in columns)
    return _Kept(
        columns,
        np.zeros(count, DTYPES[kind]),
        np.full(count, NO_TIME),
        np.zeros(count, np.uint8),
        np.array([_stale_ns(parameter) for parameter in parameters], np.int64),
    )


def _stale_ns(parameter: Parameter) -> int:
    if parameter.rate_hz is None:
        return NEVER_STALE
    return max(STALE_NS_MIN, min(int(STALE_PERIODS * NS_PER_S / parameter.rate_hz), NEVER_STALE))
