"""A short backlog into the lake without Spark: in this process, with the same files and commits.

Starting Spark takes many seconds; writing a million messages takes about one. Must never import
pyspark.
"""

import threading
from collections.abc import Callable

from slipring.pipeline.destination import Committed, Destination
from slipring.pipeline.parquet import write_range

MESSAGES_MAX = 1_000_000
"""A longer backlog is worth starting Spark for."""


def catch_up(
    destination: Destination,
    end: int,
    *,
    batch_messages_max: int,
    stop: threading.Event,
    on_batch: Callable[[Committed], None] | None = None,
) -> None:
    """Bring everything before the offset `end` into the table, a commit for each batch."""
    batch = 0
    # Asked once for each batch: another run may commit at any moment.
    while not stop.is_set() and (target := destination.target()).committed < end:
        start = target.committed
        until = min(end, start + batch_messages_max)
        committed = destination.commit(batch, start, write_range(start, until, target))
        batch += 1
        if on_batch is not None:
            on_batch(committed)
