"""The rows of a query as a table for people, CSV, JSON lines, Arrow or Parquet."""

import base64
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from slipring.errors import LakeError

TABLE_ROWS_MAX = 1_000
"""More rows than this are not for a person; the other formats have them all."""

Batches = Iterable[pa.RecordBatch]


class QueryFormat(StrEnum):
    """How the rows of a query are written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    ARROW = "arrow"
    PARQUET = "parquet"


BY_SUFFIX = {
    ".csv": QueryFormat.CSV,
    ".json": QueryFormat.JSON,
    ".jsonl": QueryFormat.JSON,
    ".arrow": QueryFormat.ARROW,
    ".parquet": QueryFormat.PARQUET,
    ".txt": QueryFormat.TABLE,
}


def output_format(given: QueryFormat | None, output: Path | None) -> QueryFormat:
    """The format that was asked for, or that of the file's name."""
    if given is not None:
        return given
    if output is None:
        return QueryFormat.TABLE
    if (found := BY_SUFFIX.get(output.suffix.lower())) is None:
        raise LakeError(
            f"{output} does not say what to write: name it {', '.join(BY_SUFFIX)}, or give --format"
        )
    return found


def write_batches(
    schema: pa.Schema, batches: Batches, chosen: QueryFormat, stream: BinaryIO
) -> tuple[int, int]:
    """Write the rows; returns how many there are, and how many were written."""
    return _WRITERS[chosen](schema, batches, stream)


def _write_table(schema: pa.Schema, batches: Batches, stream: BinaryIO) -> tuple[int, int]:
    from rich.console import Console

    from slipring.cli.terminal_table import WIDTH_MAX, plain, table

    shown = table(*(f"{'+' * _is_number(one.type)}{one.name}" for one in schema))
    count = 0
    for row in _rows(batches):
        if count < TABLE_ROWS_MAX:
            shown.add_row(*("" if value is None else plain(_text(value)) for value in row))
        count += 1
    text = io.TextIOWrapper(stream, encoding="utf-8", write_through=True)
    screen = Console(
        file=text, highlight=False, width=WIDTH_MAX, force_terminal=stream.isatty() or None
    )
    screen.print(shown)
    text.detach()
    return count, min(count, TABLE_ROWS_MAX)


def _write_csv(schema: pa.Schema, batches: Batches, stream: BinaryIO) -> tuple[int, int]:
    from pyarrow import csv

    kinds = [one.type if _is_number(one.type) else pa.string() for one in schema]
    texts = pa.schema([one.with_type(kind) for one, kind in zip(schema, kinds, strict=True)])

    def as_csv(batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = map(_csv_column, batch.columns, kinds)
        return pa.record_batch(list(columns), schema=texts)

    with csv.CSVWriter(stream, texts) as writer:
        return _written(batches, lambda batch: writer.write_batch(as_csv(batch)))


def _csv_column(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Types that CSV does not have become text: times, bytes, lists."""
    plain = _with_plain_times(column)
    if plain.type == kind:
        return plain
    values = plain.to_pylist()
    return pa.array([None if one is None else _text(one) for one in values], pa.string())


def _write_json(schema: pa.Schema, batches: Batches, stream: BinaryIO) -> tuple[int, int]:
    """One object in a line, as other commands write JSON."""
    count = 0
    for row in _rows(batches):
        values = {name: _json_value(one) for name, one in zip(schema.names, row, strict=True)}
        stream.write(json.dumps(values, default=_text).encode() + b"\n")
        count += 1
    return count, count


def _write_arrow(schema: pa.Schema, batches: Batches, stream: BinaryIO) -> tuple[int, int]:
    with pa.ipc.new_stream(stream, schema) as writer:
        return _written(batches, writer.write_batch)


def _write_parquet(schema: pa.Schema, batches: Batches, stream: BinaryIO) -> tuple[int, int]:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        return _written(batches, writer.write_batch)


def _written(batches: Batches, write: Callable[[pa.RecordBatch], None]) -> tuple[int, int]:
    count = 0
    for batch in batches:
        write(batch)
        count += batch.num_rows
    return count, count


def _rows(batches: Batches) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        columns = [_with_plain_times(column).to_pylist() for column in batch.columns]
        yield from zip(*columns, strict=True)


def _with_plain_times(column: pa.Array) -> pa.Array:
    """Times and days as ISO 8601, others as they are.

    Arrow does it quickly; for Python's own times it would import pandas, which takes longer than
    all the rest of a small query.
    """
    if not pa.types.is_temporal(column.type):
        return column
    if pa.types.is_interval(column.type):
        return pa.array(map(str, column.to_pylist()), pa.string())
    text = column.cast(pa.string())
    if not pa.types.is_timestamp(column.type):
        return text
    import pyarrow.compute as pc

    return pc.replace_substring(text, " ", "T", max_replacements=1)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) and not pa.types.is_temporal(kind))


def _json_value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return int(value) if isinstance(value, Decimal) and value == int(value) else value


def _text(value: Any) -> str:
    """A value as text; bytes in base64."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


_WRITERS: dict[QueryFormat, Callable[[pa.Schema, Batches, BinaryIO], tuple[int, int]]] = {
    QueryFormat.TABLE: _write_table,
    QueryFormat.CSV: _write_csv,
    QueryFormat.JSON: _write_json,
    QueryFormat.ARROW: _write_arrow,
    QueryFormat.PARQUET: _write_parquet,
}
