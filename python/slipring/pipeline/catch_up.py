"""A short backlog into the lake, in this process, with the same files and commits as Spark's.

Starting Spark takes many seconds; writing a million messages takes about one. Must never import
pyspark.
"""

import threading
from collections.abc import Callable

from slipring.pipeline.destination import Destination, LakeCommit
from slipring.pipeline.parquet import write_range

MESSAGES_MAX = 1_000_000
"""A longer backlog is worth starting Spark for."""


def catch_up(
    destination: Destination,
    end: int,
    *,
    batch_messages_max: int,
    stop: threading.Event,
    on_batch: Callable[[LakeCommit], None] = lambda _commit: None,
) -> None:
    """Write all messages before the offset `end` to the table, with a commit for each batch."""
    batch = 0
    # Asked once for each batch: another run may commit at any moment.
    while not stop.is_set() and (target := destination.target()).committed < end:
        start = target.committed
        until = min(end, start + batch_messages_max)
        on_batch(destination.commit(batch, start, write_range(start, until, target)))
        batch += 1
