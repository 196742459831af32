"""How far the broker's clock is ahead of ours, from exchanges of four times, as NTP does. Pure.

For example, we send at 100 ms by our clock; the broker receives at 2,130 ms and answers at 2,131 ms
by its clock; the answer comes at 121 ms. The round trip is 21 - 1 = 20 ms. If both ways took 10 ms,
the broker's clock is (2,030 + 2,010) / 2 = 2,020 ms ahead. If one way took all 20 ms, it is 2,010
or 2,030 ms ahead: the uncertainty is 10 ms.
"""

from collections import deque
from dataclasses import dataclass

KEPT = 16
"""Exchanges that are compared; the quickest is the most exact."""
DRIFT_PER_S = 100e-6
"""How fast two clocks may drift apart; cheap crystals drift less."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A ping and its answer, by both clocks."""

    sent_ns: int
    """When we sent the ping, by our clock."""
    broker_received_ns: int
    """When the broker received it, by the broker's clock."""
    broker_sent_ns: int
    """When the broker sent the answer, by the broker's clock."""
    received_ns: int
    """When we received it, by our clock."""
    at_ns: int
    """The same moment by our clock that never jumps."""

    @property
    def round_trip_ns(self) -> int:
        """How long the way there and back took, without the time at the broker."""
        return (self.received_ns - self.sent_ns) - (self.broker_sent_ns - self.broker_received_ns)

    @property
    def offset_ns(self) -> int:
        """The broker's clock minus ours, if both ways took the same time."""
        ahead = self.broker_received_ns - self.sent_ns
        return (ahead + self.broker_sent_ns - self.received_ns) // 2

    @property
    def uncertainty_ns(self) -> int:
        """How wrong the offset can be: one of the ways may have taken all the time."""
        return self.round_trip_ns // 2

    def is_possible(self) -> bool:
        """Whether no clock jumped in the middle of it."""
        return self.broker_sent_ns >= self.broker_received_ns and self.round_trip_ns >= 0


class OffsetEstimate:
    """The offset of the broker's clock, from the last exchanges."""

    def __init__(self) -> None:
        self.best: Exchange | None = None
        """The quickest of the last exchanges; None before the first one."""
        self._kept: deque[Exchange] = deque(maxlen=KEPT)

    def take(self, new: Exchange) -> None:
        """Adds an exchange. If it contradicts an earlier one, a clock has jumped: drops those."""
        if not new.is_possible():
            return
        if any(_contradict(one, new) for one in self._kept):
            self._kept.clear()
        self._kept.append(new)
        self.best = min(self._kept, key=lambda one: one.round_trip_ns)

    def uncertainty_ns(self, at_ns: int) -> int | None:
        """How wrong the offset can be by now, because clocks drift apart."""
        best = self.best
        return None if best is None else best.uncertainty_ns + _drift_ns(at_ns - best.at_ns)


def _contradict(one: Exchange, other: Exchange) -> bool:
    apart = abs(one.offset_ns - other.offset_ns)
    drift = _drift_ns(other.at_ns - one.at_ns)
    return apart > one.uncertainty_ns + other.uncertainty_ns + drift + 2  # halves are rounded


def _drift_ns(elapsed_ns: int) -> int:
    return round(abs(elapsed_ns) * DRIFT_PER_S)
