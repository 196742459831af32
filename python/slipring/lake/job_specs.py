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
    "gaps": pa.binary(),
    "overlaps": pa.int64(),
}


def _rollup(
    name: str, slice_minutes: int, nullable: Columns = _ROLLUP_VALUES, *, is_corrected: bool = True
) -> TableSpec:
    return TableSpec(
        name=name,
        schema=with_day(schema_of(_ROLLUP, nullable), "date"),
        day="date",
        time="window_start",
        sort_by=("index", "window_ns"),
        slice_minutes=slice_minutes,
        is_corrected=is_corrected,
        few=("journal", "unit"),
        dictionary=("parameter", "count", "bad", "every", "reason"),
        encodings={
            name: "BYTE_STREAM_SPLIT" for name, kind in nullable.items() if kind == pa.float64()
        },
    )


_SLICE_MINUTES = {"1s": 10, "1m": 60, "1h": 24 * 60}
ROLLUPS = {every: _rollup(f"rollup_{every}", minutes) for every, minutes in _SLICE_MINUTES.items()}
"""One row for each journal, parameter and window."""
ROLLUP_LATE = _rollup(
    "rollup_late",
    24 * 60,
    {
        **{name: kind for name, kind in _ROLLUP_VALUES.items() if name != "time_weighted_mean"},
        "every": pa.string(),
        "reason": pa.string(),
    },
    is_corrected=False,
)
"""A row for each partial of a window that came too late to be corrected in place."""

EVENTS = TableSpec(
    name="events",
    schema=with_day(
        schema_of(
            {
                "journal": pa.string(),
                "parameter": pa.string(),
                "index": pa.int32(),
                "limit": pa.string(),
                "level": pa.string(),
                "state": pa.string(),
                "source_time": _TIME,
                "source_ns": pa.int64(),
                "since_ns": pa.int64(),
                "receive_time": _TIME,
                "receive_ns": pa.int64(),
                "offset": pa.int64(),
            },
            {"value": pa.float64(), "threshold": pa.float64(), "unit": pa.string()},
        ),
        "receive_date",
    ),
    day="receive_date",
    sort_by=("offset",),
    few=("journal", "limit", "level", "state"),
    dictionary=("parameter", "unit"),
)
"""A row each time that a parameter goes beyond a limit (began), or comes back (ended)."""

LIMIT_STATE = TableSpec(
    name="limit_state",
    schema=schema_of(
        {
            "journal": pa.string(),
            "index": pa.int32(),
            "limit": pa.string(),
            "is_out": pa.bool_(),
            "since_ns": pa.int64(),
            "is_event": pa.bool_(),
        }
    ),
    time="",
    sort_by=("index",),
    is_corrected=True,
    few=("journal", "limit"),
)
"""How each limit stands now; a run of the pipeline continues from it."""

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
                "sum_ns": pa.float64(),
                "buckets": pa.binary(),
            },
        ),
        "date",
    ),
    day="date",
    time="window_start",
    sort_by=("window_ns",),
    is_corrected=True,
    few=("journal", "hop"),
    dictionary=("publisher",),
)
"""The age of samples at each hop, by publisher and minute of receive time."""

SUBSCRIPTIONS = TableSpec(
    name="subscriptions",
    schema=with_day(
        schema_of(
            {
                "journal": pa.string(),
                "subscriber": pa.string(),
                "subscription": pa.string(),
                "window_start": _TIME,
                "window_ns": pa.int64(),
                "wish_ns": pa.int64(),
                "arrivals": pa.int64(),
            },
            {
                "source_ns": pa.int64(),
                "mean_ns": pa.float64(),
                "max_ns": pa.int64(),
                "sum_ns": pa.float64(),
                "arrivals_within_1_percent": pa.int64(),
                "arrivals_within_5_percent": pa.int64(),
                "is_within_1_percent": pa.bool_(),
                "is_within_5_percent": pa.bool_(),
                "not_judged": pa.string(),
            },
        ),
        "date",
    ),
    day="date",
    time="window_start",
    sort_by=("window_ns",),
    is_corrected=True,
    few=("journal",),
    dictionary=("subscriber", "subscription", "not_judged"),
)
"""The mean interval of each subscription and minute against the wish, as its client reports it."""

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
                "last_ns": pa.int64(),
                "cap_bytes": pa.int64(),
                "share": pa.float64(),
                "forecast_linear": _TIME,
                "forecast_weekday": _TIME,
                "hours": pa.binary(),
            },
        ),
        "date",
    ),
    day="date",
    time="window_start",
    sort_by=("window_ns",),
    is_corrected=True,
    few=("journal",),
    dictionary=("vehicle",),
)
"""The bytes of each vehicle and day, against its cap, and when the cap will be reached."""
