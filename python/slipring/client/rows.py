"""Values to the bytes of a frame's rows: checked, converted, in the order of indices."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from slipring.frames.arrays import DTYPES, Indices, Octets, Values, as_written
from slipring.model import Kind, Parameter, Quality, Value

Writable = Value | np.generic
"""One value to write; numbers may be numpy's."""


class KindColumns(NamedTuple):
    """The parameters of one kind among those declared together: the columns of its rows."""

    kind: Kind
    indices: Indices
    """Ascending."""
    order: Values | None
    """The position of each in the order of declaration; None if both orders are the same."""

    def arranged(self, values: Values) -> Values:
        """Columns in the order of the indices."""
        return values if self.order is None else values[..., self.order]


def columns_by_kind(kinds: Sequence[Kind], indices: Indices) -> dict[Kind, KindColumns]:
    """The columns of what was declared, by kind, in the order of the kinds' codes."""
    codes = np.array(kinds, np.uint8)
    made = {}
    for kind in sorted(set(kinds)):
        mine = indices[codes == kind]
        order = np.argsort(mine)
        is_sorted = bool((order == np.arange(len(mine))).all())
        made[kind] = KindColumns(
            kind, np.ascontiguousarray(mine[order]), None if is_sorted else order
        )
    return made


def by_kind(values: Any, columns: Mapping[Kind, KindColumns]) -> dict[Kind, Any]:
    """Values given for each kind, or for the only one there is."""
    if isinstance(values, Mapping):
        found = {_kind_of(word): some for word, some in values.items()}
        if unknown := found.keys() - columns.keys():
            words = ", ".join(sorted(kind.word for kind in unknown))
            raise ValueError(f"nothing of this type is declared: {words}")
        return found
    if len(columns) != 1:
        words = ", ".join(f'"{kind.word}"' for kind in columns)
        raise ValueError(f"several types are declared: give a dict of arrays for {words}")
    return {next(iter(columns)): values}


def _kind_of(word: str) -> Kind:
    try:
        return Kind.of_word(word)
    except ValueError:
        text = f"{word!r} is not a type: rows are arrays by type; `write` takes values by name"
        raise ValueError(text) from None


def byte_of(quality: Quality) -> int:
    """The byte of a quality; raises TypeError for anything else."""
    if not isinstance(quality, Quality):
        raise TypeError(f"a quality is Quality(Status.BAD, Reason.SENSOR_FAILED), not {quality!r}")
    return quality.byte


def encoded(columns: KindColumns, values: Any, rows: int | None) -> Any:
    """What the writer takes: an array as the frame stores it, or a list of texts or bytes.

    `rows` is None for a single row, given without the dimension of rows.
    """
    found = np.asarray(values, object if not columns.kind.is_fixed else None)
    shape = (len(columns.indices),) if rows is None else (rows, len(columns.indices))
    if found.shape != shape:
        raise ValueError(f"{columns.kind.word} values have shape {found.shape}, not {shape}")
    found = columns.arranged(found)
    return as_written(columns.kind, _converted(columns.kind, found))


def qualities_of(columns: KindColumns, quality: Quality | Octets, rows: int | None) -> int | Octets:
    """One byte for all, or an array with one for each value."""
    if not isinstance(quality, np.ndarray):
        return byte_of(quality)
    shape = (len(columns.indices),) if rows is None else (rows, len(columns.indices))
    if quality.shape != shape or quality.dtype != np.uint8:
        raise ValueError(f"qualities are a Quality, or uint8 of shape {shape}")
    return np.ascontiguousarray(columns.arranged(quality))


def scalar(parameter: Parameter, value: Writable) -> Writable:
    """A value for one sample: the number of a label, where the parameter has labels."""
    if not isinstance(value, str) or parameter.labels is None:
        return value
    for number, label in parameter.labels.items():
        if label == value:
            return number
    known = ", ".join(parameter.labels.values())
    raise ValueError(f"{value!r} is not one of the labels: {known}")


def _converted(kind: Kind, found: Values) -> Values:
    """The same values in the type of the kind; raises ValueError if that would change them."""
    dtype = DTYPES[kind]
    if found.dtype == dtype:
        return found
    made = found.astype(dtype) if found.dtype.kind in "biuf" else None
    is_float = kind in {Kind.F32, Kind.F64}
    if made is None or not (is_float or bool((made == found).all())):
        raise ValueError(f"{found.dtype} values do not fit into {kind.word}")
    return made
