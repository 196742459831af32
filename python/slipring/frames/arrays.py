"""The arrays that frames consist of, by their contents."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from slipring.model import Kind

Indices: TypeAlias = npt.NDArray[np.uint32]
Times: TypeAlias = npt.NDArray[np.int64]
Octets: TypeAlias = npt.NDArray[np.uint8]
Floats: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = npt.NDArray[Any]
"""Numbers or truth values of one kind, or Python's strings and bytes."""

NO_TIME = np.int64(np.iinfo(np.int64).min)
"""No time; numpy's and pandas' NaT."""

DTYPES: dict[Kind, np.dtype[Any]] = {
    Kind.BOOL: np.dtype(np.bool_),
    Kind.U8: np.dtype("<u1"),
    Kind.U16: np.dtype("<u2"),
    Kind.U32: np.dtype("<u4"),
    Kind.U64: np.dtype("<u8"),
    Kind.I8: np.dtype("<i1"),
    Kind.I16: np.dtype("<i2"),
    Kind.I32: np.dtype("<i4"),
    Kind.I64: np.dtype("<i8"),
    Kind.F32: np.dtype("<f4"),
    Kind.F64: np.dtype("<f8"),
    Kind.TEXT: np.dtype(object),
    Kind.BYTES: np.dtype(object),
}
"""The numpy type of each kind's values; texts and bytes are objects."""


def as_written(kind: Kind, values: Values) -> Any:
    """Values as a frame has them: a list of texts or bytes, bits of truth values, or numbers."""
    if not kind.is_fixed:
        return values.ravel().tolist()
    if kind is Kind.BOOL:
        return np.packbits(values, axis=-1, bitorder="little")
    return np.ascontiguousarray(values)


def distinct(indices: Sequence[Indices]) -> Indices:
    """The indices that are in any of these, ascending. Marks them, which is faster than sorting."""
    if len(indices) == 1 and (np.diff(indices[0].astype(np.int64)) > 0).all():
        return indices[0]
    size = max((int(some.max()) + 1 for some in indices if len(some)), default=0)
    marks = np.zeros(size, np.bool_)
    for some in indices:
        marks[some] = True
    return np.flatnonzero(marks).astype(np.uint32)


def ranks(present: Indices, indices: Indices) -> Times:
    """The position of each index among those present, which are ascending."""
    where = np.zeros(int(present[-1]) + 1 if len(present) else 0, np.int64)
    where[present] = np.arange(len(present))
    return where[indices]
