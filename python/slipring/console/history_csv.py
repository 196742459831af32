"""History as CSV for spreadsheets: a row for each time, with the numbers that the JSON has.

A cell that strangers have written never begins like a formula.
"""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from slipring.console.history_answer import series_json
from slipring.history.series import HistoryAnswer, ParameterSeries

BLOCK_ROWS = 500
"""Rows of one piece of the answer."""
CSV_TYPE = "text/csv; charset=utf-8"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How a cell begins that a spreadsheet runs."""
NS_PER_S = 1_000_000_000
Cells = dict[int, tuple[Any, ...]]


def csv_blocks(answer: HistoryAnswer) -> Iterator[bytes]:
    """Time, and of each series its last value, its least and its greatest one."""
    columns = [_cells(one) for one in answer.series]
    head = ["time_utc", "time_ms", *(text for one in answer.series for text in _head(one))]
    rows: list[list[Any]] = [head]
    for time_ns in sorted(set().union(*columns)):
        row: list[Any] = [time_text(time_ns), _milliseconds(time_ns)]
        for series, cells in zip(answer.series, columns, strict=True):
            row += cells.get(time_ns, ("",) * len(_head(series)))
        rows.append(row)
        if len(rows) >= BLOCK_ROWS:
            yield _block(rows)
            rows = []
    yield _block(rows)


def safe_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text


def time_text(time_ns: int) -> str:
    """A time in UTC, to the nanosecond."""
    seconds, rest = divmod(time_ns, NS_PER_S)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def _head(series: ParameterSeries) -> list[str]:
    unit = f" [{series.parameter.unit}]" if series.parameter.unit else ""
    name = safe_cell(f"{series.name}{unit}")
    return [name, f"{name} min", f"{name} max"] if _has_bounds(series) else [name]


def _has_bounds(series: ParameterSeries) -> bool:
    is_number = series.parameter.labels is None and not series.parameter.is_text
    return bool(series.step_ns) and is_number


def _cells(series: ParameterSeries) -> Cells:
    """The cells of a series by time; of several samples at one time, the last."""
    told = series_json(series)
    names = ("last", "min", "max") if _has_bounds(series) else ("last",)
    times = series.times_ns.tolist()
    rows = zip(times, zip(*(map(_cell, told[name]) for name in names), strict=True), strict=True)
    return dict(rows)


def _cell(value: Any) -> Any:
    """A number as JSON has it; an empty cell for what has none."""
    if isinstance(value, str):
        return safe_cell(value)
    return "" if value is None else value


def _milliseconds(time_ns: int) -> float:
    return time_ns // 1_000_000 + time_ns % 1_000_000 / 1_000_000


def _block(rows: list[list[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode("utf-8", "replace")
