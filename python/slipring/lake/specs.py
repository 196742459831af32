"""The tables of the lake: here those that only repeat a journal, and `TABLES` with all.

A column that is added later must be nullable.
"""

import pyarrow as pa

from slipring.journal.columns import DELTA_PACKED
from slipring.journal.columns import SCHEMA as MESSAGE_SCHEMA
from slipring.journal.samples import SCHEMA as SOURCE_SCHEMA
from slipring.lake.job_specs import (
    BUDGET,
    EVENTS,
    LATENCY,
    LIMIT_STATE,
    ROLLUP_LATE,
    ROLLUPS,
    SUBSCRIPTIONS,
)
from slipring.lake.table_spec import TableSpec, schema_of, with_day

__all__ = [
    "BUDGET",
    "DERIVED",
    "EVENTS",
    "FRAMES",
    "LATENCY",
    "LIMIT_STATE",
    "MESSAGES",
    "PARAMETERS",
    "ROLLUPS",
    "ROLLUP_LATE",
    "SAMPLES",
    "SAMPLE_SCHEMA",
    "SET_ASIDE",
    "SUBSCRIPTIONS",
    "TABLES",
]

_TIME = pa.timestamp("us", tz="UTC")
_PACKED, _SPLIT = "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"

MESSAGES = TableSpec(
    name="messages",
    schema=with_day(
        pa.schema([pa.field("journal", pa.string(), nullable=False), *MESSAGE_SCHEMA]),
        "receive_date",
    ),
    day="receive_date",
    sort_by=("offset",),
    few=("journal",),
    dictionary=("publisher", "topic", "qos"),
    encodings=DELTA_PACKED,
)
"""A row for each offset of a journal."""

SAMPLE_SCHEMA = pa.schema([pa.field("journal", pa.string(), nullable=False), *SOURCE_SCHEMA])
"""The columns of `samples` and `derived`, without the partition."""


def _samples(name: str) -> TableSpec:
    return TableSpec(
        name=name,
        schema=with_day(SAMPLE_SCHEMA, "receive_date"),
        day="receive_date",
        sort_by=("index", "source_ns"),
        slice_minutes=10,
        few=("journal", "kind", "unit"),
        dictionary=("parameter", "text"),
        # Times and offsets repeat from parameter to parameter: zstd finds that in plain values,
        # and over longer distances in split ones.
        encodings={"value": _SPLIT, "offset": _SPLIT},
        settled={
            "source_time": _PACKED,
            "source_ns": _PACKED,
            "receive_time": _SPLIT,
            "receive_ns": _SPLIT,
            "offset": _PACKED,
        },
    )


SAMPLES = _samples("samples")
"""A row for each sample."""
DERIVED = _samples("derived")
"""A row for each sample that a job has computed."""

FRAMES = TableSpec(
    name="frames",
    schema=with_day(
        schema_of(
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
    few=("journal",),
    dictionary=("publisher", "topic", "table"),
    encodings=dict.fromkeys(("offset", "receive_time", "receive_ns", "sequence"), _PACKED),
)
"""A row for each frame."""

SET_ASIDE = TableSpec(
    name="set_aside",
    schema=with_day(
        schema_of(
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
    few=("journal",),
    dictionary=("topic", "publisher", "reason"),
)
"""A row for each record of a journal that could not be decoded."""

PARAMETERS = TableSpec(
    name="parameters",
    schema=schema_of(
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
            "kind": pa.string(),
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
    few=("journal",),
    dictionary=("type", "unit"),
)
"""The history of definitions: a row for each, from the offset at which it became true."""

TABLES = {
    spec.name: spec
    for spec in (
        MESSAGES, SAMPLES, DERIVED, FRAMES, SET_ASIDE, PARAMETERS, *ROLLUPS.values(), ROLLUP_LATE,
        EVENTS, LIMIT_STATE, LATENCY, SUBSCRIPTIONS, BUDGET,
    )
}  # fmt: skip
"""All tables by name."""
