"""Traffic by topic prefix: the engine's totals, and rates over about the last second."""

from collections.abc import Iterable

from slipring.status.engine import PrefixTraffic
from slipring.status.message import PrefixRate

PREFIXES_MAX = 2_000
"""More than the engine counts separately."""


class Prefixes:
    """Turns readings of the engine's counters into rates."""

    def __init__(self) -> None:
        """Start empty."""
        self.at_s: float | None = None
        self._rates: list[PrefixRate] = []

    def sample(self, now_s: float, traffic: Iterable[PrefixTraffic]) -> None:
        """Take one reading; `now_s` is monotonic. A new prefix started at 0."""
        earlier = {rate["prefix"]: rate for rate in self._rates}
        passed = None if self.at_s is None else now_s - self.at_s
        self._rates = [_rate(one, earlier.get(one["prefix"]), passed) for one in traffic]
        self._rates.sort(key=lambda rate: (-rate["messages_s"], -rate["messages"], rate["prefix"]))
        self.at_s = now_s

    def busiest(self, most: int) -> list[PrefixRate]:
        """Return those with the highest rate first, then those with the most messages."""
        return self._rates[:most]


def _rate(now: PrefixTraffic, earlier: PrefixRate | None, passed_s: float | None) -> PrefixRate:
    messages, payload_bytes = (earlier["messages"], earlier["bytes"]) if earlier else (0, 0)
    return {
        **now,
        "messages_s": (now["messages"] - messages) / passed_s if passed_s else 0.0,
        "bytes_s": (now["bytes"] - payload_bytes) / passed_s if passed_s else 0.0,
    }
