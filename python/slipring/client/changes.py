"""What happens to a connection, for who wants to follow it. Bounded: the oldest news go first."""

import asyncio
from collections import deque

from slipring.model import ConnectionChange

KEPT = 64
"""Changes that wait for a slow reader."""


class Changes:
    """What `Bus.changes` returns: iterate over it. It ends with the bus."""

    def __init__(self) -> None:
        self._kept: deque[ConnectionChange] = deque(maxlen=KEPT)
        self._news = asyncio.Event()
        self._over = False

    def tell(self, change: ConnectionChange | None) -> None:
        """Adds a change; None is the end."""
        if change is None:
            self._over = True
        else:
            self._kept.append(change)
        self._news.set()

    def __aiter__(self) -> "Changes":
        return self

    async def __anext__(self) -> ConnectionChange:
        while not self._kept:
            if self._over:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._kept.popleft()
