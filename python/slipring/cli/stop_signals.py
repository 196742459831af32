"""Ctrl-C and SIGTERM for a command whose work may be interrupted at any moment."""

import os
import signal
import threading
from queue import Empty, SimpleQueue

END_S = 3.0
"""How long a command has to end by itself. A broker or a storage that does not answer takes
longer, and would keep it waiting for a minute."""


def stop_on_signals() -> threading.Event:
    """An event that Ctrl-C and SIGTERM set; the second one ends the process at once.

    So does the first after a while. That is what a kill does, at any moment of a run: the next one
    continues.
    """
    stop = threading.Event()
    # A handler interrupts the main thread, which may hold the event's lock: it only puts the signal
    # here, which never waits.
    signals: SimpleQueue[int] = SimpleQueue()
    threading.Thread(target=_end, args=(stop, signals), name="signals", daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: signals.put(number))
    return stop


def _end(stop: threading.Event, signals: "SimpleQueue[int]") -> None:
    signals.get()
    stop.set()  # it may be set already, by a job that failed
    try:
        os._exit(128 + signals.get(timeout=END_S))
    except Empty:
        print("  what is under way is given up; the next run does it again", flush=True)
        os._exit(0)
