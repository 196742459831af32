"""Samples as a long table: a row each, in the order of their arrival.

The columns are those of `Frame.to_arrow`, behind where and when the broker received the sample.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slipring.frames import SCHEMA as SAMPLES
from slipring.frames import Table
from slipring.frames.arrow import to_arrow
from slipring.recording.history.samples import Samples, joined

SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("receive_time", pa.timestamp("ns", "UTC"), nullable=False),
        *SAMPLES,
    ]
)


def to_table(table: Table, parts: Sequence[Samples]) -> pa.Table:
    """A row for each sample."""
    whole = joined(parts)
    if not whole:
        return SCHEMA.empty_table()
    offsets = np.concatenate([one.offsets for one in whole])
    receive_ns = np.concatenate([one.receive_ns for one in whole])
    rows = to_arrow(table, [one.as_run() for one in whole])
    received = pa.array(receive_ns).cast(pa.timestamp("ns", "UTC"))
    arrays = [pa.array(offsets), received, *rows.columns]
    made = pa.table(arrays, schema=SCHEMA)
    return made if len(whole) == 1 else made.take(np.argsort(offsets, kind="stable"))
