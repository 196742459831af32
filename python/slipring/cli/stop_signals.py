"""Ctrl-C and SIGTERM for a command whose work may be interrupted at any moment."""

import os
import signal
import threading
from types import FrameType

END_S = 3.0
"""How long a command has to end by itself. A broker or a storage that does not answer takes
longer, and would keep it waiting for a minute."""


def stop_on_signals() -> threading.Event:
    """An event that Ctrl-C and SIGTERM set; the second one ends the process at once.

    So does the first after a while. That is what a kill does, at any moment of a run: the next one
    continues.
    """
    stop, is_told = threading.Event(), threading.Event()

    def end(number: int, _frame: FrameType | None) -> None:
        if is_told.is_set():
            os._exit(128 + number)
        is_told.set()
        stop.set()  # it may be set already, by a job that failed
        timer = threading.Timer(END_S, _end_at_once)
        timer.daemon = True
        timer.start()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return stop


def _end_at_once() -> None:
    print("  what is under way is given up; the next run does it again", flush=True)
    os._exit(0)
