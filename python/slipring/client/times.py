"""Source times from numbers and dates, in whole nanoseconds since 1970. Checks, never guesses."""

import operator
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from slipring.frames.arrays import Times

Given = npt.ArrayLike
WANTED = "a time is a whole number of nanoseconds since 1970, such as time.time_ns(), not"
DOUBTFUL_NS = range(10**9, 10**16)
"""The first months of 1970: today's times in seconds, milliseconds or microseconds fall into it."""


def time_of(given: int | None) -> int:
    """One time, now if none is given. Raises TypeError."""
    if given is None:
        return time.time_ns()
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"{WANTED} {given!r}") from None


def times_of(given: Any) -> Times:
    """Many times: whole numbers, or dates of numpy or pandas in any unit.

    Raises TypeError for anything else, ValueError for a date that is missing.
    """
    has_zone = hasattr(getattr(given, "dtype", None), "tz")
    array = given.to_numpy("datetime64[ns]") if has_zone else np.asarray(given)
    if array.dtype.kind == "M":
        array = _dated(array)
    elif array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{WANTED} {array.flat[0]!r}; dates are arrays of datetime64")
    return np.ascontiguousarray(array, np.int64)


def _dated(array: Any) -> Any:
    if (missing := np.isnat(array)).any():
        raise ValueError(f"row {missing.argmax()} has no time (NaT); leave it out")
    return array.astype("datetime64[ns]").astype(np.int64)


def doubt(time_ns: int) -> str | None:
    """A warning about a time that is probably in another unit; None for other times."""
    if time_ns not in DOUBTFUL_NS:
        return None
    date = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time_ns // 10**9))
    return f"a sample has the time {time_ns} ns, which is {date}: is it in another unit?"
