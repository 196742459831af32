"""Which messages of a batch are in the broker's journal. Reads, and never publishes."""

import time

import pyarrow.compute as pc

from slipring.errors import PipelineError
from slipring.journal.columns import BATCH_BYTES_MAX, BATCH_ROWS_MAX, record_batch
from slipring.native import RemoteJournal
from slipring.publication.parts import name_in

WAIT_S = 30.0
LOOK_S = 0.02


def arrived(journal: RemoteJournal, start: int, client_id: str, barrier: str) -> set[str]:
    """The names of a client's messages from an offset up to the one that is named `barrier`.

    The broker has acknowledged the barrier; it is read as soon as the disk has it.
    """
    names, deadline_s = set[str](), time.monotonic() + WAIT_S
    while barrier not in names:
        end = journal.end_offset()
        if start >= end:
            if time.monotonic() > deadline_s:
                raise PipelineError(
                    "the messages of this sink are not in the broker's journal, so that nobody can "
                    "know which of them have arrived; add their topics to journal.topics"
                )
            time.sleep(LOOK_S)
            continue
        columns = journal.read(start, min(end, start + BATCH_ROWS_MAX), BATCH_BYTES_MAX)
        batch = record_batch(columns, ("publisher", "properties"))
        mine = batch.filter(pc.equal(batch.column("publisher"), client_id))
        found = map(name_in, mine.column("properties").to_pylist())
        names.update(name for name in found if name is not None)
        start = columns.end
    return names
