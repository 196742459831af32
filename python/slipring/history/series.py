"""What a question is answered with: a series for each name. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from slipring.history.buckets import Buckets, Times, Values, put_together
from slipring.history.question import KnownParameter

TEXT_CHARACTERS_MAX = 256
"""Characters of a text in a series."""
BYTES_SHOWN = 64
"""Bytes of a value of bytes in a series, in hex."""
TEXTS_MAX = 10_000
"""Texts of one answer: with more parameters each has fewer, the newest."""

Origin = Literal["table", "journal", "lake", "none"]
ORIGINS: tuple[Origin, ...] = ("lake", "journal", "table")
"""From the oldest to the newest."""


@dataclass(frozen=True)
class ParameterSeries:
    """One parameter over time: every sample, or a row for each bucket that has some."""

    name: str
    parameter: KnownParameter
    origin: Origin
    """Where its oldest part is from."""
    step_ns: int
    """How long a bucket is; 0 if these are single samples."""
    times_ns: Times
    """When samples were taken, or where buckets begin."""
    low: Values
    high: Values
    last: Values
    is_cut: bool

    @classmethod
    def of(
        cls,
        name: str,
        parameter: KnownParameter,
        parts: Sequence[tuple[Origin, Buckets]],
        step_ns: int,
        width: int,
        *,
        is_cut: bool,
    ) -> "ParameterSeries":
        """Put the parts together; where no more than `width` samples are known, show each."""
        origin = next((one for one in ORIGINS if any(o == one and len(b) for o, b in parts)), None)
        every = put_together([buckets for _, buckets in parts], step_ns)
        singles = every.singles() if every.samples <= width else None
        if singles is None:
            shown = (step_ns, every.start_ns, every.low, every.high, every.last)
        else:
            none = every.low[:0]
            shown = (0, singles[0], none, none, singles[1])
        return cls(name, parameter, origin or "none", *shown, is_cut)

    def newest(self, most: int) -> "ParameterSeries":
        """The newest rows of a series of texts, as many as there may be."""
        if len(self.times_ns) <= most:
            return self
        kept = slice(len(self.times_ns) - most, None)
        columns = {name: getattr(self, name)[kept] for name in ("times_ns", "low", "high", "last")}
        return replace(self, **columns, is_cut=True)


def shown_bytes(begin: bytes, size: int) -> str:
    """The first bytes in hex, and the number of bytes if there are more."""
    first = begin[:BYTES_SHOWN].hex()
    return first if size <= BYTES_SHOWN else f"{first}… ({size:,} bytes)"


@dataclass(frozen=True)
class HistoryAnswer:
    """All series of a question."""

    from_ns: int
    """The time of all its buckets, which is a little more than was asked for."""
    to_ns: int
    series: tuple[ParameterSeries, ...]
    oldest_ns: int | None
    """The oldest time that there is anything of; None if there is nothing."""
    damage: tuple[str, ...] = ()
    """What could not be read, in sentences."""


@dataclass
class Gathered:
    """Parts of series while they are read."""

    parts: dict[str, list[tuple[Origin, Buckets]]] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)
    is_cut: bool = False

    def add(self, origin: Origin, name: str, buckets: Buckets) -> None:
        """Add what is not newer than what the next part has."""
        self.parts.setdefault(name, []).append((origin, buckets))

    def newest_ns(self, name: str) -> int | None:
        """The time of the newest sample that was added."""
        times = [int(one.last_ns.max()) for _, one in self.parts.get(name, ()) if len(one)]
        return max(times, default=None)
