"""One value of a parameter, with the time its source gave it and its quality."""

from datetime import UTC, datetime
from typing import NamedTuple

from slipring.model.notebook import html_table
from slipring.model.quality import GOOD, Quality

CELLS = ("value", "label", "time (UTC)", "quality")
"""The heads of `Sample.cells`."""
Value = bool | int | float | str | bytes
"""The value of a sample; that of an enumeration is its number."""


class Sample(NamedTuple):
    """A value, when it was measured, and how far it can be trusted."""

    value: Value
    time_ns: int
    """The source time: nanoseconds since 1970, UTC."""
    quality: Quality = GOOD
    label: str | None = None
    """The meaning of the number, if the parameter is an enumeration with a label for it."""

    @property
    def time(self) -> datetime:
        """The source time, cut to microseconds."""
        return utc_time(self.time_ns)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return html_table("a sample", CELLS, [self.cells()], 1)

    def cells(self) -> tuple[object, ...]:
        """Value, label, time and quality, for people."""
        return self.value, self.label, time_text(self.time_ns), str(self.quality)


def time_text(time_ns: int) -> str:
    """A time in UTC as text, to the microsecond; in nanoseconds where no calendar has it."""
    try:
        return utc_time(time_ns).isoformat(sep=" ").removesuffix("+00:00")
    except (ValueError, OverflowError):
        return f"{time_ns} ns"


def utc_time(time_ns: int) -> datetime:
    """A time in UTC, cut to microseconds."""
    seconds, rest_ns = divmod(time_ns, 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest_ns // 1_000)
