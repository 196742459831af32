"""Samples of one parameter summed up by buckets of time, and put together again. Pure.

Putting together does not depend on the order: the least of two least values is the least of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]
Floats = NDArray[np.float64]
Values = NDArray[Any]
"""Numbers, or texts as objects."""


@dataclass(frozen=True)
class Buckets:
    """Columns, ascending by start; each bucket has at least one sample."""

    start_ns: Times
    count: Times
    low: Values
    high: Values
    first: Values
    first_ns: Times
    last: Values
    last_ns: Times

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def samples(self) -> int:
        """All samples of all buckets."""
        return int(self.count.sum())

    @property
    def newest_ns(self) -> int:
        """The time of the newest sample; 0 without any."""
        return int(self.last_ns.max()) if len(self) else 0

    @classmethod
    def none(cls) -> "Buckets":
        """No bucket at all."""
        times, values = np.empty(0, np.int64), np.empty(0, np.float64)
        return cls(times, times, values, values, values, times, values, times)

    @classmethod
    def of_samples(cls, times_ns: Times, values: Values, step_ns: int) -> "Buckets":
        """Samples as they came; of those at one time, the one that came last is the last."""
        order = np.argsort(times_ns, kind="stable")
        times, sorted_ = times_ns[order], values[order]
        ones = np.ones(len(times), np.int64)
        single = cls(times, ones, sorted_, sorted_, sorted_, times, sorted_, times)
        return single.coarser(step_ns)

    def coarser(self, step_ns: int) -> "Buckets":
        """The same in longer buckets. Rows may be in any order and of any length that divides."""
        return put_together([self], step_ns)

    def between(self, from_ns: int, to_ns: int) -> "Buckets":
        """The buckets that begin in [from, to)."""
        first, end = np.searchsorted(self.start_ns, (from_ns, to_ns))
        return self.rows(slice(first, end))

    def singles(self) -> tuple[Times, Values] | None:
        """Every sample, if the buckets know them: none has more than two."""
        if len(self) and self.count.max() > 2:
            return None
        twice = self.count == 2
        times = np.concatenate([self.first_ns, self.last_ns[twice]])
        values = np.concatenate([self.first, self.last[twice]])
        order = np.argsort(times, kind="stable")
        return times[order], values[order]

    def rows(self, rows: "slice | NDArray[np.bool_]") -> "Buckets":
        """Some of the buckets."""
        return Buckets(*(column[rows] for column in self.columns()))

    def columns(self) -> tuple[Values, ...]:
        return (
            self.start_ns, self.count, self.low, self.high, self.first, self.first_ns, self.last,
            self.last_ns,
        )  # fmt: skip


def put_together(parts: Sequence[Buckets], step_ns: int) -> Buckets:
    """All samples of the parts in buckets of one length; no sample may be in two parts.

    Of two last samples at the same time that of the later part counts; of first ones the earlier.
    """
    given = [one for one in parts if len(one)]
    if not given:
        return Buckets.none()
    start, count, low, high, first, first_ns, last, last_ns = (
        np.concatenate(column) for column in zip(*(one.columns() for one in given), strict=True)
    )
    start = start // step_ns * step_ns
    by_first = np.lexsort((first_ns, start))
    begins = _begins(start[by_first])
    by_last = np.lexsort((last_ns, start))
    ends = np.append(begins[1:], len(start)) - 1
    is_text = low.dtype == object
    return Buckets(
        start[by_first][begins],
        np.add.reduceat(count[by_first], begins),
        first[by_first][begins] if is_text else np.minimum.reduceat(low[by_first], begins),
        first[by_first][begins] if is_text else np.maximum.reduceat(high[by_first], begins),
        first[by_first][begins],
        first_ns[by_first][begins],
        last[by_last][ends],
        last_ns[by_last][ends],
    )


def _begins(sorted_: Times) -> Times:
    """The rows at which a new value begins."""
    return np.flatnonzero(np.concatenate([[True], sorted_[1:] != sorted_[:-1]]))
