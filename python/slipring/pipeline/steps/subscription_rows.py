"""Arrivals at subscriptions as Arrow tables: read from reports, combined, and judged. Pure.

A report counts for the minute in which the broker received it: the clock of its sender decides
nothing.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.model.arrival_report import WITHIN_1, WITHIN_5, parse_report
from slipring.pipeline.steps.numbers import floats, ints

TIME = pa.timestamp("us", "UTC")
WITHIN = {"within_1_percent": WITHIN_1, "within_5_percent": WITHIN_5}
PER_SUBSCRIBER_MAX = 1_000
"""Subscriptions of one subscriber in a window."""
SLOW_SOURCE = "slow source"
"""Why a subscription is not judged: by its definition the source is slower than the wish."""
SILENT = "silent"
"""Why a subscription is not judged: nothing arrived."""

_KEYS = ["window_ns", "subscriber", "subscription", "wish_ns"]
_COUNTS = ("arrivals", *(f"arrivals_{name}" for name in WITHIN))

_REPORTED = [
    pa.field("subscriber", pa.string()),
    pa.field("subscription", pa.string()),
    pa.field("wish_ns", pa.int64()),
    pa.field("source_ns", pa.int64()),
    *(pa.field(name, pa.int64()) for name in _COUNTS),
    pa.field("sum_ns", pa.float64()),
    pa.field("max_ns", pa.int64()),
]
REPORT_SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("receive_ns", pa.int64(), nullable=False),
        *_REPORTED,
        pa.field("payload", pa.binary()),
        pa.field("reason", pa.string()),
    ]
)
"""A row for each subscription of a report, or one with the reason why the report is refused.

The first row of a report has its payload.
"""
ARRIVAL_SCHEMA = pa.schema(
    [
        pa.field("window_start", TIME, nullable=False),
        pa.field("window_ns", pa.int64(), nullable=False),
        *_REPORTED,
    ]
)
"""A row for each subscription and window; they can be combined."""
JUDGED_SCHEMA = pa.schema(
    [
        *ARRIVAL_SCHEMA,
        pa.field("mean_ns", pa.float64()),
        *(pa.field(f"is_{name}", pa.bool_()) for name in WITHIN),
        pa.field("not_judged", pa.string()),
    ]
)


class BoundedArrivals(NamedTuple):
    """The rows that there is room for, and those that there is none for."""

    kept: pa.Table
    refused: pa.Table


def reported(messages: pa.RecordBatch) -> pa.Table:
    """The rows of REPORT_SCHEMA of messages with offset, receive_ns, publisher and payload."""
    rows = list[dict[str, Any]]()
    for message in messages.to_pylist():
        about = {"offset": message["offset"], "receive_ns": message["receive_ns"]}
        first = {"payload": message["payload"], "subscriber": message["publisher"]}
        try:
            found = parse_report(message["payload"])
        except ValueError as error:
            rows.append({**about, **first, "reason": str(error)})
            continue
        for one in found:
            rows.append({**about, **first, **_fields(one)})
            first["payload"] = None
    return pa.Table.from_pylist(rows, schema=REPORT_SCHEMA)


def _fields(one: Any) -> dict[str, Any]:
    return {
        "subscription": one.subscription,
        "wish_ns": one.wish_ns,
        "source_ns": one.source_ns,
        "arrivals": one.arrivals,
        **{f"arrivals_{name}": getattr(one, name) for name in WITHIN},
        "sum_ns": float(one.sum_ns),
        "max_ns": one.max_ns,
    }


def windowed(rows: pa.Table, window_ns: int) -> pa.Table:
    """Rows of reports as rows of ARRIVAL_SCHEMA, by the time at which they were received."""
    begin = ints(rows, "receive_ns") // window_ns * window_ns
    rows = rows.append_column("window_ns", pa.array(begin))
    rows = rows.append_column("window_start", pa.array(begin // 1_000).cast(TIME))
    return rows.select(ARRIVAL_SCHEMA.names).cast(ARRIVAL_SCHEMA)


def bounded(rows: pa.Table, known: pa.Table, window_ns: int, window_max: int) -> BoundedArrivals:
    """Refuse subscriptions beyond PER_SUBSCRIBER_MAX, and beyond `window_max` of all together.

    `rows` are of REPORT_SCHEMA, `known` of ARRIVAL_SCHEMA. Who came first, by offset, stays; so
    the result does not depend on where a batch begins.
    """
    rows = rows.sort_by("offset")
    there = set(_keys(known, ints(known, "window_ns")))
    per_subscriber = Counter(key[:2] for key in there)
    per_window = Counter(key[0] for key in there)
    is_kept = list[bool]()
    for key in _keys(rows, ints(rows, "receive_ns") // window_ns * window_ns):
        if key not in there:
            if per_subscriber[key[:2]] >= PER_SUBSCRIBER_MAX or per_window[key[0]] >= window_max:
                is_kept.append(False)
                continue
            there.add(key)
            per_subscriber[key[:2]] += 1
            per_window[key[0]] += 1
        is_kept.append(True)
    chosen = pa.array(is_kept, pa.bool_())
    return BoundedArrivals(rows.filter(chosen), rows.filter(pc.invert(chosen)))


def _keys(rows: pa.Table, windows: Any) -> list[tuple[Any, ...]]:
    columns = [rows.column(name).to_pylist() for name in _KEYS[1:]]
    return [*zip(windows.tolist(), *columns, strict=True)]


def combined_arrivals(rows: pa.Table) -> pa.Table:
    """One row of ARRIVAL_SCHEMA for each subscription and window, sorted by window."""
    totals = rows.group_by(_KEYS).aggregate(
        [
            *((name, "sum") for name in _COUNTS),
            ("sum_ns", "sum"),
            ("max_ns", "max"),
            ("source_ns", "max"),
        ]
    )
    totals = totals.sort_by([(name, "ascending") for name in _KEYS])
    columns: dict[str, Any] = {
        **{name: totals.column(name) for name in _KEYS},
        **{name: totals.column(f"{name}_sum") for name in (*_COUNTS, "sum_ns")},
        "window_start": pa.array(ints(totals, "window_ns") // 1_000).cast(TIME),
        "max_ns": totals.column("max_ns_max"),
        "source_ns": totals.column("source_ns_max"),
    }
    return pa.table({one.name: columns[one.name] for one in ARRIVAL_SCHEMA}).cast(ARRIVAL_SCHEMA)


def with_judgement(rows: pa.Table) -> pa.Table:
    """Add the mean interval, whether it is near the wish, or why that cannot be said."""
    arrivals, wish = ints(rows, "arrivals"), ints(rows, "wish_ns")
    mean = floats(rows, "sum_ns") / np.maximum(arrivals, 1)
    is_silent, is_slow = arrivals == 0, ints(rows, "source_ns") > wish * (1 + WITHIN_1)
    is_open = is_silent | is_slow
    reason = pa.array(np.where(is_slow, SLOW_SOURCE, SILENT), pa.string(), mask=~is_open)
    made = {"mean_ns": pa.array(mean, mask=is_silent)}
    for name, part in WITHIN.items():
        made[f"is_{name}"] = pa.array(np.abs(mean - wish) <= wish * part, mask=is_open)
    made["not_judged"] = reason
    for name, column in made.items():
        rows = rows.append_column(name, column)
    return rows.select(JUDGED_SCHEMA.names).cast(JUDGED_SCHEMA)
