"""Ctrl-C and SIGTERM as one thing: an exception, after which a command says what it kept."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any


def also_on_sigterm() -> None:
    """Let SIGTERM raise KeyboardInterrupt, as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end; Ctrl-C and SIGTERM cancel it, and it ends as KeyboardInterrupt."""
    asyncio.run(_cancelled_by_sigterm(work))


async def _cancelled_by_sigterm(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    told = asyncio.Event()

    def on_signal() -> None:
        told.set()
        task.cancel()

    loop.add_signal_handler(signal.SIGTERM, on_signal)
    loop.add_signal_handler(signal.SIGINT, on_signal)
    try:
        await task
    except asyncio.CancelledError:
        if told.is_set():
            raise KeyboardInterrupt from None
        raise
