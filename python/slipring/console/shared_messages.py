"""One live message for all pages at the same position: made once after each poll, and encoded once
for all who may watch everything.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from slipring.console.alarms import alarm_summary
from slipring.console.live_message import LivePosition, live_message
from slipring.console.narrowing import narrowed
from slipring.console.visitor import Visitor
from slipring.control import Broker
from slipring.status.message import LiveMessage

SHARED_S = 0.1
"""How long a message is shared: less than the time between two polls."""
SHARED_MAX = 8
"""Messages kept meanwhile; pages that keep up are all at the same position."""


@dataclass(frozen=True)
class _Made:
    """A message, and the position after it."""

    told: LiveMessage
    position: LivePosition

    @cached_property
    def text(self) -> str:
        """For who may watch everything."""
        return _encoded(self.told)


class SharedMessages:
    """Live messages as JSON; a further page costs the sending, or what narrows it."""

    def __init__(self, broker: Broker, now_s: Callable[[], float] = time.monotonic) -> None:
        self._broker = broker
        self._now_s = now_s
        self._fresh_until_s = 0.0
        self._made: dict[LivePosition, _Made] = {}

    def after(self, seen: LivePosition, visitor: Visitor) -> tuple[str, LivePosition]:
        """The message that follows a position, for a visitor; and the position after it."""
        made = self._message(seen)
        if visitor.watched == "all":
            return made.text, made.position
        told = narrowed(made.told, visitor)
        told["alarms"] = alarm_summary(self._broker, visitor)
        return _encoded(told), made.position

    def _message(self, seen: LivePosition) -> _Made:
        now_s = self._now_s()
        if now_s >= self._fresh_until_s or len(self._made) >= SHARED_MAX:
            self._made = {}
            self._fresh_until_s = now_s + SHARED_S
        if seen not in self._made:
            self._made[seen] = _Made(*live_message(self._broker, seen))
        return self._made[seen]


def _encoded(told: LiveMessage) -> str:
    return json.dumps(told, separators=(",", ":"))
