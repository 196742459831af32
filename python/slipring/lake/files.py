"""Rows written as Parquet files of a table, in Spark's workers or in this process.

Never makes a file visible: only a commit to the table does.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from slipring.lake.columns import FewValues, conform, with_equal_types, with_used_values
from slipring.lake.statistics import Bounds, log_statistics
from slipring.lake.storage import LakeLocation
from slipring.lake.table_spec import TableSpec
from slipring.native import Buffer

# Small batches are gathered to one row group of up to so many bytes.
GATHER_BYTES_MAX = 64 << 20
DAY_US = 86_400_000_000
PAGE_BYTES = 1 << 20
WIDEST_BYTES = 16
"""Of a number; so that pages end by their rows."""

FILE_SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("partition", pa.map_(pa.string(), pa.string()), nullable=False),
        pa.field("stats", pa.string(), nullable=False),
    ]
)
"""The fields of WrittenFile, for Spark."""


@dataclass(frozen=True)
class WrittenFile:
    """A Parquet file that is not part of the table yet; its path is below the table's."""

    path: str
    bytes: int
    rows: int
    partition: dict[str, str]
    stats: str


def file_batch(files: Sequence[WrittenFile]) -> pa.RecordBatch:
    """Files as rows of FILE_SCHEMA, which a worker returns."""
    rows = [{**vars(file), "partition": list(file.partition.items())} for file in files]
    return pa.RecordBatch.from_pylist(rows, schema=FILE_SCHEMA)


def constant(value: str, rows: int) -> pa.DictionaryArray:
    """A column with one text in every row; costs 4 bytes for each."""
    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), pa.array([value]))


def write_file(
    location: LakeLocation,
    spec: TableSpec,
    batches: Iterable[pa.RecordBatch],
    partition_values: Mapping[str, str] | None = None,
    *,
    stem: str = "rows",
) -> list[WrittenFile]:
    """Write rows for the table `spec` of the lake at `location`: a file for each of its partitions.

    Text columns may be dictionary arrays; nullable columns may be left out. The rows of a batch are
    written in the order they have: sort them by `spec.sort_by` first. Without `partition_values`
    they are split by day. The names are unique, so that two attempts never collide.
    """
    table = location.child(spec.name).filesystem()
    files: dict[str, TableFile] = {}
    with ExitStack() as unfinished:
        for batch in batches:
            for day, rows in _split(batch, spec, partition_values):
                if day not in files:
                    files[day] = unfinished.enter_context(TableFile(table, spec, day, stem))
                files[day].add(rows)
        return [file.finish() for file in files.values()]


def put_file(
    location: LakeLocation,
    spec: TableSpec,
    day: int,
    content: Buffer,
    few: Mapping[str, Bounds],
    *,
    stem: str = "rows",
) -> WrittenFile:
    """Store a file for the table `spec` that is made already, with rows of one day since 1970."""
    table = location.child(spec.name).filesystem()
    partition = {} if spec.day is None else {spec.day: _day_text(day)}
    path = _new_path(spec, _day_text(day), stem)
    memory = pa.py_buffer(content)
    with _new_file(table, path) as sink:
        sink.write(memory)
    footer = pq.read_metadata(pa.BufferReader(memory))
    stats = log_statistics(footer, spec.file_schema, spec.footer_columns(), few)
    return WrittenFile(path, memory.size, footer.num_rows, partition, stats)


