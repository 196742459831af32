"""How far another clock is ahead of ours, from exchanges of four times (as NTP does). Pure."""

from collections import deque
from dataclasses import dataclass

KEPT = 16
"""Exchanges that are compared: the quickest of them knows best."""
DRIFT_PER_S = 100e-6
"""How much two clocks may go apart; cheap crystals do less."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer, by both clocks."""

    sent_ns: int
    """The question left us, by our clock."""
    broker_received_ns: int
    """It came to the broker, by the broker's clock."""
    broker_sent_ns: int
    """The answer left the broker, by the broker's clock."""
    received_ns: int
    """It came to us, by our clock."""
    at_ns: int
    """The same moment by a clock that never jumps."""

    @property
    def round_trip_ns(self) -> int:
        """How long both ways took, without the time at the broker."""
        return (self.received_ns - self.sent_ns) - (self.broker_sent_ns - self.broker_received_ns)

    @property
    def offset_ns(self) -> int:
        """The broker's clock minus ours, if both ways took the same time."""
        ahead = self.broker_received_ns - self.sent_ns
        return (ahead + self.broker_sent_ns - self.received_ns) // 2

    @property
    def uncertainty_ns(self) -> int:
        """How wrong the offset can be: all the time may have been spent on one of the ways."""
        return self.round_trip_ns // 2

    def is_possible(self) -> bool:
        """Whether no clock jumped in the middle of it."""
        return self.broker_sent_ns >= self.broker_received_ns and self.round_trip_ns >= 0


class Estimate:
    """The offset of a clock, from the last exchanges with it."""

    def __init__(self) -> None:
        self.best: Exchange | None = None
        """The quickest of the last exchanges; None before the first one."""
        self._kept: deque[Exchange] = deque(maxlen=KEPT)

    def take(self, new: Exchange) -> None:
        """Take a further exchange. When it cannot be true with the others, a clock has jumped."""
        if not new.is_possible():
            return
        if any(_contradict(one, new) for one in self._kept):
            self._kept.clear()
        self._kept.append(new)
        self.best = min(self._kept, key=lambda one: one.round_trip_ns)

    def uncertainty_ns(self, at_ns: int) -> int | None:
        """How wrong the offset can be by now: clocks go apart."""
        best = self.best
        return None if best is None else best.uncertainty_ns + _drift_ns(at_ns - best.at_ns)


def _contradict(one: Exchange, other: Exchange) -> bool:
    apart = abs(one.offset_ns - other.offset_ns)
    drift = _drift_ns(other.at_ns - one.at_ns)
    return apart > one.uncertainty_ns + other.uncertainty_ns + drift + 2  # halves are rounded


def _drift_ns(elapsed_ns: int) -> int:
    return round(abs(elapsed_ns) * DRIFT_PER_S)
