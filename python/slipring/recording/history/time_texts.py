"""Source times as files write them, to nanoseconds, many at once. Pure.

What is wrong is told by its position, never raised: the caller knows the line.
"""

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.frames.arrays import NO_TIME, Times
from slipring.recording.moment import parse_time
from slipring.recording.time_format import TimeFormat

ZONE = r"(?:[zZ]|[+-]\d\d:?(?:\d\d)?)$"

DIGITS = {
    TimeFormat.SECONDS: 9,
    TimeFormat.MILLISECONDS: 6,
    TimeFormat.MICROSECONDS: 3,
    TimeFormat.NANOSECONDS: 0,
}
"""Of a number since 1970, how many places behind the point a nanosecond is."""
UP_TO = (
    (1e11, TimeFormat.SECONDS),
    (1e14, TimeFormat.MILLISECONDS),
    (1e17, TimeFormat.MICROSECONDS),
)
"""A number below is in this unit: then it is a time between 1970 and 5138."""


NS_MAX = float(1 << 63)


class Read(NamedTuple):
    """Times, and the position of the first that is none; None where all are."""

    times: Times
    wrong: int | None


def guess(first: str) -> TimeFormat:
    """The format of a file whose first time is this text."""
    try:
        return guess_number(float(first))
    except ValueError:
        return TimeFormat.ISO


def guess_number(first: float) -> TimeFormat:
    """The unit of a number since 1970, by its size."""
    units = (unit for bound, unit in UP_TO if abs(first) < bound)
    return next(units, TimeFormat.NANOSECONDS)


def read_texts(texts: pa.Array, form: TimeFormat) -> Read:
    """The times of texts."""
    quick = _iso(texts) if form is TimeFormat.ISO else _numbers(texts, DIGITS[form])
    return quick or _one_by_one(texts, form)


def read_values(values: pa.Array, form: TimeFormat | None) -> Read:
    """The times of a column that has its own type: timestamps, numbers or texts."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        return _whole(values.cast(pa.timestamp("ns")).cast(pa.int64()))
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        texts = values.cast(pa.string())
        return read_texts(texts, form or guess(_first(texts) or ""))
    unit = form if form in DIGITS else guess_number(float(_first(values) or 0))
    factor = 10 ** DIGITS[unit]
    if pa.types.is_integer(values.type):
        return _whole(pc.multiply_checked(values.cast(pa.int64()), factor))
    numbers = pc.round(pc.multiply(values.cast(pa.float64()), factor))
    is_time = pc.less(pc.abs(numbers), NS_MAX)
    return _whole(pc.if_else(is_time, numbers, None).cast(pa.int64()))


def _first(values: pa.Array) -> Any:
    there = values.drop_null()
    return there[0].as_py() if len(there) else None


def _whole(numbers: pa.Array) -> Read:
    wrong = pc.indices_nonzero(numbers.is_null())
    times = np.asarray(pc.fill_null(numbers, int(NO_TIME)))
    return Read(times, wrong[0].as_py() if len(wrong) else None)


def _iso(texts: pa.Array) -> Read | None:
    """All at once, where all have a zone or none has; None where that does not work."""
    if texts.null_count or not len(texts):
        return None
    zone = "UTC" if pc.all(pc.match_substring_regex(texts, ZONE)).as_py() else None
    try:
        return _whole(
            pc.ascii_trim_whitespace(texts).cast(pa.timestamp("ns", zone)).cast(pa.int64())
        )
    except pa.ArrowException:
        return None


def _numbers(texts: pa.Array, digits: int) -> Read | None:
    """All at once, exactly: as decimals whose last place is a nanosecond."""
    if texts.null_count:
        return None
    try:
        exact = pc.ascii_trim_whitespace(texts).cast(pa.decimal128(38, digits))
    except pa.ArrowException:
        return None
    low, high = np.frombuffer(exact.buffers()[1], "<i8").reshape(-1, 2).T
    part = slice(exact.offset, exact.offset + len(exact))
    low, high = low[part], high[part]
    return Read(low, None) if (high == low >> 63).all() else None


def _one_by_one(texts: pa.Array, form: TimeFormat) -> Read:
    times = np.full(len(texts), NO_TIME)
    for position, text in enumerate(texts.to_pylist()):
        try:
            times[position] = _one((text or "").strip(), form)
        except (ValueError, OverflowError, ArithmeticError):
            return Read(times, position)
    return Read(times, None)


def _one(text: str, form: TimeFormat) -> int:
    if form is TimeFormat.ISO:
        return parse_time(text)
    return int(Decimal(text).scaleb(DIGITS[form]))
