"""One run of a frame: samples of parameters of one kind, as arrays. docs/frames.md is the format.

The three layouts of a run differ in which arrays are short; its methods are the same for all.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from slipring.frames.arrays import Floats, Indices, Octets, Times, Values
from slipring.model import Kind, Quality, Value


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Samples as they are written: row after row; or ragged, parameter after parameter."""

    kind: Kind
    indices: Indices
    """The parameters, ascending."""
    times: Times
    """One for each row; for each sample in a ragged run."""
    counts: Indices | None
    """How many samples each parameter has in a ragged run; None in rows."""
    qualities: Octets
    """One for all, or one for each sample."""
    values: Values
    """One for each sample; texts and byte strings as Python's objects."""

    def __len__(self) -> int:
        return len(self.times) * (len(self.indices) if self.counts is None else 1)

    def sample_indices(self) -> Indices:
        """The parameter of each sample."""
        if self.counts is None:
            return np.tile(self.indices, len(self.times))
        return np.repeat(self.indices, self.counts)

    def sample_times(self) -> Times:
        """The source time of each sample."""
        if self.counts is None:
            return np.repeat(self.times, len(self.indices))
        return self.times

    def sample_qualities(self) -> Octets:
        """The quality of each sample, as its byte."""
        return np.broadcast_to(self.qualities, (len(self),))

    def sample_numbers(self) -> Floats:
        """The value of each sample as a float; NaN for texts and bytes."""
        if self.kind.is_fixed:
            return self.values.astype(np.float64)
        return np.full(len(self), np.nan)

    def newest_ns(self) -> int:
        """Its newest source time; rows ascend."""
        return int(self.times[-1] if self.counts is None else self.times.max())

    def newest(self) -> "slice | Times":
        """The positions of the last sample of each parameter."""
        if self.counts is None:
            return slice(len(self) - len(self.indices), None)
        return np.cumsum(self.counts, dtype=np.int64) - 1

    def column(self, index: int) -> int | None:
        """The position of a parameter among those of the run; None if it has none."""
        column = int(np.searchsorted(self.indices, index))
        found = column < len(self.indices) and self.indices[column] == index
        return column if found else None

    def columns(self, indices: Indices) -> tuple[Times, Times]:
        """Which of these parameters the run has, and their positions among those of the run."""
        columns = np.searchsorted(self.indices, indices)
        columns[columns == len(self.indices)] = 0
        wanted = np.flatnonzero(self.indices[columns] == indices)
        return wanted, columns[wanted]

    def span(self, column: int) -> slice:
        """Which samples are of the parameter at this position."""
        if self.counts is None:
            return slice(column, None, len(self.indices))
        end = int(self.counts[: column + 1].sum(dtype=np.int64))
        return slice(end - int(self.counts[column]), end)

    def part(self, column: int) -> Self:
        """A run with the samples of one parameter alone."""
        span = self.span(column)
        one = len(self.qualities) == 1
        return type(self)(
            self.kind,
            self.indices[column : column + 1],
            self.times if self.counts is None else self.times[span],
            None,
            self.qualities if one else self.qualities[span],
            self.values[span],
        )

    def last(self, column: int) -> tuple[Value, int, Quality]:
        """The last value of a parameter, its time and its quality."""
        position = range(len(self))[self.span(column)][-1]
        row = position if self.counts is not None else position // len(self.indices)
        quality = self.qualities[0 if len(self.qualities) == 1 else position]
        value: Value = self.values.item(position)
        return value, int(self.times[row]), Quality.of_byte(int(quality))
