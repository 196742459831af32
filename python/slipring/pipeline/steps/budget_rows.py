"""Bytes of vehicles and days as Arrow tables: combined, and compared with the cap. Pure.

Two forecasts of when the cap is reached, both within the day or null:

- *linear*: the vehicle goes on at its mean rate of the day so far. With 4 MB of 10 MB at 06:00 the
  cap is reached at 15:00.
- *weekday*: for the rest of the day it sends, hour by hour, what it sent on the same day of the
  week before. Null if there is no row of that day.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from slipring.pipeline.steps.numbers import Floats, Ints, ints

HOUR_NS = 3_600_000_000_000
DAY_NS = 24 * HOUR_NS
HOURS = 24
TIME = pa.timestamp("us", "UTC")

BUDGET_SCHEMA = pa.schema(
    [
        pa.field("vehicle", pa.string(), nullable=False),
        pa.field("window_start", TIME, nullable=False),
        pa.field("window_ns", pa.int64(), nullable=False),
        pa.field("messages", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("last_ns", pa.int64()),
        pa.field("hours", pa.binary()),
    ]
)
"""A row for each vehicle and UTC day; `hours` has the bytes of each hour as 24 int64."""

_KEYS = ["window_ns", "vehicle"]


def combined_bytes(rows: pa.Table) -> pa.Table:
    """One row for each vehicle and day, from rows with `hour_ns` or with `hours`."""
    if not rows.num_rows:
        return BUDGET_SCHEMA.empty_table()
    if "hour_ns" in rows.schema.names:
        hour = ints(rows, "hour_ns")
        rows = rows.append_column("window_ns", pa.array(hour // DAY_NS * DAY_NS))
        per_hour = np.zeros((rows.num_rows, HOURS), np.int64)
        per_hour[np.arange(rows.num_rows), hour % DAY_NS // HOUR_NS] = ints(rows, "bytes")
    else:
        per_hour = hours_of(rows)
    keyed = rows.append_column("place", pa.array(np.arange(rows.num_rows)))
    totals = keyed.group_by(_KEYS).aggregate(
        [("messages", "sum"), ("bytes", "sum"), ("last_ns", "max"), ("place", "list")]
    )
    totals = totals.sort_by([(name, "ascending") for name in _KEYS])
    places = totals.column("place_list").combine_chunks()
    sums = np.add.reduceat(per_hour[places.values.to_numpy()[_flat(places)]], _starts(places), 0)
    columns: dict[str, Any] = {
        **{name: totals.column(name) for name in _KEYS},
        "window_start": pa.array(ints(totals, "window_ns") // 1_000).cast(TIME),
        "messages": totals.column("messages_sum"),
        "bytes": totals.column("bytes_sum"),
        "last_ns": totals.column("last_ns_max"),
        "hours": pa.array([one.astype("<i8").tobytes() for one in sums], pa.binary()),
    }
    return pa.table({one.name: columns[one.name] for one in BUDGET_SCHEMA}).cast(BUDGET_SCHEMA)


def hours_of(rows: pa.Table) -> NDArray[np.int64]:
    """The bytes of each hour, a row of 24 for each row."""
    packed = b"".join(rows.column("hours").to_pylist())
    hours: NDArray[np.int64] = np.frombuffer(packed, "<i8").reshape(-1, HOURS)
    return hours


def with_forecast(days: pa.Table, week_before: pa.Table, cap_bytes: int) -> pa.Table:
    """Add the cap, its share that is used, and when it will be reached.

    `week_before` has the rows of the same vehicles seven days earlier, as far as there are any.
    """
    used, begin, now = ints(days, "bytes"), ints(days, "window_ns"), ints(days, "last_ns")
    is_open = used < cap_bytes
    elapsed = np.maximum(now - begin, 1)
    linear = begin + elapsed * (cap_bytes / np.maximum(used, 1))
    weekday = _by_weekday(days, week_before, cap_bytes)
    made = {
        "cap_bytes": pa.array(np.full(len(used), cap_bytes)),
        "share": pa.array(used / cap_bytes),
        "forecast_linear": _within_day(linear, begin, is_open),
        "forecast_weekday": _within_day(weekday, begin, is_open),
    }
    for name, column in made.items():
        days = days.append_column(name, column)
    return days


def _by_weekday(days: pa.Table, week_before: pa.Table, cap_bytes: int) -> Floats:
    """When the cap is reached if the rest of the day is as a week before; NaN if it is not."""
    known = {
        (vehicle, window + 7 * DAY_NS): hours
        for vehicle, window, hours in zip(
            week_before.column("vehicle").to_pylist(),
            ints(week_before, "window_ns").tolist(),
            hours_of(week_before),
            strict=True,
        )
    }
    found = np.full(days.num_rows, np.nan)
    keys = zip(days.column("vehicle").to_pylist(), ints(days, "window_ns").tolist(), strict=True)
    used, now = ints(days, "bytes"), ints(days, "last_ns")
    for row, key in enumerate(keys):
        if (hours := known.get(key)) is not None:
            found[row] = _reached(int(used[row]), int(now[row]), key[1], hours, cap_bytes)
    return found


def _reached(used: int, now_ns: int, day_ns: int, hours: Ints, cap_bytes: int) -> float:
    """Go on from now, hour by hour, at the rates of another day."""
    at = now_ns
    for hour in range((now_ns - day_ns) // HOUR_NS, HOURS):
        end = day_ns + (hour + 1) * HOUR_NS
        more = float(hours[hour]) * (end - at) / HOUR_NS
        if used + more >= cap_bytes and more > 0:
            return at + (cap_bytes - used) / more * (end - at)
        used, at = used + int(more), end
    return float("nan")


def _within_day(times_ns: Floats, begin: Ints, is_open: NDArray[np.bool_]) -> pa.Array:
    known = is_open & (times_ns < begin + DAY_NS)  # false for NaN
    micros = np.where(known, times_ns, 0).astype(np.int64) // 1_000
    return pa.array(micros, mask=~known).cast(TIME)


def _flat(lists: pa.ListArray) -> slice:
    return slice(lists.offsets[0].as_py(), lists.offsets[-1].as_py())


def _starts(lists: pa.ListArray) -> Ints:
    offsets = lists.offsets.to_numpy().astype(np.int64)
    starts: Ints = offsets[:-1] - offsets[0]
    return starts