def _split(
    batch: pa.RecordBatch, spec: TableSpec, partition_values: Mapping[str, str] | None
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of each partition, in order; its value is empty if the table has no partitions."""
    if batch.num_rows == 0:
        return
    if spec.day is None or partition_values is not None:
        yield (partition_values or {}).get(spec.day or "", ""), batch
        return
    times = batch.column(spec.time).cast(pa.timestamp("us")).view(pa.int64())
    bounds = pc.min_max(times).as_py()
    first, last = bounds["min"] // DAY_US, bounds["max"] // DAY_US
    if first == last:
        yield _day_text(first), batch
        return
    days = times.to_numpy() // DAY_US
    _, seen = np.unique(days, return_index=True)
    for position in sorted(seen.tolist()):
        day = int(days[position])
        yield _day_text(day), batch.filter(pa.array(days == day))


def _day_text(day: int) -> str:
    return str(date.fromordinal(date(1970, 1, 1).toordinal() + day))


class TableFile:
    """One file while it is written; it has no footer before `finish`."""

    def __init__(self, table: pa.fs.FileSystem, spec: TableSpec, day: str, stem: str) -> None:
        self.spec = spec
        self.partition: dict[str, str] = {} if spec.day is None else {spec.day: day}
        self.path: str = _new_path(spec, day, stem)
        self._table = table
        self._schema = spec.file_schema
        self._sink: pa.NativeFile | None = None
        self._writer: pq.ParquetWriter | None = None
        self._gathered: list[pa.RecordBatch] = []
        self._gathered_bytes = 0
        self._footers: list[pq.FileMetaData] = []
        self._few = FewValues(spec.few)

    def __enter__(self) -> "TableFile":
        return self

    def __exit__(self, *_: object) -> None:
        """An unfinished file stays behind without a footer; a vacuum removes it."""
        self._close()

    def delete(self) -> None:
        """Delete what was written: it is not wanted any more."""
        self._close()
        if self._sink is not None:
            self._table.delete_file(self.path)

    @property
    def bytes(self) -> int:
        """How much has been written, without the rows that are being gathered."""
        return 0 if self._sink is None else self._sink.tell()

    def add(self, rows: pa.RecordBatch) -> None:
        self._gathered.append(self._few.seen(conform(rows, self._schema)))
        self._gathered_bytes += self._gathered[-1].nbytes
        count = sum(one.num_rows for one in self._gathered)
        if self._gathered_bytes >= GATHER_BYTES_MAX:
            self._flush(count)
        elif count >= self.spec.group_rows:
            self._flush(count - count % self.spec.group_rows)

    def finish(self) -> WrittenFile:
        """Write the footer."""
        if self._gathered:
            self._flush(sum(one.num_rows for one in self._gathered))
        assert self._writer is not None, "a file has rows"
        assert self._sink is not None
        self._writer.close()
        size = self._sink.tell()
        self._sink.close()
        (footer,) = self._footers
        stats = log_statistics(footer, self._schema, self.spec.footer_columns(), self._few.bounds)
        return WrittenFile(self.path, size, footer.num_rows, self.partition, stats)

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.is_open = False  # or it would write a footer when it is collected
        if self._sink is not None and not self._sink.closed:
            self._sink.close()

    def _flush(self, count: int) -> None:
        """Write the first rows that were gathered."""
        rows = pa.Table.from_batches(with_equal_types(self._gathered))
        if len(self._gathered) > 1:
            # A row group has one dictionary for each column, or none.
            rows = rows.unify_dictionaries().combine_chunks()
        self._gathered = rows.slice(count).to_batches()
        self._gathered_bytes = sum(one.nbytes for one in self._gathered)
        rows = rows.slice(0, count)
        if self._writer is None:
            self._writer = self._open(rows.schema)
        elif rows.schema != self._writer.schema:
            rows = rows.cast(self._writer.schema)
        for start in range(0, rows.num_rows, self.spec.group_rows):
            group = rows.slice(start, self.spec.group_rows)
            self._writer.write_table(with_used_values(group), row_group_size=group.num_rows)

    def _open(self, schema: pa.Schema) -> pq.ParquetWriter:
        self._sink = _new_file(self._table, self.path)
        return pq.ParquetWriter(
            self._sink,
            schema,
            compression="zstd",
            compression_level=self.spec.level,
            use_dictionary=[*self.spec.few, *self.spec.dictionary],
            column_encoding=dict(self.spec.encodings),
            write_statistics=self.spec.footer_columns(),
            store_schema=False,
            max_rows_per_page=self.spec.page_rows,
            data_page_size=max(PAGE_BYTES, self.spec.page_rows * WIDEST_BYTES),
            metadata_collector=self._footers,
        )


def _new_path(spec: TableSpec, day: str, stem: str) -> str:
    """Unique, so that two attempts never collide."""
    folder = f"{spec.day}={day}/" if spec.day else ""
    return f"{folder}{stem}-{uuid.uuid4().hex}.parquet"


def _new_file(table: fs.FileSystem, path: str) -> pa.NativeFile:
    folder = path.rpartition("/")[0]
    if folder and _is_local(table):
        table.create_dir(folder, recursive=True)
    return table.open_output_stream(path, compression=None)


def _is_local(table: fs.FileSystem) -> bool:
    return isinstance(table, fs.SubTreeFileSystem) and isinstance(table.base_fs, fs.LocalFileSystem)
