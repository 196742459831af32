"""What a person wants to know of a broker now: rates, limits reached, recent events."""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from slipring.control.events import KINDS, Told, tell, tell_sum
from slipring.control.prefixes import Prefixes
from slipring.control.streams import StreamRates
from slipring.native import Event, Totals

EVENTS_KEPT = 200
"""Events a newly opened console can still show."""
WINDOW_S = 1.0
"""Rates are taken over this time."""

Reading = TypeVar("Reading")


@dataclass(frozen=True, slots=True)
class Rates:
    """Per second, over the last second."""

    messages_in: float = 0.0
    messages_out: float = 0.0
    bytes_in: float = 0.0
    bytes_out: float = 0.0
    dropped: float = 0.0
    expired: float = 0.0


@dataclass(frozen=True, slots=True)
class TableRates:
    """What came for the table per second, over the last second."""

    frames: float = 0.0
    samples: float = 0.0
    refused: float = 0.0


TABLE_COUNTERS = ("frames", "samples", "refused")


@dataclass(frozen=True, slots=True)
class Reached:
    """A limit that was reached: how often, and when it was seen last."""

    limit: str
    times: int
    last_ns: int


class Window(Generic[Reading]):
    """Readings of counters over the time that rates are taken over."""

    def __init__(self) -> None:
        """Start without any."""
        self._readings: deque[tuple[float, Reading]] = deque()

    def take(self, now_s: float, reading: Reading) -> tuple[Reading, float]:
        """Keep one; give the oldest, and how many seconds ago it was taken."""
        self._readings.append((now_s, reading))
        while len(self._readings) > 2 and self._readings[1][0] <= now_s - WINDOW_S:
            self._readings.popleft()
        since, oldest = self._readings[0]
        return oldest, now_s - since


class Overview:
    """Takes what the engine hands up and keeps the little that is shown of it."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self.rates = Rates()
        self.table_rates = TableRates()
        self.prefixes = Prefixes()
        self.streams = StreamRates()
        self.event_counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self._reached: dict[str, Reached] = {}
        self._totals = Window[Totals]()
        self._table = Window[Mapping[str, int]]()
        self._events: deque[Told] = deque(maxlen=EVENTS_KEPT)
        self._numbers = count(1)

    def sample(self, now_s: float, totals: Totals) -> None:
        """Take one reading of the counters; `now_s` is monotonic."""
        oldest, seconds = self._totals.take(now_s, totals)
        if seconds > 0:
            self.rates = _rates(oldest, totals, seconds)

    def sample_table(self, now_s: float, figures: Mapping[str, int]) -> None:
        """Take one reading of the table's counters."""
        oldest, seconds = self._table.take(now_s, figures)
        if seconds > 0:
            rates = {name: (figures[name] - oldest[name]) / seconds for name in TABLE_COUNTERS}
            self.table_rates = TableRates(**rates)

    def reach(self, reached: Mapping[str, int], now_ns: int) -> None:
        """Take one reading of how often each limit was reached."""
        for limit, times in reached.items():
            known = self._reached.get(limit)
            if known is None or known.times != times:
                self._reached[limit] = Reached(limit, times, now_ns)

    def limits_reached(self) -> list[Reached]:
        """Give the limits that were reached, the latest first."""
        return sorted(self._reached.values(), key=lambda reached: -reached.last_ns)

    def tell(self, events: list[Event], lost: int, now_ns: int) -> list[Told]:
        """Take one batch of events; return them as told."""
        told, counts = tell(events, self._numbers)
        if lost:
            counts["lost"] = lost
            told.append(tell_sum("lost", lost, now_ns, next(self._numbers)))
        self.event_counts.update(counts)
        self._events.extend(told)
        return told

    def note(self, kind: str, text: str, now_ns: int) -> Told:
        """Take what was seen here, and not told by the engine."""
        told = Told(next(self._numbers), now_ns, KINDS[kind].level, kind, text)
        self.event_counts[kind] += 1
        self._events.append(told)
        return told

    def events_after(self, number: int) -> list[Told]:
        """Give the kept events that are newer than this number."""
        return [event for event in self._events if event.number > number]


def _rates(first: Totals, last: Totals, seconds: float) -> Rates:
    return Rates(
        messages_in=(last.messages_in - first.messages_in) / seconds,
        messages_out=(last.messages_out - first.messages_out) / seconds,
        bytes_in=(last.bytes_in - first.bytes_in) / seconds,
        bytes_out=(last.bytes_out - first.bytes_out) / seconds,
        dropped=(last.dropped - first.dropped) / seconds,
        expired=(last.expired - first.expired) / seconds,
    )
