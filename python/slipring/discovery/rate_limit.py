"""Rate limits on answers: for each source, and for all together. Pure: takes the time."""

from collections import OrderedDict
from dataclasses import dataclass

SOURCES_MAX = 1_000
"""Sources that are remembered; the least recent one is forgotten first."""
EACH_PER_S, EACH_BURST = 10.0, 20.0
ALL_PER_S, ALL_BURST = 500.0, 1_000.0


@dataclass(slots=True)
class _TokenBucket:
    """A token bucket: it fills with time, and each answer takes one token."""

    held: float
    at_s: float

    def fill(self, now_s: float, per_s: float, burst: float) -> None:
        """Add the tokens since the last time; none if the clock went back."""
        self.held = min(burst, self.held + max(0.0, now_s - self.at_s) * per_s)
        self.at_s = now_s


class RateLimit:
    """The token buckets of all sources."""

    def __init__(self) -> None:
        self._sources: OrderedDict[str, _TokenBucket] = OrderedDict()
        self._all = _TokenBucket(ALL_BURST, 0.0)

    def take(self, source: str, now_s: float) -> bool:
        """Whether `source` may be answered now; takes a token if so."""
        own = self._sources.pop(source, None) or _TokenBucket(EACH_BURST, now_s)
        self._sources[source] = own
        if len(self._sources) > SOURCES_MAX:
            self._sources.popitem(last=False)
        own.fill(now_s, EACH_PER_S, EACH_BURST)
        self._all.fill(now_s, ALL_PER_S, ALL_BURST)
        if own.held < 1 or self._all.held < 1:
            return False
        own.held -= 1
        self._all.held -= 1
        return True
