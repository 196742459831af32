"""Runs a program for make so that Ctrl-C ends it, and make with it, quietly.

On Ctrl-C the terminal interrupts its whole foreground process group, and make then reports an error
although the program ended well. So the program becomes the foreground group by itself. Without a
terminal it takes this process's place, and a signal for the group reaches it directly; one sent to
make alone is passed on by a watcher, since make would only wait.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TERMINAL = Path("/dev/tty")
WATCH_SECONDS = 0.2


def is_foreground() -> bool:
    """Whether a terminal is there and we are in its foreground process group."""
    try:
        terminal = os.open(TERMINAL, os.O_RDWR)
    except OSError:
        return False
    with os.fdopen(terminal, "rb", buffering=0):
        return os.tcgetpgrp(terminal) == os.getpgrp()


def run_in_own_group(command: list[str]) -> int:
    """Run the program as the terminal's foreground group; the terminal comes back when it ends."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    with TERMINAL.open("rb", buffering=0) as terminal:
        program = subprocess.Popen(command, process_group=0)
        os.tcsetpgrp(terminal.fileno(), program.pid)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, lambda number, _: program.send_signal(number))
        try:
            return program.wait()
        finally:
            os.tcsetpgrp(terminal.fileno(), os.getpgrp())


def is_interrupted(make: int) -> bool:
    """Whether make has had its SIGINT: it catches the signal once, then sets it back."""
    try:
        status = Path(f"/proc/{make}/status").read_text(encoding="ascii")
    except OSError:
        return True
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return not int(caught.split()[1], 16) & (1 << (signal.SIGINT - 1))


def watch(make: int, program: int) -> None:
    """Pass on an interrupt for make alone; one for the whole group ends this watcher too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with contextlib.suppress(ProcessLookupError):
        while not is_interrupted(make):
            os.kill(program, 0)
            time.sleep(WATCH_SECONDS)
        os.kill(program, signal.SIGINT)


def start_watcher(make: int, program: int) -> None:
    """Fork twice, so that the program does not find a child it never started."""
    between = os.fork()
    if between == 0:
        if os.fork() == 0:
            watch(make, program)
        os._exit(0)
    os.waitpid(between, 0)


def take_over(command: list[str]) -> None:
    """Become the program, watched over if make is our parent."""
    make = os.getppid()
    if not is_interrupted(make):
        start_watcher(make, os.getpid())
    os.execvp(command[0], command)


def main() -> int:
    command = sys.argv[1:]
    if not is_foreground():
        take_over(command)
    status = run_in_own_group(command)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
