"""Samples as a wide table: a row for each source time, a column for each parameter. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from slipring.frames.arrays import DTYPES, Octets, Times, Values
from slipring.model import Kind
from slipring.recording.history.shape.export_columns import ColumnNumbers, ExportColumns
from slipring.recording.history.shape.recorded_samples import Mask, RecordedSamples, joined

ROWS_BYTES_MAX = 64 << 20
"""The memory of the rows that are made at once."""


@dataclass(frozen=True, eq=False)
class WideColumns:
    """All columns of one kind. Axis 0 of each array is the column, so that each is contiguous."""

    kind: Kind
    columns: ColumnNumbers
    """Their numbers in the table, ascending."""
    values: Values
    filled: Mask
    """Whether the cell has a sample."""
    qualities: Octets | None
    """None if every sample is good."""


@dataclass(frozen=True, eq=False)
class WideRows:
    """Some rows of a wide table."""

    times: Times
    """The source time of each row: ascending, each once."""
    by_kind: list[WideColumns]

    @property
    def filled(self) -> int:
        """How many cells have a sample."""
        return sum(int(np.count_nonzero(columns.filled)) for columns in self.by_kind)


class WideLayout:
    """Which columns a wide table has, by kind, and how many rows fit into memory."""

    def __init__(self, columns: ExportColumns, not_good: Mask) -> None:
        """`not_good` says which columns have samples that are not good."""
        self.columns = columns
        kinds = np.array([column.kind for column in columns.columns], np.uint8)
        self.kinds: dict[Kind, ColumnNumbers] = {
            Kind(int(kind)): np.flatnonzero(kinds == kind).astype(np.int32)
            for kind in np.unique(kinds)
        }
        """The column numbers of each kind."""
        self.not_good = not_good
        within: ColumnNumbers = np.zeros(len(columns), np.int32)
        for numbers in self.kinds.values():
            within[numbers] = np.arange(len(numbers))
        self._within_kind = within

    @property
    def rows_max(self) -> int:
        """How many rows are made at once."""
        widths = (len(each) * (2 + DTYPES[kind].itemsize) for kind, each in self.kinds.items())
        return max(1, ROWS_BYTES_MAX // max(1, sum(widths)))

    def rows(self, parts: Sequence[RecordedSamples]) -> Iterator[WideRows]:
        """These samples as rows. Of two samples of a parameter at one time the last one stays."""
        if not parts:
            return
        joint = joined(parts)
        times = np.unique(np.concatenate([part.times for part in joint]))
        for start in range(0, len(times), self.rows_max):
            some = times[start : start + self.rows_max]
            is_all = len(some) == len(times)
            yield self._rows(some, joint if is_all else [_between(one, some) for one in joint])

    def _rows(self, times: Times, joint: list[RecordedSamples]) -> WideRows:
        parts = {part.kind: part for part in joint}
        return WideRows(times, [self._columns(kind, times, parts.get(kind)) for kind in self.kinds])

    def _columns(self, kind: Kind, times: Times, samples: RecordedSamples | None) -> WideColumns:
        columns = self.kinds[kind]
        shape = (len(columns), len(times))
        values = np.zeros(shape, DTYPES[kind])
        filled = np.zeros(shape, np.bool_)
        has_qualities = self.not_good[columns].any()
        qualities = np.zeros(shape, np.uint8) if has_qualities else None
        if samples is not None and len(samples):
            within = self._within_kind[self.columns.numbers(samples.indices)]
            rows = np.searchsorted(times, samples.times)
            values[within, rows] = samples.values
            filled[within, rows] = True
            if qualities is not None:
                qualities[within, rows] = samples.qualities
        return WideColumns(kind, columns, values, filled, qualities)


def _between(samples: RecordedSamples, times: Times) -> RecordedSamples:
    return samples.take((samples.times >= times[0]) & (samples.times <= times[-1]))
