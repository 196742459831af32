"""Leaves out samples that cannot count on a time grid, before they travel. Pure.

Of the samples of one input that count from the same step of the grid on, only the newest matters.
So a thousand samples a second on a grid of 100 ms are ten. The result of the alignment is the same.
"""

import numpy as np

from slipring.pipeline.steps.align_rows import AlignmentRule, SampleRows


def thin_rows(rule: AlignmentRule, rows: SampleRows) -> SampleRows:
    """The rows of one chunk, which has all samples of these inputs between two offsets.

    A chunk ends with a message: one that is in two chunks would be late in the second.
    """
    rows = rows.take(rows.source_ns <= rows.receive_ns + rule.ahead_ns)
    if not len(rows):
        return rows
    rows = _counted_alone(rule, rows)
    if rule.every_ns is None:
        return rows
    step = -(-rows.counts_ns // rule.every_ns)
    is_plain = (np.diff(rows.input) >= 0).all() and (np.diff(step) >= 0).all()
    if not is_plain or (np.diff(rows.source_ns) < 0).any():
        order = np.lexsort((rows.offset, rows.source_ns, step, rows.input))
        rows, step = rows.take(order), step[order]
    is_last = (np.diff(rows.input, append=-1) != 0) | (np.diff(step, append=step[-1] - 1) != 0)
    return rows.take(is_last)


def _counted_alone(rule: AlignmentRule, rows: SampleRows) -> SampleRows:
    """The rows as one chunk, with the times from which they count if nothing was before it."""
    if (np.diff(rows.offset) < 0).any():
        rows = rows.take(np.argsort(rows.offset, kind="stable"))
    newest = np.maximum.accumulate(rows.source_ns)
    starts = np.diff(rows.offset, prepend=rows.offset[0] - 1) != 0
    first = np.maximum.accumulate(np.where(starts, np.arange(len(rows)), 0))
    before = newest[np.maximum(first - 1, 0)]
    counts_ns = np.where(
        first > 0, np.maximum(rows.source_ns, before - rule.late_ns), rows.source_ns
    )
    columns = vars(rows) | {
        "counts_ns": counts_ns,
        "chunk": np.full(len(rows), rows.offset[0]),
    }
    return SampleRows(**columns)
