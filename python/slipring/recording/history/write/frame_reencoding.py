"""A recorded frame for another table: the same samples, under the indices they have there. Pure.

Example: parameters 4 and 7 of the recording are 901 and 13 at the other broker. A run of both has
its columns in the order of their indices, so the column of 7 comes first there.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from slipring.frames.arrays import Indices, Times
from slipring.frames.run import Run
from slipring.recording.history.shape.recorded_samples import Mask
from slipring.recording.history.write.frame_encoder import GridRun, grid_run

DEFLATED = 1
"""The flag of a frame whose body is deflated, in its fifth byte (docs/frames.md)."""


def is_deflated(payload: bytes) -> bool:
    """Whether the body of a complete frame is deflated."""
    return bool(payload[4] & DEFLATED)


def grid_runs(run: Run, mask: Mask, indices: Indices) -> Iterator[GridRun]:
    """The parameters of a run that the mask chooses; `indices` has the new index of each.

    A run of rows becomes one grid. A ragged run becomes a grid for all parameters with equal times.
    """
    if run.counts is None:
        yield _of_rows(run, np.flatnonzero(mask), indices)
        return
    for members in _with_same_times(run, np.flatnonzero(mask)):
        yield _of_ragged(run, members, indices)


def _of_rows(run: Run, members: Times, indices: Indices) -> GridRun:
    shape = (len(run.times), len(run.indices))
    order = members[np.argsort(indices[members])]
    is_unchanged = len(order) == shape[1] and bool((np.diff(order) > 0).all())
    columns: Any = slice(None) if is_unchanged else order
    values = run.values.reshape(shape)[:, columns]
    is_same = len(run.qualities) == 1
    qualities = int(run.qualities[0]) if is_same else run.qualities.reshape(shape)[:, columns]
    return grid_run(run.kind, indices[order], run.times, values, qualities)


def _with_same_times(run: Run, members: Times) -> Iterator[Times]:
    by_times: dict[bytes, list[int]] = {}
    for member in members.tolist():
        by_times.setdefault(run.times[run.span(member)].tobytes(), []).append(member)
    return (np.array(some, np.int64) for some in by_times.values())


def _of_ragged(run: Run, members: Times, indices: Indices) -> GridRun:
    order = members[np.argsort(indices[members])]
    spans = [run.span(member) for member in order.tolist()]
    values = np.stack([run.values[span] for span in spans], axis=1)
    is_same = len(run.qualities) == 1
    qualities = (
        int(run.qualities[0])
        if is_same
        else np.stack([run.qualities[span] for span in spans], axis=1)
    )
    return grid_run(run.kind, indices[order], run.times[spans[0]], values, qualities)
