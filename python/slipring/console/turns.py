"""Turns on the event loop: work for pages is done one page after the other, with a pause after each
that is as long as its work. So pages never take more than half of the loop, whatever they ask and
however many they are. It does no work itself.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PAUSE_SHARE = 1.0
"""The pause after a turn is so many times its duration."""


class Turns:
    """Who waits longest has the next turn. A page waits once only, so no page has two in a row."""

    def __init__(self) -> None:
        """Nobody waits."""
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn. What is done in it must not wait for anything."""
        await self._turn.acquire()
        began_s = time.monotonic()
        try:
            yield
        finally:
            pause_s = PAUSE_SHARE * (time.monotonic() - began_s)
            asyncio.get_running_loop().call_later(pause_s, self._turn.release)
