"""What Spark's workers do for derived parameters, on Arrow tables: thin, align, call functions.

A row of WORK_FIELDS is a sample on its way, or the state. Pure: no Spark here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from slipring.errors import PipelineError
from slipring.frames.arrays import Values
from slipring.pipeline.derivation import Derivation
from slipring.pipeline.steps.align_rows import (
    NEVER_NS,
    AlignedRows,
    AlignmentState,
    SampleRows,
    align_rows,
)
from slipring.pipeline.steps.thin_rows import Numbers, thin_rows

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
TRAVELLING = ("derivation", "input", "source_ns", "value", "quality", "offset", "receive_ns")
"""What is known of a sample before it is thinned."""
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
    """Thins samples in the order of the journal, in chunks that end with a message.

    For `mapInArrow` over samples, or where a worker decodes a range of the journal itself: then
    only what may count travels through Spark.
    """

    derivations: tuple[Derivation, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """From samples, whose parameters may be a dictionary, to rows of WORK_SCHEMA."""
        uses = InputUses.of(self.derivations)
        waiting, count = list[pa.RecordBatch](), 0
        for batch in map(uses.inputs, batches):
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
        rules = [one.rule for one in self.derivations]
        derivation, rows = thin_rows(rules, _array(table, "derivation"), _plain_rows(table))
        if len(rows):
            yield work_batch(derivation, rows)


@dataclass(frozen=True)
class InputUses:
    """Which derivations use a parameter, and as which of their inputs."""

    by_name: dict[str, list[tuple[int, int]]]

    @classmethod
    def of(cls, derivations: Sequence[Derivation]) -> "InputUses":
        by_name: dict[str, list[tuple[int, int]]] = {}
        for number, one in enumerate(derivations):
            for position, name in enumerate(one.inputs):
                by_name.setdefault(name, []).append((number, position))
        return cls(by_name)

    def inputs(self, samples: pa.RecordBatch) -> pa.RecordBatch:
        """The samples that are inputs, a row for each use; TRAVELLING columns."""
        names = samples.column("parameter")
        if not pa.types.is_dictionary(names.type):
            names = names.dictionary_encode()
        uses = [self.by_name.get(name, []) for name in names.dictionary.to_pylist()]
        codes = names.indices.to_numpy(zero_copy_only=False)
        has_value = samples.column("value").is_valid().to_numpy(zero_copy_only=False)
        counts = np.array([len(some) for some in uses] or [0])
        times = np.where(has_value, counts[codes], 0)
        which = np.repeat(np.arange(len(codes)), times)
        firsts = np.cumsum(counts) - counts
        # Of a sample with several uses, the first row is the first use, and so on.
        nth = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times)
        pairs = np.array([pair for some in uses for pair in some], np.int32).reshape(-1, 2)
        chosen = pairs[firsts[codes[which]] + nth]
        taken = samples.select(list(TRAVELLING[2:]))
        if len(which) != len(codes) or (times != 1).any():
            taken = taken.take(pa.array(which))
        arrays = [pa.array(chosen[:, 0]), pa.array(chosen[:, 1]), *taken.columns]
        return pa.record_batch(arrays, names=list(TRAVELLING))


@dataclass(frozen=True)
class Alignment:
    """Aligns samples and states; a partition has all of a derivation. For `mapInArrow`."""

    derivations: tuple[Derivation, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """From rows of WORK_SCHEMA to rows of `aligned_schema`."""
        found = [batch for batch in batches if batch.num_rows]
        if not found:
            return
        table = pa.Table.from_batches(found)
        derivation, rows = _array(table, "derivation"), _work_rows(table)
        order = np.argsort(derivation, kind="stable")
        edges = np.flatnonzero(np.diff(derivation[order], prepend=-1, append=-1))
        made = list[_AlignedColumns]()
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            number = int(derivation[order[begin]])
            chosen = self.derivations[number]
            state, new = state_of(rows.take(order[begin:end]))
            aligned, after = align_rows(chosen.rule, state, new)
            made += [_results(chosen, number, aligned), _state(number, after)]
        yield from _joined(made, aligned_schema(self.derivations)).to_batches()


def work_batch(derivation: Numbers, rows: SampleRows) -> pa.RecordBatch:
    """Rows as WORK_SCHEMA."""
    columns = vars(rows) | {"derivation": derivation}
    return pa.record_batch(
        [pa.array(columns[name], WORK_SCHEMA.field(name).type) for name in WORK_SCHEMA.names],
        schema=WORK_SCHEMA,
    )


def state_of(rows: SampleRows) -> tuple[AlignmentState, SampleRows]:
    """The state among the rows of one derivation, and the new samples."""
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


_AlignedColumns = dict[str, Values]
"""Columns of `aligned_schema`; those that are not there are null, `v` beyond the inputs NaN."""


def _results(derivation: Derivation, number: int, aligned: AlignedRows) -> _AlignedColumns:
    count = len(aligned.time_ns)
    columns: _AlignedColumns = {
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
    return columns


def _state(number: int, state: AlignmentState) -> _AlignedColumns:
    rows, count = state.rows, len(state.rows) + 1
    return {
        "role": np.full(count, STATE, np.int32),
        "derivation": np.full(count, number, np.int32),
        "input": np.append(rows.input, np.int32(NEWEST)),
        "source_ns": np.append(rows.source_ns, state.newest_ns),
        "quality": np.append(rows.quality, np.int16(0)),
        "offset": np.append(rows.offset, 0),
        "receive_ns": np.append(rows.receive_ns, 0),
        "counts_ns": np.append(rows.counts_ns, NEVER_NS),
        "v0": np.append(rows.value, 0.0),
    }


def _joined(made: list[_AlignedColumns], schema: pa.Schema) -> pa.Table:
    counts = [len(columns["role"]) for columns in made]
    arrays = []
    for field in schema:
        missing: float | int = np.nan if field.type == pa.float64() else 0
        parts = [
            columns.get(field.name, np.broadcast_to(missing, count))
            for columns, count in zip(made, counts, strict=True)
        ]
        arrays.append(pa.array(np.concatenate(parts), field.type))
    return pa.table(arrays, schema=schema)


def _called(derivation: Derivation, aligned: AlignedRows) -> Values:
    """What the user's function makes of the inputs."""
    import pandas as pd

    assert derivation.function is not None
    times = pd.DatetimeIndex(aligned.time_ns.astype("datetime64[ns]"), tz="UTC", name="time")
    frame = pd.DataFrame(dict(zip(derivation.inputs, aligned.values, strict=True)), index=times)
    made = derivation.function(frame)
    # A column of Arrow, of pandas or of numpy; null and NaN are the same here: no value.
    values = np.asarray(pa.array(made, from_pandas=True).cast(pa.float64()).to_numpy(False))
    if len(values) != len(frame):
        raise PipelineError(
            f"the function of {derivation.name} returned {len(values)} values for {len(frame)} rows"
        )
    return values


def _whole_messages(table: pa.Table) -> int:
    """The rows before the last message, which may go on in the next batch."""
    offset = _array(table, "offset")
    return int(np.searchsorted(offset, offset[-1], side="left"))


def _plain_rows(table: pa.Table) -> SampleRows:
    offset, source_ns = _array(table, "offset"), _array(table, "source_ns")
    return _sample_rows(table, source_ns, offset)


def _work_rows(table: pa.Table) -> SampleRows:
    return _sample_rows(table, _array(table, "counts_ns"), _array(table, "chunk"))


def _sample_rows(table: pa.Table, counts_ns: Values, chunk: Values) -> SampleRows:
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


def _array(table: pa.Table, name: str) -> Values:
    found: Values = table.column(name).to_numpy()
    return found
