"""Questions about history on threads of their own: a few at a time, and once for all who ask the
same. Has no rules of its own, and takes none of the threads that the rest of the broker has.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from slipring.history import History
from slipring.history.question import KnownParameter

READERS = 2
"""Questions that are read at the same time."""
WAITING_MAX = 64
"""Questions that wait for a reader; more are refused."""
SHARED_S = 0.5
"""How long an answer is shared with pages that ask for the same a little later."""
SHARED_MAX = 64
FULL = "so many questions about history are waiting that there is no room for another one\n"
Answer = TypeVar("Answer")


class Busy(Exception):
    """Too many questions are waiting."""


class HistoryDesk:
    """Asks the history on threads: bounded, and once for all who ask the same."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._threads = ThreadPoolExecutor(READERS, "history")
        self._names = ThreadPoolExecutor(1, "definitions")
        """Definitions do not wait for long readings."""
        self._asked: dict[object, tuple[float, asyncio.Future[Any]]] = {}
        self._waiting = 0
        # A page asks soon: the lake's log is read while it loads.
        self._threads.submit(history.lake_bounds)

    async def known(self, names: Sequence[str]) -> dict[str, KnownParameter]:
        """The definitions of the names, as far as somebody knows them."""
        read = partial(self.history.definitions, tuple(names))
        return await self._shared(("known", *names), read, self._names)

    async def run(self, key: object, read: Callable[[], Answer]) -> Answer:
        """Read on a thread, or take what another one with this key reads or has just read."""
        return await self._shared(key, read, self._threads)

    async def _shared(
        self, key: object, read: Callable[[], Answer], threads: ThreadPoolExecutor
    ) -> Answer:
        self._forget_old()
        if key not in self._asked:
            if self._waiting >= WAITING_MAX or len(self._asked) >= WAITING_MAX + SHARED_MAX:
                raise Busy
            reading = asyncio.ensure_future(self._read(key, read, threads))
            self._asked[key] = (float("inf"), reading)
        answer: Answer = await asyncio.shield(self._asked[key][1])
        return answer

    async def _read(
        self, key: object, read: Callable[[], Answer], threads: ThreadPoolExecutor
    ) -> Answer:
        loop = asyncio.get_running_loop()
        self._waiting += 1
        try:
            return await loop.run_in_executor(threads, read)
        finally:
            self._waiting -= 1
            self._asked[key] = (time.monotonic() + SHARED_S, self._asked[key][1])
            # Large answers do not stay until somebody asks again.
            loop.call_later(2 * SHARED_S, self._forget_old)

    def _forget_old(self) -> None:
        now_s = time.monotonic()
        for old in [one for one, (until_s, _) in self._asked.items() if until_s < now_s]:
            del self._asked[old]
