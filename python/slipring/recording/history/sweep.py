"""Samples in the order of their source times, from a journal that has them in the order of arrival.

A journal is looked through once; then its stretches are loaded by the earliest time in each, and
what is earlier than every stretch that is not loaded yet is handed on. Memory is what overlaps.
Where too much overlaps, the later half is put back, and loaded again when its time has come.
"""

import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from slipring.recording.history.samples import Samples

READY_SAMPLES = 2_000_000
"""Handed on at once, where there are so many."""
HELD_SAMPLES_MAX = 6_000_000
"""In memory; one stretch may be as much beyond it. A long text counts as several."""

NO_END = np.iinfo(np.int64).max


class Stretch(NamedTuple):
    """Messages beside each other, and the source times of their samples."""

    first_ns: int
    last_ns: int
    start: int
    end: int


class Sweep:
    """One way through the stretches; iterating gives samples that are later than all before.

    `load` gives all samples of a stretch.
    """

    def __init__(
        self,
        stretches: list[Stretch],
        load: Callable[[Stretch], list[Samples]],
        *,
        ready: int = READY_SAMPLES,
        held_max: int = HELD_SAMPLES_MAX,
    ) -> None:
        self._load = load
        self._ready = ready
        self._held_max = held_max
        self._waiting = list(stretches)
        heapq.heapify(self._waiting)
        self._put_back: list[Stretch] = []
        self._loaded: list[Stretch] = []
        self._held: list[Samples] = []
        self._ceiling = NO_END
        """Samples at this time and after are not held."""

    def __iter__(self) -> Iterator[list[Samples]]:
        while True:
            if self._is_all_loaded():
                yield from self._hand_on(self._ceiling)
                if not (self._waiting or self._put_back):
                    return
                self._begin_again()
            self._take_next()
            if self._count() >= self._ready:
                yield from self._hand_on(self._safe_ns())
            if self._count() > self._held_max:
                self._lower_ceiling()

    def _is_all_loaded(self) -> bool:
        """Whether everything below the ceiling is."""
        return not self._waiting or self._waiting[0].first_ns >= self._ceiling

    def _safe_ns(self) -> int:
        """Nothing that is not loaded is before this time."""
        first_ns = self._waiting[0].first_ns if self._waiting else NO_END
        return min(first_ns, self._ceiling)

    def _take_next(self) -> None:
        stretch = heapq.heappop(self._waiting)
        self._loaded.append(stretch)
        self._held += _within(self._load(stretch), stretch.first_ns, self._ceiling)
        if stretch.last_ns >= self._ceiling:
            self._put_back.append(stretch._replace(first_ns=self._ceiling))

    def _count(self) -> int:
        """What is held, as so many numbers."""
        return sum(part.weight for part in self._held)

    def _hand_on(self, before_ns: int) -> Iterator[list[Samples]]:
        ready = _within(self._held, None, before_ns)
        self._held = [] if before_ns == NO_END else _within(self._held, before_ns, NO_END)
        if ready:
            yield ready

    def _begin_again(self) -> None:
        """Go on with what was put back: all before it is handed on."""
        self._waiting += self._put_back
        heapq.heapify(self._waiting)
        self._put_back, self._loaded = [], []
        self._ceiling = NO_END

    def _lower_ceiling(self) -> None:
        times = np.concatenate([part.times for part in self._held])
        ceiling = int(np.partition(times, len(times) // 2)[len(times) // 2])
        if ceiling == times.min():
            return  # half of them are of one time, and so of one row, which must be here whole
        cut = [one for one in self._loaded if ceiling <= one.last_ns < self._ceiling]
        self._put_back = [one._replace(first_ns=ceiling) for one in (*self._put_back, *cut)]
        self._held = _within(self._held, None, ceiling)
        self._ceiling = ceiling


def _within(parts: list[Samples], from_ns: int | None, before_ns: int) -> list[Samples]:
    """The samples from the one time to before the other; NO_END is behind all."""
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
