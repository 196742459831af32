"""Waits for work that another thread does, so that Ctrl-C ends a command at once."""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import TypeVar

from slipring.cli.progress import ProgressDisplay

Item = TypeVar("Item")

AHEAD_MAX = 4
"""Items that wait for whoever takes them."""
LOOK_S = 0.2
PATIENCE_S = 1.0
"""Work that is shorter shows no progress."""


class _End:
    """Follows the last item; with the error, if there was one."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def awaited(
    begin: Callable[[], Iterable[Item]], what: str, unit: str, count: Callable[[Item], int]
) -> Iterator[Item]:
    """The items of `begin()`, which runs in a thread; progress is shown if it takes long.

    A library that waits in Rust cannot be interrupted; this thread can, and leaves it behind.
    """
    items: queue.Queue[Item | _End] = queue.Queue(AHEAD_MAX)
    threading.Thread(target=_work, args=(begin, items), daemon=True).start()
    began_s, counted, shown = time.monotonic(), 0, None
    with ExitStack() as open_:
        while True:
            try:
                item = items.get(timeout=LOOK_S)
            except queue.Empty:
                item = None
            if shown is None and time.monotonic() > began_s + PATIENCE_S:
                shown = open_.enter_context(ProgressDisplay(what, None, unit))
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            if item is not None:
                counted += count(item)
                yield item
            if shown is not None:
                shown.tell(counted, 0)


def _work(begin: Callable[[], Iterable[Item]], items: "queue.Queue[Item | _End]") -> None:
    error: BaseException | None = None
    try:
        for item in begin():
            items.put(item)
    except BaseException as raised:  # noqa: BLE001 (it is raised in the thread that waits)
        error = raised
    items.put(_End(error))
