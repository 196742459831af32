"""What a person wants to know of a broker now: rates, limits reached, recent events."""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from slipring.control.events import KINDS, Told, tell, tell_sum
from slipring.control.prefixes import Prefixes
from slipring.native import Event, Totals

EVENTS_KEPT = 200
"""Events a newly opened console can still show."""
WINDOW_S = 1.0
"""Rates are taken over this time."""


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
class Reached:
    """A limit that was reached: how often, and when it was seen last."""

    limit: str
    times: int
    last_ns: int


class Overview:
    """Takes what the engine hands up and keeps the little that is shown of it."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self.rates = Rates()
        self.prefixes = Prefixes()
        self.event_counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self._reached: dict[str, Reached] = {}
        self._samples: deque[tuple[float, Totals]] = deque()
        self._events: deque[Told] = deque(maxlen=EVENTS_KEPT)
        self._numbers = count(1)

    def sample(self, now_s: float, totals: Totals) -> None:
        """Take one reading of the counters; `now_s` is monotonic."""
        self._samples.append((now_s, totals))
        while len(self._samples) > 2 and self._samples[1][0] <= now_s - WINDOW_S:
            self._samples.popleft()
        since, first = self._samples[0]
        if now_s > since:
            self.rates = _rates(first, totals, now_s - since)

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
