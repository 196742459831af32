"""Topics in the order of their names, with their newest message and how fast they come.

Asks the engine only for what changed since the question before; never holds more topics than the
engine (`limits.values`), and never more than `TEXT_SHOWN` characters of a message.
"""

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slipring.console.live_message import shown_topic
from slipring.console.search_words import filter_pattern
from slipring.native import Value
from slipring.status.broker_state import TopicRow, TopicsMessage
from slipring.status.message import TopicValue

PAGE = 5_000
"""Values in one request to the engine."""
LOOK_S = 1.0
"""Least time between two looks at the engine."""
TOPICS_SHOWN = 500

Fetch = Callable[[int, int], tuple[list[Value], int]]
"""`Engine.values`."""
Seen = Callable[[Sequence[str]], list[bool]]
"""Which of these topics somebody may watch."""


@dataclass(slots=True)
class _Topic:
    told: TopicValue
    before: int
    """Messages at the look before the last one."""


class TopicIndex:
    """What is known of all topics. Questions come from several threads, one at a time."""

    def __init__(self, fetch: Fetch, now_s: Callable[[], float] = time.monotonic) -> None:
        """Know nothing until somebody asks."""
        self._fetch = fetch
        self._now_s = now_s
        self._lock = threading.Lock()  # questions run on threads of asyncio's pool
        self._topics: dict[str, _Topic] = {}
        self._names: list[str] = []
        self._change = 0
        self._looked_s: float | None = None
        self._passed_s: float | None = None
        self._at_ms = 0.0

    def page(self, wanted: str, after: str | None, most: int, seen: Seen) -> TopicsMessage:
        """The topics that a filter matches, from a name on."""
        with self._lock:
            self._look()
            matches = filter_pattern(wanted).fullmatch
            names = [name for name in self._names if matches(name)]
            may = seen(names)
            found = [name for name, is_seen in zip(names, may, strict=True) if is_seen]
            start = 0 if after is None else bisect_right(found, after)
            shown = found[start : start + most]
            is_last = start + most >= len(found)
            return {
                "at_ms": self._at_ms,
                "topics": [self._row(name) for name in shown],
                "total": len(found),
                "next": None if is_last or not shown else shown[-1],
            }

    def _look(self) -> None:
        now_s = self._now_s()
        if self._looked_s is not None and now_s - self._looked_s < LOOK_S:
            return
        for topic in self._topics.values():
            topic.before = topic.told["count"]
        known = len(self._topics)
        values: list[Value] | None = None
        while values is None or len(values) == PAGE:
            values, self._change = self._fetch(self._change, PAGE)
            for value in values:
                self._take(value)
        if len(self._topics) > known:
            self._names = sorted(self._topics)
        self._passed_s = None if self._looked_s is None else now_s - self._looked_s
        self._looked_s, self._at_ms = now_s, time.time() * 1e3

    def _take(self, value: Value) -> None:
        told, known = shown_topic(value), self._topics.get(value.topic)
        if known is None:
            self._topics[value.topic] = _Topic(told, 0)
        else:
            known.told = told

    def _row(self, name: str) -> TopicRow:
        topic = self._topics[name]
        grown = topic.told["count"] - topic.before
        rate = grown / self._passed_s if self._passed_s else None
        return {**topic.told, "messages_s": rate}
