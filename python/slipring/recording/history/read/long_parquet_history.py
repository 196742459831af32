"""A long Parquet file of samples: a row for each, as `slipring export --parameters` writes it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.errors import RecordingError
from slipring.frames.arrays import Octets, Times, Values
from slipring.model import Kind, Parameter, Status
from slipring.recording.file_format import TimeFormat
from slipring.recording.history.read.history_file import RowBlock, WrongCell, blocks_before_wrong
from slipring.recording.history.read.parquet_rows import ParquetRows, parameter_of
from slipring.recording.history.read.wide_row_reader import read_column
from slipring.recording.history.shape.dense_block import DenseBlock
from slipring.recording.history.shape.file_schema import EARLIER_NAME, PARAMETERS_KEY
from slipring.recording.history.shape.recorded_samples import Mask

NEEDED = ("name", "value")
VALUES = ("value", "integer", "text", "bytes")
"""The columns of values: for numbers, for whole numbers exactly, for texts, for bytes."""
BY_COLUMN = {"value": "f64", "integer": "i64", "text": "text", "bytes": "bytes"}
ROWS_MAX = 262_144
REASON_MAX = 0x3F


def is_long(schema: pa.Schema) -> bool:
    """Whether a file with these columns is a long one."""
    return all(name in schema.names for name in NEEDED)


class LongParquetHistory:
    """Reads rows, and gathers those of each parameter."""

    def __init__(
        self, rows: ParquetRows, time_column: str | None, time_format: TimeFormat | None
    ) -> None:
        self._rows = rows
        self._time_format = time_format
        self._time = time_column or "time"
        names = rows.schema.names
        if self._time not in names:
            raise RecordingError(
                f"{rows.name} has no column {self._time!r} for the times; name it with "
                "--time-column"
            )
        self._given = [name for name in (*VALUES, "quality", "reason") if name in names]
        self.name: str = rows.name
        self.total: int | None = rows.total
        self.where: Callable[[int], str] = rows.where
        definitions = self._all_definitions()
        self.earlier: list[str] = [name for name in definitions if EARLIER_NAME.fullmatch(name)]
        self._definitions = {
            name: one for name, one in definitions.items() if name not in self.earlier
        }
        self._earlier_indices = [int(name.rpartition("#")[2]) for name in self.earlier]
        self._index_column = ["index"] if self._earlier_indices and "index" in names else []
        self.columns: list[str] = list(self._definitions) or self._names()

    def known(self) -> Mapping[str, Parameter]:
        """From the definitions in the file's metadata."""
        return self._definitions

    def guessed(self, columns: Sequence[str]) -> Mapping[str, Parameter]:
        """From the columns in which a parameter has its values."""
        found: dict[str, str] = {}
        given = [name for name in VALUES if name in self._given]
        for _, batch in self._rows.batches(["name", *given], 0, ROWS_MAX):
            table = pa.table(batch)
            counts = table.group_by("name").aggregate([(name, "count") for name in given])
            for row in counts.to_pylist():
                used = [name for name in given if row[f"{name}_count"]]
                if used:
                    found[row["name"]] = used[-1]
        return {name: Parameter(BY_COLUMN[found[name]]) for name in columns if name in found}

    def blocks(self, types: Mapping[str, Parameter], skip: int) -> Iterator[RowBlock]:
        numbers = {name: number for number, name in enumerate(types)}
        columns = ["name", self._time, *self._given, *self._index_column]
        for first, batch in self._rows.batches(columns, skip, ROWS_MAX):

            def block(some: pa.RecordBatch, first: int = first) -> RowBlock:
                end = first + some.num_rows
                return RowBlock(list(self._samples(some, types, numbers)), first, end, end)

            yield from blocks_before_wrong(batch, first, block, self.where)

    def _samples(
        self, batch: pa.RecordBatch, types: Mapping[str, Parameter], numbers: Mapping[str, int]
    ) -> Iterator[DenseBlock]:
        """The samples of some rows; raises WrongRow."""
        times = self._rows.times(batch.column(self._time), self._time_format)
        rows = _LongRows(batch, times, _qualities(batch), self._is_earlier(batch))
        for name, chosen in rows.by_name():
            if self._definitions and name not in self._definitions:
                why = f"the file has no definition of {name!r}"
                raise WrongCell(int(chosen[0]), "name", why)
            block = rows.block(numbers[name], types[name], chosen) if name in numbers else None
            if block is not None:
                yield block

    def _is_earlier(self, batch: pa.RecordBatch) -> Mask:
        """Which rows are of earlier parameters, whose names others took over."""
        if not self._index_column:
            return np.zeros(batch.num_rows, np.bool_)
        found: Mask = np.isin(np.asarray(batch.column("index")), self._earlier_indices)
        return found

    def _all_definitions(self) -> dict[str, Parameter]:
        given = (self._rows.schema.metadata or {}).get(PARAMETERS_KEY)
        if given is None:
            return {}
        try:
            found: dict[str, Any] = json.loads(given)
        except ValueError as error:
            raise RecordingError(f"{self.name}: its definitions are not JSON: {error}") from None
        return {name: parameter_of(self.name, name, one) for name, one in found.items()}

    def _names(self) -> list[str]:
        found: dict[str | None, None] = {}
        for _, batch in self._rows.batches(["name"], 0, ROWS_MAX):
            found |= dict.fromkeys(pc.unique(batch.column("name")).to_pylist())
        return [name for name in found if name is not None]


