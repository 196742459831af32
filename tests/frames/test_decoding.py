"""What was written as rows and samples is what is read, whatever the kind and the layout."""

import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.client.rows import KindColumns, columns_by_kind, encoded, qualities_of
from slipring.errors import FrameError
from slipring.frames import Frame, Run
from slipring.frames.arrays import DTYPES, Indices
from slipring.frames.decoding import decode
from slipring.frames.header import PublishTimes
from slipring.frames.index_cache import INDICES_MAX, IndexCache
from slipring.model import Kind, Quality
from slipring.native import decode_frame, encode_frame
from tests.frames.naive import ARRIVAL, TABLE, Naive, frames, name


def written(runs: list[tuple[object, ...]], **more: object) -> bytes:
    header: dict[str, object] = {"table": 7, "sequence": 3, "sent_ns": 11, **more}
    return encode_frame(runs, **header)  # type: ignore[arg-type]


def spelled(run: Run) -> tuple[object, ...]:
    """A run as the encoder is given it."""
    mine, rows = KindColumns(run.kind, run.indices, None), len(run.times)
    if run.counts is not None:
        columns = (run.sample_indices(), run.times, run.sample_qualities(), run.values)
        samples = zip(*(column.tolist() for column in columns), strict=True)
        return ("samples", int(run.kind), list(samples))
    shape = (rows, len(run.indices))
    qualities = np.ascontiguousarray(run.sample_qualities()).reshape(shape)
    return (
        "grid",
        int(run.kind),
        run.indices,
        run.times,
        encoded(mine, run.values.reshape(shape), rows),
        qualities_of(mine, qualities, rows),
    )


def rows_of(frame: Frame, index: int) -> list[tuple[object, ...]]:
    times, values, qualities = frame.samples(name(index))
    return list(zip(times.tolist(), qualities.tolist(), values.tolist(), strict=True))


@given(frames(), st.booleans())
def test_every_sample_is_read_as_it_was_written(made: Naive, deflate: bool) -> None:
    payload = written([spelled(run) for run in made.frame.runs], deflate=deflate)
    frame = decode(payload, TABLE, ARRIVAL)
    assert len(frame) == len(made.samples)
    assert frame.newest_ns == max((int(run.times.max()) for run in made.frame.runs), default=0)
    for index in range(len(TABLE)):
        assert rows_of(frame, index) == rows_of(made.frame, index)
        assert frame.samples(name(index)).values.dtype in {
            DTYPES[TABLE[name(index)].parameter.kind],
            np.dtype(float),  # of none
        }


def test_the_header_is_read() -> None:
    frame = decode(written([], hops=(4, 5, 6)), TABLE, ARRIVAL)
    assert frame.header == (7, 3, 11, PublishTimes(4, 5, 6))
    assert decode(written([]), TABLE, ARRIVAL).header.published is None


def test_numbers_are_shown_where_they_lie_in_the_payload() -> None:
    indices, values = np.arange(20, 24, dtype=np.uint32), np.arange(4.0)
    payload = written([("row", int(Kind.F64), indices, 5, values, 0)])
    (run,) = decode(payload, TABLE, ARRIVAL).runs
    assert run.values.tolist() == [0, 1, 2, 3]
    assert np.shares_memory(run.values, np.frombuffer(payload, np.uint8))


def test_frames_of_the_same_parameters_share_their_indices() -> None:
    def indices_of(first: int, end: int, time_ns: int) -> Indices:
        indices = np.arange(first, end, dtype=np.uint32)
        run = ("row", int(Kind.F64), indices, time_ns, np.zeros(len(indices)), 0)
        return decode(written([run]), TABLE, ARRIVAL).runs[0].indices

    assert indices_of(20, 24, 5) is indices_of(20, 24, 6)
    assert indices_of(20, 24, 5).tolist() == [20, 21, 22, 23]
    assert indices_of(20, 23, 5).tolist() == [20, 21, 22]
    assert not indices_of(20, 23, 5).flags.writeable


