"""Samples of several inputs brought to common times, on arrays. Pure, and no step per sample.

The law: the value at a time t is the newest sample, by source time, of those that counted when t
became final. t is final as soon as a sample of any input has a source time after t + late. All that
is a matter of source times and of the order in the journal, so the results are the same however the
samples are cut into batches. The state is what samples of earlier batches still mean.

An example, with late = 2: samples come with source times 1, 2, 5, 3, 9. When 9 arrives, all times
before 7 are final. The sample at 3 came when 5 was there, which had made the times before 3 final:
it counts from 3 on, until the sample at 5 does. Had it come behind 9, it would count from 7 on,
where newer ones are there already.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

NEVER_NS = -(1 << 62)
"""The year 1823, before all times that count; sums and differences with it do not overflow."""
BAD_INPUTS = 0x87
"""The quality of a value with a bad or stale input: bad, calculated from bad inputs."""
UNCERTAIN_INPUTS = 0x47


@dataclass(frozen=True)
class AlignmentRule:
    """At which times the inputs meet, and which samples count there. See `DeriveSection`."""

    inputs: int
    every_ns: int | None
    late_ns: int
    hold_ns: int
    ahead_ns: int


@dataclass(frozen=True)
class SampleRows:
    """Samples as columns. Rows of a chunk are together, and chunks in the order of the journal."""

    input: npt.NDArray[np.int32]
    """The number of the input that it is a sample of."""
    source_ns: Times
    value: Numbers
    quality: npt.NDArray[np.int16]
    offset: Times
    receive_ns: Times
    counts_ns: Times
    """The time from which it counts, as far as its chunk tells."""
    chunk: Times
    """The first offset of its chunk."""

    def __len__(self) -> int:
        return len(self.input)

    def take(self, which: Times | Flags) -> "SampleRows":
        """Some of the rows."""
        return SampleRows(**{name: column[which] for name, column in vars(self).items()})

    @classmethod
    def joined(cls, first: "SampleRows", second: "SampleRows") -> "SampleRows":
        """The rows of both."""
        columns = vars(second)
        return cls(
            **{name: np.concatenate([one, columns[name]]) for name, one in vars(first).items()}
        )

    @classmethod
    def empty(cls) -> "SampleRows":
        """No rows."""
        long, short = np.empty(0, np.int64), np.empty(0, np.int16)
        return cls(np.empty(0, np.int32), long, np.empty(0), short, long, long, long, long)


@dataclass(frozen=True)
class AlignmentState:
    """What the samples so far mean for the times that are not final."""

    newest_ns: int = NEVER_NS
    """The greatest source time of any input."""
    rows: SampleRows = SampleRows.empty()  # noqa: RUF009 (it is never changed)
    """The samples that may still count; `counts_ns` is final."""


@dataclass(frozen=True)
class AlignedRows:
    """The values of all inputs at each time."""

    time_ns: Times
    values: list[Numbers]
    """A column for each input."""
    quality: npt.NDArray[np.int16]
    offset: Times
    """The highest offset of the samples in the row."""
    receive_ns: Times
    """Their newest receive time."""


def align_rows(
    rule: AlignmentRule, state: AlignmentState, rows: SampleRows
) -> tuple[AlignedRows, AlignmentState]:
    """The rows at the times that become final with these samples, and the state after them."""
    rows = rows.take(is_plausible(rows, rule.ahead_ns))
    rows, newest_ns = _counted(rule, state, rows)
    final_from_ns, final_to_ns = state.newest_ns - rule.late_ns, newest_ns - rule.late_ns
    everything = SampleRows.joined(state.rows, rows)
    inputs = [_Input.of(everything, number) for number in range(rule.inputs)]
    times = _times(rule, inputs, final_from_ns, final_to_ns)
    kept = [one.kept(final_to_ns, rule.hold_ns) for one in inputs]
    after = AlignmentState(newest_ns, kept[0])
    for more in kept[1:]:
        after = replace(after, rows=SampleRows.joined(after.rows, more))
    return _aligned(rule, inputs, times), after


def is_plausible(rows: SampleRows, ahead_ns: int | Times) -> Flags:
    """Whether times are not too far ahead, and not so old that differences overflow."""
    found: Flags = rows.source_ns <= rows.receive_ns + ahead_ns
    return found & (rows.source_ns > NEVER_NS)


def _counted(
    rule: AlignmentRule, state: AlignmentState, rows: SampleRows
) -> tuple[SampleRows, int]:
    """The rows in order, with the times from which they count; and the newest source time."""
    if not len(rows):
        return rows, state.newest_ns
    if (np.diff(rows.chunk) < 0).any():
        rows = rows.take(np.argsort(rows.chunk, kind="stable"))
    newest = np.maximum.accumulate(np.maximum(rows.source_ns, state.newest_ns))
    starts = np.diff(rows.chunk, prepend=rows.chunk[0] - 1) != 0
    first = np.maximum.accumulate(np.where(starts, np.arange(len(rows)), 0))
    before = np.where(first > 0, newest[first - 1], state.newest_ns)
    counts_ns = np.maximum(rows.counts_ns, before - rule.late_ns)
    return replace(rows, counts_ns=counts_ns), int(newest[-1])


@dataclass(frozen=True)
class _Input:
    """The samples of one input by the time from which they count."""

    rows: SampleRows
    best: Times
    """At each row: which of the rows up to it has the newest sample."""

    @classmethod
    def of(cls, rows: SampleRows, number: int) -> "_Input":
        mine = rows.take(np.flatnonzero(rows.input == number))
        counts_ns, source_ns = mine.counts_ns, mine.source_ns
        if len(mine) and ((counts_ns != source_ns).any() or (np.diff(source_ns) < 0).any()):
            order = np.lexsort((mine.offset, source_ns, counts_ns))
            mine = mine.take(order)
            rank = np.empty(len(mine), np.int64)
            rank[np.lexsort((mine.offset, mine.source_ns))] = np.arange(len(mine))
            by_rank = np.argsort(rank)
            return cls(mine, by_rank[np.maximum.accumulate(rank)])
        return cls(mine, np.arange(len(mine)))

    def at(self, times: Times) -> Times:
        """The row that counts at each time; -1 if there is none."""
        found = np.searchsorted(self.rows.counts_ns, times, side="right") - 1
        if not len(self.rows):
            return found
        return np.where(found < 0, -1, self.best[found])

    def kept(self, final_to_ns: int, hold_ns: int) -> SampleRows:
        """The rows that may count at times that are not final."""
        later = int(np.searchsorted(self.rows.counts_ns, final_to_ns, side="left"))
        which = np.arange(later, len(self.rows))
        if later:
            which = np.concatenate([self.best[later - 1 : later], which])
        is_fresh = self.rows.source_ns[which] + hold_ns >= final_to_ns
        return self.rows.take(which[is_fresh])


def _times(rule: AlignmentRule, inputs: list[_Input], from_ns: int, to_ns: int) -> Times:
    """The times in [from, to) at which there may be a row."""
    if rule.every_ns is None:
        first = inputs[0].rows
        is_punctual = first.counts_ns == first.source_ns
        is_final = (first.source_ns >= from_ns) & (first.source_ns < to_ns)
        return np.unique(first.source_ns[is_punctual & is_final])
    fewest = min(inputs, key=lambda one: len(one.rows))
    return _grid(fewest, rule.every_ns, rule.hold_ns, from_ns, to_ns)


def _grid(one: _Input, every_ns: int, hold_ns: int, from_ns: int, to_ns: int) -> Times:
    """The multiples of a step at which an input has a sample that is not too old."""
    if not len(one.rows):
        return np.empty(0, np.int64)
    starts = -(-np.maximum(one.rows.counts_ns, from_ns) // every_ns)
    ends = np.minimum(
        (one.rows.source_ns[one.best] + hold_ns) // every_ns, -(-to_ns // every_ns) - 1
    )
    is_some = starts <= ends
    starts, ends = starts[is_some], np.maximum.accumulate(ends[is_some])
    # Each span begins behind the ones before it.
    starts[1:] = np.maximum(starts[1:], ends[:-1] + 1)
    counts = np.maximum(ends - starts + 1, 0)
    begins = np.cumsum(counts) - counts
    steps = np.arange(int(counts.sum())) - np.repeat(begins, counts)
    found: Times = (np.repeat(starts, counts) + steps) * every_ns
    return found


def _aligned(rule: AlignmentRule, inputs: list[_Input], times: Times) -> AlignedRows:
    found = [one.at(times) for one in inputs]
    is_complete = np.ones(len(times), np.bool_)
    for one, which in zip(inputs, found, strict=True):
        is_complete &= which >= 0
        if len(one.rows):
            is_complete &= times - one.rows.source_ns[which] <= rule.hold_ns
    times = times[is_complete]
    some = [one.rows.take(which[is_complete]) for one, which in zip(inputs, found, strict=True)]
    status = np.zeros(len(times), np.int16)
    offset, receive_ns = np.full((2, len(times)), NEVER_NS)
    for rows in some:
        status = np.maximum(status, rows.quality >> 6)
        offset = np.maximum(offset, rows.offset)
        receive_ns = np.maximum(receive_ns, rows.receive_ns)
    quality = np.where(status >= 2, BAD_INPUTS, np.where(status == 1, UNCERTAIN_INPUTS, 0))
    values = [rows.value for rows in some]
    return AlignedRows(times, values, quality.astype(np.int16), offset, receive_ns)
