"""How every parameter is right now: its state, and when its value came.

Never read while no search and no order asks for it.
"""

import asyncio
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass

from slipring.console.catalog import Bounds, Catalog, Columns, Json
from slipring.console.search_words import STATES

VALUES = 2_000
"""Values in one request to the engine; it answers with fewer if they are large."""
REST_S = 1.0
"""Least time between two readings."""
REST_SHARE = 9
"""The pause after a reading is at least so many times its duration."""
TOO_LARGE_MAX = 64
"""Values too large for an answer that one reading skips."""
NONE = STATES.index("none")
GOOD = STATES.index("good")


@dataclass(frozen=True)
class Census:
    """Of each position the state as a number, the worst first, and when its value was received."""

    number: int
    states: bytearray
    received_ms: "array[float]"
    """0 of those without a value."""


class Censuses:
    """The newest census, shared by all pages."""

    def __init__(self, catalog: Catalog, now_s: Callable[[], float] = time.monotonic) -> None:
        """Nothing is read until somebody asks."""
        self._catalog = catalog
        self._now_s = now_s
        self._newest = Census(0, bytearray(), array("d"))
        self._of: Columns | None = None
        self._rest_until_s = 0.0
        self._reading = asyncio.Lock()

    async def newest(self) -> Census:
        """A census of the parameters that the catalog has now; not older than its rest."""
        async with self._reading:
            columns = self._catalog.columns
            started_s = self._now_s()
            if columns is self._of and started_s < self._rest_until_s:
                return self._newest
            number = self._newest.number + 1
            self._newest = await asyncio.to_thread(self._read, columns, number)
            self._of = columns
            now_s = self._now_s()
            self._rest_until_s = now_s + max(REST_S, REST_SHARE * (now_s - started_s))
            return self._newest

    def _read(self, columns: Columns, number: int) -> Census:
        amount = len(columns.names)
        census = Census(number, bytearray([NONE]) * amount, array("d", bytes(8 * amount)))
        start: int | None = 0
        skipped = 0
        while start is not None and skipped < TOO_LARGE_MAX:
            answer = self._catalog.ask("values", {"filter": "#", "from": start, "count": VALUES})
            if "error" in answer:
                skipped += 1
                start += 1
                continue
            for row in answer["values"]:
                position = columns.positions.get(row["index"])
                if position is not None:
                    census.states[position] = _state(row, columns.limits.get(position))
                    census.received_ms[position] = row["received"] / 1e6
            start = answer["next"]
        return census


def _state(row: Json, limits: Bounds | None) -> int:
    """Of a stale value staleness counts, and of one beyond a limit the limit."""
    quality = row["quality"]
    if quality == "stale":
        return STATES.index("stale")
    exceeded = limits and _exceeded(row["value"], limits)
    return STATES.index(exceeded or (quality if quality in STATES else "uncertain"))


def _exceeded(value: object, limits: Bounds) -> str | None:
    """Which kind of limit a number is beyond; at a limit is within it."""
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        return None
    if number is None:
        return None
    low_critical, low, high, high_critical = limits
    if _beyond(number, low_critical, high_critical):
        return "critical"
    return "warning" if _beyond(number, low, high) else None


def _beyond(number: float, low: float | None, high: float | None) -> bool:
    return (low is not None and number < low) or (high is not None and number > high)
