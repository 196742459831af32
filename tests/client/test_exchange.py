"""The offset of another clock: exact if both ways are equal, never more wrong than it says."""

from hypothesis import given
from hypothesis import strategies as st

from slipring.client.exchange import DRIFT_PER_S, KEPT, Exchange, OffsetEstimate

MS, S = 10**6, 10**9
WAYS = st.integers(0, 500 * MS)


def exchange(
    at_ns: int, offset_ns: int, there_ns: int = MS, back_ns: int = MS, held_ns: int = 0
) -> Exchange:
    """One with a broker whose clock is so far ahead, by ways of this length."""
    arrived = at_ns + there_ns + offset_ns
    done = at_ns + there_ns + held_ns + back_ns
    return Exchange(at_ns, arrived, arrived + held_ns, done, done)


def test_an_even_way_gives_the_offset() -> None:
    one = exchange(5 * S, 1234 * MS, held_ns=7 * MS)
    assert (one.offset_ns, one.round_trip_ns, one.uncertainty_ns) == (1234 * MS, 2 * MS, MS)


@given(st.integers(-(10**18), 10**18), WAYS, WAYS, WAYS)
def test_an_offset_is_never_more_wrong_than_it_says(
    offset: int, there: int, back: int, held: int
) -> None:
    one = exchange(5 * S, offset, there, back, held)
    assert abs(one.offset_ns - offset) <= one.uncertainty_ns + 1
    assert one.is_possible()


@given(st.integers(-(10**18), 10**18), st.lists(st.tuples(WAYS, WAYS), min_size=1, max_size=40))
def test_clocks_that_do_not_jump_are_never_taken_for_jumping(
    offset: int, ways: list[tuple[int, int]]
) -> None:
    estimate = OffsetEstimate()
    for number, (there, back) in enumerate(ways):
        estimate.take(exchange(number * S, offset, there, back))
    quickest = min(sum(way) for way in ways[-KEPT:])
    assert estimate.best
    assert estimate.best.round_trip_ns == quickest
    assert abs(estimate.best.offset_ns - offset) <= quickest // 2 + 1


def test_the_quickest_of_the_last_exchanges_counts() -> None:
    estimate = OffsetEstimate()
    estimate.take(exchange(0, 0, there_ns=MS, back_ns=MS))
    estimate.take(exchange(S, 0, there_ns=300 * MS, back_ns=MS))
    assert estimate.best
    assert estimate.best.round_trip_ns == 2 * MS
    for number in range(KEPT):
        estimate.take(exchange((2 + number) * S, 0, there_ns=9 * MS))
    assert estimate.best.round_trip_ns == 10 * MS


def test_a_jump_of_a_clock_is_seen_with_the_next_exchange() -> None:
    estimate = OffsetEstimate()
    for number in range(KEPT):
        estimate.take(exchange(number * S, 0))
    estimate.take(exchange(KEPT * S, 3600 * S, there_ns=200 * MS))
    assert estimate.best
    assert abs(estimate.best.offset_ns - 3600 * S) <= estimate.best.uncertainty_ns


def test_clocks_that_go_apart_slowly_are_followed() -> None:
    estimate = OffsetEstimate()
    drift = DRIFT_PER_S / 2
    for number in range(1000):
        estimate.take(exchange(number * 5 * S, round(number * 5 * S * drift)))
    now = 1000 * 5 * S
    assert estimate.best
    uncertainty = estimate.uncertainty_ns(now)
    assert uncertainty is not None
    assert abs(estimate.best.offset_ns - now * drift) <= uncertainty


def test_what_was_not_measured_lately_is_less_certain() -> None:
    estimate = OffsetEstimate()
    assert (estimate.best, estimate.uncertainty_ns(0)) == (None, None)
    estimate.take(exchange(0, 0))
    assert estimate.uncertainty_ns(2 * MS) == MS
    assert estimate.uncertainty_ns(2 * MS + 1000 * S) == MS + round(1000 * S * DRIFT_PER_S)


def test_an_exchange_in_which_a_clock_jumped_is_left_out() -> None:
    estimate = OffsetEstimate()
    estimate.take(Exchange(0, 10 * S, 5 * S, 2 * MS, 2 * MS))
    estimate.take(Exchange(0, 5 * S, 10 * S, 2 * MS, 2 * MS))
    assert estimate.best is None
