"""Rates of streams, from readings of the engine's counters."""

from typing import Any

from slipring.control.streams import StreamRates


def reading(index: int, chunks: int, **changes: Any) -> dict[str, Any]:
    """A stream of chunks of ten bytes, of which the last four are kept."""
    row = {
        "index": index,
        "name": f"s/{index}",
        "media": "audio/pcm",
        "live": True,
        "publishers": 1,
        "first": max(0, chunks - 4),
        "next": chunks,
        "bytes": 256,
        "buffer_bytes": 256,
        "received_bytes": chunks * 10,
        "received_ns": 7,
    }
    return row | changes


def test_a_rate_is_taken_between_two_readings() -> None:
    rates = StreamRates()
    rates.sample(10.0, [reading(0, 100)])
    rates.sample(12.0, [reading(0, 300)])
    (rate,) = rates.all
    assert (rate["chunks"], rate["kept_chunks"]) == (300, 4)
    assert (rate["chunks_s"], rate["bytes_s"]) == (100.0, 1000.0)


def test_the_first_reading_gives_no_rate() -> None:
    rates = StreamRates()
    rates.sample(10.0, [reading(0, 100)])
    assert [rate["chunks_s"] for rate in rates.all] == [0.0]


def test_a_stream_that_is_new_has_begun_at_nothing_and_one_that_is_gone_is_forgotten() -> None:
    rates = StreamRates()
    rates.sample(10.0, [reading(0, 100)])
    rates.sample(11.0, [reading(1, 5)])
    assert [(rate["index"], rate["chunks_s"]) for rate in rates.all] == [(1, 5.0)]
