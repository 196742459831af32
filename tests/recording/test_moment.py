"""Moments of a recording, as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.errors import RecordingError
from slipring.recording.moment import AtOffset, AtTime, format_time, parse_moment, parse_time

NOW_NS = 1_767_323_045_678_901_234  # 2026-01-02T03:04:05.678901234Z
SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@0", AtOffset(0)),
        ("@1200", AtOffset(1200)),
        ("-10m", AtTime(NOW_NS - 600 * SECOND)),
        ("-1h30m", AtTime(NOW_NS - 5400 * SECOND)),
        ("-2d", AtTime(NOW_NS - 172_800 * SECOND)),
        ("-0.5s", AtTime(NOW_NS - SECOND // 2)),
        ("2026-01-02T03:04:05.678901234Z", AtTime(NOW_NS)),
        ("2026-01-02T03:04:05", AtTime(NOW_NS - 678_901_234)),
        ("2026-01-02T03:04:05,678901234z", AtTime(NOW_NS)),
        ("20260102T030405.678901234Z", AtTime(NOW_NS)),
        ("2026-01-02T03:04:05.678901234999Z", AtTime(NOW_NS)),
        ("2026-01-02 04:04:05.5+01:00", AtTime(NOW_NS - 178_901_234)),
        ("2026-01-02", AtTime(NOW_NS - (3 * 3600 + 4 * 60 + 5) * SECOND - 678_901_234)),
    ],
)
def test_an_offset_a_time_and_an_age_are_places(text: str, expected: AtOffset | AtTime) -> None:
    assert parse_moment(text, NOW_NS) == expected


@pytest.mark.parametrize(
    "text",    [
        "", "-", "@", "@-1", "@1.5", "10m", "-10", "-10x", "yesterday", "0001-01-01", "2500-01-01",
        "-99999999999d", "2026-01-02T03:04:05+01:00:00.5",
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_the_ways_to_write_it(text: str) -> None:
    with pytest.raises(RecordingError, match=r"@1200.*-10m"):
        parse_moment(text, NOW_NS)


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_a_time_is_read_back_to_the_nanosecond(receive_ns: int) -> None:
    assert parse_time(format_time(receive_ns)) == receive_ns
