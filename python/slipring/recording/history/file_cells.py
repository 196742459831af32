"""Columns of a file as cells, in the types of their parameters. Knows a wrong cell by its row."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.frames.arrays import DTYPES, Octets, Times, Values
from slipring.model import Kind, Parameter
from slipring.recording.history.arrow_types import ARROW_TYPES
from slipring.recording.history.cells import Cells, Mask, Sheet
from slipring.recording.history.history_file import QUALITY, QUALITY_BYTES
from slipring.recording.history.texts import parse
from slipring.recording.history.wrong_row import WrongCell


class FileCells:
    """Turns columns into cells; the columns of the cells are in the order of `types`."""

    def __init__(self, types: Mapping[str, Parameter]) -> None:
        self._types = types
        self._kinds: dict[Kind, list[tuple[int, str]]] = {}
        for place, (name, parameter) in enumerate(types.items()):
            self._kinds.setdefault(parameter.kind, []).append((place, name))

    def cells(self, times: Times, columns: Mapping[str, pa.Array]) -> Cells:
        """These rows; raises WrongCell."""
        return Cells(times, [self._sheet(kind, len(times), columns) for kind in self._kinds])

    def _sheet(self, kind: Kind, rows: int, columns: Mapping[str, pa.Array]) -> Sheet:
        members = self._kinds[kind]
        shape = (len(members), rows)
        values, filled = np.zeros(shape, DTYPES[kind]), np.zeros(shape, np.bool_)
        flawed = any(name + QUALITY in columns for _, name in members)
        qualities = np.zeros(shape, np.uint8) if flawed else None
        for row, (_, name) in enumerate(members):
            values[row], filled[row] = read_column(name, self._types[name], columns[name])
            if qualities is not None and name + QUALITY in columns:
                qualities[row] = _qualities(name + QUALITY, columns[name + QUALITY])
        places = np.array([place for place, _ in members], np.int32)
        return Sheet(kind, places, values, filled, qualities)


def read_column(name: str, parameter: Parameter, column: pa.Array) -> tuple[Values, Mask]:
    """The values of a column, and where there are any; raises WrongCell."""
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
    found = parse(parameter, column.cast(pa.string()))
    if found.is_wrong.any():
        row = int(np.flatnonzero(found.is_wrong)[0])
        raise WrongCell(row, name, f"{column[row].as_py()!r} is no {parameter.type}")
    return found.values


def _objects(name: str, parameter: Parameter, column: pa.Array) -> Values:
    """Texts and bytes."""
    try:
        cast = column.cast(ARROW_TYPES[parameter.kind])
    except pa.ArrowException as error:
        why = f"{column.type} is no {parameter.type}: {error}"
        raise WrongCell(0, name, why) from None
    found: Values = cast.to_numpy(zero_copy_only=False)
    return found


def _qualities(name: str, column: pa.Array) -> Octets:
    """Good where nothing is said."""
    encoded = column.cast(pa.string()).dictionary_encode()
    words = encoded.dictionary.to_pylist()
    for code, word in enumerate(words):
        if word not in QUALITY_BYTES:
            row = pc.index(encoded.indices, code).as_py()
            raise WrongCell(
                row, name, f"{word!r} is no quality; write good, or bad (sensor-failed)"
            )
    octets = np.array([*(QUALITY_BYTES[word] for word in words), 0], np.uint8)
    found: Octets = octets[np.asarray(pc.fill_null(encoded.indices, len(words)))]
    return found


def _is_text(column: pa.Array) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))
