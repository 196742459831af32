"""One picture for all pages that have seen the same: at each beat it is made and written once."""

import json
import time
from collections.abc import Callable

from slipring.console.picture import Seen, picture
from slipring.control import Broker

SHARED_S = 0.1
"""How long a picture is new: less than a beat."""
SHARED_MAX = 8
"""Pictures that are kept meanwhile; pages that keep up have all seen the same."""


class Pictures:
    """What pages are sent; a page costs the sending alone."""

    def __init__(self, broker: Broker, now_s: Callable[[], float] = time.monotonic) -> None:
        self._broker = broker
        self._now_s = now_s
        self._fresh_until_s = 0.0
        self._made: dict[Seen, tuple[str, Seen]] = {}

    def after(self, seen: Seen) -> tuple[str, Seen]:
        """Everything that is shown as JSON, and what a page has seen with it."""
        now_s = self._now_s()
        if now_s >= self._fresh_until_s or len(self._made) >= SHARED_MAX:
            self._made = {}
            self._fresh_until_s = now_s + SHARED_S
        if seen not in self._made:
            told, now_seen = picture(self._broker, seen)
            self._made[seen] = json.dumps(told, separators=(",", ":")), now_seen
        return self._made[seen]
