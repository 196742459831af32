"""Follows a journal in batches of offsets, for the jobs that know themselves how far they are.

The tables of a job say what is done; nothing else is remembered, so that no checkpoint can be lost
or disagree with them. Must never import pyspark.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from slipring.journal.location import JournalLocation, settled_end
from slipring.journal.message_size import message_bytes
from slipring.journal.offsets import check_within

TakeBatch = Callable[[int, int], None]
"""Takes the offsets [start, end)."""

BATCH_BYTES_MAX = 64 << 20
"""What one batch takes from the journal: it bounds the memory of a job, and the time to stop."""


@dataclass(frozen=True)
class BatchLoop:
    """Gives the offsets of a journal to a job, batch after batch."""

    location: JournalLocation
    interval_s: float
    """How long to wait for more when there is nothing."""
    bytes_max: int = BATCH_BYTES_MAX

    def run(self, start: int | None, take: TakeBatch, stop: threading.Event, *, once: bool) -> None:
        """From an offset, or from the beginning, until `stop` is set.

        With `once` it ends at what is there now.
        """
        journal = self.location.open()
        at = journal.first_offset if start is None else start
        target = settled_end(journal) if once else None
        while not stop.is_set():
            # The end first: reading it updates the first offset, which retention may have moved.
            end = journal.end_offset() if target is None else target
            check_within(at, journal.first_offset, end, journal.written_offset)
            if at < end:
                size = message_bytes(journal, at, end)
                until = min(end, at + max(1, int(self.bytes_max / size)))
                take(at, until)
                at = until
            elif target is not None:
                return
            else:
                stop.wait(self.interval_s)
