"""Rates of prefixes and of streams, from readings of the engine's counters."""

from typing import Any

from slipring.control.overview import Overview
from slipring.control.row_rates import stream_row
from slipring.status.engine import PrefixTraffic


def traffic(**messages: int) -> list[PrefixTraffic]:
    return [
        {"prefix": prefix, "messages": count, "bytes": count * 10, "deliveries": 0}
        for prefix, count in messages.items()
    ]


def stream(index: int, chunks: int) -> dict[str, Any]:
    """A stream of chunks of ten bytes, of which the last four are kept."""
    return stream_row(
        {
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
    )


def test_a_rate_is_taken_between_two_readings() -> None:
    overview = Overview()
    overview.prefixes.sample(10.0, traffic(gripen=100))
    overview.prefixes.sample(12.0, traffic(gripen=300))
    (rate,) = overview.busiest_prefixes(20)
    assert (rate["messages"], rate["messages_s"], rate["bytes_s"]) == (300, 100.0, 1000.0)


def test_the_first_reading_gives_no_rate() -> None:
    overview = Overview()
    overview.prefixes.sample(10.0, traffic(gripen=100))
    assert [rate["messages_s"] for rate in overview.busiest_prefixes(20)] == [0.0]


def test_a_prefix_that_is_new_has_begun_at_nothing() -> None:
    overview = Overview()
    overview.prefixes.sample(1.0, traffic())
    overview.prefixes.sample(2.0, traffic(plant=7))
    assert [rate["messages_s"] for rate in overview.busiest_prefixes(20)] == [7.0]


def test_the_busiest_now_come_first() -> None:
    overview = Overview()
    overview.prefixes.sample(1.0, traffic(old=9_000, busy=0, quiet=1))
    overview.prefixes.sample(2.0, traffic(old=9_000, busy=50, quiet=1))
    assert [rate["prefix"] for rate in overview.busiest_prefixes(2)] == ["busy", "old"]


def test_a_stream_has_the_rates_of_its_chunks_and_bytes() -> None:
    rates = Overview().streams
    rates.sample(10.0, [stream(0, 100)])
    rates.sample(12.0, [stream(0, 300)])
    (rate,) = rates.rows
    assert (rate["chunks"], rate["kept_chunks"]) == (300, 4)
    assert (rate["chunks_s"], rate["bytes_s"]) == (100.0, 1000.0)


def test_a_stream_that_is_gone_is_forgotten() -> None:
    rates = Overview().streams
    rates.sample(10.0, [stream(0, 100)])
    rates.sample(11.0, [stream(1, 5)])
    assert [(rate["index"], rate["chunks_s"]) for rate in rates.rows] == [(1, 5.0)]
