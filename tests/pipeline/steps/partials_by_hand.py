"""Rollups of all samples at once, one after the other, to compare the pipeline with."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

SECOND_NS = 1_000_000_000
START_NS = 1_763_000_000 * SECOND_NS
"""Any moment; the tests count from it."""


@dataclass(frozen=True)
class Measured:
    """A sample of the parameter `p<index>`, at a time after START_NS."""

    index: int
    at_ns: int
    value: float
    quality: int = 0


def samples_table(samples: Iterable[Measured], offset: int = 0) -> pa.Table:
    """Samples with the columns of the source, one message each, received when measured."""
    rows = list(samples)
    times = np.array([START_NS + one.at_ns for one in rows], np.int64)
    micros = pa.array(times // 1_000).cast(pa.timestamp("us", "UTC"))
    nothing = pa.nulls(len(rows))
    return pa.table(
        {
            "parameter": pa.array([f"p{one.index}" for one in rows], pa.string()),
            "index": pa.array([one.index for one in rows], pa.int32()),
            "source_time": micros,
            "source_ns": times,
            "receive_time": micros,
            "receive_ns": times,
            "value": pa.array([one.value for one in rows], pa.float64(), from_pandas=False),
            "integer": nothing.cast(pa.decimal128(20, 0)),
            "text": nothing.cast(pa.string()),
            "bytes": nothing.cast(pa.binary()),
            "quality": pa.array([one.quality for one in rows], pa.int16()),
            "kind": pa.array(["f64"] * len(rows), pa.string()),
            "unit": pa.array(["K"] * len(rows), pa.string()),
            "offset": pa.array(range(offset, offset + len(rows)), pa.int64()),
        }
    )


def rolled_up(samples: Iterable[Measured], window_ns: int) -> dict[tuple[int, int], dict[str, Any]]:
    """What a rollup must be, by index and begin of the window."""
    windows = defaultdict(list)
    for one in samples:
        begin = (START_NS + one.at_ns) // window_ns * window_ns
        windows[one.index, begin].append(one)
    return {key: _of_window(found) for key, found in windows.items()}


def _of_window(samples: list[Measured]) -> dict[str, Any]:
    good = sorted(
        (one for one in samples if one.quality < 128 and one.value == one.value),
        key=lambda one: one.at_ns,
    )
    made: dict[str, Any] = {"count": len(good), "bad": len(samples) - len(good)}
    if not good:
        return made
    values = [one.value for one in good]
    span_ns = good[-1].at_ns - good[0].at_ns
    held = pairwise(good)
    weighted = sum(one.value * (then.at_ns - one.at_ns) for one, then in held)
    return made | {
        "min": min(values),
        "max": max(values),
        "first": values[0],
        "first_ns": START_NS + good[0].at_ns,
        "last": values[-1],
        "last_ns": START_NS + good[-1].at_ns,
        "weighted_ns": span_ns,
        "mean": sum(values) / len(values),
        "time_weighted_mean": weighted / span_ns if span_ns else values[-1],
    }
