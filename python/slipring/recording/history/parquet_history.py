"""A Parquet file of samples: wide, a row for each time; or long, a row for each sample."""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from slipring.errors import RecordingError
from slipring.frames.arrays import Times
from slipring.model import Parameter
from slipring.recording.history.arrow_cells import PARAMETER
from slipring.recording.history.arrow_types import ARROW_TYPES
from slipring.recording.history.file_cells import FileCells
from slipring.recording.history.heading import Heading
from slipring.recording.history.history_file import Block
from slipring.recording.history.patches import patches
from slipring.recording.history.time_texts import read_values
from slipring.recording.history.wrong_row import WrongRow, blocks_before_wrong
from slipring.recording.time_format import TimeFormat

BLOCK_CELLS = 2_000_000
BLOCK_BYTES = 64 << 20
"""Of the file, in memory at once, as far as its row groups tell."""


class ParquetSource:
    """What both forms share: the rows of a file, or of a folder of files, and their places."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._paths = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not self._paths:
            raise RecordingError(f"{path} is a folder without a Parquet file")
        metadata = [_opened(one).metadata for one in self._paths]
        self._ends = list(accumulate(one.num_rows for one in metadata))
        self.total: int = self._ends[-1]
        self.schema: pa.Schema = metadata[0].schema.to_arrow_schema()
        for one, found in zip(self._paths, metadata, strict=True):
            if not found.schema.to_arrow_schema().equals(self.schema):
                raise RecordingError(f"{one} has other columns than {self._paths[0]}")

    def place(self, row: int) -> str:
        """A row's place in words."""
        part = min(bisect_right(self._ends, row), len(self._ends) - 1)
        before = self._ends[part - 1] if part else 0
        return f"{self._paths[part]}, row {row - before + 1:,}"

    def batches(
        self, columns: Sequence[str], skip: int, rows_max: int
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Rows behind the first `skip`, with the number of the first of them."""
        first = 0
        for path, end in zip(self._paths, self._ends, strict=True):
            if end <= skip:
                first = end
                continue
            file = _opened(path)
            count = min(rows_max, max(1, BLOCK_BYTES // _row_bytes(file.metadata)))
            try:
                for batch in file.iter_batches(count, columns=list(columns)):
                    begin = min(max(0, skip - first), batch.num_rows)
                    if begin < batch.num_rows:
                        yield first + begin, batch[begin:]
                    first += batch.num_rows
            except (OSError, pa.ArrowException) as error:
                raise RecordingError(f"{self.place(first)}: {_short(error)}") from None

    def times(self, column: pa.Array, form: TimeFormat | None) -> Times:
        """The source times; raises WrongRow."""
        try:
            found = read_values(column, form)
        except pa.ArrowException as error:
            raise WrongRow(0, f"{column.type} is no time: {_short(error)}") from None
        if found.wrong is not None:
            raise WrongRow(found.wrong, f"{column[found.wrong].as_py()!r} is no time")
        return found.times


class WideParquetHistory:
    """A column for each parameter. What slipring exported has the definitions with it."""

    def __init__(
        self, source: ParquetSource, time_column: str | None, form: TimeFormat | None
    ) -> None:
        self._source = source
        self._form = form
        self._heading = Heading(source.name, source.schema.names, time_column)
        self.name = source.name
        self.total: int | None = source.total
        self.columns = self._heading.columns
        self.earlier = self._heading.earlier

    def place(self, row: int) -> str:
        """A row's place in words."""
        return self._source.place(row)

    def known(self) -> Mapping[str, Parameter]:
        """By the definition in its metadata, else by its type."""
        return {column: self._known(self._source.schema.field(column)) for column in self.columns}

    def guessed(self, columns: Sequence[str]) -> Mapping[str, Parameter]:
        """All are known."""
        return {}

    def blocks(self, types: Mapping[str, Parameter], skip: int) -> Iterator[Block]:
        """See HistoryFile."""
        reader = FileCells(types)
        names = [self._heading.time, *types, *self._heading.qualities]
        rows_max = max(1, BLOCK_CELLS // len(names))
        for first, batch in self._source.batches(names, skip, rows_max):

            def block(some: pa.RecordBatch, first: int = first) -> Block:
                times = self._source.times(some.column(self._heading.time), self._form)
                columns = dict(zip(some.schema.names, some, strict=True))
                end = first + some.num_rows
                return Block(list(patches(reader.cells(times, columns))), first, end, end)

            yield from blocks_before_wrong(batch, first, block, self.place)

    def _known(self, field: pa.Field) -> Parameter:
        given = (field.metadata or {}).get(PARAMETER)
        if given is not None:
            return parameter_of(self.name, field.name, given)
        return _by_type(self.name, field)


def parameter_of(file: str, name: str, definition: bytes | Mapping[str, object]) -> Parameter:
    """A definition in a file's metadata."""
    try:
        found = json.loads(definition) if isinstance(definition, bytes) else definition
        return Parameter.of_json(found)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordingError(f"{file}: the definition of {name!r} is none: {error}") from None


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
        f"{file}: column {field.name!r} is {field.type}, which no parameter is; leave it out, or "
        "give its type with --type"
    )


def _row_bytes(metadata: pq.FileMetaData) -> int:
    """What a row takes, in the row group whose rows take most."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return max((one.total_byte_size // max(1, one.num_rows) for one in groups), default=0) or 1


def _opened(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (OSError, pa.ArrowException) as error:
        raise RecordingError(f"{path} is not a Parquet file: {_short(error)}") from None


def _short(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
