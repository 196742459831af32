"""News of a connection or a table, for who follows it. Bounded: the oldest news go first."""

import asyncio
from collections import deque
from typing import Generic, TypeVar

News = TypeVar("News")

KEPT = 64
"""Changes that wait for a slow reader."""


class Changes(Generic[News]):
    """What `Bus.changes` and its like return: iterate over it. It ends with the bus."""

    def __init__(self) -> None:
        self._kept: deque[News] = deque(maxlen=KEPT)
        self._news = asyncio.Event()
        self._over = False

    def tell(self, change: News | None) -> None:
        """Adds a change; None is the end."""
        if change is None:
            self._over = True
        else:
            self._kept.append(change)
        self._news.set()

    def __aiter__(self) -> "Changes[News]":
        return self

    async def __anext__(self) -> News:
        while not self._kept:
            if self._over:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._kept.popleft()
