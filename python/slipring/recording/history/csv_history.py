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
from slipring.recording.history.arrow_types import ARROW_TYPES
from slipring.recording.history.cells import Cells
from slipring.recording.history.file_cells import FileCells
from slipring.recording.history.guess import Guesses
from slipring.recording.history.heading import Heading
from slipring.recording.history.history_file import Block
from slipring.recording.history.patches import patches
from slipring.recording.history.time_texts import guess, read_texts
from slipring.recording.history.wrong_row import WrongRow, blocks_before_wrong
from slipring.recording.time_format import TimeFormat

BLOCK_BYTES = 4 << 20
LINES_MIN = 8
"""A block has room for so many lines as long as the header."""
DELIMITERS = ",;\t"
CELL_CHARACTERS_MAX = 16 << 20


class Rows(NamedTuple):
    """Rows that were read together."""

    first: int
    batch: pa.RecordBatch
    done: int
    """Bytes of the file that are read."""


class CsvHistory:
    """Reads blocks of lines. Numbers are read by Arrow; where it cannot, by the rules of texts."""

    def __init__(
        self, path: Path, time_column: str | None, form: TimeFormat | None, *, has_units: bool
    ) -> None:
        csv.field_size_limit(CELL_CHARACTERS_MAX)
        self.name = str(path)
        self._path = path
        self._heads = 2 if has_units else 1
        first = _first_line(path)
        if "\ufffd" in first and (foreign := _foreign(path)):
            raise RecordingError(foreign)
        self._delimiter = max(DELIMITERS, key=first.count)
        self._block_bytes = max(BLOCK_BYTES, LINES_MIN * len(first))
        head = [row for _, row in islice(self._lines(), self._heads)]
        self._heading = Heading(self.name, head[0] if head else [], time_column)
        self._units = dict(zip(head[0], head[1], strict=False)) if len(head) > 1 else {}
        self._form = form or self._guess_form()
        self.columns = self._heading.columns
        self.earlier = self._heading.earlier
        self.total: int | None = path.stat().st_size

    def place(self, row: int) -> str:
        """A row's place in words; its line, as people count it."""
        lines = (line for line, cells in self._lines() if cells)
        line = next(islice(lines, row + self._heads, None), None)
        return f"{self.name}, " + (f"line {line:,}" if line else "behind the last line")

    def known(self) -> Mapping[str, Parameter]:
        """A CSV file does not say what its columns are."""
        return {}

    def guessed(self, columns: Sequence[str]) -> Mapping[str, Parameter]:
        """All values are looked at."""
        guesses = Guesses()
        for first, batch, _ in self._batches(columns, {}, 0):
            for column in columns:
                guesses.add(column, batch.column(column), first)
        for column, odd in guesses.doubtful().items():
            raise RecordingError(
                f"{self.place(odd.row)}: column {column!r}: {odd.text[:80]!r} is no number, and "
                f"{odd.numbers:,} of its {odd.values:,} values are; correct it, empty the cell, or "
                f"say that the column is text: --type {column}=text"
            )
        units = self._units
        return {
            column: Parameter(one.type, unit=units.get(column) or None)
            for column, one in guesses.found().items()
        }

    def blocks(self, types: Mapping[str, Parameter], skip: int) -> Iterator[Block]:
        """See HistoryFile."""
        row = skip
        try:
            for block in self._blocks(types, skip, _quick(types)):
                yield block
                row = block.end
        except (pa.ArrowException, _Unusual):
            yield from self._blocks(types, row, {})

    def _blocks(
        self, types: Mapping[str, Parameter], skip: int, quick: Mapping[str, pa.DataType]
    ) -> Iterator[Block]:
        reader = FileCells(types)
        names = [*types, *(one for one in self._heading.qualities)]
        for first, batch, done in self._batches(names, quick, skip):

            def block(some: pa.RecordBatch, first: int = first, done: int = done) -> Block:
                cells = self._cells(reader, some)
                if quick:
                    _refuse_infinite(cells)
                return Block(list(patches(cells)), first, first + some.num_rows, done)

            yield from blocks_before_wrong(batch, first, block, self.place)

    def _cells(self, reader: FileCells, batch: pa.RecordBatch) -> Cells:
        """These rows; raises WrongRow."""
        texts = batch.column(self._heading.time)
        times = read_texts(texts, self._form)
        if times.wrong is not None:
            text = texts[times.wrong].as_py() or ""
            words = _form_words(self._form)
            raise WrongRow(times.wrong, f"{text!r} is no time ({words}); give --time-format")
        return reader.cells(times.times, dict(zip(batch.schema.names, batch, strict=True)))

    def _batches(
        self, columns: Sequence[str], quick: Mapping[str, pa.DataType], skip: int
    ) -> Iterator[Rows]:
        """Rows behind the first `skip`; columns are texts unless they have a type."""
        names = [self._heading.time, *columns]
        types = {name: quick.get(name, pa.string()) for name in names}
        wrong: list[pcsv.InvalidRow] = []

        def refuse(row: pcsv.InvalidRow) -> str:
            wrong.append(row)
            return "error"

        try:
            with self._path.open("rb") as stream:
                for first, batch in _behind(skip, self._read(stream, types, refuse)):
                    yield Rows(first, batch, stream.tell())
        except pa.ArrowException as error:
            if wrong:
                raise RecordingError(self._miscounted(wrong[0])) from None
            if quick:
                raise
            raise RecordingError(_foreign(self._path) or f"{self.name}: {error}") from None

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
                    skip_rows_after_names=self._heads - 1,
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
        return f"{self.place(row.number - 1 - self._heads)}: the line has {cells}"

    def _guess_form(self) -> TimeFormat:
        place = self._heading.names.index(self._heading.time)
        rows = (cells for _, cells in islice(self._lines(), self._heads, None) if cells)
        first = next(rows, [])
        return guess(first[place]) if len(first) > place else TimeFormat.ISO

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Rows, with the line that each begins in. Slow: for the header, and for what is wrong."""
        try:
            with self._path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
                rows, line = csv.reader(stream, delimiter=self._delimiter), 1
                for row in rows:
                    yield line, row
                    line = rows.line_num + 1
        except (OSError, csv.Error) as error:
            raise RecordingError(f"cannot read {self.name}: {error}") from None


class _Unusual(Exception):
    """Something that the quick way may have read wrongly."""


def _quick(types: Mapping[str, Parameter]) -> dict[str, pa.DataType]:
    """The columns that Arrow reads."""
    return {
        name: ARROW_TYPES[parameter.kind]
        for name, parameter in types.items()
        if parameter.kind.is_fixed and not parameter.labels
    }


def _refuse_infinite(cells: Cells) -> None:
    """A number that is too large becomes infinite on the quick way; on the other it is refused."""
    for sheet in cells.sheets:
        if sheet.kind in {Kind.F32, Kind.F64} and np.isinf(sheet.values).any():
            raise _Unusual


def _behind(skip: int, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """What is behind so many rows, with the number of each first row."""
    first = 0
    for batch in batches:
        begin = min(max(0, skip - first), batch.num_rows)
        if begin < batch.num_rows:
            yield first + begin, batch[begin:]
        first += batch.num_rows


def _first_line(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as stream:
            return stream.readline(CELL_CHARACTERS_MAX)
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error.strerror}") from None


def _foreign(path: Path) -> str | None:
    """Where a file is not UTF-8, in words; None where it is."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return f"{path}, line {number:,}: this is not UTF-8; save the file as UTF-8"
    return None


def _form_words(form: TimeFormat) -> str:
    return "ISO 8601" if form is TimeFormat.ISO else f"a number of {form} since 1970"
