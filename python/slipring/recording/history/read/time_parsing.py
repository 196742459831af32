"""Source times as files write them, to nanoseconds. Pure.

The first wrong time is returned as a position, never raised: only the caller knows its line.
"""

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.frames.arrays import NO_TIME, Times
from slipring.recording.file_format import TimeFormat
from slipring.recording.moment import parse_time

ZONE = r"(?:[zZ]|[+-]\d\d:?(?:\d\d)?)$"

DIGITS = {
    TimeFormat.SECONDS: 9,
    TimeFormat.MILLISECONDS: 6,
    TimeFormat.MICROSECONDS: 3,
    TimeFormat.NANOSECONDS: 0,
}
"""How many decimal places of the unit a nanosecond is."""
UNIT_BELOW = (
    (1e11, TimeFormat.SECONDS),
    (1e14, TimeFormat.MILLISECONDS),
    (1e17, TimeFormat.MICROSECONDS),
)
"""A number below the bound is in this unit; the year is then before 5138."""
NS_MAX = float(1 << 63)


class ParsedTimes(NamedTuple):
    """Times, and the position of the first wrong one; None if all are right."""

    times: Times
    wrong: int | None


def guess_format(first: str) -> TimeFormat:
    """The format of a file whose first time is this text."""
    try:
        return _guess_unit(float(first))
    except ValueError:
        return TimeFormat.ISO


def _guess_unit(first: float) -> TimeFormat:
    """The unit of a number since 1970, by its size."""
    units = (unit for bound, unit in UNIT_BELOW if abs(first) < bound)
    return next(units, TimeFormat.NANOSECONDS)


def parse_times(texts: pa.Array, time_format: TimeFormat) -> ParsedTimes:
    """The times of texts."""
    is_iso = time_format is TimeFormat.ISO
    together = _iso(texts) if is_iso else _numbers(texts, DIGITS[time_format])
    return together or _one_by_one(texts, time_format)


def parse_time_column(values: pa.Array, time_format: TimeFormat | None) -> ParsedTimes:
    """The times of a column that has a type: timestamps, numbers or texts."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        return _nanoseconds(values.cast(pa.timestamp("ns")).cast(pa.int64()))
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        texts = values.cast(pa.string())
        return parse_times(texts, time_format or guess_format(_first(texts) or ""))
    unit = time_format if time_format in DIGITS else _guess_unit(float(_first(values) or 0))
    factor = 10 ** DIGITS[unit]
    if pa.types.is_integer(values.type):
        return _nanoseconds(pc.multiply_checked(values.cast(pa.int64()), factor))
    numbers = pc.round(pc.multiply(values.cast(pa.float64()), factor))
    is_time = pc.less(pc.abs(numbers), NS_MAX)
    return _nanoseconds(pc.if_else(is_time, numbers, None).cast(pa.int64()))


def _first(values: pa.Array) -> Any:
    present = values.drop_null()
    return present[0].as_py() if len(present) else None


def _nanoseconds(numbers: pa.Array) -> ParsedTimes:
    wrong = pc.indices_nonzero(numbers.is_null())
    times = np.asarray(pc.fill_null(numbers, int(NO_TIME)))
    return ParsedTimes(times, wrong[0].as_py() if len(wrong) else None)


def _iso(texts: pa.Array) -> ParsedTimes | None:
    """All times by one call of Arrow: all have a zone, or none has. None if that fails."""
    if texts.null_count or not len(texts):
        return None
    zone = "UTC" if pc.all(pc.match_substring_regex(texts, ZONE)).as_py() else None
    try:
        return _nanoseconds(
            pc.ascii_trim_whitespace(texts).cast(pa.timestamp("ns", zone)).cast(pa.int64())
        )
    except pa.ArrowException:
        return None


def _numbers(texts: pa.Array, digits: int) -> ParsedTimes | None:
    """All times by one call of Arrow, as decimals whose last place is a nanosecond."""
    if texts.null_count:
        return None
    try:
        exact = pc.ascii_trim_whitespace(texts).cast(pa.decimal128(38, digits))
    except pa.ArrowException:
        return None
    low, high = np.frombuffer(exact.buffers()[1], "<i8").reshape(-1, 2).T
    part = slice(exact.offset, exact.offset + len(exact))
    low, high = low[part], high[part]
    return ParsedTimes(low, None) if (high == low >> 63).all() else None


def _one_by_one(texts: pa.Array, time_format: TimeFormat) -> ParsedTimes:
    times = np.full(len(texts), NO_TIME)
    for position, text in enumerate(texts.to_pylist()):
        try:
            times[position] = _one((text or "").strip(), time_format)
        except (ValueError, OverflowError, ArithmeticError):
            return ParsedTimes(times, position)
    return ParsedTimes(times, None)


def _one(text: str, time_format: TimeFormat) -> int:
    if time_format is TimeFormat.ISO:
        return parse_time(text)
    return int(Decimal(text).scaleb(DIGITS[time_format]))
