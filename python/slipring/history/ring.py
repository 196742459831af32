"""The newest buckets of some parameters, in memory of a fixed size. Pure.

A sample may be added twice, from the table and from the journal: least, greatest and last value
stay the same. So there is no count.
"""

from dataclasses import dataclass

import numpy as np

from slipring.history.buckets import Buckets, Floats, Times

NEVER_NS = np.iinfo(np.int64).min


@dataclass(frozen=True)
class RingRows:
    """Parts of buckets; `place` is the row of a parameter in the ring."""

    place: Times
    start_ns: Times
    low: Floats
    high: Floats
    last: Floats
    last_ns: Times

    def only(self, chosen: Times) -> "RingRows":
        """Some of them."""
        return RingRows(*(column[chosen] for column in self._columns()))

    def _columns(self) -> tuple[np.ndarray, ...]:
        return self.place, self.start_ns, self.low, self.high, self.last, self.last_ns


class BucketRing:
    """Buckets of one length. When time goes on, the oldest make room."""

    def __init__(self, step_ns: int, slots: int, places: int) -> None:
        """Memory that no parameter uses is not touched."""
        self.step_ns = step_ns
        self.slots = slots
        shape = (places, slots)
        self._low, self._high, self._last = (np.empty(shape) for _ in range(3))
        self._last_ns = np.empty(shape, np.int64)
        self._revision = np.empty(shape, np.int32)
        self._head = 0
        """The number of the newest bucket, counted from 1970."""

    @property
    def oldest_ns(self) -> int:
        """Where the oldest bucket begins that it holds."""
        return (self._head - self.slots + 1) * self.step_ns

    def clear(self, place: int) -> None:
        """Forget a parameter, and be ready for another one."""
        self._empty(slice(place, place + 1), slice(None))

    def advance(self, now_ns: int, places: int) -> None:
        """Make room up to now for the first `places` parameters."""
        head = now_ns // self.step_ns
        if head <= self._head:
            return
        first = max(self._head + 1, head - self.slots + 1)
        slots = np.arange(first, head + 1) % self.slots
        self._empty(slice(0, places), slots)
        self._head = head

    def add(self, rows: RingRows, revision: int) -> None:
        """Put parts into their buckets; what is older or newer than the ring is left out."""
        number = rows.start_ns // self.step_ns
        held = np.flatnonzero((number <= self._head) & (number > self._head - self.slots))
        if not len(held):
            return
        rows = rows.only(held[np.argsort(rows.last_ns[held], kind="stable")])
        at = (rows.place, rows.start_ns // self.step_ns % self.slots)
        np.minimum.at(self._low, at, rows.low)
        np.maximum.at(self._high, at, rows.high)
        is_newer = rows.last_ns >= self._last_ns[at]
        newer = (at[0][is_newer], at[1][is_newer])
        # Of several parts of one bucket the last assignment stays: the rows ascend by time.
        self._last[newer] = rows.last[is_newer]
        self._last_ns[newer] = rows.last_ns[is_newer]
        self._revision[at] = revision

    def buckets(self, place: int, from_ns: int, to_ns: int) -> Buckets:
        """What is known of [from, to), which are whole buckets."""
        slots, start = self._between(from_ns, to_ns)
        has = np.flatnonzero(self._last_ns[place, slots] != NEVER_NS)
        slots, start = slots[has], start[has]
        low, high, last = (one[place, slots] for one in (self._low, self._high, self._last))
        last_ns = self._last_ns[place, slots]
        # More than two samples each: single ones are not known any more.
        count = np.full(len(slots), 3, np.int64)
        return Buckets(start, count, low, high, low, last_ns, last, last_ns)

    def changed(self, place: int, since: int, from_ns: int, step_ns: int) -> Buckets:
        """Longer buckets, whole, of which a part was changed after a revision."""
        end_ns = (self._head + 1) * self.step_ns
        slots, start = self._between(max(from_ns, self.oldest_ns), end_ns)
        is_changed = self._revision[place, slots] > since
        is_changed &= self._last_ns[place, slots] != NEVER_NS
        if not is_changed.any():
            return Buckets.none()
        first = int(start[is_changed][0]) // step_ns * step_ns
        every = self.buckets(place, first, end_ns).coarser(step_ns)
        wanted = np.unique(start[is_changed] // step_ns * step_ns)
        return every.rows(np.isin(every.start_ns, wanted))

    def _between(self, from_ns: int, to_ns: int) -> tuple[Times, Times]:
        first = max(from_ns // self.step_ns, self._head - self.slots + 1)
        numbers = np.arange(first, min(-(-to_ns // self.step_ns), self._head + 1))
        return numbers % self.slots, numbers * self.step_ns

    def _empty(self, places: slice, slots: "slice | np.ndarray") -> None:
        self._low[places, slots] = np.inf
        self._high[places, slots] = -np.inf
        self._last[places, slots] = np.nan
        self._last_ns[places, slots] = NEVER_NS
        self._revision[places, slots] = 0
