"""Ctrl-C and SIGTERM both raise an exception, so that a command can say what it has done."""

import asyncio
import signal
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

Item = TypeVar("Item")


class _SignalState:
    """What a signal should do. Python handles it in the main thread, between two instructions."""

    def __init__(self) -> None:
        self.is_blocking = False
        self.is_cancelled = False


_signals = _SignalState()


def also_on_sigterm() -> None:
    """Let SIGTERM raise KeyboardInterrupt, as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine; Ctrl-C and SIGTERM cancel it, and KeyboardInterrupt is raised."""
    asyncio.run(_cancelled_by_signals(work))


def interruptible(items: Iterable[Item]) -> Iterator[Item]:
    """The same items; a signal interrupts the wait for the next one, which blocks the loop."""
    iterator = iter(items)
    while True:
        with blocking():
            try:
                item = next(iterator)
            except StopIteration:
                return
        yield item


async def _cancelled_by_signals(work: Coroutine[Any, Any, None]) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        if _signals.is_blocking:
            raise KeyboardInterrupt
        _signals.is_cancelled = True
        loop.call_soon_threadsafe(task.cancel)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    try:
        await work
    except asyncio.CancelledError:
        if _signals.is_cancelled:
            raise KeyboardInterrupt from None
        raise


@contextmanager
def blocking() -> Iterator[None]:
    """Let a signal interrupt the block, which blocks the event loop."""
    _signals.is_blocking = True
    try:
        yield
    finally:
        _signals.is_blocking = False
