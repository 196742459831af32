"""Rows of numbered batches, and what of them is in a journal."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa

from slipring.journal.columns import record_batch
from slipring.native import JournalReader, decode_frame

ROWS = 100
T0_NS = 1_763_000_000_000_000_000


def rows_of(kind: str, number: int) -> pa.Table:
    """The rows of one batch."""
    if kind == "samples":
        return _samples(number)
    texts = [f"{number}/{row}" for row in range(ROWS)]
    if kind == "messages":
        return pa.table({"topic": [f"out/{row % 3}" for row in range(ROWS)], "payload": texts})
    return pa.table({"parameter": ["jet/egt"] * ROWS, "text": texts})


def _samples(number: int) -> pa.Table:
    count = ROWS * 50
    times = T0_NS + np.arange(number * count, (number + 1) * count) * 1_000_000
    values = np.arange(number * count, (number + 1) * count, dtype=np.float64)
    names = np.array(["jet/margin", "jet/other"])[np.arange(count) % 2]
    return pa.table({"parameter": names, "source_ns": times, "value": values})


def messages_in(data: Path, filter_prefix: str) -> Counter[bytes]:
    """How often each payload below a prefix is in the journal of a stopped broker."""
    reader = JournalReader(data / "journal")
    found = Counter[bytes]()
    start, end = reader.first_offset, reader.end_offset()
    while start < end:
        columns = reader.read(start, end, 1 << 26)
        for row in record_batch(columns, ("topic", "payload")).to_pylist():
            if row["topic"].startswith(filter_prefix):
                found[row["payload"]] += 1
        start = columns.end
    return found


def samples_in(data: Path, prefix: str) -> Counter[tuple[int, float]]:
    """How often each sample (time, value) of frames below a prefix is in a stopped journal."""
    found = Counter[tuple[int, float]]()
    for payload, count in messages_in(data, prefix).items():
        for run in decode_frame(payload).runs:
            times = np.frombuffer(run.times or b"", np.int64)
            assert isinstance(run.values, tuple)
            raw, offset, length = run.values
            values = np.frombuffer(raw, np.float64, length // 8, offset)
            for time, value in zip(times.tolist(), values.tolist(), strict=True):
                found[time, value] += count
    return found


def sample_pairs(number: int) -> list[tuple[int, float]]:
    """The samples (time, value) of one batch."""
    rows = rows_of("samples", number)
    times, values = rows.column("source_ns").to_pylist(), rows.column("value").to_pylist()
    return list(zip(times, values, strict=True))
