"""Keeps the log readable whatever is sent to the console.

Faults of a peer are counted and not logged. A line that repeats is logged a few times a minute,
with the number of those left out.
"""

import asyncio
import logging
import time
from collections.abc import Callable

PEER_FAULTS = frozenset(
    {
        "Invalid HTTP request received.",
        "Invalid UTF-8 sequence received from client.",
        "Unsupported upgrade request.",
    }
)
"""What the web server logs about malformed requests and messages; the peer is answered, too."""
CUT_AT_THE_END = "Cancel %s running task(s), timeout graceful shutdown exceeded"
"""What the web server logs when the console ends and answers are still being made."""
LINES_MAX = 5
"""Lines with the same format that are logged in one period."""
KINDS_MAX = 100
"""Formats that are counted apart; further ones count together."""
PERIOD_S = 60.0
OTHERS = "others"


class LogGuard(logging.Filter):
    """Filters a logger whose lines a peer can cause."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.malformed: int = 0
        """Requests and messages of peers that could not be understood."""
        self._now_s = now_s
        self._period_ends_s = 0.0
        self._told: dict[str, int] = {}
        self._untold: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this line is logged."""
        if record.msg in PEER_FAULTS:
            self.malformed += 1
            return False
        if record.msg == CUT_AT_THE_END or _was_cancelled(record):
            return False
        self._begin_period(self._now_s())
        kind = str(record.msg)
        if kind not in self._told and len(self._told) >= KINDS_MAX:
            kind = OTHERS
        self._told[kind] = self._told.get(kind, 0) + 1
        if self._told[kind] > LINES_MAX:
            self._untold[kind] = self._untold.get(kind, 0) + 1
            return False
        if untold := self._untold.pop(kind, 0):
            record.msg = f"{record.getMessage()} (and {untold:,} more like it)"
            record.args = None
        return True

    def _begin_period(self, now_s: float) -> None:
        if now_s < self._period_ends_s:
            return
        self._period_ends_s = now_s + PERIOD_S
        self._told = {}
        # Formats that did not come back are forgotten, so that the dictionary stays bounded.
        if len(self._untold) > KINDS_MAX:
            self._untold = {}


def _was_cancelled(record: logging.LogRecord) -> bool:
    """Whether an answer was not finished because the console ends; that is nobody's fault."""
    return record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
