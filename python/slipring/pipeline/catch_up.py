"""A short backlog into the lake, in this process, with the same files and commits as Spark's.

Starting Spark takes many seconds; writing a million samples takes less than one. Must never import
pyspark.
"""

import threading
from collections.abc import Callable

from slipring.pipeline.destination import Destination, LakeCommit
from slipring.pipeline.range_files import write_range

BYTES_MAX = 64 << 20
"""A longer backlog is worth starting Spark for."""


def catch_up(
    destination: Destination,
    end: int,
    *,
    batch_messages_max: int,
    stop: threading.Event,
    on_batch: Callable[[LakeCommit], None] = lambda _commit: None,
) -> None:
    """Write all messages before the offset `end` to the tables, with a commit for each batch."""
    batch = 0
    while not stop.is_set():
        # Asked once for each batch: another run may commit at any moment.
        target = destination.target()
        start = min(target.committed.values())
        if start >= end:
            return
        until = min(end, start + batch_messages_max)
        on_batch(destination.commit(batch, target, write_range(start, until, target)))
        batch += 1
