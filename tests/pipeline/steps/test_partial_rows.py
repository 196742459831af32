"""Partial rollups (D1): any cut of the samples, in any order, gives the same rows."""

import math
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from slipring.pipeline.steps.partial_rows import coarsened, combined, is_exact, partials_of
from slipring.pipeline.steps.partial_spans import GAPS_MAX
from tests.pipeline.steps.partials_by_hand import (
    SECOND_NS,
    START_NS,
    Measured,
    rolled_up,
    samples_table,
)

EXACT = ("count", "bad", "min", "max", "first", "first_ns", "last", "last_ns", "weighted_ns")
TOLERANCE = 1e-9
"""Of sums and means, relative to the greatest value: partials add in another order."""

EXAMPLES = 60

VALUES = st.floats(-1e6, 1e6) | st.just(math.nan)
SAMPLES = st.lists(
    st.builds(
        Measured,
        index=st.integers(0, 2),
        at_ns=st.integers(0, 4 * SECOND_NS),
        value=VALUES,
        quality=st.sampled_from([0, 0, 0, 64, 128, 192]),
    ),
    min_size=1,
    max_size=40,
    unique_by=lambda one: (one.index, one.at_ns),
)


def assert_equals_truth(rows: pa.Table, samples: list[Measured], window_ns: int) -> None:
    truth = rolled_up(samples, window_ns)
    found = {(row["index"], row["window_ns"]): row for row in rows.to_pylist()}
    assert found.keys() == truth.keys()
    assert len(found) == rows.num_rows
    for key, expected in truth.items():
        assert_row(found[key], expected)


def assert_row(row: dict[str, Any], expected: dict[str, Any]) -> None:
    assert [row[name] for name in EXACT if name in expected] == [
        expected[name] for name in EXACT if name in expected
    ]
    if not expected["count"]:
        assert row["min"] is row["max"] is row["first"] is row["last"] is None
        return
    scale = max(abs(expected["min"]), abs(expected["max"]), 1e-300) * TOLERANCE
    assert abs(row["sum"] / row["count"] - expected["mean"]) <= scale
    if row["weighted_ns"]:
        mean = row["weighted"] / row["weighted_ns"]
        assert abs(mean - expected["time_weighted_mean"]) <= scale


@settings(max_examples=EXAMPLES, deadline=None)
@given(SAMPLES, st.integers(1, 12), st.randoms(use_true_random=False))
def test_cuts_in_any_order_give_the_rows_of_all_samples(
    samples: list[Measured], cuts: int, chance: random.Random
) -> None:
    samples.sort(key=lambda one: one.at_ns)
    pieces = _cut(samples, cuts, chance)
    chance.shuffle(pieces)
    rows = partials_of(samples_table([]), SECOND_NS)
    for piece in pieces:
        rows = combined(
            pa.concat_tables([rows, partials_of(samples_table(piece), SECOND_NS)]), SECOND_NS
        )
    assert_equals_truth(rows, samples, SECOND_NS)
    assert is_exact(rows).all()


@settings(max_examples=EXAMPLES, deadline=None)
@given(SAMPLES, st.integers(1, 12), st.randoms(use_true_random=False))
def test_longer_windows_come_from_shorter_ones(
    samples: list[Measured], cuts: int, chance: random.Random
) -> None:
    samples.sort(key=lambda one: one.at_ns)
    pieces = [partials_of(samples_table(one), SECOND_NS) for one in _cut(samples, cuts, chance)]
    chance.shuffle(pieces)
    rows = coarsened(pa.concat_tables(pieces), 3 * SECOND_NS)
    assert_equals_truth(rows, samples, 3 * SECOND_NS)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SAMPLES, st.randoms(use_true_random=False))
def test_a_row_says_when_partials_overlapped(
    samples: list[Measured], chance: random.Random
) -> None:
    """Overlapping partials lose nothing but the time-weighted mean, and the row shows that."""
    side: list[list[Measured]] = [[], []]
    for one in samples:
        chance.choice(side).append(one)
    tables = [partials_of(samples_table(one), SECOND_NS) for one in side]
    rows = combined(pa.concat_tables(tables), SECOND_NS)
    truth = rolled_up(samples, SECOND_NS)
    for row, exact in zip(rows.to_pylist(), is_exact(rows), strict=True):
        expected = truth[row["index"], row["window_ns"]]
        if exact:
            assert_row(row, expected)
        else:
            assert row["count"] == expected["count"]
            assert row["last"] == expected["last"]


def test_a_row_keeps_a_bounded_number_of_gaps() -> None:
    count = 3 * GAPS_MAX
    samples = [Measured(0, number * 1_000, float(number)) for number in range(count)]
    rows = combined(
        pa.concat_tables([partials_of(samples_table([one]), SECOND_NS) for one in samples]),
        SECOND_NS,
    )
    assert len(rows.column("gaps")[0].as_py()) == GAPS_MAX * 24
    assert_equals_truth(rows, samples, SECOND_NS)


def test_the_last_arrival_wins_among_equal_times() -> None:
    early, late = (
        partials_of(samples_table([Measured(0, 5, value)], offset), SECOND_NS)
        for value, offset in ((1.0, 10), (2.0, 11))
    )
    for order in ([early, late], [late, early]):
        row = combined(pa.concat_tables(order), SECOND_NS).to_pylist()[0]
        assert (row["first"], row["last"], row["count"]) == (1.0, 2.0, 2)


def test_windows_before_1970_begin_where_they_should() -> None:
    rows = partials_of(samples_table([Measured(0, -START_NS - 1, 1.0)]), SECOND_NS)
    assert rows.column("window_ns").to_pylist() == [-SECOND_NS]


def _cut(samples: list[Measured], cuts: int, chance: random.Random) -> list[list[Measured]]:
    places = sorted(chance.randint(0, len(samples)) for _ in range(cuts))
    edges = [0, *places, len(samples)]
    return [samples[a:b] for a, b in pairwise(edges)]


def test_many_parameters_and_long_windows_do_not_overflow() -> None:
    window_ns, count = 40 * 86_400 * SECOND_NS, 4_000
    begin = window_ns - START_NS % window_ns
    samples = [
        Measured(index, begin + at_ns, value)
        for index in range(count)
        for at_ns, value in ((0, 1.0), (window_ns // 2, 3.0), (window_ns - 2, 5.0))
    ]
    rows = partials_of(samples_table(samples), window_ns)
    means = rows.column("weighted").to_numpy() / rows.column("weighted_ns").to_numpy()
    assert rows.num_rows == count
    assert np.allclose(means, 2.0)
