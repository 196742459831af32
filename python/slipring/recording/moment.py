"""A moment of a recording as a person writes it: an offset, a time, or an age. Pure: takes now."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from slipring.errors import RecordingError

MOMENT_FORMS = "an offset as @1200, a time as 2026-01-02T03:04:05Z, or an age as -10m (s, m, h, d)"

_OFFSET = re.compile(r"@(\d{1,18})")
_AGE = re.compile(r"-(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")
_FRACTION = re.compile(r"(.+[^\d+-]\d\d:?\d\d:?\d\d)[.,](\d+)([zZ]|[+-][\d:]+)?")
"""A time of day, its fraction, and its zone."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_TIMES = range(-(1 << 63), 1 << 63)
"""The nanoseconds of an int64: the years 1678 to 2262."""


@dataclass(frozen=True)
class AtOffset:
    """The message with this offset."""

    offset: int


@dataclass(frozen=True)
class AtTime:
    """The first message that was received at this time or later."""

    receive_ns: int


Moment = AtOffset | AtTime


def parse_moment(text: str, now_ns: int) -> Moment:
    """Parse a moment; a time without a zone is UTC. Or RecordingError."""
    if found := _OFFSET.fullmatch(text):
        return AtOffset(int(found[1]))
    try:
        age = _AGE.fullmatch(text)
        time_ns = now_ns - _age_ns(*age.groups(default="0")) if age else parse_time(text)
    except (ValueError, ArithmeticError):
        time_ns = None
    if time_ns is None or time_ns not in _TIMES:
        raise RecordingError(f"{text!r} is not a moment of a recording; write {MOMENT_FORMS}")
    return AtTime(time_ns)


def parse_time(text: str) -> int:
    """The nanoseconds of a time in ISO 8601; digits after the ninth are dropped. Or ValueError."""
    fraction_ns = 0
    if found := _FRACTION.fullmatch(text):
        fraction_ns = int(found[2][:9].ljust(9, "0"))
        text = found[1] + (found[3] or "")
    time = datetime.fromisoformat(text.removesuffix("z") + "Z" * text.endswith("z"))
    since = (time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH
    if since % _SECOND:
        raise ValueError("only seconds have a fraction")
    return since // _SECOND * 1_000_000_000 + fraction_ns


def format_time(receive_ns: int) -> str:
    """ISO 8601 with nine digits of the second, as `parse_time` reads it."""
    seconds, fraction_ns = divmod(receive_ns, 1_000_000_000)
    return f"{_format_second(seconds)}.{fraction_ns:09d}Z"


@lru_cache(maxsize=64)
def _format_second(seconds: int) -> str:
    """Cached: thousands of messages come in one second."""
    return f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}"


def _age_ns(days: str, hours: str, minutes: str, seconds: str) -> int:
    whole_s = (int(days) * 24 + int(hours)) * 3600 + int(minutes) * 60
    return whole_s * 1_000_000_000 + round(float(seconds) * 1_000_000_000)
