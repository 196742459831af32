"""One live message for all pages at the same position that show the same: made once after each
poll, and encoded once for all who may watch everything.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from slipring.console.live_message import PARTS, LivePosition, Parts, live_message
from slipring.console.narrowing import narrowed
from slipring.console.shown_alarms import ShownAlarms
from slipring.console.visitor import Visitor
from slipring.control import Broker
from slipring.status.message import LiveMessage

SHARED_S = 0.1
"""How long a message is shared: less than the time between two polls."""
SHARED_MAX = 32
"""Messages kept meanwhile; pages that keep up and show the same are all at the same position."""


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
        self._alarms = ShownAlarms(broker.alarms.board)
        self._now_s = now_s
        self._fresh_until_s = 0.0
        self._made: dict[tuple[LivePosition, Parts], _Made] = {}

    def after(
        self, seen: LivePosition, visitor: Visitor, parts: Parts = PARTS
    ) -> tuple[str, LivePosition]:
        """The message that follows a position, for a visitor; and the position after it."""
        made = self._message(_where_it_matters(seen, parts), parts)
        position = LivePosition(
            made.position.change if "values" in parts else seen.change,
            made.position.event if "events" in parts else seen.event,
        )
        if visitor.watched == "all":
            return made.text, position
        told = narrowed(made.told, visitor)
        told["alarms"] = self._alarms.summary(visitor)
        return _encoded(told), position

    def _message(self, seen: LivePosition, parts: Parts) -> _Made:
        now_s = self._now_s()
        if now_s >= self._fresh_until_s or len(self._made) >= SHARED_MAX:
            self._made = {}
            self._fresh_until_s = now_s + SHARED_S
        key = (seen, parts)
        if key not in self._made:
            self._made[key] = _Made(*live_message(self._broker, seen, parts))
        return self._made[key]


def _where_it_matters(seen: LivePosition, parts: Parts) -> LivePosition:
    """The same for all pages that are not sent a list, however far each had come in it."""
    change = seen.change if "values" in parts else 0
    return LivePosition(change, seen.event if "events" in parts else 0)


def _encoded(told: LiveMessage) -> str:
    return json.dumps(told, separators=(",", ":"))
