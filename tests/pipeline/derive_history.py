"""A history of samples with late and bad ones, and derived parameters over it."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from slipring.pipeline.config import parse_pipeline
from slipring.pipeline.derivation import Derivation, derivations_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JOURNAL = "0123456789abcdef0123456789abcdef"
T0_NS = 1_763_000_000_000_000_000
MS = 1_000_000
MESSAGES = 600
"""Each has samples of three parameters over 20 ms."""

DERIVE = {
    "jet/margin": {"expression": "1000 - `jet/egt`", "every": "100ms", "unit": "K",
                   "limits": {"low": 10}, "late": "200ms"},
    "jet/ratio": {"expression": "sqrt(`jet/n1`) / ln(`jet/n2`)", "every": "30ms", "late": "100ms"},
    "jet/power": {"expression": "`jet/n2` * exp(-`jet/egt` / 500)", "late": "50ms",
                  "hold": "300ms", "inputs": ["jet/n2", "jet/egt"]},
}  # fmt: skip


def derivations() -> list[Derivation]:
    return derivations_of(parse_pipeline({"derive": DERIVE}).derive)


def history() -> pa.Table:
    """Rows of samples in the order of the journal."""
    random = np.random.default_rng(13)
    names, times, values, qualities, offsets = [], [], [], [], []
    for offset in range(MESSAGES):
        delay = int(random.choice([0, 0, 0, 0, 60, 150, 400]))
        for position, name in enumerate(("jet/egt", "jet/n1", "jet/n2")):
            count = 20 if position < 2 else 3
            for step in range(count):
                names.append(name)
                times.append((offset * 20 + step * 20 // count - delay) * MS)
                values.append(random.random() * 1000)
                qualities.append(0x85 if random.random() < 0.01 else 0)
                offsets.append(offset)
    order = np.array(offsets, np.int64)
    return pa.table(
        {
            "parameter": names,
            "source_ns": np.array(times, np.int64) + T0_NS,
            "receive_ns": order * 20 * MS + T0_NS + 25 * MS,
            "value": np.array(values),
            "quality": np.array(qualities, np.int16),
            "offset": order,
        }
    )


def samples_between(spark: "SparkSession", start: int, end: int) -> "DataFrame":
    """The samples of a range of offsets, in two partitions, each a range of its own."""
    rows = history()
    offset = rows.column("offset").to_numpy()
    middle = (start + end) // 2
    parts = [rows.filter(pa.array((offset >= a) & (offset < b)))
             for a, b in ((start, middle), (middle, end))]  # fmt: skip
    first, second = (spark.createDataFrame(part).coalesce(1) for part in parts)
    return first.unionByName(second)
