"""How files write source times. Quick to import: knows no library."""

from enum import StrEnum


class TimeFormat(StrEnum):
    """How a file writes times."""

    ISO = "iso"
    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"
