"""Keeps the log readable whatever is sent to the console: faults of a peer are counted, not told.

What the web server says more often than a person can read is told a few times a minute, with a sum.
"""

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
"""What the web server says of a request or a message that is malformed; the peer is told too."""
LINES_MAX = 5
"""Lines that begin alike in one period."""
KINDS_MAX = 100
"""Beginnings of lines that are told apart; further ones count together."""
PERIOD_S = 60.0
OTHERS = "others"


class LogGuard(logging.Filter):
    """Stands before a logger that a peer can make speak."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.malformed = 0
        """Requests and messages of peers that could not be understood."""
        self._now_s = now_s
        self._period_ends_s = 0.0
        self._told: dict[str, int] = {}
        self._untold: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this line is told."""
        if record.msg in PEER_FAULTS:
            self.malformed += 1
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
            record.msg = f"{record.getMessage()} (and {untold:,} times more, not told one by one)"
            record.args = None
        return True

    def _begin_period(self, now_s: float) -> None:
        if now_s < self._period_ends_s:
            return
        self._period_ends_s = now_s + PERIOD_S
        self._told = {}
        # A beginning that was not heard again is forgotten, so that these do not grow for ever.
        if len(self._untold) > KINDS_MAX:
            self._untold = {}
