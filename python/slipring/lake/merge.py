"""Sorted Parquet files merged to one sorted stream of rows, with bounded memory.

All files advance together. With two files whose next rows have the keys 1 4 7 and 2 3 9, everything
up to 7 can go: 1 2 3 4 7. The first file is then read on; the 9 waits.

At most ROWS_MAX rows, or BYTES_MAX bytes, wait in all files together. A step holds them up to three
times: as they wait, joined and in order. Add a row group of each file as it is stored. For 128
files of samples that is about 250 MB.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import fs

from slipring.lake.columns import conform, with_used_values
from slipring.lake.table_spec import TableSpec

ROWS_MAX = 1 << 19
BYTES_MAX = 64 << 20
BATCH_ROWS_MAX = 1 << 15
BATCH_ROWS_MIN = 64
COLUMN_BYTES = 8

Key = tuple[int, int]
Integers = NDArray[np.int64]


class UnsortedFile(Exception):
    """A file whose rows do not ascend: it must be sorted first."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass
class MergeInput:
    """A file and the least value of its first sort column, before which it need not be opened."""

    path: str
    least: int
    is_sorted: bool = True


@dataclass
class _Waiting:
    """The rows of one file that were read and have not gone."""

    path: str
    batches: Iterator[pa.RecordBatch]
    rows: pa.RecordBatch | None = None
    keys: list[Integers] = field(default_factory=list)
    last: Key | None = None

    def fill(self, spec: TableSpec) -> bool:
        """Read on if nothing waits; returns whether there are rows."""
        while self.rows is None or self.rows.num_rows == 0:
            batch = next(self.batches, None)
            if batch is None:
                return False
            self.rows = conform(batch, spec.file_schema)
            self.keys = _keys(self.rows, spec)
            self._refuse_unsorted()
        return True

    def take(self, limit: Key) -> pa.RecordBatch:
        """The waiting rows up to a key."""
        assert self.rows is not None
        first, second = self.keys
        low, high = (int(np.searchsorted(first, limit[0], side)) for side in ("left", "right"))
        count = low + int(np.searchsorted(second[low:high], limit[1], "right"))
        taken, self.rows = self.rows.slice(0, count), self.rows.slice(count)
        self.keys = [keys[count:] for keys in self.keys]
        return taken

    def _refuse_unsorted(self) -> None:
        first, second = self.keys
        if first.size == 0:
            return
        steps = np.diff(first)
        ascends = (steps > 0) | ((steps == 0) & (np.diff(second) >= 0))
        begin, end = _key_at(self.keys, 0), _key_at(self.keys, -1)
        if not ascends.all() or (self.last is not None and begin < self.last):
            raise UnsortedFile(self.path)
        self.last = end


class SortedMerge:
    """The rows of several files of one table in the order of its `sort_by`."""

    def __init__(
        self, table: fs.FileSystem, spec: TableSpec, inputs: Sequence[MergeInput], runs: int
    ) -> None:
        """`runs` is how many files may have rows of one key; the others follow each other."""
        self._table = table
        self._spec = spec
        self._closed = sorted(inputs, key=lambda one: one.least, reverse=True)
        self._open: list[_Waiting] = []
        self._runs = runs

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Batches of rows; raises UnsortedFile, and the merge must begin again."""
        while limit := self._limit():
            parts = [one.take(limit) for one in self._open]
            yield _in_order([part for part in parts if part.num_rows], self._spec)

    def _limit(self) -> Key | None:
        """The key up to which all rows are known; None at the end."""
        self._open = [one for one in self._open if one.fill(self._spec)]
        while self._closed and (
            not self._open or self._closed[-1].least <= min(_end(one) for one in self._open)[0]
        ):
            opened = _Waiting(self._closed[-1].path, self._read(self._closed.pop()))
            if opened.fill(self._spec):
                self._open.append(opened)
        return min((_end(one) for one in self._open), default=None)

    def _read(self, source: MergeInput) -> Iterator[pa.RecordBatch]:
        texts = [*self._spec.few, *(name for name in self._spec.dictionary if self._is_text(name))]
        with pq.ParquetFile(
            self._table.open_input_file(source.path), read_dictionary=texts, pre_buffer=False
        ) as file:
            if not source.is_sorted:
                order = [(name, "ascending") for name in self._spec.sort_by]
                yield from file.read(use_threads=False).sort_by(order).to_batches()
                return
            rows = self._batch_rows(file.metadata)
            yield from file.iter_batches(batch_size=rows, use_threads=False)

    def _is_text(self, name: str) -> bool:
        schema = self._spec.file_schema
        return name in schema.names and schema.field(name).type == pa.string()

    def _batch_rows(self, footer: pq.FileMetaData) -> int:
        """How many rows of a file may wait."""
        stored = sum(
            footer.row_group(group).total_byte_size for group in range(footer.num_row_groups)
        )
        row_bytes = stored / max(footer.num_rows, 1) + COLUMN_BYTES * footer.num_columns
        rows = min(ROWS_MAX, int(BYTES_MAX / row_bytes)) // self._runs
        return max(BATCH_ROWS_MIN, min(rows, BATCH_ROWS_MAX))


def _in_order(parts: list[pa.RecordBatch], spec: TableSpec) -> pa.RecordBatch:
    if len(parts) == 1:
        return parts[0]
    used = [with_used_values(pa.Table.from_batches([part])) for part in parts]
    joined = pa.concat_tables(used).unify_dictionaries().combine_chunks()
    (rows,) = joined.to_batches()
    return rows.take(pa.array(_order(_keys(rows, spec))))


def _order(keys: list[Integers]) -> NDArray[Any]:
    """The order of the rows; quick where parts of them are in order already."""
    first, second = (one - one.min() for one in keys)
    bits = int(second.max()).bit_length()
    if int(first.max()).bit_length() + bits < 64:
        return np.argsort((first << bits) | second, kind="stable")
    return np.lexsort((second, first))


def _keys(rows: pa.RecordBatch, spec: TableSpec) -> list[Integers]:
    """The sort columns as integers; a second one of zeros if there is none."""
    keys = [rows.column(name).to_numpy().astype(np.int64) for name in spec.sort_by]
    return [*keys, np.zeros(rows.num_rows, np.int64)][:2]


def _key_at(keys: list[Integers], place: int) -> Key:
    return int(keys[0][place]), int(keys[1][place])


def _end(one: _Waiting) -> Key:
    return _key_at(one.keys, -1)
