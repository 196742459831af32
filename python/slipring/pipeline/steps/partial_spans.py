"""The time that partials of a window cover, and the gaps between them. Pure; numpy only."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from slipring.pipeline.steps.numbers import Floats, Ints, floats, ints

GAP = np.dtype([("from_ns", "<i8"), ("to_ns", "<i8"), ("value", "<f8")])
"""A gap between two partials, and the value that is held in it; `gaps` has one after the other."""
GAP_BYTES = GAP.itemsize
GAPS_MAX = 32
"""Gaps that a row keeps: of more the longest, because they are most likely to be filled."""
NO_GAPS = b""


class WindowWeights(NamedTuple):
    """The integrals of the windows, one for each group."""

    weighted: Floats
    weighted_ns: Ints
    gaps: pa.Array
    overlaps: Ints


class _Spans(NamedTuple):
    """Time without gaps: from a sample to another, with the value of the latter."""

    group: Ints
    begin_ns: Ints
    end_ns: Ints
    value: Floats


class _Gaps(NamedTuple):
    """Gaps, and the groups that they are in."""

    group: Ints
    held: NDArray[np.void]

    @property
    def length_ns(self) -> Ints:
        length: Ints = self.held["to_ns"] - self.held["from_ns"]
        return length

    @property
    def weighted(self) -> Floats:
        weighted: Floats = self.held["value"] * self.length_ns
        return weighted


def joined(rows: pa.Table, starts: Ints, has: NDArray[np.bool_], gaps_max: int) -> WindowWeights:
    """The integrals of groups of sorted partials: their own, and those of the gaps between."""
    groups = np.repeat(np.arange(len(starts)), np.diff(starts, append=rows.num_rows))
    old = _held_gaps(rows.column("gaps"))
    spans = _solid_spans(rows, groups, has, old)
    leader = _leaders(spans)
    new = _gaps_between(spans, leader)
    weighted = np.add.reduceat(floats(rows, "weighted"), starts)
    weighted_ns = np.add.reduceat(ints(rows, "weighted_ns"), starts)
    for gaps, of, sign in ((old, groups, -1), (new, np.arange(len(starts)), 1)):
        np.add.at(weighted, of[gaps.group], sign * gaps.weighted)
        np.add.at(weighted_ns, of[gaps.group], sign * gaps.length_ns)
    overlaps = np.add.reduceat(ints(rows, "overlaps"), starts)
    np.add.at(overlaps, _overlapping(spans, leader), 1)
    kept = _encoded(_longest(new, gaps_max), len(starts))
    return WindowWeights(weighted, weighted_ns, kept, overlaps)


def _held_gaps(column: pa.ChunkedArray) -> _Gaps:
    """The gaps that rows hold, in their order; the group is the row."""
    array = column.combine_chunks().fill_null(NO_GAPS)
    if not len(array):
        return _Gaps(np.empty(0, np.int64), np.empty(0, GAP))
    offsets = np.frombuffer(array.buffers()[1], np.int32, len(array) + 1, array.offset * 4)
    content = array.buffers()[2]
    whole = b"" if content is None else memoryview(content)[offsets[0] : offsets[-1]]
    return _Gaps(
        np.repeat(np.arange(len(array)), np.diff(offsets) // GAP_BYTES), np.frombuffer(whole, GAP)
    )


def _solid_spans(rows: pa.Table, groups: Ints, has: NDArray[np.bool_], gaps: _Gaps) -> _Spans:
    """What rows cover without their gaps, sorted by group and time."""
    counts = np.bincount(gaps.group, minlength=rows.num_rows) + 1
    row = np.repeat(np.arange(rows.num_rows), counts)
    ends = np.cumsum(counts)
    begin, end = np.empty(len(row), np.int64), np.empty(len(row), np.int64)
    value = np.empty(len(row))
    is_first, is_last = np.zeros(len(row), bool), np.zeros(len(row), bool)
    is_first[ends - counts] = True
    is_last[ends - 1] = True
    begin[is_first], begin[~is_first] = ints(rows, "first_ns"), gaps.held["to_ns"]
    end[is_last], end[~is_last] = ints(rows, "last_ns"), gaps.held["from_ns"]
    value[is_last], value[~is_last] = floats(rows, "last"), gaps.held["value"]
    row, begin, end, value = (one[has[row]] for one in (row, begin, end, value))
    order = np.lexsort((ints(rows, "offset")[row], end, begin, groups[row]))
    return _Spans(groups[row][order], begin[order], end[order], value[order])


def _leaders(spans: _Spans) -> Ints:
    """For each span, which one of its group reaches furthest so far."""
    if not len(spans.group):
        return np.empty(0, np.int64)
    # Times count from the group's first, so that group and time together are one ascending number.
    is_first = np.append(True, spans.group[1:] != spans.group[:-1])
    base = spans.begin_ns[is_first][np.cumsum(is_first) - 1]
    step = int((spans.end_ns - base).max()) + 1
    reach = spans.group * step + (spans.end_ns - base)
    leads = np.append(True, reach[1:] >= np.maximum.accumulate(reach)[:-1])
    leaders: Ints = np.maximum.accumulate(np.where(leads, np.arange(len(reach)), 0))
    return leaders


def _gaps_between(spans: _Spans, leader: Ints) -> _Gaps:
    """Where no span of the group is, from the first to the last."""
    same = spans.group[1:] == spans.group[:-1]
    before = np.flatnonzero(same & (spans.begin_ns[1:] > spans.end_ns[leader[:-1]]))
    held = np.empty(len(before), GAP)
    held["from_ns"] = spans.end_ns[leader[before]]
    held["to_ns"] = spans.begin_ns[before + 1]
    held["value"] = spans.value[leader[before]]
    return _Gaps(spans.group[before], held)


def _overlapping(spans: _Spans, leader: Ints) -> Ints:
    """The groups of the spans that begin before another one ended."""
    same = spans.group[1:] == spans.group[:-1]
    found: Ints = spans.group[1:][same & (spans.begin_ns[1:] < spans.end_ns[leader[:-1]])]
    return found


def _longest(gaps: _Gaps, gaps_max: int) -> _Gaps:
    """The longest gaps of each group, in the order of time."""
    if not len(gaps.group) or np.bincount(gaps.group).max() <= gaps_max:
        return gaps
    order = np.lexsort((-gaps.length_ns, gaps.group))
    group = gaps.group[order]
    is_first = np.append(True, group[1:] != group[:-1])
    rank = np.arange(len(group)) - np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
    kept = np.sort(order[rank < gaps_max])
    return _Gaps(gaps.group[kept], gaps.held[kept])


def _encoded(gaps: _Gaps, groups: int) -> pa.Array:
    counts = np.bincount(gaps.group, minlength=groups)
    offsets = np.append(0, np.cumsum(counts) * GAP_BYTES).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(gaps.held.tobytes())]
    return pa.Array.from_buffers(pa.binary(), groups, buffers)
