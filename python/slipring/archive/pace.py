"""How fast an upload may read its file, and that it ends when the broker stops."""

from collections.abc import Callable, Iterator
from threading import Event
from time import monotonic
from typing import BinaryIO

PIECE_BYTES = 256 << 10
"""Bytes that are read at once, and after which the pace is looked at."""


class UploadStopped(Exception):
    """The broker stops; the segment is sent after the next start."""


class Pace:
    """A bound on bytes per second, over all uploads."""

    def __init__(self, bytes_per_s: int = 0, stop: Event | None = None) -> None:
        """0 is no bound."""
        self._bytes_per_s = bytes_per_s
        self._stop = stop or Event()
        self._due_s = 0.0

    def pieces(self, stream: BinaryIO, seen: Callable[[bytes], object]) -> Iterator[bytes]:
        """The content of a file; `seen` gets each piece too."""
        while piece := stream.read(PIECE_BYTES):
            self._wait(len(piece))
            seen(piece)
            yield piece

    def _wait(self, count: int) -> None:
        """Wait until so many bytes may go. An idle time does not allow a burst later."""
        delay_s = 0.0
        if self._bytes_per_s:
            now_s = monotonic()
            self._due_s = max(self._due_s, now_s) + count / self._bytes_per_s
            delay_s = self._due_s - now_s
        if self._stop.wait(delay_s):
            raise UploadStopped
