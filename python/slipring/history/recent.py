"""The newest minutes of the parameters that somebody asks for, once for all who ask.

It follows the end of the journal, and goes back in it as far as it is asked to. What nobody has
asked for lately is forgotten, and then nothing is read.

An example: a page asks for five minutes of four parameters at offset 9,000. They are followed from
there on, and the journal is read back from 9,000 to 4,000, where its messages are five minutes old.
A second page that asks for the same a minute later has all of it from memory.
"""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from slipring.errors import JournalError
from slipring.history.buckets import Buckets
from slipring.history.budget import ReadBudget
from slipring.history.journal_part import (
    AHEAD_NS,
    CHUNK_BYTES,
    NUMBER_COLUMNS,
    ROWS_MAX,
    JournalHistory,
    damage_of,
    newest_first,
    rolled_up,
)
from slipring.history.ring import BucketRing, RingRows
from slipring.history.steps import MILLISECOND_NS
from slipring.journal.samples import JournalSamples, SampleRequest

NAMES_MAX = 256
"""Parameters that are followed; each takes 173 KB."""
FINE_NS, FINE_SLOTS = 25 * MILLISECOND_NS, 1_200
"""Half a minute, as finely as a screen shows what comes in."""
COARSE_NS, COARSE_SLOTS = 500 * MILLISECOND_NS, 3_600
"""Half an hour, for plots of minutes."""
LATELY_S = 600.0
"""A parameter that nobody has asked for in this time is forgotten."""
DISPLACED_S = 5.0
"""A parameter that was not asked for in this time makes room for others."""
BEHIND_BYTES_MAX = 32 << 20
"""Read in one turn. Who is further behind begins anew at the end of the journal."""


@dataclass
class FollowedParameter:
    """What is in memory of one parameter."""

    place: int
    asked_s: float
    since: int
    """From this offset on the journal is in memory."""
    complete_ns: int
    """From this source time on nothing is missing."""


