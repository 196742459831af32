"""Journals for tests: messages that say themselves who they are."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from slipring.native import JournalWriter

# 2026-01-02T03:04:05.678901234Z
RECEIVE_NS = 1_767_323_045_678_901_234


def write_messages(
    path: Path,
    count: int,
    *,
    start: int = 0,
    segment_bytes: int | None = None,
    receive_ns: int = RECEIVE_NS,
    on_written: Callable[[int], None] | None = None,
) -> None:
    """Append messages whose payloads are the numbers from `start`, five to a batch."""
    writer = JournalWriter(path, segment_bytes)
    numbers = list(range(start, start + count))
    for first in range(0, count, 5):
        messages = [
            (f"demo/{number % 3}", str(number).encode()) for number in numbers[first : first + 5]
        ]
        writer.append(f"publisher-{first % 2}", receive_ns + first, messages)
    if on_written is not None:
        writer.flush()
        on_written(0)
    writer.close()


def payloads(start: int, end: int) -> list[bytes]:
    """What `write_messages` put there."""
    return [str(number).encode() for number in range(start, end)]


def write_and_be_killed(path: Path, count: int, *, start: int = 0) -> None:
    """The same in a process that ends without closing the journal, when all is on the disk."""
    program = (
        "import os, pathlib; from tests.journal_messages import write_messages\n"
        f"write_messages(pathlib.Path({str(path)!r}), {count}, start={start}, on_written=os._exit)"
    )
    root = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True, timeout=60)
