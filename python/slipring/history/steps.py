"""How long a bucket is: lengths that people read easily, and that rollups divide. Pure."""

from itertools import chain

MICROSECOND_NS = 1_000
MILLISECOND_NS = 1_000_000
SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS
HOUR_NS = 60 * MINUTE_NS
DAY_NS = 24 * HOUR_NS
TIME_NS_MAX = 1 << 62
"""No time that is asked for is later: in the year 2116."""

STEPS_NS: tuple[int, ...] = (
    *chain.from_iterable((power, 2 * power, 5 * power) for power in (10**one for one in range(9))),
    *(count * SECOND_NS for count in (1, 2, 5, 10, 15, 30)),
    *(count * MINUTE_NS for count in (1, 2, 5, 10, 15, 30)),
    *(count * HOUR_NS for count in (1, 2, 3, 6, 12)),
    *(count * 10**power * DAY_NS for power in range(5) for count in (1, 2, 5)),
    TIME_NS_MAX,
)
"""Each from a second on is whole seconds, from a minute on whole minutes, from an hour on whole
hours: a window of a rollup is in one bucket."""


def step_for(from_ns: int, to_ns: int, width: int, least_ns: int = 1) -> int:
    """The shortest step, of at least this length, with at most `width` buckets."""
    return next(
        one for one in STEPS_NS if one >= least_ns and (to_ns - 1) // one - from_ns // one < width
    )


def whole_buckets(from_ns: int, to_ns: int, step_ns: int) -> tuple[int, int]:
    """The time of all buckets that a time touches."""
    return from_ns // step_ns * step_ns, -(-to_ns // step_ns) * step_ns
