"""Samples as a table with a row for each time and a column for each parameter, as arrays. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from slipring.frames.arrays import DTYPES, Octets, Times, Values
from slipring.model import Kind
from slipring.recording.history.chosen import Chosen, Numbers
from slipring.recording.history.samples import Samples, joined

CELLS_BYTES_MAX = 64 << 20
"""In memory at once."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Sheet:
    """The columns of one kind; an array has a row for each of them, so that each is contiguous."""

    kind: Kind
    columns: Numbers
    """Which columns of the export they are, ascending."""
    values: Values
    filled: Mask
    qualities: Octets | None
    """None where every sample is good."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Some rows."""

    times: Times
    """Ascending; each once."""
    sheets: list[Sheet]

    @property
    def filled(self) -> int:
        """Cells with a sample."""
        return sum(int(np.count_nonzero(sheet.filled)) for sheet in self.sheets)


class Layout:
    """Which sheets there are, and how many rows fit into memory."""

    def __init__(self, chosen: Chosen, not_good: Mask) -> None:
        self.chosen = chosen
        kinds = np.array([column.kind for column in chosen.columns], np.uint8)
        self.kinds = {
            Kind(int(kind)): np.flatnonzero(kinds == kind).astype(np.int32)
            for kind in np.unique(kinds)
        }
        """The columns of each kind."""
        self.not_good = not_good
        places: Numbers = np.zeros(len(chosen), np.int32)
        for columns in self.kinds.values():
            places[columns] = np.arange(len(columns))
        self._places = places

    @property
    def rows_max(self) -> int:
        """Rows that are made at once."""
        widths = (len(each) * (2 + DTYPES[kind].itemsize) for kind, each in self.kinds.items())
        return max(1, CELLS_BYTES_MAX // max(1, sum(widths)))

    def blocks(self, parts: Sequence[Samples]) -> Iterator[Cells]:
        """Every row of these samples; the last sample of a parameter at a time stays."""
        if not parts:
            return
        whole = joined(parts)
        times = np.unique(np.concatenate([part.times for part in whole]))
        for start in range(0, len(times), self.rows_max):
            rows = times[start : start + self.rows_max]
            is_all = len(rows) == len(times)
            yield self._cells(rows, whole if is_all else [_between(one, rows) for one in whole])

    def _cells(self, times: Times, whole: list[Samples]) -> Cells:
        by_kind = {part.kind: part for part in whole}
        return Cells(times, [self._sheet(kind, times, by_kind.get(kind)) for kind in self.kinds])

    def _sheet(self, kind: Kind, times: Times, samples: Samples | None) -> Sheet:
        columns = self.kinds[kind]
        shape = (len(columns), len(times))
        values = np.zeros(shape, DTYPES[kind])
        filled = np.zeros(shape, np.bool_)
        flawed = self.not_good[columns].any()
        qualities = np.zeros(shape, np.uint8) if flawed else None
        if samples is not None and len(samples):
            places = self._places[self.chosen.places(samples.indices)]
            rows = np.searchsorted(times, samples.times)
            values[places, rows] = samples.values
            filled[places, rows] = True
            if qualities is not None:
                qualities[places, rows] = samples.qualities
        return Sheet(kind, columns, values, filled, qualities)


def _between(samples: Samples, times: Times) -> Samples:
    return samples.take((samples.times >= times[0]) & (samples.times <= times[-1]))
