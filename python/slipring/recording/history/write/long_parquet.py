"""Samples as a long Parquet file: a row for each sample, in the order of arrival.

The columns are those of `Frame.to_arrow`, after the offset and receive time of the message.
"""

import json
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from slipring.frames import SCHEMA as SAMPLES
from slipring.frames import Table
from slipring.frames.arrow import to_arrow
from slipring.recording.history.shape.export_columns import ExportColumns
from slipring.recording.history.shape.file_schema import JOURNAL_KEY, PARAMETERS_KEY, TIME_TYPE
from slipring.recording.history.shape.recorded_samples import RecordedSamples, joined

SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("receive_time", TIME_TYPE, nullable=False),
        *SAMPLES,
    ]
)
ROW_GROUP_ROWS = 1_000_000
ROW_GROUP_BYTES = 96 << 20
"""In memory: long texts make a row group larger than its number of rows tells."""

_ASCENDING = ("offset", "receive_time", "time")


class LongParquetWriter:
    """Gathers samples, and writes them when there are enough for a row group."""

    def __init__(self, stream: BinaryIO, columns: ExportColumns, identity: str) -> None:
        """`identity` is that of the journal."""
        self._table = columns.table
        definitions = {one.name: one.entry.parameter.as_json() for one in columns.columns}
        parameters = json.dumps(definitions, ensure_ascii=False)
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._writer = pq.ParquetWriter(
            stream,
            SCHEMA.with_metadata({JOURNAL_KEY: identity, PARAMETERS_KEY: parameters}),
            compression="zstd",
            compression_level=1,
            use_dictionary=["name", "quality", "reason", "text"],
            column_encoding=dict.fromkeys(_ASCENDING, "DELTA_BINARY_PACKED"),
        )

    def write(self, parts: list[RecordedSamples]) -> None:
        rows = _to_table(self._table, parts)
        self._waiting.append(rows)
        self._rows += rows.num_rows
        self._bytes += rows.nbytes
        if self._rows >= ROW_GROUP_ROWS or self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            rows = pa.concat_tables(self._waiting).unify_dictionaries()
            self._writer.write_table(rows, row_group_size=self._rows)
        self._waiting, self._rows, self._bytes = [], 0, 0


def _to_table(table: Table, parts: Sequence[RecordedSamples]) -> pa.Table:
    """A row for each sample."""
    joint = joined(parts)
    if not joint:
        return SCHEMA.empty_table()
    offsets = np.concatenate([one.offsets for one in joint])
    receive_ns = np.concatenate([one.receive_ns for one in joint])
    samples = to_arrow(table, [one.as_run() for one in joint])
    received = pa.array(receive_ns).cast(TIME_TYPE)
    rows = pa.table([pa.array(offsets), received, *samples.columns], schema=SCHEMA)
    return rows if len(joint) == 1 else rows.take(np.argsort(offsets, kind="stable"))
