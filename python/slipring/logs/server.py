"""A log server: a bounded queue of lines, and a thread that sends them.

Who adds a line never waits.
"""

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass

from slipring.logs.line import LogLine
from slipring.logs.sinks import LinesRefused, LogSink

LINES_MAX = 10_000
"""Lines that wait for a server; beyond that the oldest are dropped and counted."""
LINES_BYTES_MAX = 16 << 20
"""Their memory, at most."""
RETRY_S = (0.5, 30.0)
"""How long a server that failed is left alone: at first, and at most."""
TELL_S = 10.0
"""Losses at a server that is too slow are told at most this often."""
LAST_S = 2.0
"""How long the last lines may take when the broker ends."""

log: logging.Logger = logging.getLogger("slipring.logs")


@dataclass(frozen=True, slots=True)
class LogServerFigures:
    """What one server got."""

    name: str
    sent: int
    lost: int
    waiting: int
    failure: str | None
    """Why it gets nothing at the moment."""


class LogServer(logging.Handler):
    """Sends what is logged to one server, in a thread of its own."""

    def __init__(self, name: str, sink: LogSink, level: int = logging.DEBUG) -> None:
        """Start the thread; the server need not be there."""
        super().__init__(level)
        self.label = name
        self._sink = sink
        # Held for a moment by those who log and by the thread, never while something is sent.
        self._changed = threading.Condition()
        self._waiting: deque[LogLine] = deque()
        self._waiting_bytes = 0
        self._sent = self._lost = self._untold = 0
        self._failure: str | None = None
        self._told_s = float("-inf")
        self._ends_s: float | None = None
        self._thread = threading.Thread(target=self._run, name=f"log server {name}", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Add a record; the oldest line makes room for it."""
        try:
            line = LogLine.of(record)
        except (TypeError, ValueError):  # the message does not fit its arguments
            self.handleError(record)
            return
        with self._changed:
            self._waiting.append(line)
            self._waiting_bytes += line.bytes
            self._trim()
            self._changed.notify_all()

    def figures(self) -> LogServerFigures:
        """What it got so far."""
        with self._changed:
            waiting = len(self._waiting)
            return LogServerFigures(self.label, self._sent, self._lost, waiting, self._failure)

    def end(self) -> None:
        """Let the thread send what waits, within a bounded time, and end. The rest is lost."""
        with self._changed:
            self._ends_s = time.monotonic() + LAST_S
            self._changed.notify_all()

    def join(self) -> None:
        """Wait for the end, no longer than the last lines may take."""
        left_s = LAST_S if self._ends_s is None else self._ends_s - time.monotonic()
        self._thread.join(max(0.0, left_s))

    def _run(self) -> None:
        retry_s = RETRY_S[0]
        while lines := self._next():
            try:
                refused = self._sink.send(lines)
            except Exception as error:  # noqa: BLE001 (the thread sends every later line)
                if isinstance(error, OSError):
                    self._put_back(lines)
                else:
                    self._lose(len(lines))
                self._note_failure(error)
                if self._pause(retry_s):
                    break
                retry_s = min(2 * retry_s, RETRY_S[1])
            else:
                retry_s = RETRY_S[0]
                self._count(len(lines) - refused, refused, "it refuses lines")
        self._sink.close()
        with self._changed:
            self._lost += len(self._waiting)
            self._waiting.clear()

    def _next(self) -> list[LogLine]:
        """Wait for lines, and take some; none if the thread has to end."""
        with self._changed:
            while not self._waiting and self._ends_s is None:
                self._changed.wait()
            if self._ends_s is not None and time.monotonic() > self._ends_s:
                return []
            count = min(len(self._waiting), self._sink.lines_max)
            lines = [self._waiting.popleft() for _ in range(count)]
            self._waiting_bytes -= sum(line.bytes for line in lines)
            self._changed.notify_all()
            return lines

    def _put_back(self, lines: list[LogLine]) -> None:
        with self._changed:
            self._waiting.extendleft(reversed(lines))
            self._waiting_bytes += sum(line.bytes for line in lines)
            self._trim()

    def _lose(self, count: int) -> None:
        """Count lines that would fail again."""
        with self._changed:
            self._lost += count
            self._untold += count

    def _trim(self) -> None:
        """Drop the oldest lines beyond the bounds."""
        while len(self._waiting) > LINES_MAX or self._waiting_bytes > LINES_BYTES_MAX:
            self._waiting_bytes -= self._waiting.popleft().bytes
            self._lost += 1
            self._untold += 1

    def _pause(self, seconds: float) -> bool:
        """Leave the server alone for a while; return whether the thread has to end."""
        until_s = time.monotonic() + seconds
        with self._changed:
            while self._ends_s is None and (left_s := until_s - time.monotonic()) > 0:
                self._changed.wait(left_s)
            return self._ends_s is not None

    def _note_failure(self, error: Exception) -> None:
        """Tell a new failure, once. What is told then waits for this server too."""
        words = getattr(error, "strerror", None) or str(error) or type(error).__name__
        with self._changed:
            is_new, self._failure = self._failure is None, words
            refused = isinstance(error, ConnectionRefusedError) and self._sink.refuses_late
            if is_new and refused and self._sent:
                self._sent -= 1
                self._lost += 1
                self._untold += 1
            self._changed.notify_all()
        if is_new:
            is_known = isinstance(error, OSError | LinesRefused)
            fate = f"{LINES_MAX:,} lines wait for it at most"
            log.warning(
                "log server %s: %s; %s",
                self.label,
                error,
                fate if isinstance(error, OSError) else "its lines are lost",
                exc_info=None if is_known else error,
            )

    def _count(self, sent: int, refused: int, why: str) -> None:
        """Count what was sent, and tell what was lost: at once if the server is back."""
        now_s = time.monotonic()
        with self._changed:
            self._sent += sent
            self._lost += refused
            self._untold += refused
            is_back, self._failure = self._failure is not None, None
            is_due = self._untold > 0 and now_s >= self._told_s + TELL_S
            lost = self._untold if is_back or is_due else 0
            if lost:
                self._untold, self._told_s = 0, now_s
            self._changed.notify_all()
        if is_back:
            log.warning("log server %s is back; %s lines were lost", self.label, f"{lost:,}")
        elif lost:
            because = why if refused else "it is too slow"
            log.warning("log server %s lost %s lines: %s", self.label, f"{lost:,}", because)
