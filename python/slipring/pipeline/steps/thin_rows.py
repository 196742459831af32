"""Leaves out samples that cannot count on a time grid, before they travel. Pure.

Of the samples of one input that count from the same step of the grid on, only the newest matters.
So a thousand samples a second on a grid of 100 ms are ten. The result of the alignment is the same.
All derivations of a chunk are done at once: a step per derivation would cost more than the samples.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from slipring.pipeline.steps.align_rows import (
    AlignmentRule,
    Flags,
    SampleRows,
    Times,
    is_plausible,
)

Numbers = npt.NDArray[np.int32]
GROUPS_RADIX_MAX = 1 << 16
"""So many different numbers numpy sorts by radix, which is several times as fast."""


def thin_rows(
    rules: Sequence[AlignmentRule], derivation: Numbers, rows: SampleRows
) -> tuple[Numbers, SampleRows]:
    """The rows of one chunk, which has all samples of the inputs between two offsets.

    A chunk ends with a message: one that is in two chunks would be late in the second.
    """
    ahead_ns = np.array([rule.ahead_ns for rule in rules])[derivation]
    which = np.flatnonzero(is_plausible(rows, ahead_ns))
    if not len(which):
        return derivation[which], rows.take(which)
    if (np.diff(rows.offset[which]) < 0).any():
        which = which[np.argsort(rows.offset[which], kind="stable")]
    start = int(rows.offset[which[0]])
    which = which[_sorted_by(derivation[which])]
    counts_ns = _counted_alone(rules, derivation[which], rows, which)
    kept = _last_of_steps(rules, derivation[which], rows, which, counts_ns)
    left = which[kept]
    thin = rows.take(left)
    columns = vars(thin) | {"counts_ns": counts_ns[kept], "chunk": np.full(len(left), start)}
    return derivation[left], SampleRows(**columns)


def _sorted_by(key: npt.NDArray[np.integer]) -> Times:
    if len(key) and key.min() >= 0 and key.max() < GROUPS_RADIX_MAX:
        key = key.astype(np.uint16)
    return np.argsort(key, kind="stable")


def _counted_alone(
    rules: Sequence[AlignmentRule], derivation: Numbers, rows: SampleRows, which: Times
) -> Times:
    """The times from which rows count if nothing was before the chunk; they are by derivation."""
    source_ns, offset = rows.source_ns[which], rows.offset[which]
    is_first = np.diff(derivation, prepend=-1) != 0
    newest = _newest_so_far(source_ns, np.cumsum(is_first) - 1)
    is_message = is_first | (np.diff(offset, prepend=offset[0] - 1) != 0)
    starts = np.flatnonzero(is_message)
    before = np.where(is_first[starts], source_ns[starts], newest[starts - 1])
    late_ns = np.array([rule.late_ns for rule in rules])[derivation[starts]]
    # In the first message of a derivation nothing is late: its own times are before themselves.
    earliest = np.where(is_first[starts], np.iinfo(np.int64).min, before - late_ns)
    lengths = np.diff(starts, append=len(source_ns))
    counts_ns: Times = np.maximum(source_ns, np.repeat(earliest, lengths))
    return counts_ns


def _newest_so_far(source_ns: Times, group: Times) -> Times:
    """The greatest time up to each row of its group; groups are numbered in their order."""
    least = int(source_ns.min())
    span = int(source_ns.max()) - least + 1
    groups = int(group[-1]) + 1
    if groups * span < 1 << 62:
        lifted = np.maximum.accumulate(source_ns - least + group * span)
        return lifted - group * span + least
    # Times that are years apart in one chunk.
    edges = np.flatnonzero(np.diff(group, prepend=-1, append=groups))
    newest = np.empty_like(source_ns)
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        newest[begin:end] = np.maximum.accumulate(source_ns[begin:end])
    return newest


def _last_of_steps(
    rules: Sequence[AlignmentRule],
    derivation: Numbers,
    rows: SampleRows,
    which: Times,
    counts_ns: Times,
) -> Times:
    """The positions of rows that matter, by derivation and input."""
    # Without a grid every time is a step of its own, and all rows stay.
    every_ns = np.array([rule.every_ns or 0 for rule in rules])[derivation]
    widest = max(rule.inputs for rule in rules)
    key = derivation.astype(np.int64) * widest + rows.input[which]
    order = _sorted_by(key)
    has_grid = every_ns > 0
    step = -(-counts_ns // np.where(has_grid, every_ns, 1))
    key_in_order, step_in_order = key[order], step[order]
    is_same = np.diff(key_in_order) == 0
    source_ns = rows.source_ns[which]
    goes_back = (np.diff(step_in_order) < 0) | (np.diff(source_ns[order]) < 0)
    if (goes_back & is_same).any():
        order = np.lexsort((rows.offset[which], source_ns, step, key))
        key_in_order, step_in_order = key[order], step[order]
        is_same = np.diff(key_in_order) == 0
    is_last: Flags = np.append(~is_same | (np.diff(step_in_order) != 0), True)
    return order[is_last | ~has_grid[order]]
