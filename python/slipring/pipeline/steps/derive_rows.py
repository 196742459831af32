"""What Spark's workers do for derived parameters, on Arrow tables: thin, align, call functions.

A row of WORK_FIELDS is a sample on its way, or the state. Pure: no Spark here.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from slipring.errors import PipelineError
from slipring.pipeline.derivation import Derivation
from slipring.pipeline.steps.align_rows import (
    NEVER_NS,
    AlignedRows,
    AlignmentState,
    SampleRows,
    align_rows,
)
from slipring.pipeline.steps.thin_rows import thin_rows

WORK_SCHEMA = pa.schema(
    [
        pa.field("derivation", pa.int32()),
        pa.field("input", pa.int32()),
        pa.field("source_ns", pa.int64()),
        pa.field("value", pa.float64()),
        pa.field("quality", pa.int16()),
        pa.field("offset", pa.int64()),
        pa.field("receive_ns", pa.int64()),
        pa.field("counts_ns", pa.int64()),
        pa.field("chunk", pa.int64()),
    ]
)
"""Samples of inputs on their way to the alignment."""
NEWEST = -1
"""The `input` of the row of a state that has its newest time."""
BEFORE_ALL = -1
"""The chunk of a state."""
CHUNK_ROWS = 1 << 18
RESULT, STATE = 0, 1
"""What a row behind the alignment is: its `role`."""


def aligned_schema(derivations: Iterable[Derivation]) -> pa.Schema:
    """The columns behind the alignment: `v0` ... are the inputs, `result` is of a function."""
    widest = max((len(one.inputs) for one in derivations), default=1)
    values = [pa.field(f"v{number}", pa.float64()) for number in range(widest)]
    plain = [
        WORK_SCHEMA.field(name) for name in WORK_SCHEMA.names if name not in ("value", "chunk")
    ]
    return pa.schema(
        [pa.field("role", pa.int32()), *plain, pa.field("result", pa.float64()), *values]
    )


@dataclass(frozen=True)
class Thinning:
    """Thins the samples of a partition, in chunks that end with a message. For `mapInArrow`."""

    derivations: tuple[Derivation, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """From rows without `counts_ns` and `chunk` to rows of WORK_SCHEMA."""
        waiting, count = list[pa.RecordBatch](), 0
        for batch in batches:
            waiting.append(batch)
            count += batch.num_rows
            if count >= CHUNK_ROWS:
                table = pa.Table.from_batches(waiting)
                whole = _whole_messages(table)
                if whole:
                    yield from self._thinned(table.slice(0, whole))
                rest = table.slice(whole)
                waiting, count = rest.to_batches(), rest.num_rows
        if count:
            yield from self._thinned(pa.Table.from_batches(waiting))

    def _thinned(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        derivation = _array(table, "derivation")
        rows = _plain_rows(table)
        order = np.argsort(derivation, kind="stable")
        edges = np.flatnonzero(np.diff(derivation[order], prepend=-1, append=-1))
        # A chunk is one for all: its first offset is the least of any derivation.
        start = int(rows.offset.min())
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            number = int(derivation[order[begin]])
            thin = thin_rows(self.derivations[number].rule, rows.take(order[begin:end]))
            if len(thin):
                thin.chunk[:] = start
                yield work_batch(number, thin)


@dataclass(frozen=True)
class Alignment:
    """Aligns the samples and the state of one derivation. For `applyInArrow`."""

    derivations: tuple[Derivation, ...]

    def __call__(self, table: pa.Table) -> pa.Table:
        number = int(table.column("derivation")[0].as_py())
        derivation = self.derivations[number]
        state, rows = state_of(table)
        aligned, after = align_rows(derivation.rule, state, rows)
        schema = aligned_schema(self.derivations)
        made = [_results(derivation, number, aligned, schema), _state(number, after, schema)]
        return pa.concat_tables(made)


def work_batch(number: int, rows: SampleRows) -> pa.RecordBatch:
    """Rows as WORK_SCHEMA."""
    columns = vars(rows) | {"derivation": np.full(len(rows), number, np.int32)}
    return pa.record_batch(
        [pa.array(columns[name], WORK_SCHEMA.field(name).type) for name in WORK_SCHEMA.names],
        schema=WORK_SCHEMA,
    )


def state_of(table: pa.Table) -> tuple[AlignmentState, SampleRows]:
    """The state among rows of WORK_SCHEMA of one derivation, and the new samples."""
    rows = _work_rows(table)
    is_state = rows.chunk == BEFORE_ALL
    if not is_state.any():
        return AlignmentState(), rows
    before = rows.take(is_state)
    newest = before.source_ns[before.input == NEWEST]
    kept = before.take(before.input != NEWEST)
    # The order in which samples of a state come is that in which they were kept.
    kept = kept.take(np.lexsort((kept.offset, kept.source_ns, kept.counts_ns, kept.input)))
    return AlignmentState(int(newest[0]), kept), rows.take(~is_state)


def work_of_states(aligned: pa.Table) -> pa.Table:
    """The rows of a state behind the alignment, as they go in front of the next batch."""
    rows = aligned.filter(pa.array(_array(aligned, "role") == STATE))
    columns = {name: rows.column(name) for name in rows.column_names}
    columns["value"] = columns["v0"]
    columns["chunk"] = pa.array(np.full(rows.num_rows, BEFORE_ALL), pa.int64())
    return pa.table([columns[name] for name in WORK_SCHEMA.names], schema=WORK_SCHEMA)


def _results(
    derivation: Derivation, number: int, aligned: AlignedRows, schema: pa.Schema
) -> pa.Table:
    count = len(aligned.time_ns)
    columns: dict[str, object] = {
        "role": np.full(count, RESULT, np.int32),
        "derivation": np.full(count, number, np.int32),
        "source_ns": aligned.time_ns,
        "quality": aligned.quality,
        "offset": aligned.offset,
        "receive_ns": aligned.receive_ns,
    }
    columns |= {f"v{which}": values for which, values in enumerate(aligned.values)}
    if derivation.function is not None and count:
        columns["result"] = _called(derivation, aligned)
    return _table(columns, count, schema)


def _state(number: int, state: AlignmentState, schema: pa.Schema) -> pa.Table:
    rows = state.rows
    count = len(rows) + 1

    def behind(column: object, last: int) -> object:
        return np.append(column, last)  # type: ignore[call-overload]

    columns = {
        "role": np.full(count, STATE, np.int32),
        "derivation": np.full(count, number, np.int32),
        "input": behind(rows.input, NEWEST),
        "source_ns": behind(rows.source_ns, state.newest_ns),
        "quality": behind(rows.quality, 0),
        "offset": behind(rows.offset, 0),
        "receive_ns": behind(rows.receive_ns, 0),
        "counts_ns": behind(rows.counts_ns, NEVER_NS),
        "v0": behind(rows.value, 0),
    }
    return _table(columns, count, schema)


def _table(columns: Mapping[str, object], count: int, schema: pa.Schema) -> pa.Table:
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def _called(derivation: Derivation, aligned: AlignedRows) -> pa.Array:
    """What the user's function makes of the inputs."""
    import pandas as pd

    assert derivation.function is not None
    times = pd.DatetimeIndex(aligned.time_ns.astype("datetime64[ns]"), tz="UTC", name="time")
    frame = pd.DataFrame(dict(zip(derivation.inputs, aligned.values, strict=True)), index=times)
    made = derivation.function(frame)
    values = made.to_numpy(np.float64, na_value=np.nan) if isinstance(made, pd.Series) else made
    found = pa.array(values, pa.float64(), from_pandas=isinstance(made, pd.Series))
    if len(found) != len(frame):
        raise PipelineError(
            f"the function of {derivation.name} returned {len(found)} values for {len(frame)} rows"
        )
    return found


def _whole_messages(table: pa.Table) -> int:
    """The rows before the last message, which may go on in the next batch."""
    offset = _array(table, "offset")
    return int(np.searchsorted(offset, offset[-1], side="left"))


def _plain_rows(table: pa.Table) -> SampleRows:
    offset, source_ns = _array(table, "offset"), _array(table, "source_ns")
    return _sample_rows(table, source_ns, offset)


def _work_rows(table: pa.Table) -> SampleRows:
    return _sample_rows(table, _array(table, "counts_ns"), _array(table, "chunk"))


def _sample_rows(table: pa.Table, counts_ns: "np.ndarray", chunk: "np.ndarray") -> SampleRows:  # type: ignore[type-arg]
    return SampleRows(
        _array(table, "input"),
        _array(table, "source_ns"),
        _array(table, "value"),
        _array(table, "quality"),
        _array(table, "offset"),
        _array(table, "receive_ns"),
        counts_ns,
        chunk,
    )


def _array(table: pa.Table, name: str) -> "np.ndarray":  # type: ignore[type-arg]
    return table.column(name).to_numpy()
