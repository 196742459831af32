"""Rows at even times: each parameter has its last value at or before the time. Pure.

A cell is empty before the first sample, after a stale one, and when a parameter with a rate sent
nothing for so long that the broker would call it stale.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from slipring.errors import RecordingError
from slipring.frames.arrays import DTYPES, NO_TIME, Octets, Times, Values
from slipring.model import Kind, Parameter, Status
from slipring.recording.history.shape.export_columns import ColumnNumbers
from slipring.recording.history.shape.wide_rows import WideColumns, WideLayout, WideRows

STALE_PERIODS = 5
STALE_NS_MIN = 200_000_000
"""The broker's defaults."""
NS_PER_S = 1_000_000_000
NEVER_STALE = np.iinfo(np.int64).max

UNITS_NS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": NS_PER_S,
    "m": 60 * NS_PER_S,
    "h": 3600 * NS_PER_S,
}
STEP_NS_MAX = 365 * 24 * UNITS_NS["h"]

_STEP = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(ns|us|ms|s|m|h)")

Array = npt.NDArray[Any]


def parse_step(text: str) -> int:
    """The nanoseconds of a step as a person writes it: `100ms`, `1.5s`; or RecordingError."""
    found = _STEP.fullmatch(text.strip())
    step_ns = int(Decimal(found[1]) * UNITS_NS[found[2]]) if found else 0
    if not 0 < step_ns <= STEP_NS_MAX:
        raise RecordingError(
            f"{text!r} is not a step of time; write 100ms, 1s or 2m (ns, us, ms, s, m, h)"
        )
    return step_ns


@dataclass
class _LastSamples:
    """The last sample of each column of a kind."""

    columns: ColumnNumbers
    values: Values
    times: Times
    """NO_TIME before the first sample."""
    qualities: Octets
    stale_ns: Times
    """The age at which a value is stale."""


class TimeGrid:
    """Takes rows in the order of time, gives rows of the grid. Every grid contains the time 0.

    With a step of 10 and samples at 3 and 27, the rows are at 10 and 20, and `finish` adds 30.
    """

    def __init__(self, layout: WideLayout, step_ns: int) -> None:
        self._rows_max = layout.rows_max
        self._step_ns = step_ns
        self._next_ns: int | None = None
        self._last_ns = 0
        self._last = {kind: _before_the_first(layout, kind) for kind in layout.kinds}

    def add(self, rows: WideRows) -> Iterator[WideRows]:
        """The rows of the grid up to the last time of these rows."""
        if self._next_ns is None:
            self._next_ns = -(-int(rows.times[0]) // self._step_ns) * self._step_ns
        self._last_ns = int(rows.times[-1])
        held = [_Held(one.kind, self._last[one.kind], one, rows.times) for one in rows.by_kind]
        yield from self._rows(rows.times, held, self._last_ns)
        for one in held:
            one.store_last(self._last[one.kind])

    def finish(self) -> Iterator[WideRows]:
        """One row more, if the last samples came after the last row."""
        if self._next_ns is None or self._next_ns - self._step_ns >= self._last_ns:
            return
        times = np.empty(0, np.int64)
        held = [_Held(kind, last, None, times) for kind, last in self._last.items()]
        yield from self._rows(times, held, self._next_ns)

    def _rows(self, own: Times, held: "list[_Held]", last_ns: int) -> Iterator[WideRows]:
        assert self._next_ns is not None
        while self._next_ns <= last_ns:
            count = min(self._rows_max, (last_ns - self._next_ns) // self._step_ns + 1)
            times = self._next_ns + np.arange(count, dtype=np.int64) * self._step_ns
            rows = np.searchsorted(own, times, side="right")
            yield WideRows(times, [one.at(times, rows) for one in held])
            self._next_ns += count * self._step_ns


class _Held:
    """The last samples followed by new rows: row 0 is the last samples, row i + 1 new row i."""

    def __init__(
        self, kind: Kind, last: _LastSamples, new: WideColumns | None, times: Times
    ) -> None:
        self.kind = kind
        self._columns = last.columns
        self._stale_ns = last.stale_ns
        shape = (len(last.columns), len(times))
        none = np.zeros(shape, np.uint8)
        qualities = None if new is None else new.qualities
        self._has_qualities = qualities is not None or bool(last.qualities.any())
        self._values = _followed_by(last.values, none if new is None else new.values)
        self._times = _followed_by(last.times, np.broadcast_to(times, shape))
        self._qualities = _followed_by(last.qualities, none if qualities is None else qualities)
        filled = none.astype(np.bool_) if new is None else new.filled
        numbers = np.where(filled, np.arange(1, len(times) + 1), 0)
        # For each row, the last row at or before it that has a sample.
        self._sampled = np.maximum.accumulate(
            _followed_by(np.zeros(len(filled), np.int64), numbers), 1
        )

    def at(self, times: Times, rows: Times) -> WideColumns:
        """The grid's rows at `times`, each with what is held in one of these rows."""
        sampled = self._sampled[:, rows]
        sample_times = np.take_along_axis(self._times, sampled, 1)
        is_known = sample_times != NO_TIME
        ages = times - np.where(is_known, sample_times, times)
        qualities = np.take_along_axis(self._qualities, sampled, 1)
        is_fresh = (ages <= self._stale_ns[:, None]) & (qualities >> 6 != Status.STALE)
        return WideColumns(
            self.kind,
            self._columns,
            np.take_along_axis(self._values, sampled, 1),
            is_known & is_fresh,
            qualities if self._has_qualities else None,
        )

    def store_last(self, last: _LastSamples) -> None:
        """Store the samples of the last row."""
        sampled = self._sampled[:, -1:]
        last.values = np.take_along_axis(self._values, sampled, 1)[:, 0]
        last.times = np.take_along_axis(self._times, sampled, 1)[:, 0]
        last.qualities = np.take_along_axis(self._qualities, sampled, 1)[:, 0]


def _followed_by(first: Array, others: Array) -> Array:
    return np.concatenate([first[:, None], others.astype(first.dtype, copy=False)], 1)


def _before_the_first(layout: WideLayout, kind: Kind) -> _LastSamples:
    columns = layout.kinds[kind]
    count = len(columns)
    parameters = (layout.columns.columns[number].entry.parameter for number in columns)
    return _LastSamples(
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
