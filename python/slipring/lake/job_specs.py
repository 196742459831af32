"""The tables that jobs compute. A column that is added here later must be nullable."""

import pyarrow as pa

from slipring.lake.table_spec import Columns, TableSpec, schema_of, with_day

_TIME = pa.timestamp("us", tz="UTC")

_ROLLUP = {
    "journal": pa.string(),
    "parameter": pa.string(),
    "index": pa.int32(),
    "window_start": _TIME,
    "window_ns": pa.int64(),
    "count": pa.int64(),
    "bad": pa.int64(),
}
_ROLLUP_VALUES = {
    "min": pa.float64(),
    "max": pa.float64(),
    "mean": pa.float64(),
    "first": pa.float64(),
    "first_time": _TIME,
    "last": pa.float64(),
    "last_time": _TIME,
    "time_weighted_mean": pa.float64(),
    "sum": pa.float64(),
    "first_ns": pa.int64(),
    "last_ns": pa.int64(),
    "weighted": pa.float64(),
    "weighted_ns": pa.int64(),
    "unit": pa.string(),
    "offset": pa.int64(),
    "receive_ns": pa.int64(),
}


def _rollup(name: str, nullable: Columns = _ROLLUP_VALUES) -> TableSpec:
    return TableSpec(
        name=name,
        schema=with_day(schema_of(_ROLLUP, nullable), "date"),
        day="date",
        time="window_start",
        sort_by=("index", "window_ns"),
        is_corrected=True,
        few=("journal", "unit"),
        dictionary=("parameter", "count", "bad", "every", "reason"),
        encodings={
            name: "BYTE_STREAM_SPLIT" for name, kind in nullable.items() if kind == pa.float64()
        },
    )


ROLLUPS = {every: _rollup(f"rollup_{every}") for every in ("1s", "1m", "1h")}
"""One row for each journal, parameter and window."""
ROLLUP_LATE = _rollup(
    "rollup_late",
    {
        **{name: kind for name, kind in _ROLLUP_VALUES.items() if name != "time_weighted_mean"},
        "every": pa.string(),
        "reason": pa.string(),
    },
)
"""A row for each partial of a window that came too late to be corrected in place."""

EVENTS = TableSpec(
    name="events",
    schema=with_day(
        schema_of(
            {
                "journal": pa.string(),
                "event_time": _TIME,
                "event_ns": pa.int64(),
                "parameter": pa.string(),
                "event": pa.string(),
            },
            {
                "index": pa.int32(),
                "rule": pa.string(),
                "severity": pa.string(),
                "value": pa.float64(),
                "limit": pa.float64(),
                "unit": pa.string(),
                "quality": pa.int16(),
                "crossed_ns": pa.int64(),
                "duration_ns": pa.int64(),
                "offset": pa.int64(),
                "text": pa.string(),
            },
        ),
        "date",
    ),
    day="date",
    time="event_time",
    sort_by=("event_ns",),
    few=("journal",),
    dictionary=("parameter", "event", "rule", "severity", "unit"),
)
"""A row each time that a parameter goes beyond a limit, or comes back."""

LATENCY = TableSpec(
    name="latency",
    schema=with_day(
        schema_of(
            {
                "journal": pa.string(),
                "window_start": _TIME,
                "window_ns": pa.int64(),
                "publisher": pa.string(),
                "hop": pa.string(),
                "count": pa.int64(),
            },
            {
                "min_ns": pa.int64(),
                "mean_ns": pa.float64(),
                "p50_ns": pa.int64(),
                "p95_ns": pa.int64(),
                "p99_ns": pa.int64(),
                "max_ns": pa.int64(),
            },
        ),
        "date",
    ),
    day="date",
    time="window_start",
    sort_by=("window_ns",),
    few=("journal",),
    dictionary=("publisher", "hop"),
)
"""The age of samples at each hop, by publisher and window."""

SUBSCRIPTIONS = TableSpec(
    name="subscriptions",
    schema=with_day(
        schema_of(
            {
                "journal": pa.string(),
                "window_start": _TIME,
                "window_ns": pa.int64(),
                "parameter": pa.string(),
                "arrivals": pa.int64(),
            },
            {
                "index": pa.int32(),
                "wish_ns": pa.int64(),
                "within_1_percent": pa.float64(),
                "within_5_percent": pa.float64(),
                "mean_ns": pa.float64(),
                "max_ns": pa.int64(),
            },
        ),
        "date",
    ),
    day="date",
    time="window_start",
    sort_by=("window_ns",),
    few=("journal",),
    dictionary=("parameter",),
)
"""The share of arrivals that came within 1 % and 5 % of the wished interval."""

BUDGET = TableSpec(
    name="budget",
    schema=with_day(
        schema_of(
            {
                "journal": pa.string(),
                "vehicle": pa.string(),
                "window_start": _TIME,
                "window_ns": pa.int64(),
                "messages": pa.int64(),
                "bytes": pa.int64(),
            },
            {
                "cap_bytes": pa.int64(),
                "share": pa.float64(),
                "reached_time": _TIME,
            },
        ),
        "date",
    ),
    day="date",
    time="window_start",
    sort_by=("window_ns",),
    few=("journal",),
    dictionary=("vehicle",),
)
"""The bytes of each vehicle and day, against its cap, and when the cap will be reached."""
