"""Buckets: what is put together equals least, greatest and last of all samples at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from slipring.history.buckets import Buckets, put_together
from slipring.history.steps import STEPS_NS, TIME_NS_MAX, step_for

Row = tuple[int, int, float, float, float]
TIMES = st.lists(st.integers(0, 1_000), unique=True, max_size=60)


def naive(
    samples: list[tuple[int, float]], step: int
) -> list[tuple[int, int, float, float, float]]:
    found: dict[int, list[tuple[int, float]]] = {}
    for time, value in sorted(samples):
        found.setdefault(time // step * step, []).append((time, value))
    return [
        (start, len(some), min(v for _, v in some), max(v for _, v in some), some[-1][1])
        for start, some in sorted(found.items())
    ]


def of_samples(samples: list[tuple[int, float]], step: int) -> Buckets:
    times = np.array([time for time, _ in samples], np.int64)
    return Buckets.of_samples(times, np.array([value for _, value in samples]), step)


def rows(buckets: Buckets) -> list[Row]:
    columns = (buckets.start_ns, buckets.count, buckets.low, buckets.high, buckets.last)
    return [*zip(*(one.tolist() for one in columns), strict=True)]


@given(TIMES, st.data(), st.sampled_from([1, 2, 5, 10, 50]), st.sampled_from([1, 2, 10]))
def test_parts_in_any_order_are_the_same_as_all_samples_at_once(
    times: list[int], data: st.DataObject, fine: int, times_longer: int
) -> None:
    values = data.draw(st.lists(st.floats(-9, 9), min_size=len(times), max_size=len(times)))
    samples = [*zip(times, values, strict=True)]
    cut = data.draw(st.integers(0, len(samples)))
    parts = [
        Buckets.of_samples(
            np.array([t for t, _ in some], np.int64), np.array([v for _, v in some]), fine
        )
        for some in (samples[:cut], samples[cut:])
    ]
    for order in (parts, parts[::-1]):
        assert rows(put_together(order, fine * times_longer)) == naive(samples, fine * times_longer)


@given(TIMES, st.sampled_from([1, 5, 20]))
def test_buckets_of_one_or_two_samples_know_each_of_them(times: list[int], step: int) -> None:
    given_ = Buckets.of_samples(np.array(times, np.int64), np.array(times, np.float64), step)
    singles = given_.singles()
    if len(given_) and given_.count.max() > 2:
        assert singles is None
    else:
        assert singles is not None
        assert singles[0].tolist() == sorted(times)
        assert singles[1].tolist() == sorted(times)


@given(st.integers(0, TIME_NS_MAX - 1), st.integers(1, TIME_NS_MAX), st.integers(1, 4_000))
def test_no_more_buckets_than_asked_for_from_a_nanosecond_to_a_century(
    begin: int, span: int, width: int
) -> None:
    end = min(TIME_NS_MAX, begin + span)
    step = step_for(begin, end, width)
    assert (end - 1) // step - begin // step + 1 <= width
    shorter = [one for one in STEPS_NS if one < step]
    assert all((end - 1) // one - begin // one + 1 > width for one in shorter)


def test_a_window_of_a_rollup_is_in_one_bucket() -> None:
    for window in (10**9, 60 * 10**9, 3_600 * 10**9):
        assert all(step % window == 0 for step in STEPS_NS[:-1] if step >= window)
