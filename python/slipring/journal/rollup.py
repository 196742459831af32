"""The samples of a journal summed up by parameter and window of source time, in Rust (D1).

A window whose samples are in several batches has a row in each; they can be combined.
"""

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from slipring.journal.location import Journal
from slipring.journal.native_columns import arrow_array
from slipring.journal.samples import JournalSamples, SampleRequest

_TIME = pa.timestamp("us", tz="UTC")

SCHEMA = pa.schema(
    [
        pa.field("parameter", pa.string(), nullable=False),
        pa.field("index", pa.int32(), nullable=False),
        pa.field("window_start", _TIME, nullable=False),
        pa.field("window_ns", pa.int64(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("bad", pa.int64(), nullable=False),
        pa.field("min", pa.float64()),
        pa.field("max", pa.float64()),
        pa.field("sum", pa.float64()),
        pa.field("first", pa.float64()),
        pa.field("first_ns", pa.int64()),
        pa.field("last", pa.float64()),
        pa.field("last_ns", pa.int64()),
        pa.field("weighted", pa.float64(), nullable=False),
        pa.field("weighted_ns", pa.int64(), nullable=False),
        pa.field("unit", pa.string()),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("receive_ns", pa.int64(), nullable=False),
    ]
)
COLUMNS: tuple[str, ...] = tuple(SCHEMA.names)
_NEEDED = ("index", "source_ns", "receive_ns", "offset", "quality", "value")
ROWS_MAX = 2_000_000
"""Samples that are summed up at once."""


def read_rollup(
    journal: Journal,
    start: int,
    end: int,
    window_ns: int,
    *,
    request: SampleRequest | None = None,
    names: tuple[str, ...] = COLUMNS,
) -> Iterator[pa.RecordBatch]:
    """The windows of the samples of the offsets [start, end)."""
    asked = replace(request or SampleRequest(), columns=_NEEDED)
    reader = JournalSamples(journal, asked, ROWS_MAX)
    schema = pa.schema([SCHEMA.field(name) for name in names])
    for rows, columns in reader.rollup_columns(start, end, window_ns):
        index = arrow_array(pa.int32(), rows, columns["index"])
        looked_up = {"parameter": reader.known.parameter, "unit": reader.known.unit}
        arrays = [
            looked_up[name](index, as_text=True)
            if name in looked_up
            else arrow_array(SCHEMA.field(name).type, rows, columns[name])
            for name in names
        ]
        yield pa.record_batch(arrays, schema=schema)
