"""How fast some counters grow: messages read, rows written. Pure."""

from collections import deque
from collections.abc import Mapping

RATES_S = 30.0
"""Rates are taken over this time: a job may commit once in some seconds."""
READ = "read"
"""The counter of messages, which no table is called."""


class CountRates:
    """Readings of counters over the last seconds."""

    def __init__(self) -> None:
        """Start without a reading."""
        self._readings: deque[tuple[float, Mapping[str, int]]] = deque()

    def take(self, now_s: float, counts: Mapping[str, int]) -> dict[str, float]:
        """Take one reading, and return each rate per second; `now_s` is monotonic.

        The first reading gives rates of 0. A counter that was not there before began at 0; if one
        is less than before, another run counts, and the rates begin again.
        """
        seen = self._readings
        if seen and any(counts.get(name, 0) < before for name, before in seen[-1][1].items()):
            seen.clear()
        seen.append((now_s, counts))
        while len(seen) > 2 and seen[1][0] <= now_s - RATES_S:
            seen.popleft()
        since_s, before = seen[0]
        passed_s = now_s - since_s
        grown = {name: count - before.get(name, 0) for name, count in counts.items()}
        return {name: by / passed_s if passed_s > 0 else 0.0 for name, by in grown.items()}
