"""Wide rows as Arrow record batches: a column for each parameter in its own type."""

import json
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.errors import RecordingError
from slipring.frames.arrays import Values
from slipring.recording.history.shape.export_columns import ExportColumn
from slipring.recording.history.shape.file_schema import (
    ARROW_TYPES,
    PARAMETER_KEY,
    QUALITY_SUFFIX,
    QUALITY_WORDS,
    TIME_TYPE,
)
from slipring.recording.history.shape.recorded_samples import Mask
from slipring.recording.history.shape.wide_rows import WideColumns, WideLayout, WideRows

_QUALITIES = pa.array(QUALITY_WORDS)


class ArrowRows:
    """Makes record batches of one schema."""

    def __init__(self, layout: WideLayout, time_name: str = "time") -> None:
        self._columns = layout.columns.columns
        self._not_good = layout.not_good
        self._labels = [_Labels(column.entry.parameter.labels) for column in self._columns]
        if time_name in layout.columns.names:
            raise RecordingError(
                f"a parameter is called {time_name!r}: give the column of times another name "
                "with --time-column"
            )
        self.schema: pa.Schema = pa.schema(
            [pa.field(time_name, TIME_TYPE, nullable=False), *self._fields()]
        )

    def _fields(self) -> list[pa.Field]:
        found = []
        for column, has_qualities in zip(self._columns, self._not_good, strict=True):
            found.append(_field(column))
            if has_qualities:
                found.append(pa.field(column.name + QUALITY_SUFFIX, pa.string()))
        return found

    def batch(self, rows: WideRows) -> pa.RecordBatch:
        """These rows as a record batch."""
        arrays: dict[int, list[pa.Array]] = {}
        for columns in rows.by_kind:
            for position, number in enumerate(columns.columns.tolist()):
                arrays[number] = self._arrays(columns, position, number)
        times = pa.array(rows.times).cast(TIME_TYPE)
        ordered = [array for number in range(len(arrays)) for array in arrays[number]]
        return pa.record_batch([times, *ordered], schema=self.schema)

    def _arrays(self, columns: WideColumns, position: int, number: int) -> list[pa.Array]:
        empty = ~columns.filled[position]
        arrays = [self._values(columns, position, number, empty)]
        if self._not_good[number]:
            arrays.append(_qualities(columns, position, empty))
        return arrays

    def _values(self, columns: WideColumns, position: int, number: int, empty: Mask) -> pa.Array:
        values = columns.values[position]
        if self._labels[number].is_enum:
            return self._labels[number].texts(values, empty)
        return pa.array(values, ARROW_TYPES[columns.kind], mask=empty)


class _Labels:
    """The labels of an enumeration; a number without a label is written as a number."""

    def __init__(self, labels: Mapping[int, str] | None) -> None:
        self.is_enum = labels is not None
        pairs = sorted((labels or {}).items())
        self._numbers = np.array([number for number, _ in pairs], np.int64)
        self._words = pa.array([word for _, word in pairs], pa.string())

    def texts(self, values: Values, empty: Mask) -> pa.Array:
        numbers = values.astype(np.int64)
        found = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        unknown = self._numbers[found] != numbers
        words = self._words.take(pa.array(found, mask=empty | unknown))
        if not (unknown & ~empty).any():
            return words
        return pc.coalesce(words, pa.array(numbers, mask=empty).cast(pa.string()))


def _qualities(columns: WideColumns, position: int, empty: Mask) -> pa.Array:
    given = columns.qualities
    codes = np.zeros(len(empty), np.uint8) if given is None else given[position]
    return _QUALITIES.take(pa.array(codes, mask=empty))


def _field(column: ExportColumn) -> pa.Field:
    parameter = column.entry.parameter
    kind = pa.string() if parameter.labels else ARROW_TYPES[column.kind]
    definition = json.dumps(parameter.as_json(), ensure_ascii=False)
    return pa.field(column.name, kind, metadata={PARAMETER_KEY: definition.encode()})
