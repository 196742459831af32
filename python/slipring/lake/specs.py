"""The tables of the lake. A column that is added here later must be nullable."""

import pyarrow as pa

from slipring.journal.columns import DELTA_PACKED
from slipring.journal.columns import SCHEMA as MESSAGE_SCHEMA
from slipring.lake.table_spec import TableSpec

_TIME = pa.timestamp("us", tz="UTC")
_DAY = pa.date32()
_PACKED, _SPLIT = "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"

# pyarrow is not typed: what a column may hold is checked when rows are written.
Columns = dict[str, pa.DataType]


def _schema(columns: Columns, nullable: Columns | None = None) -> pa.Schema:
    """Columns that have a value in every row, then those that may be null."""
    return pa.schema(
        [
            *(pa.field(name, kind, nullable=False) for name, kind in columns.items()),
            *(pa.field(name, kind) for name, kind in (nullable or {}).items()),
        ]
    )


def _day_last(schema: pa.Schema, name: str) -> pa.Schema:
    return schema.append(pa.field(name, _DAY, nullable=False))


MESSAGES = TableSpec(
    name="messages",
    schema=_day_last(
        pa.schema([pa.field("journal", pa.string(), nullable=False), *MESSAGE_SCHEMA]),
        "receive_date",
    ),
    day="receive_date",
    sort_by=("offset",),
    dictionary=("journal", "publisher", "topic", "qos"),
    encodings=DELTA_PACKED,
    # Enough rows to compress well. The reader's byte limit bounds a worker's memory.
    group_rows=1 << 20,
)
"""A row for each offset of a journal."""

SAMPLE_SCHEMA = pa.schema(
    [
        pa.field("journal", pa.string(), nullable=False),
        pa.field("parameter", pa.string(), nullable=False),
        pa.field("index", pa.int32(), nullable=False),
        pa.field("source_time", _TIME, nullable=False),
        pa.field("source_ns", pa.int64(), nullable=False),
        pa.field("receive_time", _TIME, nullable=False),
        pa.field("receive_ns", pa.int64(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("integer", pa.decimal128(20, 0)),
        pa.field("text", pa.string()),
        pa.field("bytes", pa.binary()),
        pa.field("quality", pa.int16(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("unit", pa.string()),
        pa.field("offset", pa.int64(), nullable=False),
    ]
)
"""The columns of `samples` and `derived`, without the partition."""


def _samples(name: str) -> TableSpec:
    return TableSpec(
        name=name,
        schema=_day_last(SAMPLE_SCHEMA, "receive_date"),
        day="receive_date",
        sort_by=("index", "source_ns"),
        slice_hours=1,
        dictionary=("journal", "parameter", "index", "quality", "kind", "unit", "text"),
        encodings={"value": _SPLIT, "offset": _PACKED},
    )


SAMPLES = _samples("samples")
"""A row for each sample."""
DERIVED = _samples("derived")
"""A row for each sample that a job has computed."""

FRAMES = TableSpec(
    name="frames",
    schema=_day_last(
        _schema(
            {
                "journal": pa.string(),
                "offset": pa.int64(),
                "receive_time": _TIME,
                "receive_ns": pa.int64(),
                "publisher": pa.string(),
                "topic": pa.string(),
                "table": pa.int64(),
                "sequence": pa.int64(),
                "sent_ns": pa.int64(),
            },
            {
                "published_ns": pa.int64(),
                "received_ns": pa.int64(),
                "skew_ns": pa.int64(),
                "runs": pa.int32(),
                "samples": pa.int32(),
                "parameters": pa.int32(),
                "bytes": pa.int32(),
                "raw_bytes": pa.int32(),
            },
        ),
        "receive_date",
    ),
    day="receive_date",
    sort_by=("offset",),
    dictionary=("journal", "publisher", "topic", "table"),
    encodings=dict.fromkeys(("offset", "receive_time", "receive_ns", "sequence"), _PACKED),
)
"""A row for each frame."""

SET_ASIDE = TableSpec(
    name="set_aside",
    schema=_day_last(
        _schema(
            {
                "journal": pa.string(),
                "offset": pa.int64(),
                "receive_time": _TIME,
                "topic": pa.string(),
                "publisher": pa.string(),
                "bytes": pa.binary(),
                "reason": pa.string(),
            }
        ),
        "receive_date",
    ),
    day="receive_date",
    sort_by=("offset",),
    dictionary=("journal", "topic", "publisher", "reason"),
)
"""A row for each record of a journal that could not be decoded."""

PARAMETERS = TableSpec(
    name="parameters",
    schema=_schema(
        {
            "journal": pa.string(),
            "table": pa.int64(),
            "index": pa.int32(),
            "name": pa.string(),
            "type": pa.string(),
            "since_offset": pa.int64(),
        },
        {
            "until_offset": pa.int64(),
            "since_ns": pa.int64(),
            "unit": pa.string(),
            "description": pa.string(),
            "labels": pa.string(),
            "limits": pa.string(),
            "range_low": pa.float64(),
            "range_high": pa.float64(),
            "rate_hz": pa.float64(),
            "source": pa.string(),
        },
    ),
    time="",
    sort_by=("index", "since_offset"),
    dictionary=("journal", "type", "unit"),
)
"""The history of definitions: a row for each, from the offset at which it became true."""

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
        schema=_day_last(_schema(_ROLLUP, nullable), "date"),
        day="date",
        time="window_start",
        sort_by=("index", "window_ns"),
        dictionary=("journal", "parameter", "index", "unit", "count", "bad", "reason"),
        encodings={name: _SPLIT for name, kind in nullable.items() if kind == pa.float64()},
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
    schema=_day_last(
        _schema(
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
    dictionary=("journal", "parameter", "event", "rule", "severity", "unit"),
)
"""A row each time that a parameter goes beyond a limit, or comes back."""

LATENCY = TableSpec(
    name="latency",
    schema=_day_last(
        _schema(
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
    dictionary=("journal", "publisher", "hop"),
)
"""The age of samples at each hop, by publisher and window."""

SUBSCRIPTIONS = TableSpec(
    name="subscriptions",
    schema=_day_last(
        _schema(
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
    dictionary=("journal", "parameter"),
)
"""The share of arrivals that came within 1 % and 5 % of the wished interval."""

BUDGET = TableSpec(
    name="budget",
    schema=_day_last(
        _schema(
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
    dictionary=("journal", "vehicle"),
)
"""The bytes of each vehicle and day, against its cap, and when the cap will be reached."""

TABLES = {
    spec.name: spec
    for spec in (
        MESSAGES, SAMPLES, DERIVED, FRAMES, SET_ASIDE, PARAMETERS, *ROLLUPS.values(), ROLLUP_LATE,
        EVENTS, LATENCY, SUBSCRIPTIONS, BUDGET,
    )
}  # fmt: skip
"""All tables by name."""