def test_lists_of_indices_are_kept_up_to_a_bound() -> None:
    spans, many = IndexCache(), INDICES_MAX // 4
    indices = np.arange(many + 9, dtype=np.uint32)
    payloads = [
        written([("row", int(Kind.U8), indices[first : first + many], 5, bytes(many), 0)])
        for first in range(9)
    ]
    runs = [decode_frame(payload).runs[0] for payload in payloads]
    first = spans.indices(runs[0])
    for run in runs[:4]:
        spans.indices(run)
    assert spans.indices(runs[0]) is first
    for run in runs:
        assert spans.indices(run).tobytes() == run.indices
    assert spans.indices(runs[0]) is not first


@pytest.mark.parametrize("payload", [b"", b"SRF\x01", b"no frame at all, but long enough for one"])
def test_bytes_that_are_no_frame_are_refused(payload: bytes) -> None:
    with pytest.raises(FrameError):
        decode(payload, TABLE, ARRIVAL)


def test_columns_are_written_in_the_order_of_the_indices() -> None:
    kinds = [Kind.F64, Kind.BOOL, Kind.F64, Kind.F64]
    columns = columns_by_kind(kinds, np.array([9, 4, 2, 5], np.uint32))
    assert list(columns) == [Kind.BOOL, Kind.F64]
    numbers = columns[Kind.F64]
    assert numbers.indices.tolist() == [2, 5, 9]
    assert encoded(numbers, [90, 20, 50], None).tolist() == [20, 50, 90]
    assert encoded(numbers, [[9, 2, 5], [90, 20, 50]], 2).tolist() == [[2, 5, 9], [20, 50, 90]]
    each = qualities_of(numbers, np.array([9, 2, 5], np.uint8), None)
    assert np.asarray(each).tolist() == [2, 5, 9]
    assert qualities_of(numbers, Quality(), None) == 0


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Kind.U8, [1, 256, 0]),
        (Kind.U8, [1, -1, 0]),
        (Kind.I32, [0.5, 1, 2]),
        (Kind.BOOL, [0, 1, 2]),
        (Kind.F64, ["a", "b", "c"]),
        (Kind.U64, [0.0, 1.0, float("nan")]),
        (Kind.F64, [1, 2]),
        (Kind.F64, [[1, 2, 3]]),
        (Kind.TEXT, ["a", "b"]),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_values_that_do_not_fit_are_refused(kind: Kind, values: list[object]) -> None:
    columns = KindColumns(kind, np.arange(3, dtype=np.uint32), None)
    with pytest.raises(ValueError, match="values"):
        encoded(columns, values, None)


def test_whole_numbers_and_truth_values_fit_where_they_stay_the_same() -> None:
    indices = np.arange(3, dtype=np.uint32)
    assert encoded(KindColumns(Kind.U8, indices, None), [0, 255, 7], None).dtype == np.uint8
    assert encoded(KindColumns(Kind.F32, indices, None), [0, 1, 2], None).dtype == np.float32
    assert encoded(KindColumns(Kind.BOOL, indices, None), [1, 0, True], None).tolist() == [0b101]
    assert encoded(KindColumns(Kind.TEXT, indices, None), ["a", "", "b"], None) == ["a", "", "b"]


def test_a_frame_of_twenty_thousand_samples_is_no_work_per_sample() -> None:
    """Counted in calls of Python, not in seconds: they must not grow with the samples."""
    assert _calls(20_000) < _calls(200) + 100


def _calls(count: int) -> int:

    indices = np.arange(count, dtype=np.uint32)
    payload = written([("row", int(Kind.F64), indices, time.time_ns(), np.zeros(count), 0)])
    seen = 0

    def look(*_: object) -> None:
        nonlocal seen
        seen += 1

    sys.setprofile(look)
    try:
        frame = decode(payload, TABLE, ARRIVAL)
        frame.values(indices)
        frame.ages_s.max()
        frame.to_arrow()
    finally:
        sys.setprofile(None)
    return seen
