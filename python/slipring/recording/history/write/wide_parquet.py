"""Samples as wide Parquet files: a row for each time, a column for each parameter."""

from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from slipring.recording.history.shape.file_schema import JOURNAL_KEY
from slipring.recording.history.shape.wide_rows import WideLayout, WideRows
from slipring.recording.history.write.arrow_rows import ArrowRows
from slipring.recording.history.write.long_parquet import ROW_GROUP_BYTES
from slipring.recording.output import Output

ROW_GROUP_BLOCKS = 4
"""A row group has so many times the rows that are made at once."""
CHUNKS_MAX = 250_000
"""Columns times row groups of one file. The writer keeps almost a kilobyte for each until the file
is closed, and so does a reader. What is more goes into another file.
"""

_OF_ANY_SIZE = (pa.string(), pa.binary())


class WideParquetWriter:
    """Gathers rows, and writes them when there are enough for a row group.

    The metadata of a field have the parameter's definition.
    """

    def __init__(self, out: Output, rows: ArrowRows, layout: WideLayout, identity: str) -> None:
        """`identity` is that of the journal."""
        self._out = out
        self._rows = rows
        self._waiting: list[pa.RecordBatch] = []
        self._count = self._bytes = 0
        self._group_rows = layout.rows_max * ROW_GROUP_BLOCKS
        self._schema = rows.schema.with_metadata({JOURNAL_KEY: identity})
        self._texts = [
            number for number, field in enumerate(self._schema) if field.type in _OF_ANY_SIZE
        ]
        """Columns whose size the number of rows does not tell."""
        self._groups = 0
        """Row groups of the open file."""
        self._groups_max = max(1, CHUNKS_MAX // len(self._schema))
        self._writer = self._open(out.stream)

    def write(self, rows: WideRows) -> None:
        batch = self._rows.batch(rows)
        self._waiting.append(batch)
        self._count += len(rows.times)
        self._bytes += sum(batch.column(number).nbytes for number in self._texts)
        if self._count >= self._group_rows or self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _open(self, stream: BinaryIO) -> pq.ParquetWriter:
        names = [field.name for field in self._schema if pa.types.is_string(field.type)]
        return pq.ParquetWriter(
            stream,
            self._schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=names,
            write_statistics=[self._schema.names[0]],
        )

    def _flush(self) -> None:
        if not self._count:
            return
        if self._groups == self._groups_max:
            self._writer.close()
            self._writer, self._groups = self._open(self._out.another()), 0
        rows = pa.Table.from_batches(self._waiting).cast(self._schema)
        self._writer.write_table(rows, row_group_size=self._count)
        self._groups += 1
        self._waiting, self._count, self._bytes = [], 0, 0
