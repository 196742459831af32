"""What the control plane keeps for people: rates, limits reached, recent events."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import count
from typing import Any, cast, get_type_hints

from slipring.control.event_kinds import KINDS
from slipring.control.events import LINES_MAX, EventEntry, entries_of, sum_entry
from slipring.control.row_rates import RowRates
from slipring.native import Event
from slipring.status.engine import BrokerStatus, TrafficCounts
from slipring.status.message import PrefixRate, TableRates

EVENTS_KEPT = 200
"""Events a newly opened console can still show."""
WINDOW_S = 1.0
"""Rates are taken over this time."""


@dataclass(frozen=True, slots=True)
class ReachedLimit:
    """A limit that was reached: how often, and when it was last noticed."""

    limit: str
    times: int
    last_ns: int


class _RateWindow:
    """Readings of some counters over the last second, and the rate of each."""

    def __init__(self, names: Iterable[str]) -> None:
        """Start with rates of 0."""
        self.rates = dict.fromkeys(names, 0.0)
        self._readings: deque[tuple[float, Mapping[str, Any]]] = deque()

    def take(self, now_s: float, counters: Mapping[str, Any]) -> None:
        """Take one reading; `now_s` is monotonic."""
        self._readings.append((now_s, counters))
        while len(self._readings) > 2 and self._readings[1][0] <= now_s - WINDOW_S:
            self._readings.popleft()
        since_s, oldest = self._readings[0]
        if now_s > since_s:
            grown = ((name, counters[name] - oldest[name]) for name in self.rates)
            self.rates = {name: more / (now_s - since_s) for name, more in grown}


class Overview:
    """Takes the engine's counters and events, and keeps what is shown of them."""

    def __init__(self) -> None:
        """Start empty."""
        self.prefixes: RowRates = RowRates("prefix", messages_s="messages", bytes_s="bytes")
        self.streams: RowRates = RowRates("index", chunks_s="chunks", bytes_s="received_bytes")
        self.event_counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self._reached: dict[str, ReachedLimit] = {}
        self._traffic = _RateWindow(get_type_hints(TrafficCounts))
        self._table = _RateWindow(name.removesuffix("_s") for name in get_type_hints(TableRates))
        self._events: deque[EventEntry] = deque(maxlen=EVENTS_KEPT)
        self._numbers = count(1)
        self.lines_max = LINES_MAX
        """Events of one kind in one batch that have an entry each."""

    def sample(self, now_s: float, status: BrokerStatus) -> None:
        """Take one reading of the counters; `now_s` is monotonic."""
        self._traffic.take(now_s, status["totals"])
        self._table.take(now_s, status["table"])

    @property
    def rates(self) -> TrafficCounts:
        """Traffic per second, over the last second."""
        return cast("TrafficCounts", self._traffic.rates)

    @property
    def table_rates(self) -> TableRates:
        """What came for the table per second, over the last second."""
        return cast("TableRates", {f"{name}_s": rate for name, rate in self._table.rates.items()})

    def busiest_prefixes(self, most: int) -> list[PrefixRate]:
        """Return those with the highest rate first, then those with the most messages."""
        return nsmallest(most, self.prefixes.rows, key=_busiest_first)

    def reach(self, reached: Mapping[str, int], now_ns: int) -> None:
        """Take one reading of how often each limit was reached."""
        for limit, times in reached.items():
            known = self._reached.get(limit)
            if times and (known is None or known.times != times):
                self._reached[limit] = ReachedLimit(limit, times, now_ns)

    def limits_reached(self) -> list[ReachedLimit]:
        """Return the limits that were reached, the latest first."""
        return sorted(self._reached.values(), key=lambda reached: -reached.last_ns)

    def add_events(
        self,
        events: list[Event],
        lost: int,
        now_ns: int,
        more: Mapping[str, int] | None = None,
    ) -> list[EventEntry]:
        """Take one batch of events, and how many more there were; return their entries."""
        entries, counts = entries_of(events, self._numbers, self.lines_max, more)
        if lost:
            counts["lost"] = lost
            entries.append(sum_entry("lost", lost, now_ns, next(self._numbers)))
        self.event_counts.update(counts)
        self._events.extend(entry for entry in entries if entry.is_for_page)
        return entries

    def add_own_event(self, kind: str, text: str, now_ns: int) -> EventEntry:
        """Take an event that the control plane itself noticed."""
        entry = EventEntry(next(self._numbers), now_ns, KINDS[kind].level, kind, text)
        self.event_counts[kind] += 1
        self._events.append(entry)
        return entry

    def events_after(self, number: int) -> list[EventEntry]:
        """Return the kept events after this number."""
        return [event for event in self._events if event.number > number]


def _busiest_first(row: PrefixRate) -> tuple[float, int, str]:
    return -row["messages_s"], -row["messages"], row["prefix"]
