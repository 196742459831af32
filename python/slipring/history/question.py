"""What is asked of a history: names, a time, and how wide the screen is. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from slipring.history.steps import TIME_NS_MAX, step_for, whole_buckets

NAMES_MAX = 24
"""Parameters of one question: more lines than a plot can show."""
WIDTH_MAX = 4_000
"""Buckets of one series: more columns than a screen has."""


@dataclass(frozen=True)
class HistoryQuestion:
    """Series of parameters over [from, to), in at most `width` buckets each."""

    names: tuple[str, ...]
    from_ns: int
    to_ns: int
    width: int
    least_ns: int = 1
    """No bucket is shorter: what older times have no samples for any more."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) <= NAMES_MAX:
            raise ValueError(f"name between 1 and {NAMES_MAX} parameters")
        if len(set(self.names)) != len(self.names):
            raise ValueError("each name may be asked for once")
        if not 0 <= self.from_ns < self.to_ns <= TIME_NS_MAX:
            raise ValueError("from_ms must be before to_ms, and both between 1970 and 2116")
        if not 1 <= self.width <= WIDTH_MAX:
            raise ValueError(f"width is a whole number from 1 to {WIDTH_MAX}")

    @cached_property
    def step_ns(self) -> int:
        """How long a bucket is."""
        return step_for(self.from_ns, self.to_ns, self.width, self.least_ns)

    @cached_property
    def whole_ns(self) -> tuple[int, int]:
        """The time that is read: all of each bucket that is shown."""
        return whole_buckets(self.from_ns, self.to_ns, self.step_ns)


@dataclass(frozen=True)
class KnownParameter:
    """What the broker says of a parameter: all that a series must know."""

    type: str
    unit: str | None = None
    labels: Mapping[int, str] | None = None

    @property
    def is_text(self) -> bool:
        """Whether its values have no least and no greatest one."""
        return self.type in ("text", "bytes")
