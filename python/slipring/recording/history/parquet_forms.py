"""Samples as Parquet files: long, a row for each sample; wide, a row for each time."""

import json
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from slipring.recording.history.arrow_cells import ArrowCells
from slipring.recording.history.cells import Cells, Layout
from slipring.recording.history.chosen import Chosen
from slipring.recording.history.long import SCHEMA, to_table
from slipring.recording.history.samples import Samples
from slipring.recording.output import Output

PARAMETERS = b"slipring.parameters"
"""In the metadata of a long file: the definitions by name, as JSON."""
JOURNAL = b"slipring.journal"
ROW_GROUP_ROWS = 1_000_000
ROW_GROUP_BYTES = 96 << 20
"""In memory, where long texts make a row group larger than its rows say."""
ROW_GROUP_BLOCKS = 4
"""A row group of a wide file is so many times what is otherwise made at once."""
CHUNKS_MAX = 250_000
"""Columns times row groups of one wide file: its writer keeps almost a kilobyte for each until the
file is closed, and so does a reader. What is more goes into another file.
"""

_OF_ANY_SIZE = (pa.string(), pa.binary())
_COUNTING = ("offset", "receive_time", "time")


class LongParquet:
    """Samples in the order of their arrival."""

    def __init__(self, stream: BinaryIO, chosen: Chosen, identity: str) -> None:
        self._table = chosen.table
        definitions = {one.name: one.entry.parameter.as_json() for one in chosen.columns}
        metadata = {JOURNAL: identity, PARAMETERS: json.dumps(definitions, ensure_ascii=False)}
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._writer = pq.ParquetWriter(
            stream,
            SCHEMA.with_metadata(metadata),
            compression="zstd",
            compression_level=1,
            use_dictionary=["name", "quality", "reason", "text"],
            column_encoding=dict.fromkeys(_COUNTING, "DELTA_BINARY_PACKED"),
        )

    def write(self, parts: list[Samples]) -> None:
        """Add some; they are written when there are enough for a row group."""
        made = to_table(self._table, parts)
        self._waiting.append(made)
        self._rows += made.num_rows
        self._bytes += made.nbytes
        if self._rows >= ROW_GROUP_ROWS or self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            whole = pa.concat_tables(self._waiting).unify_dictionaries()
            self._writer.write_table(whole, row_group_size=self._rows)
        self._waiting, self._rows, self._bytes = [], 0, 0


class WideParquet:
    """A column for each parameter. A field's metadata have the definition."""

    def __init__(self, out: Output, rows: ArrowCells, layout: Layout, identity: str) -> None:
        self._out = out
        self._rows = rows
        self._waiting: list[pa.RecordBatch] = []
        self._count = self._bytes = 0
        self._group_rows = layout.rows_max * ROW_GROUP_BLOCKS
        self._schema = rows.schema.with_metadata({JOURNAL: identity})
        self._texts = [
            place for place, field in enumerate(self._schema) if field.type in _OF_ANY_SIZE
        ]
        """Columns whose size the number of rows does not say."""
        self._groups = 0
        """Row groups of the file that is open."""
        self._groups_max = max(1, CHUNKS_MAX // len(self._schema))
        self._writer = self._open(out.stream)

    def write(self, cells: Cells) -> None:
        """Add rows; they are written when there are enough for a row group."""
        made = self._rows.batch(cells)
        self._waiting.append(made)
        self._count += len(cells.times)
        self._bytes += sum(made.column(place).nbytes for place in self._texts)
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
        whole = pa.Table.from_batches(self._waiting).cast(self._schema)
        self._writer.write_table(whole, row_group_size=self._count)
        self._groups += 1
        self._waiting, self._count, self._bytes = [], 0, 0
