"""Samples in the order of their source times, from a journal that has them in order of arrival.

A survey has noted the ranges of messages and the source times in each. They are loaded by their
earliest time, and samples that are earlier than every range not loaded yet are handed on. So only
ranges whose times overlap are in memory. If those are too many samples, the later half is dropped,
and its ranges are loaded again when their time has come.

Example: ranges A (times 0 to 5), B (4 to 9) and C (7 to 12). A and B are loaded, what is before 7
is handed on; then C is loaded, and the rest follows.
"""

import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple, Self

import numpy as np

from slipring.recording.history.shape.recorded_samples import RecordedSamples

READY_SAMPLES = 2_000_000
"""So many samples are handed on together."""
HELD_SAMPLES_MAX = 6_000_000
"""In memory; one range may exceed it by its own size. A long text counts as several."""

NO_END = np.iinfo(np.int64).max


class MessageRange(NamedTuple):
    """Consecutive messages: offsets [start, end), and the bounds of their source times."""

    first_ns: int
    last_ns: int
    start: int
    end: int

    def joined(self, later: Self) -> "MessageRange":
        """Both ranges as one; `later` begins in this one or right after it."""
        first_ns, last_ns = min(self.first_ns, later.first_ns), max(self.last_ns, later.last_ns)
        return MessageRange(first_ns, last_ns, self.start, later.end)


class TimeMerge:
    """Iterates over batches of samples; each batch is later than the one before.

    `load` returns all samples of a range.
    """

    def __init__(
        self,
        ranges: list[MessageRange],
        load: Callable[[MessageRange], list[RecordedSamples]],
        *,
        ready: int = READY_SAMPLES,
        held_max: int = HELD_SAMPLES_MAX,
    ) -> None:
        self._load = load
        self._ready = ready
        self._held_max = held_max
        self._waiting = list(ranges)
        heapq.heapify(self._waiting)
        self._put_back: list[MessageRange] = []
        self._loaded: list[MessageRange] = []
        self._held: list[RecordedSamples] = []
        self._ceiling = NO_END
        """Samples at this time and later are not held."""

    def __iter__(self) -> Iterator[list[RecordedSamples]]:
        while True:
            if self._is_all_loaded():
                yield from self._hand_on(self._ceiling)
                if not (self._waiting or self._put_back):
                    return
                self._begin_again()
            self._load_next()
            if self._held_weight() >= self._ready:
                yield from self._hand_on(self._safe_ns())
            if self._held_weight() > self._held_max:
                self._lower_ceiling()

    def _is_all_loaded(self) -> bool:
        """Whether all samples below the ceiling are in memory."""
        return not self._waiting or self._waiting[0].first_ns >= self._ceiling

    def _safe_ns(self) -> int:
        """All samples before this time are in memory."""
        first_ns = self._waiting[0].first_ns if self._waiting else NO_END
        return min(first_ns, self._ceiling)

    def _load_next(self) -> None:
        earliest = heapq.heappop(self._waiting)
        self._loaded.append(earliest)
        self._held += _within(self._load(earliest), earliest.first_ns, self._ceiling)
        if earliest.last_ns >= self._ceiling:
            self._put_back.append(earliest._replace(first_ns=self._ceiling))

    def _held_weight(self) -> int:
        return sum(part.weight for part in self._held)

    def _hand_on(self, before_ns: int) -> Iterator[list[RecordedSamples]]:
        ready = _within(self._held, None, before_ns)
        self._held = [] if before_ns == NO_END else _within(self._held, before_ns, NO_END)
        if ready:
            yield ready

    def _begin_again(self) -> None:
        """Continue with the ranges that were put back: all earlier samples are handed on."""
        self._waiting += self._put_back
        heapq.heapify(self._waiting)
        self._put_back, self._loaded = [], []
        self._ceiling = NO_END

    def _lower_ceiling(self) -> None:
        times = np.concatenate([part.times for part in self._held])
        ceiling = int(np.partition(times, len(times) // 2)[len(times) // 2])
        if ceiling == times.min():
            return  # half of the samples have one time: they are one row, which is not divided
        cut = [one for one in self._loaded if ceiling <= one.last_ns < self._ceiling]
        self._put_back = [one._replace(first_ns=ceiling) for one in (*self._put_back, *cut)]
        self._held = _within(self._held, None, ceiling)
        self._ceiling = ceiling


def _within(
    parts: list[RecordedSamples], from_ns: int | None, before_ns: int
) -> list[RecordedSamples]:
    """The samples from one time to before another; NO_END is after all."""
    found = []
    for part in parts:
        mask = np.ones(len(part), np.bool_) if from_ns is None else part.times >= from_ns
        if before_ns != NO_END:
            mask &= part.times < before_ns
        if mask.all():
            found.append(part)
        elif mask.any():
            found.append(part.take(mask))
    return [part for part in found if len(part)]
