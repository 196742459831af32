"""Rows of samples as frames of one sender. Pure: the indices are given."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from slipring.errors import PipelineError
from slipring.frames.arrays import DTYPES, Octets, Times, Values, as_written
from slipring.model import Kind, Parameter
from slipring.native import encode_frame

FRAME_SAMPLES_MAX = 8_192
"""Below the broker's bound for one frame, with room for texts."""
FRAME_BYTES_MAX = 128 << 10
FRAME_RUNS_MAX = 2_048
FRAME_CONTENT = "application/vnd.slipring.frame"


@dataclass(frozen=True)
class ParameterSamples:
    """The samples of one parameter, by source time."""

    index: int
    kind: Kind
    times: Times
    values: Values
    qualities: Octets


def definitions_of(rows: pa.Table, given: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """The definition of every parameter in the rows: as given, or by the columns kind and unit."""
    if "parameter" not in rows.column_names:
        raise PipelineError("rows to be delivered as samples need the column parameter")
    names = rows.column("parameter").unique().to_pylist()
    found = {name: given[name] for name in names if name in given}
    for row in _described(rows) if len(found) < len(names) else ():
        kind, unit = row.get("kind_first") or "f64", row.get("unit_first") or None
        found.setdefault(row["parameter"], Parameter(kind, unit=unit))
    return found


def _described(rows: pa.Table) -> list[dict[str, Any]]:
    """The first kind and unit of each parameter, as far as there are such columns."""
    there = [name for name in ("parameter", "kind", "unit") if name in rows.column_names]
    texts = pa.table({name: rows.column(name).cast(pa.string()) for name in there})
    firsts = [(name, "first") for name in there[1:]]
    found: list[dict[str, Any]] = (
        texts.group_by("parameter", use_threads=False).aggregate(firsts).to_pylist()
    )
    return found


def sample_frames(
    rows: pa.Table, definitions: Mapping[str, Parameter], indices: Mapping[str, int], table: int
) -> list[bytes]:
    """All samples in frames; of each parameter by source time, and equal times in their order."""
    found = list(_by_parameter(rows, definitions, indices))
    sent_ns = max((int(one.times[-1]) for one in found), default=0)
    made, runs, samples, size = list[bytes](), list[Any](), 0, 0
    for run, count, octets in _runs(found):
        full = samples + count > FRAME_SAMPLES_MAX or size + octets > FRAME_BYTES_MAX
        if runs and (full or len(runs) == FRAME_RUNS_MAX):
            made.append(encode_frame(runs, table=table, sequence=len(made), sent_ns=sent_ns))
            runs, samples, size = [], 0, 0
        runs.append(run)
        samples, size = samples + count, size + octets
    if runs:
        made.append(encode_frame(runs, table=table, sequence=len(made), sent_ns=sent_ns))
    return made


def _by_parameter(
    rows: pa.Table, definitions: Mapping[str, Parameter], indices: Mapping[str, int]
) -> Iterator[ParameterSamples]:
    rows = rows.combine_chunks()
    names = rows.column("parameter")
    if not pa.types.is_dictionary(names.type):
        names = names.dictionary_encode()
    encoded = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], encoded.type)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    words = encoded.dictionary.to_pylist()
    times = _times(rows)
    order = np.lexsort((times, codes))
    edges = np.flatnonzero(np.diff(codes[order], prepend=-1, append=-1))
    qualities = _qualities(rows)
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        mine = order[start:end]
        name = words[int(codes[mine[0]])]
        kind = definitions[name].kind
        values = _values(rows, mine, kind, name)
        yield ParameterSamples(indices[name], kind, times[mine], values, qualities[mine])


def _times(rows: pa.Table) -> Times:
    if "source_ns" in rows.column_names:
        found = rows.column("source_ns").cast(pa.int64())
    elif "source_time" in rows.column_names:
        found = rows.column("source_time").cast(pa.timestamp("ns", "UTC")).cast(pa.int64())
    else:
        raise PipelineError("rows to be delivered as samples need source_ns or source_time")
    if found.null_count:
        raise PipelineError("a row has no source time: it is null; leave such rows out")
    return np.asarray(found, np.int64)


