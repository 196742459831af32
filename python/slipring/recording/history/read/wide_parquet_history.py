"""A wide Parquet file of samples: a row for each time, a column for each parameter."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa

from slipring.errors import RecordingError
from slipring.model import Parameter
from slipring.recording.file_format import TimeFormat
from slipring.recording.history.read.history_file import RowBlock, blocks_before_wrong
from slipring.recording.history.read.parquet_rows import ParquetRows, parameter_of
from slipring.recording.history.read.wide_header import WideHeader
from slipring.recording.history.read.wide_row_reader import WideRowReader
from slipring.recording.history.shape.dense_block import dense_blocks
from slipring.recording.history.shape.file_schema import ARROW_TYPES, PARAMETER_KEY

BLOCK_CELLS = 2_000_000


class WideParquetHistory:
    """Reads blocks of rows. A file that Slipring exported contains the definitions."""

    def __init__(
        self, rows: ParquetRows, time_column: str | None, time_format: TimeFormat | None
    ) -> None:
        self._rows = rows
        self._time_format = time_format
        self._header = WideHeader(rows.name, rows.schema.names, time_column)
        self.name: str = rows.name
        self.total: int | None = rows.total
        self.columns: list[str] = self._header.columns
        self.earlier: list[str] = self._header.earlier
        self.where: Callable[[int], str] = rows.where

    def known(self) -> Mapping[str, Parameter]:
        """From the definition in a field's metadata, or else from its type."""
        return {column: self._known(self._rows.schema.field(column)) for column in self.columns}

    def guessed(self, columns: Sequence[str]) -> Mapping[str, Parameter]:
        """Nothing: every column is known."""
        return {}

    def blocks(self, types: Mapping[str, Parameter], skip: int) -> Iterator[RowBlock]:
        reader = WideRowReader(types)
        names = [self._header.time, *types, *self._header.qualities]
        rows_max = max(1, BLOCK_CELLS // len(names))
        for first, batch in self._rows.batches(names, skip, rows_max):

            def block(some: pa.RecordBatch, first: int = first) -> RowBlock:
                times = self._rows.times(some.column(self._header.time), self._time_format)
                columns = dict(zip(some.schema.names, some, strict=True))
                end = first + some.num_rows
                return RowBlock(list(dense_blocks(reader.rows(times, columns))), first, end, end)

            yield from blocks_before_wrong(batch, first, block, self.where)

    def _known(self, field: pa.Field) -> Parameter:
        given = (field.metadata or {}).get(PARAMETER_KEY)
        if given is None:
            return _by_type(self.name, field)
        return parameter_of(self.name, field.name, given)


def _by_type(file: str, field: pa.Field) -> Parameter:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    for one, known in ARROW_TYPES.items():
        if kind == known:
            return Parameter(one.word)
    if pa.types.is_large_string(kind):
        return Parameter("text")
    if pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return Parameter("bytes")
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        return Parameter("f64")
    raise RecordingError(
        f"{file}: column {field.name!r} is {field.type}, which is not a type of parameters; "
        "leave it out, or give its type with --type"
    )
