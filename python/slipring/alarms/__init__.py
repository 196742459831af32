"""When a value beyond a limit is an event: the settings that broker and pipeline share.

Reads and checks what a file says; judges no sample, and knows neither the broker nor the pipeline.
"""

from slipring.alarms.length import LengthNs, length_or_number, parse_length
from slipring.alarms.limit_rule import LEVELS, LIMITS, LimitRule, LimitTerms

__all__ = [
    "LEVELS",
    "LIMITS",
    "LengthNs",
    "LimitRule",
    "LimitTerms",
    "length_or_number",
    "parse_length",
]
