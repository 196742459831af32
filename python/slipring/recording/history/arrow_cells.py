"""Rows of cells as Arrow record batches: a column for each parameter in its true type."""

import json
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.errors import RecordingError
from slipring.frames.arrays import Values
from slipring.model import Quality
from slipring.recording.history.arrow_types import ARROW_TYPES
from slipring.recording.history.cells import Cells, Layout, Mask, Sheet
from slipring.recording.history.chosen import Column

QUALITY = "#quality"
"""Behind a parameter's name: the column with its qualities. No topic has this sign."""
PARAMETER = b"slipring.parameter"
"""In a field's metadata: the definition, as JSON."""
TIME_TYPE = pa.timestamp("ns", "UTC")
QUALITY_WORDS = pa.array([str(Quality.of_byte(byte)) for byte in range(256)])


class ArrowCells:
    """Makes record batches of one schema."""

    def __init__(self, layout: Layout, time_name: str = "time") -> None:
        self._columns = layout.chosen.columns
        self._not_good = layout.not_good
        self._labels = [_Labels(column.entry.parameter.labels) for column in self._columns]
        if time_name in layout.chosen.names:
            raise RecordingError(
                f"a parameter is called {time_name!r}: give the column of times another name "
                "with --time-column"
            )
        self.schema = pa.schema([pa.field(time_name, TIME_TYPE, nullable=False), *self._fields()])

    def _fields(self) -> list[pa.Field]:
        found = []
        for column, flawed in zip(self._columns, self._not_good, strict=True):
            found.append(_field(column))
            if flawed:
                found.append(pa.field(column.name + QUALITY, pa.string()))
        return found

    def batch(self, cells: Cells) -> pa.RecordBatch:
        """These rows."""
        made: dict[int, list[pa.Array]] = {}
        for sheet in cells.sheets:
            for row, place in enumerate(sheet.columns.tolist()):
                made[place] = self._arrays(sheet, row, place)
        times = pa.array(cells.times).cast(TIME_TYPE)
        arrays = [array for place in range(len(made)) for array in made[place]]
        return pa.record_batch([times, *arrays], schema=self.schema)

    def _arrays(self, sheet: Sheet, row: int, place: int) -> list[pa.Array]:
        empty = ~sheet.filled[row]
        arrays = [self._values(sheet, row, place, empty)]
        if self._not_good[place]:
            arrays.append(_qualities(sheet, row, empty))
        return arrays

    def _values(self, sheet: Sheet, row: int, place: int, empty: Mask) -> pa.Array:
        values = sheet.values[row]
        if self._labels[place].is_enum:
            return self._labels[place].texts(values, empty)
        return pa.array(values, ARROW_TYPES[sheet.kind], mask=empty)


class _Labels:
    """The words of an enumeration's numbers; a number without one is written as itself."""

    def __init__(self, labels: Mapping[int, str] | None) -> None:
        self.is_enum = labels is not None
        pairs = sorted((labels or {}).items())
        self._numbers = np.array([number for number, _ in pairs], np.int64)
        self._words = pa.array([word for _, word in pairs], pa.string())

    def texts(self, values: Values, empty: Mask) -> pa.Array:
        numbers = values.astype(np.int64)
        places = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        unknown = self._numbers[places] != numbers
        words = self._words.take(pa.array(places, mask=empty | unknown))
        if not (unknown & ~empty).any():
            return words
        return pc.coalesce(words, pa.array(numbers, mask=empty).cast(pa.string()))


def _qualities(sheet: Sheet, row: int, empty: Mask) -> pa.Array:
    given = sheet.qualities
    codes = np.zeros(len(empty), np.uint8) if given is None else given[row]
    return QUALITY_WORDS.take(pa.array(codes, mask=empty))


def _field(column: Column) -> pa.Field:
    parameter = column.entry.parameter
    kind = pa.string() if parameter.labels else ARROW_TYPES[column.kind]
    definition = json.dumps(parameter.as_json(), ensure_ascii=False)
    return pa.field(column.name, kind, metadata={PARAMETER: definition.encode()})
