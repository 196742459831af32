"""A length of time as a person writes it: `100ms`, `20us`, `1.5s`, `2m`. Pure."""

import re
from decimal import Decimal

from slipring.errors import RecordingError

UNITS_NS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
STEP_NS_MAX = 365 * 24 * UNITS_NS["h"]

_STEP = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(ns|us|ms|s|m|h)")


def parse_step(text: str) -> int:
    """Nanoseconds, at least one; RecordingError says how to write it."""
    found = _STEP.fullmatch(text.strip())
    step_ns = int(Decimal(found[1]) * UNITS_NS[found[2]]) if found else 0
    if not 0 < step_ns <= STEP_NS_MAX:
        raise RecordingError(
            f"{text!r} is no step of time; write 100ms, 1s or 2m (ns, us, ms, s, m, h)"
        )
    return step_ns
