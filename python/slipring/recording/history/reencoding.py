"""A recorded frame for another table: the same samples, under the indices they have there. Pure.

Example: parameters 4 and 7 of the recording are 901 and 13 at the other broker. A run of both has
its columns in the order of their indices, so the column of 7 comes first there.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from slipring.frames.arrays import Indices, Octets, Times, Values
from slipring.frames.run import Run
from slipring.model import Kind

DEFLATED = 1
"""The flag of a frame whose body is deflated, in its fifth byte (docs/frames.md)."""

Encodable = tuple[Literal["grid"], int, Indices, Times, Any, int | Octets]
"""A grid as `encode_frame` takes it."""


def is_deflated(payload: bytes) -> bool:
    """Whether a frame is; the frame is whole."""
    return bool(payload[4] & DEFLATED)


def grids(run: Run, mask: Values, indices: Indices) -> Iterator[Encodable]:
    """The parameters of a run that the mask chooses, under these indices: one for each of the run.

    Rows become one grid. A ragged run becomes a grid for all parameters with the same times.
    """
    if run.counts is None:
        yield _of_rows(run, np.flatnonzero(mask), indices)
        return
    for members in _with_same_times(run, np.flatnonzero(mask)):
        yield _of_ragged(run, members, indices)


def _of_rows(run: Run, members: Times, indices: Indices) -> Encodable:
    shape = (len(run.times), len(run.indices))
    order = members[np.argsort(indices[members])]
    is_as_it_was = len(order) == shape[1] and bool((np.diff(order) > 0).all())
    columns: Any = slice(None) if is_as_it_was else order
    values = run.values.reshape(shape)[:, columns]
    one = len(run.qualities) == 1
    qualities = run.qualities if one else run.qualities.reshape(shape)[:, columns]
    return _grid(run.kind, indices[order], run.times, values, qualities)


def _with_same_times(run: Run, members: Times) -> Iterator[Times]:
    by_times: dict[bytes, list[int]] = {}
    for member in members.tolist():
        by_times.setdefault(run.times[run.span(member)].tobytes(), []).append(member)
    return (np.array(some, np.int64) for some in by_times.values())


def _of_ragged(run: Run, members: Times, indices: Indices) -> Encodable:
    order = members[np.argsort(indices[members])]
    spans = [run.span(member) for member in order.tolist()]
    values = np.stack([run.values[span] for span in spans], axis=1)
    one = len(run.qualities) == 1
    qualities = run.qualities if one else np.stack([run.qualities[span] for span in spans], axis=1)
    return _grid(run.kind, indices[order], run.times[spans[0]], values, qualities)


def _grid(
    kind: Kind, indices: Indices, times: Times, values: Values, qualities: Octets
) -> Encodable:
    same = int(qualities[0]) if qualities.ndim == 1 else np.ascontiguousarray(qualities)
    ascending = np.ascontiguousarray(indices)
    return ("grid", int(kind), ascending, np.ascontiguousarray(times), _encoded(kind, values), same)


def _encoded(kind: Kind, values: Values) -> Any:
    if not kind.is_fixed:
        return values.ravel().tolist()
    if kind is Kind.BOOL:
        return np.packbits(values, axis=-1, bitorder="little")
    return np.ascontiguousarray(values)
