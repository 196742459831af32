"""A lake with a year of 1 Hz data of one parameter: its rollups, without the samples."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from slipring.lake.files import constant, write_file
from slipring.lake.specs import PARAMETERS, ROLLUPS
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable

NAME = "plant/line/4/temperature"
JOURNAL = "5d2f0d6e4a1b4c0f9a3e7c1d2b4f6a80"
START_NS = 1_735_689_600_000_000_000
"""2025-01-01, UTC."""
SECOND_NS = 1_000_000_000
DAY_S = 86_400
DAYS = 365
WINDOWS_S = {"1s": 1, "1m": 60, "1h": 3_600}


def make_year_lake(folder: Path) -> int:
    """Write it; returns how many rows the rollup of 1 s has."""
    where, rows = LakeLocation.of(folder), 0
    for every, window_s in WINDOWS_S.items():
        table, files = LakeTable.open(where, ROLLUPS[every]), []
        for day in range(DAYS):
            batch = day_windows(day, window_s)
            rows += len(batch) if every == "1s" else 0
            files += write_file(where, ROLLUPS[every], [batch])
        table.commit(files, {f"slipring/{JOURNAL}": 1})
    definitions = LakeTable.open(where, PARAMETERS)
    definitions.commit(write_file(where, PARAMETERS, [_definition()]), {f"slipring/{JOURNAL}": 1})
    return rows


def day_windows(day: int, window_s: int) -> pa.RecordBatch:
    """The windows of one day; the value of second n is a slow wave with a daily one."""
    second = np.arange(DAY_S) + day * DAY_S
    value = 20 + 10 * np.sin(second / 5e6) + 5 * np.sin(second / 13_751) + second % 7 * 0.1
    groups = value.reshape(-1, window_s)
    start_ns = START_NS + second.reshape(-1, window_s)[:, 0] * SECOND_NS
    last_ns, count = start_ns + (window_s - 1) * SECOND_NS, len(start_ns)
    return pa.record_batch(
        {
            "journal": constant(JOURNAL, count),
            "parameter": pa.array([NAME] * count),
            "index": pa.array(np.zeros(count, np.int32)),
            "window_start": _times(start_ns),
            "window_ns": pa.array(start_ns),
            "count": pa.array(np.full(count, window_s)),
            "bad": pa.array(np.zeros(count, np.int64)),
            "min": pa.array(groups.min(axis=1)),
            "max": pa.array(groups.max(axis=1)),
            "mean": pa.array(groups.mean(axis=1)),
            "first": pa.array(groups[:, 0]),
            "first_time": _times(start_ns),
            "last": pa.array(groups[:, -1]),
            "last_time": _times(last_ns),
            "sum": pa.array(groups.sum(axis=1)),
            "first_ns": pa.array(start_ns),
            "last_ns": pa.array(last_ns),
        }
    )


def _times(ns: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> pa.Array:
    return pa.array(ns // 1_000).cast(pa.timestamp("us", tz="UTC"))


def _definition() -> pa.RecordBatch:
    return pa.record_batch(
        {
            "journal": pa.array([JOURNAL]),
            "table": pa.array([1], pa.int64()),
            "index": pa.array([0], pa.int32()),
            "name": pa.array([NAME]),
            "type": pa.array(["f64"]),
            "since_offset": pa.array([0], pa.int64()),
            "unit": pa.array(["Cel"]),
        }
    )
