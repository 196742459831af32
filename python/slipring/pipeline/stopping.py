"""How a run ends soon after it is told to stop. Must never import pyspark.

Nothing is lost by ending early: what is not committed is done again by the next run. So a stop
cancels what Spark computes and ends compaction, and waits for commits only.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

LOOK_S = 0.1


@contextmanager
def when_stopped(stop: threading.Event, act: Callable[[], object]) -> Iterator[None]:
    """Call `act` when `stop` is set during the block, and again until the block ends."""
    done = threading.Event()

    def watch() -> None:
        while not stop.wait(LOOK_S) and not done.is_set():
            pass
        while not done.is_set():
            with suppress(Exception):  # Spark may be gone already
                act()
            done.wait(LOOK_S)

    thread = threading.Thread(target=watch, name="watch-for-stop", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def interrupt_kept() -> Iterator[None]:
    """Ctrl-C does after the block what it did before: a Spark session replaces that."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