class RecentSamples:
    """May be used from several threads. `now_ns` is the time on the wall."""

    def __init__(self, names_max: int = NAMES_MAX) -> None:
        """A parameter's memory is taken when it is asked for."""
        self.followed: dict[str, FollowedParameter] = {}
        self.revision: int = 0
        """Counts up with everything that is added."""
        self._free = list(range(names_max))[::-1]
        self._fine = BucketRing(FINE_NS, FINE_SLOTS, names_max)
        self._coarse = BucketRing(COARSE_NS, COARSE_SLOTS, names_max)
        self._joining: dict[str, float] = {}
        """Parameters that are followed from the next turn on, and when they were asked for."""
        self._position = 0
        self._begun = 0
        """How often it began anew."""
        self._tail: tuple[frozenset[str], JournalSamples] | None = None
        self._lock = threading.Lock()  # readers take buckets while others add some
        self._following = threading.Lock()  # one turn at a time
        self._filling = threading.Lock()  # two pages that ask for the same read it once

    @property
    def is_idle(self) -> bool:
        """Whether nobody has asked for anything lately."""
        return not self.followed and not self._joining

    def oldest_ns(self, now_ns: int) -> int:
        """The oldest time that may be in memory."""
        return (now_ns + AHEAD_NS) // COARSE_NS * COARSE_NS - (COARSE_SLOTS - 1) * COARSE_NS

    def ask(self, names: Iterable[str]) -> set[str]:
        """Follow these from the next turn on; returns those for which there is room."""
        now_s, accepted = time.monotonic(), set()
        with self._lock:
            room = len(self._free) + len(self._displaceable(now_s))
            for name in names:
                if name in self.followed:
                    self.followed[name].asked_s = now_s
                elif name not in self._joining and len(self._joining) >= room:
                    continue
                else:
                    self._joining[name] = now_s
                accepted.add(name)
        return accepted

    def follow(self, journal: JournalHistory | None, now_ns: int) -> None:
        """Take in what the journal has got since the last turn."""
        with self._following:
            end = journal.reader.end_offset() if journal else 0
            with self._lock:
                self._forget_unasked()
                self._make_room(journal, end, now_ns)
                names = frozenset(self.followed)
            if journal is None or not names or self._position >= end:
                return
            rows = self._new_rows(journal, names, end)
            with self._lock:
                self._add(rows)
                self._position = end

    def fill(
        self,
        journal: JournalHistory,
        names: Sequence[str],
        from_ns: int,
        budget: ReadBudget,
    ) -> list[str]:
        """Read back until nothing is missing from a time on, or the budget is spent.

        Returns what was damaged. Who asks meanwhile waits, and then has it.
        """
        damage: list[str] = []
        with self._filling:
            for since, group in sorted(self._incomplete(names, from_ns).items(), reverse=True):
                damage += self._fill(journal, group, from_ns, since, budget)
        return damage

    def offsets_to_read(
        self, journal: JournalHistory, names: Sequence[str], from_ns: int
    ) -> tuple[int, int]:
        """Where `fill` would read; an empty range if memory has all since a time."""
        start, end = self._start(journal, from_ns), journal.reader.end_offset()
        with self._lock:
            known = [self.followed.get(name) for name in names]
            lacking = [
                end if one is None else one.since
                for one in known
                if one is None or one.complete_ns > from_ns
            ]
        return start, max([start, *lacking])

    def is_complete(self, name: str, from_ns: int) -> bool:
        """Whether nothing is missing from a time on."""
        with self._lock:
            found = self.followed.get(name)
            return found is not None and found.complete_ns <= from_ns

    def add_newest(self, samples: Mapping[str, tuple[int, float]]) -> None:
        """Take in the newest samples as the table has them: what the journal has not, or never."""
        with self._lock:
            rows = [
                (self.followed[name].place, *sample)
                for name, sample in samples.items()
                if name in self.followed
            ]
            if rows:
                place, times, values = (np.array(column) for column in zip(*rows, strict=True))
                start = times // FINE_NS * FINE_NS
                self._add([RingRows(place, start, values, values, values, times)])

    def buckets(self, name: str, from_ns: int, to_ns: int, step_ns: int) -> Buckets:
        """What is in memory of a time, in buckets of whole half seconds, or of whole 25 ms."""
        ring = self._fine if step_ns % COARSE_NS else self._coarse
        with self._lock:
            found = self.followed.get(name)
            if found is None:
                return Buckets.none()
            return ring.buckets(found.place, from_ns, to_ns).coarser(step_ns)

    def changed(self, name: str, since: int, from_ns: int, step_ns: int) -> Buckets:
        """The buckets that got something after a revision."""
        ring = self._fine if step_ns % COARSE_NS else self._coarse
        with self._lock:
            found = self.followed.get(name)
            if found is None:
                return Buckets.none()
            return ring.changed(found.place, since, from_ns, step_ns)

    def _displaceable(self, now_s: float) -> list[str]:
        """Who makes room for others, first who was asked for longest ago."""
        old = [name for name, one in self.followed.items() if one.asked_s < now_s - DISPLACED_S]
        return sorted(old, key=lambda name: self.followed[name].asked_s)

    def _forget_unasked(self) -> None:
        now_s = time.monotonic()
        lacking = max(0, len(self._joining) - len(self._free))
        leaving = set(self._displaceable(now_s)[:lacking])
        leaving |= {name for name, one in self.followed.items() if one.asked_s < now_s - LATELY_S}
        for name in leaving:
            self._free.append(self.followed.pop(name).place)
        for name in list(self._joining)[len(self._free) :]:  # who was displaceable was asked again
            del self._joining[name]

    def _make_room(self, journal: JournalHistory | None, end: int, now_ns: int) -> None:
        """Let those in who asked; who is too far behind begins anew at the end."""
        is_behind = False
        if journal and self.followed and self._position < end:
            late = journal.extent().bytes_between(self._position, end)
            is_behind = late > BEHIND_BYTES_MAX
        if is_behind or not self.followed:
            self._position, self._begun = end, self._begun + 1
            self._joining |= {name: one.asked_s for name, one in self.followed.items()}
            self._free += [one.place for one in self.followed.values()]
            self.followed = {}
        for name, asked_s in self._joining.items():
            place = self._free.pop()
            self._fine.clear(place)
            self._coarse.clear(place)
            self.followed[name] = FollowedParameter(
                place, asked_s, self._position, now_ns + AHEAD_NS
            )
        self._joining = {}
        places = 1 + max((one.place for one in self.followed.values()), default=0)
        for ring in (self._fine, self._coarse):
            ring.advance(now_ns + AHEAD_NS, places)

    def _new_rows(self, journal: JournalHistory, names: frozenset[str], end: int) -> list[RingRows]:
        if self._tail is None or self._tail[0] != names:
            request = SampleRequest(NUMBER_COLUMNS, tuple(sorted(names)))
            self._tail = (names, JournalSamples(journal.journal, request, ROWS_MAX))
        return self._rows(self._tail[1], self._position, end, FINE_NS)

    def _rows(
        self, samples: JournalSamples, start: int, end: int, window_ns: int
    ) -> list[RingRows]:
        """Sums of a part of the journal; what is no parameter any more is left out."""
        found = []
        for rows, columns in samples.rollup_columns(start, end, window_ns):
            index, sums = rolled_up(rows, columns)
            which, at = np.unique(index, return_inverse=True)
            names = (samples.known.names[int(one)].as_py() for one in which)
            with self._lock:
                places = [
                    self.followed[name].place if name in self.followed else -1 for name in names
                ]
            place = np.array(places, np.int64)[at]
            row = RingRows(place, sums.start_ns, sums.low, sums.high, sums.last, sums.last_ns)
            found.append(row.only(np.flatnonzero(place >= 0)))
        return found

    def _start(self, journal: JournalHistory, from_ns: int) -> int:
        """Where samples of a time begin."""
        return max(journal.reader.first_offset, journal.reader.offset_at(from_ns - AHEAD_NS))

    def _add_older(
        self, names: Sequence[str], rows: list[RingRows], since: tuple[int, int], begun: int
    ) -> bool:
        """Add a part that was read back; False if everything began anew meanwhile."""
        with self._lock:
            if self._begun != begun:
                return False
            self._add(rows)
            for name in names:
                if found := self.followed.get(name):
                    found.since, found.complete_ns = since
            return True

    def _add(self, rows: Sequence[RingRows]) -> None:
        self.revision += 1
        for one in rows:
            self._fine.add(one, self.revision)
            self._coarse.add(one, self.revision)

    def _incomplete(self, names: Sequence[str], from_ns: int) -> dict[int, list[str]]:
        """Who lacks something, by the offset from which on it is in memory."""
        groups: dict[int, list[str]] = {}
        with self._lock:
            for name in names:
                found = self.followed.get(name)
                if found is not None and found.complete_ns > from_ns:
                    groups.setdefault(found.since, []).append(name)
        return groups

    def _fill(
        self,
        journal: JournalHistory,
        names: Sequence[str],
        from_ns: int,
        since: int,
        budget: ReadBudget,
    ) -> list[str]:
        begun, extent, first = self._begun, journal.extent(), journal.reader.first_offset
        start = min(since, self._start(journal, from_ns))
        if start == since:  # all that is older was received long before
            self._add_older(names, [], (since, 0 if since == first else from_ns), begun)
            return []
        request = SampleRequest(NUMBER_COLUMNS, tuple(names))
        samples = JournalSamples(journal.journal, request, ROWS_MAX)
        for begin, stop in newest_first(start, since, extent, CHUNK_BYTES):
            if budget.is_spent:
                break
            budget.spend(extent.bytes_between(begin, stop))
            try:
                is_new = journal.receive_ns(stop - 1) >= self._fine.oldest_ns
                rows = self._rows(samples, begin, stop, FINE_NS if is_new else COARSE_NS)
                complete_ns = journal.receive_ns(begin) + AHEAD_NS
            except JournalError:  # retention was faster
                break
            if begin == start:
                complete_ns = 0 if begin == first else min(complete_ns, from_ns)
            if not self._add_older(names, rows, (begin, complete_ns), begun):
                break
        return damage_of(samples)
