"""How old samples are when the broker has them: percentiles over some parameters of the table.

It looks at a bounded number of parameters, however many there are, and never at texts and bytes.
"""

import json
import time
from collections.abc import Callable, Iterable
from typing import Any

from slipring.control.newest_values import Ask, newest_rows
from slipring.status.measured import SampleAges

LOOKED_AT = 512
"""Parameters whose newest samples are looked at."""
PLACES = 8
"""Of a large table, they are taken from so many places, so that they are of several publishers."""
CHOSEN_FOR_S = 10.0
"""Then others are chosen."""
TYPES_UNBOUNDED = ("text", "bytes")
"""The value of one of these can have megabytes."""


class AgeSample:
    """Looks at the newest samples of some parameters."""

    def __init__(
        self, ask: Ask, size: Callable[[], int], now_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Choose none yet; `size` says how many parameters the table has."""
        self._ask = ask
        self._size = size
        self._now_s = now_s
        self._names: list[str] = []
        self._choose_at_s = 0.0
        self._round = 0

    def look(self) -> SampleAges:
        """Look at the chosen ones; choose others from time to time."""
        if self._now_s() >= self._choose_at_s:
            self._names = self._chosen()
            self._choose_at_s = self._now_s() + CHOSEN_FOR_S
            self._round += 1
        return percentiles(newest_rows(self._ask, self._names).values())

    def _chosen(self) -> list[str]:
        size = self._size()
        if size <= LOOKED_AT:
            return self._page(0, LOOKED_AT)
        count, stride = LOOKED_AT // PLACES, size // PLACES
        shift = self._round * count % stride
        pages = (self._page(place * stride + shift, count) for place in range(PLACES))
        return list(dict.fromkeys(name for page in pages for name in page))

    def _page(self, start: int, count: int) -> list[str]:
        rows = self._asked("list", {"from": start, "count": count})["parameters"]
        return [row["name"] for row in rows if row["type"] not in TYPES_UNBOUNDED]

    def _asked(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._ask(name, json.dumps(body).encode()))
        return answer


def percentiles(rows: Iterable[dict[str, Any]]) -> SampleAges:
    """The age at arrival of those that are not stale: what is stale has no sample of now.

    A publisher whose clock is ahead seems to send from the future; that counts as no age.
    """
    ages = sorted(
        max(0.0, (row["received"] - row["time"]) / 1e6) for row in rows if row["quality"] != "stale"
    )
    return {
        "aged": len(ages),
        "age_p50_ms": _at(ages, 0.5),
        "age_p99_ms": _at(ages, 0.99),
    }


def _at(ages: list[float], share: float) -> float | None:
    return ages[min(len(ages) - 1, int(share * len(ages)))] if ages else None