@dataclass(frozen=True, eq=False)
class _LongRows:
    """Rows of several parameters."""

    _batch: pa.RecordBatch
    _times: Times
    _qualities: Octets
    _left_out: Mask

    def by_name(self) -> Iterator[tuple[str, Times]]:
        """The rows of each parameter, in their order; raises WrongCell."""
        names = self._batch.column("name")
        nameless = np.flatnonzero(np.asarray(names.is_null()) & ~self._left_out)
        if len(nameless):
            raise WrongCell(int(nameless[0]), "name", "there is no name")
        if not pa.types.is_dictionary(names.type):
            names = names.dictionary_encode()
        codes = np.where(self._left_out, -1, np.asarray(pc.fill_null(names.indices, -1)))
        order = np.argsort(codes, kind="stable")
        found, starts = np.unique(codes[order], return_index=True)
        words = names.dictionary.to_pylist()
        for code, rows in zip(found.tolist(), np.split(order, starts[1:]), strict=True):
            if code >= 0:
                yield words[code], rows

    def block(self, number: int, parameter: Parameter, rows: Times) -> DenseBlock | None:
        """The samples of one parameter; None if its rows have no value."""
        name = self._column(parameter)
        try:
            values, present = self._values(parameter, name, rows)
        except WrongCell as wrong:
            raise WrongCell(int(rows[wrong.row]), name, wrong.why) from None
        if not present.any():
            return None
        chosen = rows[present]
        qualities = self._qualities[chosen]
        return DenseBlock(
            parameter.kind,
            np.array([number], np.int32),
            self._times[chosen],
            values[present][:, None],
            qualities[:, None] if qualities.any() else None,
        )

    def _column(self, parameter: Parameter) -> str:
        names = self._batch.schema.names
        if parameter.kind in {Kind.TEXT, Kind.BYTES}:
            return parameter.kind.word
        is_whole = parameter.kind not in {Kind.F32, Kind.F64}
        return "integer" if is_whole and "integer" in names else "value"

    def _values(self, parameter: Parameter, name: str, rows: Times) -> tuple[Values, Any]:
        names = self._batch.schema.names
        if name not in names:
            raise WrongCell(0, name, "the file has no such column")
        column = self._batch.column(name).take(pa.array(rows))
        if parameter.kind is Kind.BOOL:
            column = column.cast(pa.bool_())
        elif parameter.kind is Kind.U64 and name == "integer" and "text" in names:
            texts = self._batch.column("text").take(pa.array(rows))
            column = pc.coalesce(column.cast(pa.string()), texts)
        elif parameter.kind is Kind.F32:
            column = column.cast(pa.float32(), safe=False)
        # Without labels: the file has numbers.
        return read_column(name, Parameter(parameter.kind.word), column)


def _qualities(batch: pa.RecordBatch) -> Octets:
    """The quality of each row, good if the file does not say it; raises WrongCell."""
    octets = np.zeros(batch.num_rows, np.uint8)
    if "quality" in batch.schema.names:
        words = batch.column("quality").cast(pa.string())
        status = pc.index_in(words, pa.array([status.word for status in Status]))
        _refuse(words, pc.and_(status.is_null(), words.is_valid()), "quality")
        octets |= np.asarray(pc.fill_null(status, 0)).astype(np.uint8) << 6
    if "reason" in batch.schema.names:
        reasons = pc.fill_null(batch.column("reason").cast(pa.int64()), 0)
        known = pc.and_(pc.greater_equal(reasons, 0), pc.less_equal(reasons, REASON_MAX))
        _refuse(reasons, pc.invert(known), "reason")
        octets |= np.asarray(reasons).astype(np.uint8)
    return octets


def _refuse(column: pa.Array, is_wrong: pa.Array, name: str) -> None:
    wrong = pc.indices_nonzero(is_wrong)
    if len(wrong):
        row = wrong[0].as_py()
        raise WrongCell(row, name, f"{column[row].as_py()!r} is not a valid {name}")
