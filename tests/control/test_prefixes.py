"""Traffic by topic prefix, from readings of the engine's counters."""

from slipring.control.prefixes import Prefixes
from slipring.status.engine import PrefixTraffic


def reading(**messages: int) -> list[PrefixTraffic]:
    return [
        {"prefix": prefix, "messages": count, "bytes": count * 10, "deliveries": 0}
        for prefix, count in messages.items()
    ]


def test_a_rate_is_taken_between_two_readings() -> None:
    prefixes = Prefixes()
    prefixes.sample(10.0, reading(gripen=100))
    prefixes.sample(12.0, reading(gripen=300))
    (rate,) = prefixes.busiest(20)
    assert (rate["messages"], rate["messages_s"], rate["bytes_s"]) == (300, 100.0, 1000.0)


def test_the_first_reading_gives_no_rate() -> None:
    prefixes = Prefixes()
    prefixes.sample(10.0, reading(gripen=100))
    assert [rate["messages_s"] for rate in prefixes.busiest(20)] == [0.0]


def test_a_prefix_that_is_new_has_begun_at_nothing() -> None:
    prefixes = Prefixes()
    prefixes.sample(1.0, reading())
    prefixes.sample(2.0, reading(plant=7))
    assert [rate["messages_s"] for rate in prefixes.busiest(20)] == [7.0]


def test_the_busiest_now_come_first() -> None:
    prefixes = Prefixes()
    prefixes.sample(1.0, reading(old=9_000, busy=0, quiet=1))
    prefixes.sample(2.0, reading(old=9_000, busy=50, quiet=1))
    assert [rate["prefix"] for rate in prefixes.busiest(2)] == ["busy", "old"]
