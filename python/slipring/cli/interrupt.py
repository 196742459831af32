"""Ctrl-C and SIGTERM as one thing: an exception, after which a command says what it kept."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

Item = TypeVar("Item")


class _Told:
    """What a signal does. A signal is heard by the main thread between two instructions."""

    def __init__(self) -> None:
        self.is_blocking = False
        self.is_cancelled = False


_told = _Told()


def also_on_sigterm() -> None:
    """Let SIGTERM raise KeyboardInterrupt, as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end; Ctrl-C and SIGTERM cancel it, and it ends as KeyboardInterrupt."""
    asyncio.run(_heard(work))


def heard(items: Iterable[Item]) -> Iterator[Item]:
    """The same items; waiting for the next one, which blocks the loop, ends with a signal."""
    iterator = iter(items)
    while True:
        with _blocking():
            try:
                item = next(iterator)
            except StopIteration:
                return
        yield item


def blocking(work: Callable[[], Item]) -> Item:
    """What the work returns, which blocks the loop; a signal ends it."""
    with _blocking():
        return work()


async def _heard(work: Coroutine[Any, Any, None]) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        if _told.is_blocking:
            raise KeyboardInterrupt
        _told.is_cancelled = True
        loop.call_soon_threadsafe(task.cancel)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    try:
        await work
    except asyncio.CancelledError:
        if _told.is_cancelled:
            raise KeyboardInterrupt from None
        raise


@contextmanager
def _blocking() -> Iterator[None]:
    _told.is_blocking = True
    try:
        yield
    finally:
        _told.is_blocking = False
