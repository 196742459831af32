"""Keeps the last minutes of the configured quick look in memory, so that the first page begins with
them at once, however much else comes in. It shows nobody anything.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from slipring.errors import SlipringError

if TYPE_CHECKING:
    from slipring.history import History

TURN_S = 1.0


async def keep_quick_look(history: "History", chosen: Callable[[], Sequence[str]]) -> None:
    """Follow what is chosen until cancelled, on a thread of its own."""
    loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1, "quick-look")
    try:
        while True:
            if names := chosen():
                await loop.run_in_executor(thread, take_in, history, names)
            await asyncio.sleep(TURN_S)
    finally:
        thread.shutdown(wait=False)


def take_in(history: "History", names: Sequence[str]) -> None:
    """What came of these since the last turn; what nobody has declared yet is left out."""
    try:
        known = history.table.definitions(names)
        history.follow([name for name, one in known.items() if not one.is_text], known)
    except SlipringError:  # the engine is busy; the next turn has it
        return
