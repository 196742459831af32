"""A program in a terminal of its own, as a person sits before it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

PATIENCE_S = 60
CONTROL = re.compile(rb"\x1b(\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|[=>()][0-9A-B]?)")


class Terminal:
    """What a program has printed, and the keys that go to it."""

    def __init__(self, process: "subprocess.Popen[bytes]", descriptor: int, slave: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self._slave = slave
        self.output = b""

    @property
    def mode(self) -> list[Any]:
        """How the terminal treats keys and lines."""
        return termios.tcgetattr(self._slave)

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._descriptor, keys)

    def resize(self, rows: int, columns: int) -> None:
        """Change its size; the program is told."""
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def wait_for(self, pattern: bytes) -> bytes:
        """Read until the text has it, without control codes; that text is taken away."""
        end_s = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, plain := CONTROL.sub(b"", self.output), re.DOTALL)):
            left_s = end_s - time.monotonic()
            assert left_s > 0, f"no {pattern!r} in {plain[-3000:]!r}"
            if select.select([self._descriptor], [], [], min(left_s, 1))[0]:
                self.output += os.read(self._descriptor, 1 << 16)
        self.output = b""
        return plain[: found.end()]

    def end(self) -> tuple[int, bytes]:
        """Read until the program has ended: its exit code, and the last bytes with their codes."""
        end_s = time.monotonic() + PATIENCE_S
        last = self.output
        while True:
            ended = self.process.poll() is not None
            while select.select([self._descriptor], [], [], 0 if ended else 0.1)[0]:
                last += os.read(self._descriptor, 1 << 16)
            if ended:
                return self.process.returncode, last
            assert time.monotonic() < end_s, last[-3000:]


@contextmanager
def terminal(command: Sequence[str], *, rows: int = 24, columns: int = 100) -> Iterator[Terminal]:
    """Start a program in one; it is killed if it has not ended."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")
    }
    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (one thread)
        env=environment | {"TERM": "xterm-256color"},
    )
    try:
        yield Terminal(process, master, slave)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE_S)
        os.close(slave)
        os.close(master)
