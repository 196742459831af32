"""A wide CSV file of samples: a header with names, a column of times, and a row for each time."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv

from slipring.errors import RecordingError
from slipring.model import Kind, Parameter
from slipring.recording.file_format import TimeFormat
from slipring.recording.history.read.history_file import (
    RowBlock,
    WrongRow,
    blocks_before_wrong,
    rows_after,
)
from slipring.recording.history.read.time_parsing import guess_format, parse_times
from slipring.recording.history.read.type_guess import TypeGuesses
from slipring.recording.history.read.wide_header import WideHeader
from slipring.recording.history.read.wide_row_reader import WideRowReader
from slipring.recording.history.shape.dense_block import dense_blocks
from slipring.recording.history.shape.file_schema import ARROW_TYPES
from slipring.recording.history.shape.wide_rows import WideRows

BLOCK_BYTES = 4 << 20
LINES_MIN = 8
"""A block has room for at least so many lines of the header's length."""
DELIMITERS = ",;\t"
CELL_CHARACTERS_MAX = 16 << 20


class _CsvRows(NamedTuple):
    """Rows that were read together."""

    first: int
    batch: pa.RecordBatch
    done: int
    """The bytes of the file that are read."""


class CsvHistory:
    """Reads blocks of lines. Arrow parses the numbers; what it cannot parse is parsed as text."""

    def __init__(
        self,
        path: Path,
        time_column: str | None,
        time_format: TimeFormat | None,
        *,
        has_units: bool,
    ) -> None:
        csv.field_size_limit(CELL_CHARACTERS_MAX)
        self.name: str = str(path)
        self._path = path
        self._header_lines = 2 if has_units else 1
        first = _first_line(path)
        if "\ufffd" in first and (mistake := _encoding_mistake(path)):
            raise RecordingError(mistake)
        self._delimiter = max(DELIMITERS, key=first.count)
        self._block_bytes = max(BLOCK_BYTES, LINES_MIN * len(first))
        head = [row for _, row in islice(self._lines(), self._header_lines)]
        self._header = WideHeader(self.name, head[0] if head else [], time_column)
        self._units = dict(zip(head[0], head[1], strict=False)) if len(head) > 1 else {}
        self._time_format = time_format or self._guess_time_format()
        self.columns: list[str] = self._header.columns
        self.earlier: list[str] = self._header.earlier
        self.total: int | None = path.stat().st_size

    def where(self, row: int) -> str:
        """The line of a row, in words."""
        lines = (line for line, cells in self._lines() if cells)
        line = next(islice(lines, row + self._header_lines, None), None)
        return f"{self.name}, " + (f"line {line:,}" if line else "after the last line")

    def known(self) -> Mapping[str, Parameter]:
        """Nothing: a CSV file has no definitions."""
        return {}

    def guessed(self, columns: Sequence[str]) -> Mapping[str, Parameter]:
        """From all values of a column."""
        guesses = TypeGuesses()
        for first, batch, _ in self._batches(columns, {}, 0):
            for column in columns:
                guesses.add(column, batch.column(column), first)
        for column, count in guesses.doubtful().items():
            raise RecordingError(
                f"{self.where(count.row)}: column {column!r}: {count.text[:80]!r} is not a number, "
                f"and {count.numbers:,} of its {count.values:,} values are; correct it, empty the "
                f"cell, or say that the column is text: --type {column}=text"
            )
        units = self._units
        return {
            column: Parameter(one.type, unit=units.get(column) or None)
            for column, one in guesses.found().items()
        }

    def blocks(self, types: Mapping[str, Parameter], skip: int) -> Iterator[RowBlock]:
        row = skip
        try:
            for block in self._blocks(types, skip, _parsed_by_arrow(types)):
                yield block
                row = block.end
        except (pa.ArrowException, _Infinite):
            yield from self._blocks(types, row, {})

    def _blocks(
        self, types: Mapping[str, Parameter], skip: int, by_arrow: Mapping[str, pa.DataType]
    ) -> Iterator[RowBlock]:
        reader = WideRowReader(types)
        names = [*types, *self._header.qualities]
        for first, batch, done in self._batches(names, by_arrow, skip):

            def block(some: pa.RecordBatch, first: int = first, done: int = done) -> RowBlock:
                rows = self._rows(reader, some)
                if by_arrow:
                    _refuse_infinite(rows)
                return RowBlock(list(dense_blocks(rows)), first, first + some.num_rows, done)

            yield from blocks_before_wrong(batch, first, block, self.where)

    def _rows(self, reader: WideRowReader, batch: pa.RecordBatch) -> WideRows:
        """The rows of a batch; raises WrongRow."""
        texts = batch.column(self._header.time)
        times = parse_times(texts, self._time_format)
        if times.wrong is not None:
            text = texts[times.wrong].as_py() or ""
            words = _format_words(self._time_format)
            raise WrongRow(times.wrong, f"{text!r} is not a time ({words}); give --time-format")
        return reader.rows(times.times, dict(zip(batch.schema.names, batch, strict=True)))

    def _batches(
        self, columns: Sequence[str], by_arrow: Mapping[str, pa.DataType], skip: int
    ) -> Iterator[_CsvRows]:
        """The rows after the first `skip`; a column that Arrow does not parse is text."""
        names = [self._header.time, *columns]
        types = {name: by_arrow.get(name, pa.string()) for name in names}
        wrong: list[pcsv.InvalidRow] = []

        def refuse(row: pcsv.InvalidRow) -> str:
            wrong.append(row)
            return "error"

        try:
            with self._path.open("rb") as stream:
                for first, batch in rows_after(skip, self._read(stream, types, refuse)):
                    yield _CsvRows(first, batch, stream.tell())
        except pa.ArrowException as error:
            if wrong:
                raise RecordingError(self._miscounted(wrong[0])) from None
            if by_arrow:
                raise
            raise RecordingError(_encoding_mistake(self._path) or f"{self.name}: {error}") from None

    def _read(
        self,
        stream: BinaryIO,
        types: Mapping[str, pa.DataType],
        refuse: Callable[[pcsv.InvalidRow], str],
    ) -> Iterator[pa.RecordBatch]:
        return iter(
            pcsv.open_csv(
                stream,
                read_options=pcsv.ReadOptions(
                    use_threads=False,
                    block_size=self._block_bytes,
                    skip_rows_after_names=self._header_lines - 1,
                ),
                parse_options=pcsv.ParseOptions(
                    delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=refuse
                ),
                convert_options=pcsv.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    true_values=["true", "True", "TRUE", "1"],
                    false_values=["false", "False", "FALSE", "0"],
                ),
            )
        )

    def _miscounted(self, row: pcsv.InvalidRow) -> str:
        cells = f"{row.actual_columns:,} cells, the header has {row.expected_columns:,}"
        if row.number is None:
            return f"{self.name}: a line has {cells}: {row.text[:80]}"
        return f"{self.where(row.number - 1 - self._header_lines)}: the line has {cells}"

    def _guess_time_format(self) -> TimeFormat:
        number = self._header.names.index(self._header.time)
        rows = (cells for _, cells in islice(self._lines(), self._header_lines, None) if cells)
        first = next(rows, [])
        return guess_format(first[number]) if len(first) > number else TimeFormat.ISO

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Rows, each with its first line. Slow: for the header, and to name a line in an error."""
        try:
            with self._path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
                rows, line = csv.reader(stream, delimiter=self._delimiter), 1
                for row in rows:
                    yield line, row
                    line = rows.line_num + 1
        except (OSError, csv.Error) as error:
            raise RecordingError(f"cannot read {self.name}: {error}") from None


class _Infinite(Exception):
    """An infinity that Arrow parsed; the text may be a number that is too large."""


def _parsed_by_arrow(types: Mapping[str, Parameter]) -> dict[str, pa.DataType]:
    """The columns whose values Arrow parses while it reads the file."""
    return {
        name: ARROW_TYPES[parameter.kind]
        for name, parameter in types.items()
        if parameter.kind.is_fixed and not parameter.labels
    }


def _refuse_infinite(rows: WideRows) -> None:
    """Arrow makes a number that is too large infinite; parsed as text it is refused."""
    for columns in rows.by_kind:
        if columns.kind in {Kind.F32, Kind.F64} and np.isinf(columns.values).any():
            raise _Infinite


def _first_line(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as stream:
            return stream.readline(CELL_CHARACTERS_MAX)
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error.strerror}") from None


def _encoding_mistake(path: Path) -> str | None:
    """The line of a file that is not UTF-8, in words; None if all are."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return f"{path}, line {number:,}: this is not UTF-8; save the file as UTF-8"
    return None


def _format_words(time_format: TimeFormat) -> str:
    if time_format is TimeFormat.ISO:
        return "ISO 8601"
    return f"a number of {time_format} since 1970"
