"""What a person wants to know of a broker now: rates and recent events, from its batches."""

from collections import deque
from dataclasses import dataclass

from slipring.native import Event, Totals

EVENTS_KEPT = 200
"""Events a newly opened console can still show."""
WINDOW_S = 1.0
"""Rates are taken over this time."""
WORRYING = {"refused", "dropped"}
JOINED = {"connected", "subscribed", "unsubscribed", "dropped"}
"""Kinds whose detail goes on with the sentence."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Per second, over the last second."""

    messages_in: float = 0.0
    messages_out: float = 0.0
    bytes_in: float = 0.0
    bytes_out: float = 0.0
    dropped: float = 0.0


@dataclass(frozen=True, slots=True)
class Told:
    """An event as a person reads it. Numbers grow, so that a reader can ask for what is new."""

    number: int
    at_ns: int
    level: str
    kind: str
    text: str


class Overview:
    """Takes what the engine hands up and keeps the little that is shown of it."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self.rates = Rates()
        self._samples: deque[tuple[float, Totals]] = deque()
        self._events: deque[Told] = deque(maxlen=EVENTS_KEPT)
        self._told = 0

    def sample(self, now_s: float, totals: Totals) -> None:
        """Take one reading of the counters; `now_s` is monotonic."""
        self._samples.append((now_s, totals))
        while len(self._samples) > 2 and self._samples[1][0] <= now_s - WINDOW_S:
            self._samples.popleft()
        since, first = self._samples[0]
        if now_s > since:
            self.rates = _rates(first, totals, now_s - since)

    def tell(self, events: list[Event], lost: int, now_ns: int) -> list[Told]:
        """Take one batch of events; return them as told."""
        told = [self._told_of(event) for event in events]
        if lost:
            told.append(
                self._next(now_ns, "warning", "lost", f"{lost} events were lost: too many at once")
            )
        self._events.extend(told)
        return told

    def events_after(self, number: int) -> list[Told]:
        """Give the kept events that are newer than this number."""
        return [event for event in self._events if event.number > number]

    def _told_of(self, event: Event) -> Told:
        text = f"{event.client} {event.kind}"
        if event.detail:
            joint = " " if event.kind in JOINED else ": "
            text += joint + event.detail
        return self._next(event.at_ns, _level(event.kind), event.kind, text)

    def _next(self, at_ns: int, level: str, kind: str, text: str) -> Told:
        self._told += 1
        return Told(self._told, at_ns, level, kind, text)


def _level(kind: str) -> str:
    if kind in WORRYING:
        return "warning"
    if kind == "failed":
        return "error"
    return "info"


def _rates(first: Totals, last: Totals, seconds: float) -> Rates:
    return Rates(
        messages_in=(last.messages_in - first.messages_in) / seconds,
        messages_out=(last.messages_out - first.messages_out) / seconds,
        bytes_in=(last.bytes_in - first.bytes_in) / seconds,
        bytes_out=(last.bytes_out - first.bytes_out) / seconds,
        dropped=(last.dropped - first.dropped) / seconds,
    )
