"""Ages of samples as histograms in Arrow tables, which can be combined. Pure; numpy only.

A bucket holds ages within 1 % of each other, so percentiles are right within 1 %, and the rows of
two batches add up to that of both.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from slipring.pipeline.steps.numbers import Floats, Ints, floats, ints

BUCKET_RATIO = 1.01
"""The end of a bucket is so many times its begin."""
BUCKET = np.dtype([("bucket", "<i4"), ("count", "<i8")])
PERCENTILES = {"p50_ns": 0.50, "p95_ns": 0.95, "p99_ns": 0.99}
TIME = pa.timestamp("us", "UTC")

LATENCY_SCHEMA = pa.schema(
    [
        pa.field("publisher", pa.string(), nullable=False),
        pa.field("hop", pa.string(), nullable=False),
        pa.field("window_start", TIME, nullable=False),
        pa.field("window_ns", pa.int64(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("min_ns", pa.int64()),
        pa.field("max_ns", pa.int64()),
        pa.field("sum_ns", pa.float64()),
        pa.field("buckets", pa.binary()),
    ]
)
"""A row for each publisher, hop and window; `buckets` has number and count, one after the other."""

RESULT_SCHEMA = pa.schema(
    [
        *LATENCY_SCHEMA,
        pa.field("mean_ns", pa.float64()),
        *(pa.field(name, pa.int64()) for name in PERCENTILES),
    ]
)

_KEYS = ["window_ns", "publisher", "hop"]


def combined_ages(rows: pa.Table) -> pa.Table:
    """One row for each publisher, hop and window, from rows with `bucket` or with `buckets`."""
    counted = rows if "bucket" in rows.schema.names else _opened(rows)
    counts = counted.group_by([*_KEYS, "bucket"]).aggregate([("count", "sum")])
    counts = counts.sort_by([(name, "ascending") for name in (*_KEYS, "bucket")])
    totals = rows.group_by(_KEYS).aggregate(
        [("count", "sum"), ("min_ns", "min"), ("max_ns", "max"), ("sum_ns", "sum")]
    )
    totals = totals.sort_by([(name, "ascending") for name in _KEYS])
    sizes = _group_sizes(counts, totals.num_rows)
    times = pa.array(ints(totals, "window_ns") // 1_000).cast(TIME)
    columns: dict[str, Any] = {
        **{name: totals.column(name) for name in _KEYS},
        "window_start": times,
        "count": totals.column("count_sum"),
        "min_ns": totals.column("min_ns_min"),
        "max_ns": totals.column("max_ns_max"),
        "sum_ns": totals.column("sum_ns_sum"),
        "buckets": _encoded(ints(counts, "bucket"), ints(counts, "count_sum"), sizes),
    }
    return pa.table({one.name: columns[one.name] for one in LATENCY_SCHEMA}).cast(LATENCY_SCHEMA)


def with_percentiles(rows: pa.Table) -> pa.Table:
    """Add the mean and the percentiles."""
    means = floats(rows, "sum_ns") / np.maximum(ints(rows, "count"), 1)
    found = [_percentiles(row) for row in rows.to_pylist()]
    rows = rows.append_column("mean_ns", pa.array(means))
    for place, name in enumerate(PERCENTILES):
        rows = rows.append_column(name, pa.array([one[place] for one in found], pa.int64()))
    return rows


def _percentiles(row: dict[str, Any]) -> list[int]:
    held = np.frombuffer(row["buckets"], BUCKET)
    reached = np.cumsum(held["count"])
    wanted = np.ceil(np.array([*PERCENTILES.values()]) * reached[-1])
    middles: Floats = BUCKET_RATIO ** (held["bucket"][np.searchsorted(reached, wanted)] + 0.5)
    return [int(one) for one in np.clip(middles, row["min_ns"], row["max_ns"])]


def _opened(rows: pa.Table) -> pa.Table:
    """A row for each bucket."""
    column = rows.column("buckets").combine_chunks()
    held = [np.frombuffer(one, BUCKET) for one in column.to_pylist()]
    place = pa.array(np.repeat(np.arange(len(held)), [len(one) for one in held]))
    flat = np.concatenate([*held, np.empty(0, BUCKET)])
    made = rows.select(_KEYS).take(place)
    made = made.append_column("bucket", pa.array(flat["bucket"].astype(np.int32)))
    return made.append_column("count", pa.array(flat["count"].astype(np.int64)))


def _group_sizes(counts: pa.Table, groups: int) -> Ints:
    """How many buckets each group has; both are sorted by the same keys."""
    per = counts.group_by(_KEYS).aggregate([([], "count_all")])
    per = per.sort_by([(name, "ascending") for name in _KEYS])
    assert per.num_rows == groups
    return ints(per, "count_all")


def _encoded(bucket: Ints, count: Ints, sizes: Ints) -> pa.Array:
    held = np.empty(len(bucket), BUCKET)
    held["bucket"], held["count"] = bucket, count
    offsets = np.append(0, np.cumsum(sizes) * BUCKET.itemsize).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(held.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(sizes), buffers)
