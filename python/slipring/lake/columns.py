"""Rows brought into the form in which a table's files have them. Pure."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from slipring.errors import PipelineError
from slipring.lake.statistics import Bounds


def conform(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The rows with exactly these columns; a missing nullable one is null everywhere."""
    names = set(rows.schema.names)
    if unknown := sorted(names - set(schema.names)):
        raise PipelineError(f"the table has no column {', '.join(unknown)}")
    columns: list[Any] = []
    for field in schema:
        if field.name in names:
            columns.append(_fitted(rows.column(field.name), field))
        elif field.nullable:
            columns.append(pa.nulls(rows.num_rows, field.type))
        else:
            raise PipelineError(f"rows for the table lack the column {field.name}")
    return _batch(columns, schema)


class FewValues:
    """The bounds of columns with a handful of different texts, by their dictionaries."""

    def __init__(self, names: Iterable[str]) -> None:
        self.bounds: dict[str, Bounds] = {name: Bounds(None, None, 0) for name in names}

    def seen(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Widen the bounds; returns the rows with these columns as dictionaries."""
        columns = list(rows.columns)
        for name, before in self.bounds.items():
            place = rows.schema.get_field_index(name)
            column = columns[place]
            if not pa.types.is_dictionary(column.type):
                column = columns[place] = column.dictionary_encode()
            texts = column.dictionary.drop_null().to_pylist()
            known = [one for one in (before.least, before.most) if one is not None] + texts
            self.bounds[name] = Bounds(
                min(known, default=None), max(known, default=None), before.nulls + column.null_count
            )
        return _batch(columns, rows.schema)


def with_used_values(rows: pa.Table) -> pa.Table:
    """Dictionaries without the values that no row has: Parquet would write them all."""
    for place, field in enumerate(rows.schema):
        column = rows.column(place)
        if pa.types.is_dictionary(field.type) and column.num_chunks == 1:
            rows = rows.set_column(place, field, _with_used(column.chunk(0)))
    return rows


def _with_used(column: pa.DictionaryArray) -> pa.DictionaryArray:
    if column.null_count or len(column.dictionary) < 16:
        return column
    indices = column.indices.to_numpy()
    used = np.zeros(len(column.dictionary), np.bool_)
    used[indices] = True
    if 2 * np.count_nonzero(used) > len(used):
        return column
    places = (np.cumsum(used) - 1).astype(indices.dtype)
    return pa.DictionaryArray.from_arrays(places[indices], column.dictionary.filter(pa.array(used)))


def with_equal_types(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """A column that is a dictionary in some batches becomes plain if it is not one in all."""
    if all(one.schema == batches[0].schema for one in batches):
        return batches
    plain = pa.schema(
        [
            field if all(one.schema.field(place) == field for one in batches) else _plain(field)
            for place, field in enumerate(batches[0].schema)
        ]
    )
    return [one.cast(plain) for one in batches]


def _fitted(column: pa.Array, field: pa.Field) -> pa.Array:
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    fitted = column if kind == field.type else column.cast(field.type)
    if fitted.null_count and not field.nullable:
        raise PipelineError(f"the column {field.name} has {fitted.null_count} nulls")
    return fitted


def _batch(columns: list[Any], schema: pa.Schema) -> pa.RecordBatch:
    fields = [field.with_type(one.type) for field, one in zip(schema, columns, strict=True)]
    return pa.record_batch(columns, schema=pa.schema(fields))


def _plain(field: pa.Field) -> pa.Field:
    kind = field.type
    return field.with_type(kind.value_type if pa.types.is_dictionary(kind) else kind)
