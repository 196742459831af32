"""What comes in of the parameters that open pages watch: one follower for all pages.

It sleeps while nobody watches, and works on a thread, never on the event loop.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from slipring.console.history_answer import NS_PER_MS, labelled, milliseconds, numbers, shown_value
from slipring.errors import SlipringError
from slipring.history.history import BEGIN_NS, History
from slipring.history.question import KnownParameter
from slipring.history.table_part import NewestSample, value_of

TURN_S = 0.05
"""Twenty messages a second: no eye sees more."""
PAGES_NAMES_MAX = 256
"""Parameters that all pages together watch."""
SHARED_MAX = 256
Json = dict[str, Any]


@dataclass(frozen=True)
class Watched:
    """What a page watches: pages that watch the same share a message."""

    names: tuple[str, ...]
    step_ns: int


class SamplesFeed:
    """Follows while pages watch; tells them after each turn."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.turned: asyncio.Condition = asyncio.Condition()
        """Notified after each turn."""
        self.turn_ms: float = 0.0
        """When the newest turn was."""
        self.revision: int = 0
        """What pages have that have everything."""
        self._watching: Counter[str] = Counter()
        self._known: dict[str, KnownParameter] = {}
        self._texts: dict[str, tuple[int, NewestSample]] = {}
        self._made: dict[tuple[Watched, int], str] = {}
        self._threads = ThreadPoolExecutor(1, "samples")
        self._task: asyncio.Task[None] | None = None

    def watch(self, known: dict[str, KnownParameter]) -> list[str]:
        """Follow these for one more page; returns those for which there is room."""
        accepted = []
        for name, one in known.items():
            if name in self._watching or len(self._watching) < PAGES_NAMES_MAX:
                self._watching[name] += 1
                self._known[name] = one
                accepted.append(name)
        if self._watching and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._follow())
        return accepted

    def leave(self, names: Iterable[str]) -> None:
        """A page does not watch these any more."""
        self._watching -= Counter(names)
        for kept in (self._known, self._texts):
            for name in [one for one in kept if one not in self._watching]:
                del kept[name]

    def message(self, watched: Watched, since: int) -> str:
        """What came after a revision, encoded once for all pages at the same place."""
        key = (watched, since)
        if key not in self._made:
            if len(self._made) >= SHARED_MAX:
                self._made = {}
            self._made[key] = self._message(watched, since)
        return self._made[key]

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        while self._watching:
            began_s = loop.time()
            await loop.run_in_executor(self._threads, self._turn, dict(self._known))
            self._made = {}
            self.turn_ms = time.time_ns() / NS_PER_MS
            self.revision = self.history.recent.revision
            async with self.turned:
                self.turned.notify_all()
            await asyncio.sleep(max(TURN_S / 5, TURN_S - (loop.time() - began_s)))

    def _turn(self, known: dict[str, KnownParameter]) -> None:
        texts = [name for name, one in known.items() if one.is_text]
        try:
            self.history.follow([name for name in known if name not in texts], known)
            newest = self.history.table.newest(texts)
        except SlipringError:  # the engine is busy; the next turn has it
            return
        for name, one in newest.items():
            if name not in self._texts or self._texts[name][1] != one:
                self._texts[name] = (self.history.recent.revision, one)

    def _message(self, watched: Watched, since: int) -> str:
        series = [one for name in watched.names if (one := self._series(name, watched, since))]
        told = {"at_ms": self.turn_ms, "step_ms": watched.step_ns / NS_PER_MS, "series": series}
        return json.dumps(told, separators=(",", ":"), allow_nan=False)

    def _series(self, name: str, watched: Watched, since: int) -> Json | None:
        known = self._known[name]
        if known.is_text:
            return self._text(name, since)
        from_ns = time.time_ns() - BEGIN_NS if since < 0 else 0
        found = self.history.recent.changed(name, since, from_ns, watched.step_ns)
        if not len(found):
            return None
        is_number = known.labels is None
        return {
            "name": name,
            "t": milliseconds(found.start_ns),
            "min": numbers(found.low) if is_number else [],
            "max": numbers(found.high) if is_number else [],
            "last": numbers(found.last) if is_number else labelled(found.last, known),
        }

    def _text(self, name: str, since: int) -> Json | None:
        revision, newest = self._texts.get(name, (-1, None))
        if newest is None or revision < since:
            return None
        value = shown_value(value_of(newest, self._known[name]))
        return {
            "name": name,
            "t": [newest.time_ns / NS_PER_MS],
            "min": [],
            "max": [],
            "last": [value],
        }
