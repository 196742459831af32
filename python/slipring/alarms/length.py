"""How a length of time is written in a configuration: a whole number and a unit, as in `100ms`."""

import re
from typing import Annotated

from pydantic import BeforeValidator

_UNITS_NS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
_LENGTH = re.compile(r"(\d+)\s*([a-z]+)")
LENGTH_NS_MAX = 36_500 * _UNITS_NS["d"]


def parse_length(text: object) -> int:
    """The nanoseconds of a length of time such as 100ms, 2s, 5m, 1h or 1d; or ValueError."""
    found = _LENGTH.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None or found[2] not in _UNITS_NS:
        raise ValueError(
            f"{text!r} is not a length of time; write a whole number and ns, us, ms, s, m, h or d, "
            "as in '100ms'"
        )
    length_ns = int(found[1]) * _UNITS_NS[found[2]]
    if length_ns > LENGTH_NS_MAX:
        raise ValueError(f"{text} is more than 36,500 days")
    return length_ns


def length_or_number(given: object) -> int:
    """A parsed model is validated again by pydantic; its lengths are nanoseconds already."""
    if type(given) is not int:
        return parse_length(given)
    if not 0 <= given <= LENGTH_NS_MAX:
        raise ValueError(f"{given} is not from 0 ns to 36,500 days; write it as in '100ms'")
    return given


LengthNs = Annotated[int, BeforeValidator(length_or_number)]
"""Nanoseconds, written as `100ms` in the file."""
