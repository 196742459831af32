"""Samples as an Arrow table, one row each. All tables have the same columns and can be joined.

| column | |
|---|---|
| `index`, `name` | the parameter; the name as a dictionary |
| `time` | the source time, UTC |
| `quality`, `reason` | `good`, `uncertain`, `bad` or `stale`, and the number of the reason |
| `value` | every number, truth value and enumeration as a float; null for texts and bytes |
| `integer` | whole numbers, truth values and enumerations, exactly |
| `text` | texts; labels of enumerations; a u64 that no `integer` can hold, in decimal |
| `bytes` | byte strings |
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from slipring.frames.arrays import Indices, Values, distinct, ranks
from slipring.frames.run import Run
from slipring.frames.table import Table
from slipring.model import Kind, Status

STATUSES = pa.array([status.word for status in Status])
INTEGER_MAX = np.iinfo(np.int64).max

SCHEMA = pa.schema(
    [
        pa.field("index", pa.uint32(), nullable=False),
        pa.field("name", pa.dictionary(pa.int32(), pa.string())),
        pa.field("time", pa.timestamp("ns", "UTC"), nullable=False),
        pa.field("quality", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        pa.field("reason", pa.uint8(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("integer", pa.int64()),
        pa.field("text", pa.string()),
        pa.field("bytes", pa.binary()),
    ]
)


def to_arrow(table: Table, runs: Sequence[Run]) -> Any:
    """A row for each sample, run after run."""
    names = _Names(table, runs)
    batches = [_batch(table, run, names) for run in runs]
    return pa.Table.from_batches(batches, schema=SCHEMA)


class _Names:
    """The names that occur, each once, as the dictionary of a column."""

    def __init__(self, table: Table, runs: Sequence[Run]) -> None:
        self._indices = distinct([run.indices for run in runs])
        self._names = pa.array(table.names(self._indices), pa.string())

    def encoded(self, indices: Indices) -> Any:
        codes = ranks(self._indices, indices).astype(np.int32)
        return pa.DictionaryArray.from_arrays(codes, self._names)


def _batch(table: Table, run: Run, names: _Names) -> Any:
    indices, qualities = run.sample_indices(), run.sample_qualities()
    status = pa.array((qualities >> 6).astype(np.int8))
    return pa.record_batch(
        [
            pa.array(indices),
            names.encoded(indices),
            pa.array(run.sample_times()).cast(pa.timestamp("ns", "UTC")),
            pa.DictionaryArray.from_arrays(status, STATUSES),
            pa.array(qualities & 0x3F),
            *_values(table, run, indices),
        ],
        schema=SCHEMA,
    )


def _values(table: Table, run: Run, indices: Indices) -> list[Any]:
    """The columns value, integer, text and bytes."""
    count = len(run)
    nothing = {name: pa.nulls(count, SCHEMA.field(name).type) for name in ("text", "bytes")}
    if not run.kind.is_fixed:
        nothing[run.kind.word] = pa.array(run.values, SCHEMA.field(run.kind.word).type)
        numbers = [pa.nulls(count, pa.float64()), pa.nulls(count, pa.int64())]
        return [*numbers, nothing["text"], nothing["bytes"]]
    integers, texts = pa.nulls(count, pa.int64()), nothing["text"]
    if run.kind is Kind.BOOL or run.kind.is_integer:
        integers, texts = _exact(table, run.kind, indices, run.values)
    return [pa.array(run.sample_numbers()), integers, texts, nothing["bytes"]]


def _exact(table: Table, kind: Kind, indices: Indices, values: Values) -> tuple[Any, Any]:
    """The columns integer and text of whole numbers."""
    sets = table.label_sets(indices)
    if kind is Kind.U64 and (large := values > INTEGER_MAX).any():
        texts = np.full(len(values), None, object)
        texts[large] = values[large].astype(str)
        return pa.array(values.astype(np.int64), mask=large), pa.array(texts, pa.string())
    texts = pa.nulls(len(values), pa.string())
    if kind in {Kind.U8, Kind.U16, Kind.U32} and (sets >= 0).any():
        texts = pa.array(table.labels.look_up(sets, values), pa.string())
    return pa.array(values.astype(np.int64)), texts
