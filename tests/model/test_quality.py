"""A quality is one byte, and words for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.model import GOOD, Quality, Reason, Sample, Status


@given(st.integers(0, 255))
def test_every_byte_is_a_quality_and_back(byte: int) -> None:
    quality = Quality.of_byte(byte)
    assert quality.byte == byte
    assert quality.is_good == (byte < 64)
    status, _, reason = str(quality).rstrip(")").partition(" (")
    assert Quality.of_words(status, reason or None) == quality


def test_a_quality_is_read_by_people() -> None:
    assert str(GOOD) == "good"
    assert str(Quality(Status.STALE, Reason.PUBLISHER_GONE)) == "stale (publisher-gone)"
    assert str(Quality(Status.BAD, 40)) == "bad (40)"


def test_a_reason_that_is_no_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 63, not 64"):
        _ = Quality(Status.BAD, 64).byte


def test_a_sample_tells_its_time() -> None:
    sample = Sample(1.5, 1_700_000_000_123_456_789)
    assert sample.time.isoformat() == "2023-11-14T22:13:20.123456+00:00"
    assert sample.quality.is_good
