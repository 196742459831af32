"""What comes in of the parameters that open pages watch: one follower for all pages.

It sleeps while nobody watches, and works on a thread, never on the event loop.
"""

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from slipring.console.history_answer import NS_PER_MS, labelled, milliseconds, numbers, shown_value
from slipring.console.turns import Turns
from slipring.errors import SlipringError
from slipring.history.history import BEGIN_NS, History
from slipring.history.question import KnownParameter
from slipring.history.table_part import NewestSample, value_of

TURN_S = 0.05
"""Twenty messages a second: no eye sees more."""
TOLD_S = 1.0
"""The next turn waits at most so long until all pages have the messages of the last one."""
PAGES_NAMES_MAX = 256
"""Parameters that all pages together watch."""
SHARED_MAX = 256
SERIES_SHARED_MAX = 4_096
"""Messages, and series of them, that are kept until the next turn."""
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
        self._series_made: dict[tuple[str, int, int], str] = {}
        """What pages share that watch some of the same, by name, step and revision."""
        self._turns = Turns()
        self._asking = 0
        self._all_told = asyncio.Event()
        self._all_told.set()
        self._threads = ThreadPoolExecutor(1, "samples")
        self._beginning = ThreadPoolExecutor(1, "samples-begin")
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

    async def begin(self, names: Sequence[str]) -> list[str]:
        """Follow these for one more page, from some seconds ago on; returns as `watch` does.

        On a thread of the feed: pages that choose others all the time delay each other only.
        """
        loop, history = asyncio.get_running_loop(), self.history
        known = await loop.run_in_executor(self._beginning, history.definitions, names)
        accepted = self.watch(known)
        try:
            await loop.run_in_executor(self._beginning, history.begin, accepted, known)
        except BaseException:  # the page has gone meanwhile
            self.leave(accepted)
            raise
        return accepted

    def leave(self, names: Iterable[str]) -> None:
        """A page does not watch these any more."""
        self._watching -= Counter(names)
        for kept in (self._known, self._texts):
            for name in [one for one in kept if one not in self._watching]:
                del kept[name]

    async def message(self, watched: Watched, since: int) -> tuple[str, int]:
        """What came after a revision, encoded once for all pages at the same place; and the
        revision that such a page has then.
        """
        if (watched, since) in self._made:
            return self._made[watched, since], self.revision
        self._asking += 1
        self._all_told.clear()
        try:
            async with self._turns.turn():
                return self._shared(watched, since), self.revision
        finally:
            self._asking -= 1
            if not self._asking:
                self._all_told.set()

    def _shared(self, watched: Watched, since: int) -> str:
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
            self._made, self._series_made = {}, {}
            self.turn_ms = time.time_ns() / NS_PER_MS
            self.revision = self.history.recent.revision
            async with self.turned:
                self.turned.notify_all()
            await asyncio.sleep(max(TURN_S / 5, TURN_S - (loop.time() - began_s)))
            # Else pages drift apart, and none shares what another one was told.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TOLD_S):
                    await self._all_told.wait()

    def _turn(self, known: dict[str, KnownParameter]) -> None:
        texts = [name for name, one in known.items() if one.is_text]
        try:
            self.history.follow([name for name in known if name not in texts], known)
            newest = self.history.table.newest(texts)
        except SlipringError:  # the engine is busy; the next turn has it
            return
        for name, one in newest.items():
            is_other = name not in self._texts or self._texts[name][1] != one
            if is_other and one.is_good:  # a stale one has the time when it became so
                self._texts[name] = (self.history.recent.revision, one)

    def _message(self, watched: Watched, since: int) -> str:
        every = (self._series_text(name, watched.step_ns, since) for name in watched.names)
        told = _encoded({"at_ms": self.turn_ms, "step_ms": watched.step_ns / NS_PER_MS})
        return f'{told[:-1]},"series":[{",".join(one for one in every if one)}]}}'

    def _series_text(self, name: str, step_ns: int, since: int) -> str:
        """One series; empty if nothing of it is new."""
        key = (name, step_ns, since)
        if key not in self._series_made:
            if len(self._series_made) >= SERIES_SHARED_MAX:
                self._series_made = {}
            told = self._series(name, step_ns, since)
            self._series_made[key] = _encoded(told) if told else ""
        return self._series_made[key]

    def _series(self, name: str, step_ns: int, since: int) -> Json | None:
        known = self._known[name]
        if known.is_text:
            return self._text(name, since)
        from_ns = time.time_ns() - BEGIN_NS if since < 0 else 0
        found = self.history.recent.changed(name, since, from_ns, step_ns)
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


def _encoded(told: Json) -> str:
    return json.dumps(told, separators=(",", ":"), allow_nan=False)
