"""One live message for all pages at the same position: made and encoded once after each poll."""

import json
import time
from collections.abc import Callable

from slipring.console.live_message import LivePosition, live_message
from slipring.console.narrowing import narrow_message
from slipring.console.visitor import Visitor
from slipring.control import Broker

SHARED_S = 0.1
"""How long a message is shared: less than the time between two polls."""
SHARED_MAX = 8
"""Messages kept meanwhile; pages that keep up are all at the same position."""


class SharedMessages:
    """Live messages as JSON; a further page costs only the sending."""

    def __init__(self, broker: Broker, now_s: Callable[[], float] = time.monotonic) -> None:
        self._broker = broker
        self._now_s = now_s
        self._fresh_until_s = 0.0
        self._made: dict[LivePosition, tuple[str, LivePosition]] = {}

    def after(self, seen: LivePosition, visitor: Visitor) -> tuple[str, LivePosition]:
        """The message that follows a position, and the position after it.

        It is shared by all who may watch everything; anybody else has one of their own.
        """
        if visitor.watched != "all":
            return narrow_message(self._broker, visitor, seen)
        now_s = self._now_s()
        if now_s >= self._fresh_until_s or len(self._made) >= SHARED_MAX:
            self._made = {}
            self._fresh_until_s = now_s + SHARED_S
        if seen not in self._made:
            told, now_seen = live_message(self._broker, seen)
            self._made[seen] = json.dumps(told, separators=(",", ":")), now_seen
        return self._made[seen]
