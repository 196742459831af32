"""The arrays that frames are made of, by what is in them."""

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
"""What the values of a kind are to numpy; texts and bytes are objects."""
