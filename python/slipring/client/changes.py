"""News of a connection or a table, for its followers. Bounded: the oldest news are dropped."""

import asyncio
import weakref
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
        self._is_over = False

    def tell(self, change: News | None) -> None:
        """Adds a change; None is the end."""
        if change is None:
            self._is_over = True
        else:
            self._kept.append(change)
        self._news.set()

    def __aiter__(self) -> "Changes[News]":
        return self

    async def __anext__(self) -> News:
        while not self._kept:
            if self._is_over:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._kept.popleft()


class Followers(Generic[News]):
    """All who follow the same news. One that is not referenced any more is forgotten."""

    def __init__(self) -> None:
        self._all: weakref.WeakSet[Changes[News]] = weakref.WeakSet()

    def follow(self) -> Changes[News]:
        """What happens from now on."""
        changes: Changes[News] = Changes()
        self._all.add(changes)
        return changes

    def tell(self, change: News | None) -> None:
        """Tells every follower of a change; None is the end."""
        for follower in self._all:
            follower.tell(change)