def _qualities(rows: pa.Table) -> Octets:
    if "quality" not in rows.column_names:
        return np.zeros(rows.num_rows, np.uint8)
    found: Octets = np.asarray(rows.column("quality").fill_null(0), np.int64).astype(np.uint8)
    return found


def _values(rows: pa.Table, which: Times, kind: Kind, name: str) -> Values:
    if not kind.is_fixed:
        column = "text" if kind is Kind.TEXT else "bytes"
        return _texts(_column(rows, column, name).take(pa.array(which)), name)
    if kind in (Kind.I64, Kind.U64) and "integer" in rows.column_names:
        exact = rows.column("integer").take(pa.array(which))
        if exact.null_count == 0:
            return np.array([int(one) for one in exact.to_pylist()], DTYPES[kind])
    column = _column(rows, "value", name).take(pa.array(which))
    if column.null_count:
        raise PipelineError(f"{name}: a sample has no value")
    numbers = np.asarray(column.cast(pa.float64()), np.float64)
    if kind in (Kind.F64, Kind.F32):
        return numbers.astype(DTYPES[kind])
    # Wrong for NaN, too: it equals nothing.
    with np.errstate(invalid="ignore"):
        made = numbers.astype(DTYPES[kind])
    if not np.array_equal(made.astype(np.float64), numbers):
        wrong = numbers[made.astype(np.float64) != numbers][0]
        raise PipelineError(f"{name}: {wrong} is not a value of type {kind.word}")
    return made


def _column(rows: pa.Table, column: str, name: str) -> pa.ChunkedArray:
    if column not in rows.column_names:
        raise PipelineError(f"{name}: the rows have no column {column}")
    return rows.column(column)


def _texts(column: pa.ChunkedArray, name: str) -> Values:
    if column.null_count:
        raise PipelineError(f"{name}: a sample has no value")
    made = np.empty(len(column), object)
    made[:] = column.to_pylist()
    return made


def _runs(found: list[ParameterSamples]) -> Iterator[tuple[Any, int, int]]:
    """Grid runs, with their samples and bytes; parameters of equal times and kind share one."""
    together = dict[tuple[int, bytes], list[ParameterSamples]]()
    for one in found:
        together.setdefault((int(one.kind), one.times.tobytes()), []).append(one)
    for group in together.values():
        group.sort(key=lambda one: one.index)
        for left in range(0, len(group), FRAME_SAMPLES_MAX):
            some = group[left : left + FRAME_SAMPLES_MAX]
            width = sum(map(_width, some))
            rows = max(1, min(FRAME_SAMPLES_MAX // len(some), FRAME_BYTES_MAX // width))
            for top in range(0, len(some[0].times), rows):
                yield _run(some, slice(top, top + rows), width)


def _run(group: list[ParameterSamples], rows: slice, width: int) -> tuple[Any, int, int]:
    first = group[0]
    values = np.stack([one.values[rows] for one in group], axis=1)
    qualities: Any = np.stack([one.qualities[rows] for one in group], axis=1)
    if (qualities == qualities.flat[0]).all():
        qualities = int(qualities.flat[0])
    indices = np.array([one.index for one in group], np.uint32)
    times = np.ascontiguousarray(first.times[rows])
    written = as_written(first.kind, values)
    same = qualities if isinstance(qualities, int) else np.ascontiguousarray(qualities)
    run = ("grid", int(first.kind), indices, times, written, same)
    return run, values.size, len(times) * (width + 8)


def _width(one: ParameterSamples) -> int:
    if one.kind.is_fixed:
        return DTYPES[one.kind].itemsize + 1
    return 2 + max(len(text.encode() if isinstance(text, str) else text) for text in one.values)
