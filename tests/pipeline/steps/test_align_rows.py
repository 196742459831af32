"""The alignment equals its law, whatever the batches are (D1)."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from slipring.pipeline.steps.align_rows import (
    AlignedRows,
    AlignmentRule,
    AlignmentState,
    SampleRows,
    align_rows,
)
from slipring.pipeline.steps.thin_rows import thin_rows
from tests.pipeline.steps.naive_alignment import NaiveSample, naive_alignment

Found = dict[int, tuple[tuple[float, ...], int, int]]


def rows_of(samples: list[NaiveSample]) -> SampleRows:
    columns = {
        name: np.array([getattr(one, name) for one in samples])
        for name in ("input", "source_ns", "value", "quality", "offset", "receive_ns")
    }
    long = np.array([one.source_ns for one in samples], np.int64)
    return SampleRows(
        columns["input"].astype(np.int32),
        long,
        columns["value"].astype(np.float64),
        columns["quality"].astype(np.int16),
        columns["offset"].astype(np.int64),
        columns["receive_ns"].astype(np.int64),
        counts_ns=long,
        chunk=columns["offset"].astype(np.int64),
    )


def as_dict(found: AlignedRows) -> Found:
    columns = [column.tolist() for column in found.values]
    rows = zip(*columns, strict=True)
    cells = zip(
        found.time_ns.tolist(), rows, found.quality.tolist(), found.offset.tolist(), strict=True
    )
    return {time: (values, quality, offset) for time, values, quality, offset in cells}


def in_batches(
    rule: AlignmentRule, samples: list[NaiveSample], cuts: set[int], thin: bool
) -> Found:
    """The results of batches that begin at these offsets; no time may come twice."""
    state, found = AlignmentState(), Found()
    batch = list[NaiveSample]()
    for position, one in enumerate(samples):
        batch.append(one)
        is_last = position + 1 == len(samples)
        if not is_last and (samples[position + 1].offset == one.offset or one.offset not in cuts):
            continue
        rows = rows_of(batch)
        if thin:
            _, rows = thin_rows([rule], np.zeros(len(rows), np.int32), rows)
        aligned, state = align_rows(rule, state, rows)
        more = as_dict(aligned)
        assert not found.keys() & more.keys()
        found |= more
        batch = []
    return found


@st.composite
def histories(draw: st.DrawFn) -> tuple[AlignmentRule, list[NaiveSample]]:
    inputs = draw(st.integers(1, 3))
    rule = AlignmentRule(
        inputs,
        draw(st.sampled_from([None, 1, 3, 10])),
        draw(st.integers(0, 12)),
        draw(st.integers(0, 25)),
        draw(st.integers(0, 20)),
    )
    clock, offset, samples = 100, 0, list[NaiveSample]()
    for number in range(draw(st.integers(0, 40))):
        is_same_message = draw(st.booleans())
        offset += 0 if is_same_message else draw(st.integers(1, 3))
        clock += 0 if is_same_message else draw(st.integers(0, 6))
        source_ns = clock + draw(st.integers(-15, 25))
        chosen = draw(st.integers(0, inputs - 1))
        quality = draw(st.sampled_from([0, 0, 0, 0x46, 0x85, 0xC1]))
        samples.append(NaiveSample(chosen, source_ns, number * 0.1, quality, offset, clock))
    return rule, _distinct(samples)


def _distinct(samples: list[NaiveSample]) -> list[NaiveSample]:
    """One sample of an input at a time in a message: of two, the law names the last."""
    last = {(one.offset, one.input, one.source_ns): one for one in samples}
    return [one for one in samples if last[one.offset, one.input, one.source_ns] is one]


@settings(max_examples=300, deadline=None)
@given(histories(), st.sets(st.integers(0, 120)), st.booleans())
def test_any_batches_give_what_the_law_says(
    history: tuple[AlignmentRule, list[NaiveSample]], cuts: set[int], thin: bool
) -> None:
    rule, samples = history
    assert in_batches(rule, samples, cuts, thin) == naive_alignment(rule, samples)


@settings(max_examples=300, deadline=None)
@given(histories(), st.integers(80, 200))
def test_history_from_a_bounded_time_before_gives_the_same(
    history: tuple[AlignmentRule, list[NaiveSample]], begin: int
) -> None:
    """A backfill reads from hold + ahead before its beginning on, and no earlier."""
    rule, samples = history
    since = begin - rule.hold_ns - rule.ahead_ns
    start = next((one.offset for one in samples if one.receive_ns >= since), 0)
    late = [one for one in samples if one.offset >= start]
    everything = in_batches(rule, samples, set(), False)
    some = in_batches(rule, late, {start + 7}, True)
    expected = {time: row for time, row in everything.items() if time >= begin}
    assert {time: row for time, row in some.items() if time >= begin} == expected


def test_a_silence_costs_nothing() -> None:
    """A grid of 1 ns over years has rows only where samples are not too old."""
    rule = AlignmentRule(1, 1, 0, 5, 0)
    year = 365 * 86_400 * 10**9
    samples = [NaiveSample(0, at, 1.0, 0, at, at) for at in (0, year, 2 * year)]
    aligned, state = align_rows(rule, AlignmentState(), rows_of(samples))
    assert aligned.time_ns.tolist() == [*range(6), *range(year, year + 6)]
    assert len(state.rows) == 1


def test_a_time_of_long_ago_neither_counts_nor_makes_others_late() -> None:
    """Its distance to a time of today is more than 64 bits hold."""
    now = 1_763_000_000_000_000_000
    times = [(1, -(2**63)), (0, now), (0, now + 20), (1, now + 20), (0, now + 60)]
    samples = [
        NaiveSample(number, time, float(offset), 0, offset, now)
        for offset, (number, time) in enumerate(times)
    ]
    for every_ns, expected in ((None, [20]), (10, [20, 30, 40, 50])):
        rule = AlignmentRule(2, every_ns, late_ns=5, hold_ns=100, ahead_ns=1_000)
        for thin in (False, True):
            found = in_batches(rule, samples, set(), thin)
            assert [time - now for time in found] == expected
            assert found == in_batches(rule, samples[1:], set(), thin)
