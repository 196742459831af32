"""Columns of a file as wide rows, in the types of their parameters. Pure."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.frames.arrays import DTYPES, Octets, Times, Values
from slipring.model import Kind, Parameter
from slipring.recording.history.read.history_file import WrongCell
from slipring.recording.history.read.value_parsing import parse_values
from slipring.recording.history.shape.file_schema import (
    ARROW_TYPES,
    QUALITY_SUFFIX,
    QUALITY_WORDS,
)
from slipring.recording.history.shape.recorded_samples import Mask
from slipring.recording.history.shape.wide_rows import WideColumns, WideRows

_QUALITY_BYTES = {word: byte for byte, word in enumerate(QUALITY_WORDS)}


class WideRowReader:
    """Converts columns to wide rows, whose columns are in the order of `types`."""

    def __init__(self, types: Mapping[str, Parameter]) -> None:
        self._types = types
        self._kinds: dict[Kind, list[tuple[int, str]]] = {}
        for number, (name, parameter) in enumerate(types.items()):
            self._kinds.setdefault(parameter.kind, []).append((number, name))

    def rows(self, times: Times, columns: Mapping[str, pa.Array]) -> WideRows:
        """These columns as rows; raises WrongCell."""
        return WideRows(times, [self._columns(kind, len(times), columns) for kind in self._kinds])

    def _columns(self, kind: Kind, rows: int, columns: Mapping[str, pa.Array]) -> WideColumns:
        members = self._kinds[kind]
        shape = (len(members), rows)
        values, filled = np.zeros(shape, DTYPES[kind]), np.zeros(shape, np.bool_)
        has_qualities = any(name + QUALITY_SUFFIX in columns for _, name in members)
        qualities = np.zeros(shape, np.uint8) if has_qualities else None
        for position, (_, name) in enumerate(members):
            values[position], filled[position] = read_column(name, self._types[name], columns[name])
            quality_name = name + QUALITY_SUFFIX
            if qualities is not None and quality_name in columns:
                qualities[position] = _qualities(quality_name, columns[quality_name])
        numbers = np.array([number for number, _ in members], np.int32)
        return WideColumns(kind, numbers, values, filled, qualities)


def read_column(name: str, parameter: Parameter, column: pa.Array) -> tuple[Values, Mask]:
    """The values of a column, and which rows have one; raises WrongCell."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    present: Mask = np.asarray(column.is_valid())
    if parameter.labels or (_is_text(column) and parameter.kind is not Kind.TEXT):
        return _parsed(name, parameter, column), present
    if not parameter.kind.is_fixed:
        return _objects(name, parameter, column), present
    kind = ARROW_TYPES[parameter.kind]
    try:
        numbers = column if column.type == kind else column.cast(kind)
    except pa.ArrowException:
        return _parsed(name, parameter, column), present
    return np.asarray(pc.fill_null(numbers, pa.scalar(0, pa.int64()).cast(kind))), present


def _parsed(name: str, parameter: Parameter, column: pa.Array) -> Values:
    found = parse_values(parameter, column.cast(pa.string()))
    if found.is_wrong.any():
        row = int(np.flatnonzero(found.is_wrong)[0])
        raise WrongCell(row, name, f"{column[row].as_py()!r} is not a valid {parameter.type}")
    return found.values


def _objects(name: str, parameter: Parameter, column: pa.Array) -> Values:
    """The values of texts and bytes."""
    try:
        cast = column.cast(ARROW_TYPES[parameter.kind])
    except pa.ArrowException as error:
        why = f"{column.type} is not a valid {parameter.type}: {error}"
        raise WrongCell(0, name, why) from None
    found: Values = cast.to_numpy(zero_copy_only=False)
    return found


def _qualities(name: str, column: pa.Array) -> Octets:
    """The qualities of a column; an empty cell means good."""
    encoded = column.cast(pa.string()).dictionary_encode()
    words = encoded.dictionary.to_pylist()
    for code, word in enumerate(words):
        if word not in _QUALITY_BYTES:
            row = pc.index(encoded.indices, code).as_py()
            raise WrongCell(
                row, name, f"{word!r} is not a valid quality; write good, or bad (sensor-failed)"
            )
    octets = np.array([*(_QUALITY_BYTES[word] for word in words), 0], np.uint8)
    found: Octets = octets[np.asarray(pc.fill_null(encoded.indices, len(words)))]
    return found


def _is_text(column: pa.Array) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))
