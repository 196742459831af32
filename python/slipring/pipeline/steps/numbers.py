"""Columns of Arrow tables as numpy arrays."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def ints(rows: pa.Table, name: str) -> Ints:
    """A column as numbers; null is 0."""
    found: Ints = rows.column(name).fill_null(0).to_numpy().astype(np.int64, copy=False)
    return found


def floats(rows: pa.Table, name: str) -> Floats:
    """A column as numbers; null is 0."""
    found: Floats = rows.column(name).fill_null(0).to_numpy().astype(np.float64, copy=False)
    return found


def group_starts(*keys: Ints) -> Ints:
    """Where a new group of equal keys begins, in sorted rows."""
    if not len(keys[0]):
        return np.empty(0, np.int64)
    differs = np.zeros(len(keys[0]), bool)
    differs[0] = True
    for key in keys:
        differs[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(differs)


def group_spans(*keys: Ints) -> list[tuple[int, int]]:
    """From which to which row each group of equal keys goes, in sorted rows; none without rows."""
    starts = group_starts(*keys).tolist()
    return [*zip(starts, [*starts[1:], len(keys[0])], strict=False)]
