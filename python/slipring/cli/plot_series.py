"""What a plot shows: a line for each parameter, and a panel for each unit. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from slipring.lake.result import LakeResult

GAP_INTERVALS = 10
"""A line is not drawn over a pause that is so many times longer than usual."""
BAD = 128
"""Qualities from here on are bad or stale (docs/frames.md)."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PlotLine:
    """The values of one parameter; `low` and `high` are the bounds of each window."""

    name: str
    unit: str
    times_s: Floats
    values: Floats
    low: Floats
    high: Floats

    def parts(self) -> list[slice]:
        """The points between two pauses."""
        steps = np.diff(self.times_s)
        if not len(steps):
            return [slice(0, len(self.times_s))]
        breaks = np.flatnonzero(steps > GAP_INTERVALS * np.median(steps)) + 1
        edges = [0, *breaks.tolist(), len(self.times_s)]
        return [slice(first, last) for first, last in pairwise(edges)]


@dataclass(frozen=True)
class PlotPanel:
    """Lines with one unit, which share an axis."""

    unit: str
    lines: tuple[PlotLine, ...]

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest value, with some room around them."""
        low = min(float(line.low.min()) for line in self.lines)
        high = max(float(line.high.max()) for line in self.lines)
        room = (high - low) * 0.02 or abs(high) * 0.05 or 1.0
        return low - room, high + room


def plot_lines(result: "LakeResult") -> list[PlotLine]:
    """A line for each parameter that has numbers to show, in the order of their names."""
    rows = result.to_arrow()
    if result.every == "raw":
        low = high = "value"
        is_shown = rows.column("quality").to_numpy() < BAD
    else:
        low, high = "min", "max"
        is_shown = rows.column("count").to_numpy() > 0
    numbers = {name: _floats(rows.column(name)) for name in {"value", low, high}}
    is_shown &= np.isfinite(numbers["value"])
    names = rows.column("parameter").combine_chunks().dictionary_encode()
    codes = np.asarray(names.indices)
    times_s = np.asarray(rows.column("time").cast("int64")) / 1e6
    units = rows.column("unit")
    found = []
    for code, name in enumerate(names.dictionary.to_pylist()):
        (at,) = np.nonzero(is_shown & (codes == code))
        if len(at):
            values = (numbers[column][at] for column in ("value", low, high))
            unit = units[int(at[-1])].as_py() or ""
            found.append(PlotLine(name, unit, times_s[at], *values))
    return found


def panels(lines: Sequence[PlotLine]) -> list[PlotPanel]:
    """The lines by unit, in the order in which the units come."""
    units = dict.fromkeys(line.unit for line in lines)
    return [PlotPanel(unit, tuple(line for line in lines if line.unit == unit)) for unit in units]


def time_bounds(lines: Sequence[PlotLine]) -> tuple[float, float]:
    """The first and the last time, in seconds since 1970; never the same."""
    first = min(float(line.times_s[0]) for line in lines)
    last = max(float(line.times_s[-1]) for line in lines)
    return first, max(last, first + 1e-3)


def time_text(seconds: float, span_s: float) -> str:
    """A time on the axis, as exactly as the span needs it."""
    time = _EPOCH + timedelta(seconds=seconds)
    if span_s > 2 * 86_400:
        return f"{time:%m-%d %H:%M}"
    return f"{time:%H:%M:%S}" + (f".{time.microsecond // 1000:03}" if span_s < 10 else "")


def day_text(seconds: float) -> str:
    """The UTC day of a time."""
    return f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%d}"


def value_text(value: float) -> str:
    """A value on the axis: six digits."""
    return f"{value:.6g}"


def _floats(column: object) -> Floats:
    return np.asarray(column.to_numpy(), dtype=np.float64)  # type: ignore[attr-defined]
