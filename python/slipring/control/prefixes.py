"""Traffic by topic prefix: totals as the engine counts them, rates over the last second or so."""

from collections.abc import Iterable
from dataclasses import dataclass

from slipring.native import PrefixTraffic

PREFIXES_MAX = 2_000
"""More than the engine counts apart."""


@dataclass(frozen=True, slots=True)
class PrefixRate:
    """What is published below one prefix: since the start, and per second."""

    prefix: str
    messages: int
    bytes: int
    deliveries: int
    messages_s: float
    bytes_s: float


class Prefixes:
    """Takes readings of the engine's counters, and keeps the last one."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self.at_s: float | None = None
        self._rates: list[PrefixRate] = []

    def sample(self, now_s: float, traffic: Iterable[PrefixTraffic]) -> None:
        """Take one reading; `now_s` is monotonic. A prefix that is new has begun at nothing."""
        earlier = {rate.prefix: rate for rate in self._rates}
        passed = None if self.at_s is None else now_s - self.at_s
        self._rates = [_rate(one, earlier.get(one.prefix), passed) for one in traffic]
        self._rates.sort(key=lambda rate: (-rate.messages_s, -rate.messages, rate.prefix))
        self.at_s = now_s

    def busiest(self, most: int) -> list[PrefixRate]:
        """Give those with the highest rate, and then those with the most messages."""
        return self._rates[:most]


def _rate(now: PrefixTraffic, earlier: PrefixRate | None, passed_s: float | None) -> PrefixRate:
    messages, payload_bytes = (earlier.messages, earlier.bytes) if earlier else (0, 0)
    return PrefixRate(
        prefix=now.prefix,
        messages=now.messages,
        bytes=now.bytes,
        deliveries=now.deliveries,
        messages_s=(now.messages - messages) / passed_s if passed_s else 0.0,
        bytes_s=(now.bytes - payload_bytes) / passed_s if passed_s else 0.0,
    )
