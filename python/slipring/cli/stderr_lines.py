"""The log's lines on standard error, written by a thread of its own: who logs never waits for who
reads them.
"""

import logging
import os
import threading
from collections import deque

CHARACTERS_MAX = 4 << 20
"""Characters that wait for a slow reader; beyond that the oldest lines are lost, and counted."""
LAST_S = 2.0
"""How long the last lines may take when the process ends."""


class StderrLines(logging.Handler):
    """Writes lines while they are read. A terminal that is stopped or a full pipe loses the oldest
    ones; what comes then says how many.
    """

    def __init__(self, descriptor: int) -> None:
        """Start the thread. It has no `sys.stderr`, for whose lock Python waits at its end."""
        super().__init__()
        self._descriptor = descriptor
        # Held for a moment by those who log and by the thread, never while something is written.
        self._changed = threading.Condition()
        self._waiting: deque[str] = deque()
        self._characters = self._lost = 0
        self._is_writing = self._is_closed = False
        self.thread: threading.Thread = threading.Thread(
            target=self._run, name="standard error", daemon=True
        )
        self.thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Add a record; the oldest lines make room for it."""
        try:
            line = f"{self.format(record)}\n"
        except (TypeError, ValueError):  # the message does not fit its arguments
            self.handleError(record)
            return
        with self._changed:
            self._waiting.append(line)
            self._characters += len(line)
            while self._characters > CHARACTERS_MAX:
                self._characters -= len(self._waiting.popleft())
                self._lost += 1
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all is written, for a bounded time."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._is_writing, LAST_S)

    def close(self) -> None:
        """Write what waits, and end the thread."""
        self.flush()
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        super().close()

    def _run(self) -> None:
        while text := self._next():
            try:
                _write(self._descriptor, text.encode(errors="backslashreplace"))
            except OSError:  # nobody can read it any more
                continue

    def _next(self) -> str:
        """Wait for lines, and take all; none if the thread has to end."""
        with self._changed:
            self._is_writing = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            lines, lost = "".join(self._waiting), self._lost
            self._waiting.clear()
            self._characters = self._lost = 0
            self._is_writing = bool(lines)
        return f"{self._gap(lost)}\n{lines}" if lost else lines

    def _gap(self, lost: int) -> str:
        told = f"{lost:,} lines of the log are missing here: standard error was read too slowly"
        level = {"levelno": logging.WARNING, "levelname": "WARNING"}
        return self.format(logging.makeLogRecord({"msg": told, **level}))


def _write(descriptor: int, text: bytes) -> None:
    """Write all of it; a pipe may take it in parts."""
    while text:
        text = text[os.write(descriptor, text) :]
