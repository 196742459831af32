"""Sorted Parquet files merged to one sorted stream of rows, with bounded memory.

All files advance together. With two files whose next rows have the keys 1 4 7 and 2 3 9, everything
up to 7 can go: 1 2 3 4 7. The first file is then read on; the 9 waits.

At most ROWS_MAX rows, or BYTES_MAX bytes, wait in all files together. A step holds them up to three
times: as they wait, joined and in order. Add what Arrow's reader holds of each open file, about
8 MB. For 32 files of samples the process grows by about 550 MB.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from slipring.lake.columns import conform, with_used_values
from slipring.lake.table_spec import TableSpec

ROWS_MAX = 1 << 18
BYTES_MAX = 64 << 20
BATCH_ROWS_MAX = 1 << 15
BATCH_ROWS_MIN = 64
COLUMN_BYTES = 8

SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")

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


class _Piece(NamedTuple):
    """Rows in order, and their keys."""

    rows: pa.RecordBatch
    keys: list[Integers]

    @property
    def end(self) -> Key:
        return _key_at(self.keys, -1)

    def split(self, limit: Key) -> "tuple[_Piece, _Piece]":
        """The rows up to a key, and the rest."""
        first, second = self.keys
        low, high = (int(np.searchsorted(first, limit[0], side)) for side in SIDES)
        count = low + int(np.searchsorted(second[low:high], limit[1], "right"))
        return (
            _Piece(self.rows.slice(0, count), [keys[:count] for keys in self.keys]),
            _Piece(self.rows.slice(count), [keys[count:] for keys in self.keys]),
        )


@dataclass
class _OpenFile:
    """A file, and the rows of it that were read and have not gone."""

    path: str
    batches: Iterator[pa.RecordBatch]
    batch_rows: int
    waiting: list[_Piece] = field(default_factory=list)
    last: Key | None = None

    @property
    def end(self) -> Key:
        return self.waiting[-1].end

    def fill(self, spec: TableSpec) -> bool:
        """Read on until half a batch waits; returns whether there are rows."""
        while 2 * sum(len(piece.keys[0]) for piece in self.waiting) < self.batch_rows:
            batch = next(self.batches, None)
            if batch is None:
                break
            if batch.num_rows:
                rows = conform(batch, spec.file_schema)
                self.waiting.append(self._in_order(_Piece(rows, _keys(rows, spec))))
        return bool(self.waiting)

    def take(self, limit: Key) -> list[pa.RecordBatch]:
        """The waiting rows up to a key."""
        taken, rest = [], []
        for piece in self.waiting:
            gone, left = piece.split(limit)
            taken.append(gone.rows)
            rest.append(left)
        self.waiting = [piece for piece in rest if piece.rows.num_rows]
        return [rows for rows in taken if rows.num_rows]

    def _in_order(self, piece: _Piece) -> _Piece:
        first, second = piece.keys
        # Compared, not subtracted: two times may be further apart than an int64.
        rises, stays = first[1:] > first[:-1], first[1:] == first[:-1]
        ascends = rises | (stays & (second[1:] >= second[:-1]))
        if not ascends.all() or (self.last is not None and _key_at(piece.keys, 0) < self.last):
            raise UnsortedFile(self.path)
        self.last = piece.end
        return piece


class SortedMerge:
    """The rows of several files of one table in the order of its `sort_by`."""

    def __init__(
        self, table: pa.fs.FileSystem, spec: TableSpec, inputs: Sequence[MergeInput], chains: int
    ) -> None:
        """`chains` is how many files may have rows of one key; the others follow each other."""
        self._table = table
        self._spec = spec
        self._closed = sorted(inputs, key=lambda one: one.least, reverse=True)
        self._open: list[_OpenFile] = []
        self._chains = chains

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Batches of rows, without columns that are null in all of them.

        Raises UnsortedFile, and the merge must begin again.
        """
        while limit := self._limit():
            parts = [rows for file in self._open for rows in file.take(limit)]
            yield _joined(parts, self._spec)

    def _limit(self) -> Key | None:
        """The key up to which all rows are known; None at the end."""
        self._open = [one for one in self._open if one.fill(self._spec)]
        while self._closed and (
            not self._open or self._closed[-1].least <= min(one.end for one in self._open)[0]
        ):
            opened = self._opened(self._closed.pop())
            if opened.fill(self._spec):
                self._open.append(opened)
        return min((one.end for one in self._open), default=None)

    def _opened(self, source: MergeInput) -> _OpenFile:
        texts = [*self._spec.few, *(name for name in self._spec.dictionary if self._is_text(name))]
        file = pq.ParquetFile(
            self._table.open_input_file(source.path), read_dictionary=texts, pre_buffer=False
        )
        rows = self._batch_rows(file.metadata)
        return _OpenFile(source.path, self._read(file, rows, is_sorted=source.is_sorted), rows)

    def _read(
        self, file: pq.ParquetFile, rows: int, *, is_sorted: bool
    ) -> Iterator[pa.RecordBatch]:
        with file:
            if is_sorted:
                yield from file.iter_batches(batch_size=rows, use_threads=False)
                return
            order = [(name, "ascending") for name in self._spec.sort_by]
            yield from file.read(use_threads=False).sort_by(order).to_batches()

    def _is_text(self, name: str) -> bool:
        schema = self._spec.file_schema
        return name in schema.names and schema.field(name).type == pa.string()

    def _batch_rows(self, footer: pq.FileMetaData) -> int:
        """How many rows of a file may wait."""
        stored = sum(
            footer.row_group(group).total_byte_size for group in range(footer.num_row_groups)
        )
        row_bytes = stored / max(footer.num_rows, 1) + COLUMN_BYTES * footer.num_columns
        rows = min(ROWS_MAX, int(BYTES_MAX / row_bytes)) // self._chains
        return max(BATCH_ROWS_MIN, min(rows, BATCH_ROWS_MAX))


def _joined(parts: list[pa.RecordBatch], spec: TableSpec) -> pa.RecordBatch:
    if len(parts) == 1:
        return parts[0]
    empty = [
        name
        for place, name in enumerate(spec.file_schema.names)
        if all(part.column(place).null_count == part.num_rows for part in parts)
    ]
    parts = [part.drop_columns(empty) for part in parts]
    used = [with_used_values(pa.Table.from_batches([part])) for part in parts]
    joined = pa.concat_tables(used).unify_dictionaries().combine_chunks()
    (rows,) = joined.to_batches()
    return rows.take(pa.array(_order(_keys(rows, spec))))


def _order(keys: list[Integers]) -> NDArray[Any]:
    """The order of the rows; quick where parts of them are in order already."""
    first, second = keys
    spans = [int(one.max()) - int(one.min()) for one in keys]
    bits = spans[1].bit_length()
    if spans[0].bit_length() + bits < 64:
        return np.argsort((first - first.min()) << bits | second - second.min(), kind="stable")
    return np.lexsort((second, first))


def _keys(rows: pa.RecordBatch, spec: TableSpec) -> list[Integers]:
    """The sort columns as integers; a second one of zeros if there is none."""
    keys = [rows.column(name).to_numpy().astype(np.int64) for name in spec.sort_by]
    return [*keys, np.zeros(rows.num_rows, np.int64)][:2]


def _key_at(keys: list[Integers], place: int) -> Key:
    return int(keys[0][place]), int(keys[1][place])
