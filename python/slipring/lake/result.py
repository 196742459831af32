"""Samples or windows of chosen parameters, read from the lake; to Arrow, pandas and polars."""
# ruff: noqa: S608 (values are quoted, and a query cannot write)

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from slipring.errors import LakeError
from slipring.lake.choice import TimeSpan, both
from slipring.lake.resolution import WINDOWS_S, Every
from slipring.lake.sql import identifier, unknown_table
from slipring.model.notebook import ROWS_MAX, html_table

if TYPE_CHECKING:
    from slipring.lake.lake import Lake

FIXED = ("parameter", "time")
"""Every result has these columns."""
SAMPLE_COLUMNS = ("value", "text", "quality", "unit")
WINDOW_COLUMNS = (
    "value",
    "min",
    "max",
    "count",
    "bad",
    "first",
    "last",
    "time_weighted_mean",
    "unit",
)
"""What is read if nothing is chosen; the `value` of a window is its mean."""
_TRUSTED = "quality < 128 AND value IS NOT NULL AND NOT isnan(value)"
"""Good or uncertain (docs/frames.md), and a number."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class LakeResult:
    """Rows by parameter and time. The columns `parameter`, `time` and `value` are always there."""

    rows: pa.Table
    every: Every
    """`raw` for samples, or the length of a window."""

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def _repr_html_(self) -> str:
        """For notebooks: the first rows."""
        first = self.rows.slice(0, ROWS_MAX)
        cells = zip(*(column.to_pylist() for column in first.columns), strict=True)
        what = "samples" if self.every == "raw" else f"windows of {self.every}"
        title = f"{len(self):,} {what}"
        return html_table(title, self.rows.column_names, cells, len(self))

    def to_arrow(self) -> pa.Table:
        return self.rows

    def to_pandas(self) -> Any:
        """A pandas DataFrame; its times are in UTC."""
        _need("pandas")
        return self.rows.to_pandas()

    def to_polars(self) -> Any:
        """A polars DataFrame."""
        return _need("polars").from_arrow(self.rows)


def read_rows(
    lake: "Lake", every: Every, condition: str, span: TimeSpan, columns: Sequence[str] | None
) -> LakeResult:
    """Read samples, or the windows of a rollup, in the order of parameter and time."""
    if every == "raw":
        source, time, aliases = "samples", "source_time", {}
        chosen = columns or SAMPLE_COLUMNS
    elif every in WINDOWS_S:
        source, time, aliases = f"rollup_{every}", "window_start", {"value": "mean"}
        span = _from_whole_window(span, WINDOWS_S[every])
        chosen = columns or WINDOW_COLUMNS
    else:
        raise LakeError(f"every is {every!r}; allowed: auto, raw, {', '.join(WINDOWS_S)}")
    where = both((condition, span.condition("source_time" if every == "raw" else time)))
    names = lake.names()
    if source not in names:
        if every == "raw" or "samples" not in names:
            raise LakeError(unknown_table(source, names))
        where = both((condition, span.condition("source_time")))
        source = f"({_rolled_up(WINDOWS_S[every], where)}) AS windows"
        where = ""
    asked = [one for one in chosen if one not in FIXED]
    selected = ", ".join(
        f"{identifier(aliases.get(one, one))} AS {identifier(one)}" for one in asked
    )
    sql = (
        f"SELECT parameter, {time} AS time{', ' if selected else ''}{selected} FROM {source}"
        f"{f' WHERE {where}' if where else ''} ORDER BY parameter, time"
    )
    return LakeResult(lake.query(sql), every)


def _from_whole_window(span: TimeSpan, window_s: int) -> TimeSpan:
    """The span from the beginning of the window that the start is in."""
    if span.start is None:
        return span
    return replace(span, start=span.start - (span.start - _EPOCH) % timedelta(seconds=window_s))


def _rolled_up(window_s: int, where: str) -> str:
    """SQL that makes the windows from samples, for a lake without this rollup.

    It has no time-weighted mean.
    """
    trusted = f"FILTER (WHERE {_TRUSTED})"
    return (
        "SELECT journal, parameter, index, arrow_cast(date_bin("
        f"INTERVAL '{window_s} seconds', source_time), 'Timestamp(Microsecond, Some(\"UTC\"))') "
        f'AS window_start, avg(value) {trusted} AS mean, min(value) {trusted} AS "min", '
        f'max(value) {trusted} AS "max", count(value) {trusted} AS "count", '
        f"count(*) FILTER (WHERE value IS NOT NULL AND NOT ({_TRUSTED})) AS bad, "
        f'first_value(value ORDER BY source_ns) {trusted} AS "first", '
        f'last_value(value ORDER BY source_ns) {trusted} AS "last", '
        "arrow_cast(NULL, 'Float64') AS time_weighted_mean, last_value(unit ORDER BY source_ns) "
        f"AS unit FROM samples{f' WHERE {where}' if where else ''} "
        "GROUP BY journal, parameter, index, 4"
    )


def _need(package: str) -> Any:
    """An optional package, or an error that says how to get it."""
    import importlib

    try:
        return importlib.import_module(package)
    except ModuleNotFoundError:
        raise LakeError(f"{package} is not installed: pip install {package}") from None
