"""Every way to ask a frame gives what a plain list of its samples gives."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given

from slipring.errors import SlipringError
from slipring.frames import SCHEMA, Frame, Newest, Run, Table
from slipring.frames.arrays import NO_TIME
from slipring.frames.header import FrameArrival, Header, PublishTimes
from slipring.model import Entry, Kind, Parameter, Quality, Reason, Status
from tests.frames.naive import ARRIVAL, HEADER, LABELS, TABLE, Naive, frames, name, number


@given(frames())
def test_a_name_gives_the_sample_that_came_last(made: Naive) -> None:
    frame, _ = made
    for index in range(len(TABLE)):
        samples = made.of(index)
        assert (name(index) in frame) == bool(samples)
        if samples:
            found, last = frame[name(index)], samples[-1]
            assert (found.value, found.time_ns) == (last.value, last.time)
            assert found.quality == Quality.of_byte(last.quality)
            is_enum = TABLE[name(index)].parameter.labels is not None
            assert found.label == (LABELS.get(last.value) if is_enum else None)


@given(frames())
def test_samples_come_one_by_one_where_somebody_wants_them_so(made: Naive) -> None:
    found = [(one, *sample[:3]) for one, sample in made.frame.each()]
    assert found == [
        (name(one.parameter), one.value, one.time, Quality.of_byte(one.quality))
        for one in made.samples
    ]


@given(frames())
def test_all_samples_of_a_name_come_as_arrays_of_its_own_type(made: Naive) -> None:
    for index in {sample.parameter for sample in made.samples}:
        times, values, qualities = made.frame.samples(name(index))
        rows = list(zip(times.tolist(), qualities.tolist(), values.tolist(), strict=True))
        assert rows == [(one.time, one.quality, one.value) for one in made.of(index)]


@given(frames())
def test_newest_values_times_and_qualities_are_asked_for_many_names_at_once(made: Naive) -> None:
    names = [name(index) for index in reversed(range(len(TABLE)))]
    asked = zip(
        names,
        made.frame.values(names),
        made.frame.times(names),
        made.frame.qualities(names),
        strict=True,
    )
    for one, value, time, quality in asked:
        samples = made.of(TABLE.index(one))
        expected = number(samples[-1]) if samples else None
        assert math.isnan(value) if expected is None else value == expected
        assert time == (samples[-1].time if samples else NO_TIME)
        assert quality == (samples[-1].quality if samples else 0)


@given(frames())
def test_arrow_has_a_row_for_each_sample_and_loses_nothing(made: Naive) -> None:
    table = made.frame.to_arrow()
    table.validate(full=True)
    assert table.schema == SCHEMA
    for row, sample in zip(table.to_pylist(), made.samples, strict=True):
        assert (row["index"], row["name"]) == (sample.parameter, name(sample.parameter))
        assert row["time"].value == sample.time
        assert (Status[row["quality"].upper()] << 6 | row["reason"]) == sample.quality
        assert row["value"] == number(sample)
        assert _exact(row, TABLE[row["name"]].parameter) == sample.value


def _exact(row: dict[str, object], parameter: Parameter) -> object:
    kind = parameter.kind
    if kind is Kind.BYTES:
        return row["bytes"]
    if kind is Kind.TEXT:
        return row["text"]
    if parameter.labels:
        assert row["text"] == parameter.labels.get(int(str(row["integer"])))
    if row["integer"] is None:
        return row["value"] if kind in {Kind.F32, Kind.F64} else int(str(row["text"]))
    return row["integer"]


@given(frames())
def test_pandas_has_a_column_for_each_parameter_and_gaps_between(made: Naive) -> None:
    wide = made.frame.to_pandas()
    cells = {(one.time, name(one.parameter)): one for one in made.samples}
    assert [time.value for time in wide.index] == sorted({time for time, _ in cells})
    assert sorted(wide.columns) == sorted({one for _, one in cells})
    for time, row in wide.iterrows():
        for column, value in row.items():
            cell = cells.get((time.value, column))
            expected = None if cell is None else number(cell)
            if cell is not None and expected is None:
                assert value == cell.value
            elif expected is None:
                assert value is None or math.isnan(value)
            else:
                assert value == expected


@given(frames(), frames())
def test_joined_frames_hold_the_samples_of_both(one: Naive, other: Naive) -> None:
    joined = Frame.joined([one.frame, other.frame])
    both = [*one.samples, *other.samples]
    assert len(joined) == len(both)
    assert joined.names == [name(index) for index in sorted({each.parameter for each in both})]


@given(frames(), frames())
def test_the_newest_values_are_kept_over_frames(one: Naive, other: Naive) -> None:
    newest = Newest([name(index) for index in range(len(TABLE))])
    newest.update(one.frame)
    values = newest.update(other.frame)
    last = {each.parameter: each for each in [*one.samples, *other.samples]}
    for index in range(len(TABLE)):
        expected = number(last[index]) if index in last else None
        assert math.isnan(values[index]) if expected is None else values[index] == expected
        assert newest.times[index] == (last[index].time if index in last else NO_TIME)
    assert newest.is_complete == (len(last) == len(TABLE))
    assert newest.time_ns == max(each.time for each in last.values())
    statuses = [each.quality >> 6 for each in last.values()]
    assert newest.quality.status == max(statuses)
    assert (newest.quality.reason == Reason.BAD_INPUTS) == (max(statuses) > 0)


def one_value(time_ns: int, header: Header, arrival: FrameArrival) -> Frame:
    times = np.array([time_ns - 500, time_ns])
    indices, values = np.array([20], np.uint32), np.array([1.0, 2.0])
    run = Run(Kind.F64, indices, times, None, np.zeros(1, np.uint8), values)
    return Frame(TABLE, [run], header, arrival)


def test_hops_add_up_to_the_age_whatever_the_clocks_say() -> None:
    published = PublishTimes(
        published_ns=10_000_002_000, received_ns=10_000_004_000, skew_ns=10_000_000_000
    )
    header = Header(7, 1, sent_ns=10_000_008_000, published=published)
    # The publisher's clock is 10 s behind the broker's, this machine's is 3 s before it.
    frame = one_value(
        1_000, header, FrameArrival(13_000_016_000, 13_000_032_000, -3_000_000_000, 9)
    )
    assert frame.hops is not None
    assert [round(one * 1e9) for one in frame.hops] == [1_000, 2_000 + 8_000, 4_000, 16_000]
    assert frame.age_s == pytest.approx(sum(frame.hops))
    assert frame.ages_s.tolist() == pytest.approx([frame.age_s + 5e-7, frame.age_s])


def test_a_frame_without_marks_has_an_age_and_no_hops() -> None:
    frame = one_value(1_000, HEADER, FrameArrival(3_000, 5_000))
    assert frame.hops is None
    assert frame.age_s == 4e-6


def test_hops_by_a_clock_that_was_not_measured_are_not_told() -> None:
    header = Header(7, 1, sent_ns=8_000, published=PublishTimes(2_000, 4_000, 0))
    assert one_value(1_000, header, FrameArrival(16_000, 32_000)).hops is None
    measured = one_value(1_000, header, FrameArrival(16_000, 32_000, 0, 5_000))
    assert measured.hops is not None
    assert measured.uncertainty_s == 5e-6


def test_an_empty_frame_answers_everything() -> None:
    frame = Frame(TABLE, [], HEADER, ARRIVAL)
    assert (len(frame), frame.names, frame.newest_ns) == (0, [], 0)
    assert len(frame.ages_s) == len(frame.values()) == len(frame.to_pandas()) == 0
    assert frame.to_arrow().num_rows == 0
    with pytest.raises(KeyError, match="plane/0"):
        frame["plane/0"]


def test_a_name_that_is_not_in_the_table_is_named() -> None:
    frame = one_value(0, HEADER, ARRIVAL)
    assert "wing" not in frame
    for ask in (frame.samples, frame.__getitem__, lambda one: frame.values([one])):
        with pytest.raises(KeyError, match="wing"):
            ask("wing")


def test_joining_frames_of_two_tables_is_refused() -> None:
    other = Frame(Table(8), [], HEADER, ARRIVAL)
    with pytest.raises(ValueError, match="several tables"):
        Frame.joined([other, one_value(0, HEADER, ARRIVAL)])


def test_a_wide_table_of_mostly_gaps_is_refused_with_what_to_do() -> None:
    count = 8_000
    table = Table(7)
    for index in range(count):
        table.put(Entry(index, f"p/{index}", Parameter("f64")))
    run = Run(
        Kind.F64,
        np.arange(count, dtype=np.uint32),
        np.arange(count),
        np.ones(count, np.uint32),
        np.zeros(1, np.uint8),
        np.zeros(count),
    )
    with pytest.raises(SlipringError, match=r"use Frame\.to_arrow"):
        Frame(table, [run], HEADER, ARRIVAL).to_pandas()


def test_without_pandas_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SlipringError, match=r"needs pandas.*Frame\.to_arrow"):
        one_value(0, HEADER, ARRIVAL).to_pandas()
